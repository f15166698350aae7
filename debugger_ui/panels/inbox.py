"""The Inbox page: what waits for an answer in all threads, and its answer without leaving the page.

Rules:
- An answer goes to the checkpoint at which its question was shown here. A thread that has moved on
  meanwhile is said in a sentence, and nothing is answered.
- No question takes the place of the open one by itself, unless that was answered here: the buttons
  under the pointer would be another question's. What was typed for one that went stays readable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.text import count
from debugger_ui.components.timeline import clock
from debugger_ui.panels import answer, header, inspector
from debugger_ui.panels.tab import T, Tab, state
from debugger_ui.panels.words import damage
from debugger_ui.session.cursor import Cursor
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import CheckpointView, Page, QuestionView

PAGE = 50
OPEN, OFFSET, SHOWN, ANSWERED, GONE = "_inbox_open", "_inbox_offset", "_inbox_shown", "_inbox_answered", "_inbox_gone"
PLACE, HELD, TYPED = "_inbox_place", "_inbox_held", "_inbox_typed"
LIST = "inbox_list"
COLUMNS = (sheet.column("question", "Question"), sheet.column("thread", "Thread", width="34%"))
SPLIT = (1, 1.3)

Key = tuple[str, str]
"""Thread and question."""


@dataclass
class Visit(Tab):
    """A look into another thread from this browser tab: what is done there is told here."""

    host: Tab | None = None
    question: QuestionView | None = None

    def act(self, action: Callable[..., T], *arguments: Any, **named: Any) -> T | None:
        """Answer in the other thread; a refusal becomes the message of this tab."""
        if self.host is None or self.question is None:
            return super().act(action, *arguments, **named)
        done = self.host.act(action, *arguments, **named)
        if done is not None:
            st.session_state.setdefault(ANSWERED, set()).add(key_of(self.question))
            self.host.notice = f"Answered {self.question.node} in {self.question.thread}."
        return done


def page(here: Tab) -> None:
    """Draw the page."""
    with st.container(key="inbox_page"):
        found = here.see(here.session.inbox, offset=int(st.session_state.get(OFFSET) or 0), limit=PAGE)
        if found is None:
            return
        note_gone(found)
        chosen = chosen_one(found)
        if chosen is None and not lost():
            moved_on()
            listing(found, None)
            return
        left, right = st.columns(SPLIT, gap="small")
        with left, st.container(key="inbox_left"):
            moved_on()
            listing(found, chosen)
        with right, st.container(key="inbox_right"):
            if chosen is not None:
                detail(here, chosen)
            else:
                gone(here, st.session_state[HELD])


def key_of(question: QuestionView) -> Key:
    """Return what names a question among all threads."""
    return question.thread, question.id


def chosen_one(found: Page[QuestionView]) -> QuestionView | None:
    """Return the question that is open: the one that was clicked, or the next after an answer, or the first."""
    keys = [key_of(question) for question in found.rows]
    wanted = st.session_state.get(OPEN)
    if lost() or not keys:
        return None
    place = 0
    if wanted in keys:
        place = keys.index(wanted)
    elif wanted in st.session_state.get(ANSWERED, ()):
        place = min(int(st.session_state.get(PLACE) or 0), len(keys) - 1)
    st.session_state[OPEN], st.session_state[PLACE] = keys[place], place
    st.session_state[HELD] = found.rows[place]
    st.session_state.pop(TYPED, None)
    return found.rows[place]


def lost() -> bool:
    """Whether the open question went without an answer from here."""
    return st.session_state.get(OPEN) in st.session_state.get(GONE, ()) and HELD in st.session_state


# --- the list ---------------------------------------------------------------------------------


def listing(found: Page[QuestionView], chosen: QuestionView | None) -> None:
    """Draw the questions, newest thread first, and the way to further ones; or that there are none."""
    sheet.sheet(damage(found.damaged), key="inbox_damaged")
    if not found.rows:
        nothing = sheet.empty("No question waits", "When a node asks for something, it is answered here.", icon="done")
        sheet.sheet([nothing], key="inbox_empty")
        return
    frame = pd.DataFrame([cells(question) for question in found.rows])
    rows = [
        {
            "key": question.id,
            "act": "open",
            "value": str(place),
            "tone": "selected" if chosen is not None and key_of(question) == key_of(chosen) else "",
        }
        for place, question in enumerate(found.rows)
    ]
    total = count(found.total, "question") if found.total is not None else f"{len(found.rows)} questions on this page"
    blocks = [
        sheet.bar([sheet.word("Waiting for an answer", "strong"), sheet.gap(), sheet.word(total, "muted")]),
        sheet.table(frame, COLUMNS, label="Questions", rows=rows),
    ]
    sheet.sheet(blocks, key=LIST, on_pick=lambda: pick(found))
    if found.offset or found.more:
        with st.container(horizontal=True, gap="small", key="inbox_pages"):
            st.button("Newer", key="inbox_newer", disabled=not found.offset, on_click=turn, args=(-PAGE,))
            st.button("Older", key="inbox_older", disabled=not found.more, on_click=turn, args=(PAGE,))


def cells(question: QuestionView) -> dict[str, object]:
    """Return a question's cells."""
    return {
        "question": [
            sheet.chip(question.node, "waiting", "waiting"),
            sheet.word(question.prompt or question.payload.text, "under clamp"),
        ],
        "thread": [
            sheet.word(question.thread, "mono"),
            *([sheet.chip(question.branch, icon="fork")] if question.branch else []),
            sheet.word(clock(question.created, date=True), "under"),
        ],
    }


