"""The Compare page: two branches or threads side by side, why they part, and how their states differ.

Rule: nothing here runs or writes anything; every step is a way to its checkpoint on the Debug page.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from debugger_ui.components import picker as pick
from debugger_ui.components import sheet
from debugger_ui.components.text import count, visible
from debugger_ui.components.timeline import SOURCE, grouped
from debugger_ui.panels import compare_choice, header
from debugger_ui.panels.compare_choice import SIDES, Choice, chosen
from debugger_ui.panels.tab import Tab, state
from debugger_ui.panels.words import status_chip
from debugger_ui.session.problems import SessionError
from debugger_ui.session.views import CompareRow, Comparison, DiffView, Side, SideView, StepView

ROWS = 200
OTHERS = 6
SPLIT = (1.15, 1)
LANES, STATES, TOP = "compare_lanes", "compare_states", "compare_top"
WORDS = {"removed": "only left", "added": "only right", "changed": "differs", "moved": "moved"}
WHY_EMPTY = "Choose another thread or branch on one of the sides."


def page(here: Tab) -> None:
    """Draw the page."""
    with st.container(key="compare_page"):
        choice = compare_choice.current(here)
        if choice is None:
            nothing = "Press New run to give a graph its input; two threads, or two branches of one, can be compared."
            blank(sheet.empty("No thread yet", nothing, icon="input"))
        else:
            pickers(here, choice)
            body(here, choice)
    compare_choice.write_url()


def blank(block: sheet.Block) -> None:
    """Draw an empty state in place of the comparison."""
    with st.container(key="compare_blank"):
        sheet.sheet([block], key="compare_empty", fill=True)


def body(here: Tab, choice: Choice) -> None:
    """Draw the comparison, or why there is none."""
    try:
        found = here.session.compare(choice.left, choice.right, limit=ROWS + chosen().rows)
    except SessionError as error:
        blank(sheet.empty("This cannot be compared", error.problem.message))
        return
    if found.same:
        alone = found.left.side.thread == found.right.side.thread and len(here.session.branches_of(choice.left)) < 2
        said = f"{compare_choice.ONE_BRANCH} Or choose another thread on one of the sides." if alone else WHY_EMPTY
        blank(sheet.empty("One branch only" if alone else "The same on both sides", said, icon="branch"))
        return
    sheet.sheet(top(here, choice, found), key=TOP, on_pick=lambda: other_branch(choice))
    left, right = st.columns(SPLIT, gap="small")
    pair = chosen_pair(choice, found)
    with left, st.container(key="compare_left"):
        lanes(here, choice, found, pair)
    with right, st.container(key="compare_right"):
        states(here, choice, found, pair)


# --- the choice -------------------------------------------------------------------------------


def pickers(here: Tab, choice: Choice) -> None:
    """Draw the choice of both sides, and the button that swaps them."""
    found = here.see(here.recall, "threads", lambda: here.session.threads(limit=header.PICKER_ROWS))
    labels = {row.id: header.thread_label(row.id, row) for row in found.rows} if found else {}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare_pickers"):
        side_pickers(here, choice, "left", labels)
        st.button(
            "Swap",
            key="compare_swap",
            icon=":material/swap_horiz:",
            on_click=lambda: chosen().choose(choice.swapped()),
        )
        side_pickers(here, choice, "right", labels)


def side_pickers(here: Tab, choice: Choice, name: str, labels: dict[str, str]) -> None:
    """Draw the choice of a thread and a branch for one side."""
    side = choice.left if name == "left" else choice.right
    threads = labels if side.thread in labels else {side.thread: header.thread_label(side.thread, None), **labels}
    of_thread = pick.Choice(list(threads.items()), side.thread, f"Thread on the {name}")
    key = f"compare_{name}_thread"
    pick.picker(of_thread, key=key, width="stretch", on_pick=lambda: pick_thread(choice, name))
    try:
        branches = here.session.branches_of(side)
    except SessionError:
        branches = ()
    of_branch = pick.Choice(
        [(branch.id, visible(branch.name, 60)) for branch in branches],
        next((branch.id for branch in branches if branch.current), None),
        f"Branch on the {name}",
        placeholder="No branch",
    )
    key = f"compare_{name}_branch"
    pick.picker(of_branch, key=key, width=170, on_pick=lambda: pick_branch(choice, name))


def pick_thread(choice: Choice, name: str) -> None:
    """Compare the newest branch of the chosen thread."""
    picked = (state(f"compare_{name}_thread").get("picked") or {}).get("value")
    if picked:
        chosen().choose(choice.with_side(name, Side(str(picked))))


def pick_branch(choice: Choice, name: str) -> None:
    """Compare the chosen branch, up to its head."""
    picked = (state(f"compare_{name}_branch").get("picked") or {}).get("value")
    side = choice.left if name == "left" else choice.right
    if picked:
        chosen().choose(choice.with_side(name, replace(compare_choice.whole(side), branch=str(picked))))


# --- the sentence -----------------------------------------------------------------------------


def top(here: Tab, choice: Choice, found: Comparison) -> list[sheet.Block]:
    """Return the sentence, and the branches that can be compared instead with one click."""
    tone = "info" if found.divergence else "ok"
    blocks = [sheet.note(found.sentence, tone, name="sentence")]
    sides = {(found.left.side.thread, found.left.side.branch), (found.right.side.thread, found.right.side.branch)}
    thread = found.left.side.thread
    branches = here.see(here.session.branches_of, found.left.side) or ()
    others = [branch for branch in branches if (thread, branch.id) not in sides and not branch.hidden]
    if others:
        items = [sheet.word(f"Compare {found.left.branch_name} with", "label")]
        items += [sheet.chip(branch.name, act="other", value=branch.id) for branch in others[-OTHERS:]]
        blocks.append(sheet.bar(items, name="others"))
    return blocks


def other_branch(choice: Choice) -> None:
    """Compare the left side with another branch of its thread."""
    picked = state(TOP).get("picked") or {}
    if picked.get("act") == "other":
        other = replace(compare_choice.whole(choice.left), branch=str(picked.get("value")))
        chosen().choose(choice.with_side("right", other))


# --- the lanes --------------------------------------------------------------------------------


def chosen_pair(choice: Choice, found: Comparison) -> tuple[str, str]:
    """Return the checkpoints whose states are compared: the chosen pair, or the ends of the sides."""
    ends = found.left.side.checkpoint, found.right.side.checkpoint
    return choice.pair if all(choice.pair) else ends


def lanes(here: Tab, choice: Choice, found: Comparison, pair: tuple[str, str]) -> None:
    """Draw the aligned steps, and the button for further ones."""
    columns = [sheet.column(name, view.name, width="50%") for name, view in zip(SIDES, sides(found), strict=True)]
    extras = [extra(row, at, pair) for row, at in zip(found.rows, aligned(found.rows), strict=True)]
    frame = pd.DataFrame([standing(found), *(cells(row) for row in found.rows)], columns=list(SIDES))
    blocks = [sheet.table(frame, columns, label="Steps side by side", rows=[{"key": "sides"}, *extras])]
    if found.more:
        blocks.append(sheet.text(f"{count(found.more, 'further step')} not shown.", "small"))
    sheet.sheet(blocks, key=LANES, stamp=json.dumps(pair), on_pick=lambda: pick_row(here, choice, found))
    if found.more:
        st.button("Show more", key="compare_more", on_click=show_more)


def sides(found: Comparison) -> tuple[SideView, SideView]:
    """Return both sides."""
    return found.left, found.right


def standing(found: Comparison) -> dict[str, list[sheet.Item]]:
    """Return how the sides stand at their ends."""
    return {
        name: [status_chip(view.status), sheet.word(count(view.checkpoints, "checkpoint"), "muted")]
        for name, view in zip(SIDES, sides(found), strict=True)
    }


def aligned(rows: Sequence[CompareRow]) -> list[tuple[str, str]]:
    """Return for each row the checkpoints that it stands for: on a side without a step the last one before."""
    found: list[tuple[str, str]] = []
    last = ["", ""]
    for row in rows:
        for side, step in enumerate((row.left, row.right)):
            last[side] = step.checkpoint if step else last[side]
        found.append((last[0], last[1]))
    return found


def cells(row: CompareRow) -> dict[str, object]:
    """Return a row's cells; shared checkpoints have one for both sides."""
    if row.kind == "shared" and row.left is not None:
        shared = sheet.chip(count(row.count, "shared checkpoint"), "", "branch")
        return {
            "left": [shared, jump(row.left, "left"), sheet.word(span(row.begins[0], row.left), "under")],
            "right": [],
        }
    return {"left": one_side(row, row.left, "left"), "right": one_side(row, row.right, "right")}