def pick(found: Page[QuestionView]) -> None:
    """Open the question that was clicked."""
    picked = state(LIST).get("picked") or {}
    place = str(picked.get("value"))
    if picked.get("act") == "open" and place.isdecimal() and int(place) < len(found.rows):
        st.session_state[OPEN] = key_of(found.rows[int(place)])


def turn(by: int) -> None:
    """Go one page on or back."""
    st.session_state[OFFSET] = max(0, int(st.session_state.get(OFFSET) or 0) + by)
    st.session_state.pop(OPEN, None)


# --- one question -----------------------------------------------------------------------------


def detail(here: Tab, question: QuestionView) -> None:
    """Draw the question, what answering it does, the input for the answer, and the state it is asked in."""
    visit = visiting(here, question)
    view = here.see(visit.session.checkpoint, question.checkpoint)
    busy = visit.session.progress().busy
    with st.container(key="inbox_question", gap="small"):
        sheet.sheet(blocks(question, view, busy), key="inbox_detail", scope=question.id, stamp=question.id)
        can = visit.session.abilities().answer
        if busy:
            return
        if view is None or not can.allowed:
            sheet.sheet([sheet.note(can.reason or "It cannot be answered here.", "warn")], key="inbox_cannot")
        else:
            answer.form(visit, view, question)
            st.toggle(
                "Run on after answering", value=True, key=answer.RUN_ON, help="Off: run only the superstep that waits"
            )
        debug_button(here, question)
    if view is not None:
        rows = [{"key": entry.key, "value": sheet.node(entry.value)} for entry in view.entries]
        held = sheet.section("State it is asked in", [sheet.tree(rows, depth=0)], count=len(rows))
        sheet.sheet([held], key="inbox_state", scope=question.id)


def visiting(here: Tab, question: QuestionView) -> Visit:
    """Return a look at the question's own checkpoint."""
    session = DebugSession(here.session.workspace, Cursor())
    visit = Visit(session=session, host=here, question=question)
    here.see(session.move, thread=question.thread, checkpoint=question.checkpoint)
    return visit


def blocks(question: QuestionView, view: CheckpointView | None, busy: bool) -> list[sheet.Block]:
    """Return where the question comes from, and the question."""
    where = [
        sheet.word("thread", "label"),
        sheet.word(question.thread, "mono"),
        sheet.word("·", "sep"),
        sheet.word(f"branch {view.branch_name}, superstep {view.step + 1}" if view else "", "muted"),
        sheet.word("·", "sep"),
        sheet.word(f"asked {clock(question.created, date=True)}", "muted"),
    ]
    made = [sheet.bar(where, name="where"), *answer.blocks(question)]
    if busy:
        made.append(sheet.note("Its thread is running. The answer that was given is being used."))
    return made


def debug_button(here: Tab, question: QuestionView) -> None:
    """Draw the way to the question's thread."""
    st.button(
        "Open in Debug",
        key="inbox_debug",
        icon=":material/open_in_new:",
        on_click=open_in_debug,
        args=(here, question),
    )


def open_in_debug(here: Tab, question: QuestionView) -> None:
    """Go to the question on the Debug page."""
    st.session_state["page"] = header.DEBUG
    inspector.show(inspector.TASKS)
    header.open_thread(here, question.thread)
    here.act(here.session.move, checkpoint=question.checkpoint)


# --- what changes meanwhile -------------------------------------------------------------------


def note_gone(found: Page[QuestionView]) -> None:
    """Note which questions went since they were shown here, without an answer from here."""
    now = {key_of(question): question.node for question in found.rows}
    shown: tuple[int, dict[Key, str]] = st.session_state.get(SHOWN) or (found.offset, {})
    went: dict[Key, str] = st.session_state.setdefault(GONE, {})
    answered: set[Key] = st.session_state.setdefault(ANSWERED, set())
    if shown[0] == found.offset and not found.more:
        went.update({key: node for key, node in shown[1].items() if key not in now and key not in answered})
    for key in now:
        went.pop(key, None)
    st.session_state[SHOWN] = (found.offset, now)


def moved_on() -> None:
    """Say which questions went."""
    if went := st.session_state.get(GONE):
        told = "; ".join(f"{node} in {thread}" for (thread, _), node in went.items())
        said = f"No longer waiting: {told}. It was answered elsewhere, or its thread has moved on."
        note = sheet.note(said, "warn", name="moved-on", dismiss=True)
        sheet.sheet([note], key="inbox_moved_on", on_pick=lambda: st.session_state.pop(GONE, None))


def gone(here: Tab, question: QuestionView) -> None:
    """Draw what is left of an open question that went: the way to its thread, and what was typed."""
    typed = st.session_state.setdefault(TYPED, answer.box_text(question)())
    said = (
        f"{question.node} no longer waits: it was answered elsewhere, or its thread has moved on. Nothing was "
        "answered from here. Debug shows what was answered; another answer starts a branch there."
    )
    blocks: list[sheet.Block] = [sheet.note(said, "warn", name="gone")]
    if typed.strip() and question.shape != "form":
        blocks += [sheet.text("What was typed here:", "small"), sheet.pre(typed)]
    sheet.sheet(blocks, key="inbox_gone", scope=question.id)
    debug_button(here, question)