def one_side(row: CompareRow, step: StepView | None, side: str) -> list[sheet.Item]:
    """Return the content of one side's cell."""
    if step is None:
        return []
    if row.kind == "equal":
        begin = row.begins[SIDES.index(side)]
        equal = [sheet.chip(count(row.count, "equal step"), "done", "done")] if side == "left" else []
        return [*equal, jump(step, side), sheet.word(span(begin, step), "under")]
    items: list[sheet.Item] = [sheet.word(signed(step.step), "mono muted"), jump(step, side)]
    if row.kind == "replay":
        return [*items, sheet.chip("run again from here", "", "fork")]
    if step.source == "update" and step.nodes:
        items.append(sheet.chip("edit", "edit", "edited"))
    if row.parts and (side == "left" or row.left is None):
        items.append(sheet.chip("parts here", "warn", "fork"))
    return [*items, sheet.word(", ".join(step.changed) or "no state key changed", "under")]


def span(begin: int | None, step: StepView) -> str:
    """Return the supersteps of folded steps."""
    if begin is None or begin == step.step:
        return f"superstep {signed(step.step)}"
    return f"supersteps {signed(begin)} to {signed(step.step)}"


def signed(number: int) -> str:
    """Return the number of a superstep."""
    return str(number).replace("-", "\N{MINUS SIGN}")


def jump(step: StepView, side: str) -> sheet.Item:
    """Return the way to a step's checkpoint on the Debug page."""
    title = grouped(step.nodes) or SOURCE.get(step.source, step.source)
    value = json.dumps([side, step.checkpoint])
    return sheet.word(title, "strong", act="open", value=value, title=f"Open {step.checkpoint} on the Debug page")


def extra(row: CompareRow, at: tuple[str, str], pair: tuple[str, str]) -> dict[str, object]:
    """Return a row's mark, what a click on it does, and whether its first cell goes across."""
    made: dict[str, object] = {"key": "|".join(at), "span": row.kind == "shared"}
    if all(at):
        made |= {"act": "pair", "value": json.dumps(at)}
    alike = row.kind in ("shared", "equal")
    tones = ["selected" if at == pair else "", "parts" if row.parts else "", "alike" if alike else ""]
    return made | {"tone": " ".join(filter(None, tones))}


def pick_row(here: Tab, choice: Choice, found: Comparison) -> None:
    """Open the checkpoint that was clicked in Debug, or compare the states of the row that was."""
    picked = state(LANES).get("picked") or {}
    act, value = picked.get("act"), json.loads(str(picked.get("value") or "null"))
    if act == "pair":
        more = chosen().rows
        chosen().choose(replace(choice, pair=(value[0], value[1])))
        chosen().rows = more
    elif act == "open":
        side = found.left.side if value[0] == "left" else found.right.side
        open_in_debug(here, side, value[1])


def open_in_debug(here: Tab, side: Side, checkpoint: str) -> None:
    """Go to a side's checkpoint on the Debug page."""
    place = {"thread": side.thread, "namespace": side.namespace, "branch": side.branch, "checkpoint": checkpoint}
    graph = {"graph": side.graph} if side.graph else {}
    if here.act(here.session.move, **graph, **place) is not None:
        here.node = ""
        st.session_state["page"] = header.DEBUG


def show_more() -> None:
    """Show as many rows again."""
    chosen().rows += ROWS


# --- the states -------------------------------------------------------------------------------


def states(here: Tab, choice: Choice, found: Comparison, pair: tuple[str, str]) -> None:
    """Draw what differs between the states of the chosen pair."""
    left, right = (replace(v.side, branch="", checkpoint=at) for v, at in zip(sides(found), pair, strict=True))
    try:
        blocks = state_blocks(here.session.compare_states(left, right), found)
    except SessionError as error:
        blocks = [sheet.empty("These states cannot be compared", error.problem.message)]
    at = "|".join(pair)
    head = state_head(found, pair)
    sheet.sheet([head, *blocks], key=STATES, scope=at, stamp=at, on_pick=lambda: chosen().choose(ends_of(choice)))


def ends_of(choice: Choice) -> Choice:
    """Return the choice with the states at the ends."""
    return replace(choice, pair=("", ""))


def state_head(found: Comparison, pair: tuple[str, str]) -> sheet.Block:
    """Return whose states are compared."""
    ends = found.left.side.checkpoint, found.right.side.checkpoint
    steps = {step.checkpoint: step.step for row in found.rows for step in (row.left, row.right) if step is not None} | {
        view.side.checkpoint: view.step for view in sides(found)
    }
    items: list[sheet.Item | None] = [sheet.word("State", "strong")]
    if pair == ends:
        items.append(sheet.word("at the ends of both sides", "muted"))
    else:
        said = [f"superstep {steps.get(at, '?')} of {view.name}" for at, view in zip(pair, sides(found), strict=True)]
        items += [sheet.word(" and ".join(said), "muted wrap"), sheet.gap()]
        items.append(sheet.word("at the ends", "button", act="ends", value=""))
    return sheet.bar(items, name="state_head")


def state_blocks(diff: DiffView, found: Comparison) -> list[sheet.Block]:
    """Return the differences as a table, and what is equal."""
    equal = [sheet.text("Equal: " + ", ".join(diff.unchanged), "small")] if diff.unchanged else []
    if not diff.entries:
        return [sheet.empty("Same state", "Every state key has the same value on both sides.", icon="done"), *equal]
    columns = [
        sheet.column("path", "Where", mono=True, width="30%"),
        sheet.column("before", found.left.name, width="35%"),
        sheet.column("after", found.right.name, width="35%"),
    ]
    frame = pd.DataFrame(
        [
            {
                "path": [sheet.chip(WORDS[entry.op], entry.op), sheet.word(entry.label, "mono")],
                "before": [sheet.value_item(entry.before)],
                "after": [sheet.value_item(entry.after)],
            }
            for entry in diff.entries
        ]
    )
    rows = [{"key": entry.label, "tone": entry.op} for entry in diff.entries]
    more = [sheet.text(f"{diff.truncated} more differences are not shown.", "small")] if diff.truncated else []
    return [sheet.table(frame, columns, label="Differences of the states", rows=rows), *more, *equal]
