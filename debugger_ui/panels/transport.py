"""The transport: move the cursor, run, stop; and the watch that follows a run.

Rule: the session starts at most one run per thread, so a second click of the same button is refused
there, not here; the buttons are greyed only to say so beforehand.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.components.text import count, markdown
from debugger_ui.components.timeline import grouped
from debugger_ui.panels import breakpoints, inspector, live, nested, superstep
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import Abilities, Ability, CheckpointView, Nesting, RunProgress


@dataclass(frozen=True, slots=True)
class Control:
    """A button of the transport; the shortcut is a letter, since arrow keys belong to the lists."""

    label: str
    icon: str
    shortcut: str | None = None
    help: str = ""
    """What it does, where its label alone does not tell."""


FIRST = Control("First", "first_page")
BACK = Control("Back", "chevron_left", "B")
STEP = Control("Step", "skip_next", "S")
PHASE = Control("Phase", "table_rows_narrow", "P")
CONTINUE = Control("Continue", "play_arrow", "G")
PAUSE = Control("Pause", "pause", "G")
STOP = Control("Stop", "stop", "X")
LAST = Control("Last", "last_page")
INTO = Control("Into", "login", "I", "Step into the subgraph that ran here")
RUN_INTO = replace(INTO, help="Run the subgraph that is due here up to its first superstep, and go inside")
OUT = Control("Out", "logout", "O", "Step out to the task that ran this subgraph")
FORK = Control("Fork", "fork_right", "F")
ANSWER = Control("Answer", "reply", "A")


def transport(here: Tab, progress: RunProgress, view: CheckpointView | None) -> None:
    """Draw the row of buttons and what the run is doing."""
    session, can, busy = here.session, here.session.abilities(), progress.busy
    shown = view.id if view is not None else ""
    at_root = Ability(view is not None and bool(view.parent), "This is the first checkpoint.")
    at_head = Ability(view is not None and not view.head, "This is the newest checkpoint of the branch.")
    running = Ability(busy, "Nothing is running.")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="transport"):
        button(here, FIRST, session.first, at_root)
        button(here, BACK, session.back, at_root)
        button(here, STEP, lambda: session.step(shown), idle(can.step, busy), main=not waits(view))
        button(here, PHASE, lambda: phase(here, view), idle(phases(here, view), busy))
        if busy:
            button(here, PAUSE, session.pause, pausable(progress))
        else:
            button(here, CONTINUE, lambda: session.proceed(shown), can.run)
        button(here, STOP, session.stop, running)
        button(here, LAST, session.last, at_head)
        inwards = RUN_INTO if nested.begins(here.nesting) else INTO
        button(here, inwards, lambda: into(here), nested.way_in(here.nesting, idle(can.step, busy)))
        button(here, OUT, lambda: nested.out(here), nested.way_out(here.nesting))
        st.space("small")
        button(here, FORK, lambda: inspector.show(inspector.EDIT), can.edit)
        button(here, ANSWER, lambda: inspector.show(inspector.TASKS), answerable(can, view), main=waits(view))
        breakpoints.popover(here)
        with st.container(key="progress_line"):
            live.watch(here, lambda now: sheet.line(activity(now, view, here.nesting), key="activity", height=32))


def button(here: Tab, control: Control, action: Callable[[], object], ability: Ability, *, main: bool = False) -> None:
    """Draw one button; when it cannot be pressed its help says why."""
    st.button(
        control.label,
        key=f"do_{control.label.lower()}",
        icon=f":material/{control.icon}:",
        shortcut=control.shortcut,
        type="primary" if main and ability.allowed else "secondary",
        disabled=not ability.allowed,
        help=markdown(control.help if ability.allowed else ability.reason, 400) or None,
        on_click=here.act,
        args=(action,),
    )


def idle(ability: Ability, busy: bool) -> Ability:
    """Return the ability, or why not while a run holds the thread."""
    return Ability(False, "A run is going on in this thread.") if busy else ability


def pausable(progress: RunProgress) -> Ability:
    """Return whether the run can be told to hold after its superstep, and why not."""
    if progress.state == "pausing":
        return Ability(False, "It pauses after this superstep.")
    if progress.state == "stopping":
        return Ability(False, "It is being stopped.")
    if progress.verb in ("step", "execute", "supply", "update"):
        return Ability(False, "It ends with this superstep anyway. Stop gives it up.")
    return Ability(True)


def waits(view: CheckpointView | None) -> bool:
    """Whether a question is pending at the cursor."""
    return view is not None and bool(view.questions)


def answerable(can: Abilities, view: CheckpointView | None) -> Ability:
    """Return whether there is something to answer here."""
    return can.answer if waits(view) else Ability(False, "No question is pending at this checkpoint.")


def into(here: Tab) -> None:
    """Step into the subgraph that is meant, or run into it; of several, the tasks show which there are."""
    if here.nesting is not None and nested.begins(here.nesting):
        if len(here.nesting.ahead) == 1:
            nested.begin(here)
        else:
            inspector.show(inspector.TASKS)
            here.notice = "Several subgraphs are about to run here; run into one of them in Tasks."
        return
    if here.nesting is not None and not here.nesting.into.allowed:
        inspector.show(inspector.TASKS)
        here.notice = here.nesting.into.reason
        return
    nested.enter(here)


def phases(here: Tab, view: CheckpointView | None) -> Ability:
    """Return whether one phase of the superstep can be done here."""
    next_one = superstep.now(here, view)
    return Ability(next_one.allowed, next_one.reason)


def phase(here: Tab, view: CheckpointView | None) -> None:
    """Show the superstep, and do its next phase."""
    inspector.show(inspector.SUPERSTEP)
    if view is not None:
        superstep.advance(here, view)


def working(progress: RunProgress) -> sheet.Block:
    """Return what the run does now: which superstep, which tasks and for how long, how far it has come."""
    verb = {"pausing": "pausing after this superstep", "stopping": "stopping"}.get(progress.state, "running")
    number = f"superstep {progress.superstep}" if progress.superstep is not None else ""
    longest: dict[str, float] = {}
    for task in progress.tasks:
        longest.setdefault(task.name, task.elapsed)
    names = [task.name for task in progress.tasks]
    each = [f"{grouped((name,) * names.count(name))} {lasting(passed)}" for name, passed in longest.items()]
    told = ", ".join(each) or "between two tasks"
    done = f"{count(progress.steps, 'superstep')} done" if progress.verb not in ("step", "execute", "supply") else ""
    return sheet.bar(
        [
            sheet.chip(verb, "running" if verb == "running" else "warn", "running", title=number, name="verb"),
            sheet.word(number, "muted", name="spare") if number else None,
            sheet.word(told, "strong", title=told, name="tasks"),
            sheet.word(done, "muted", name="spare") if done else None,
            sheet.word(lasting(progress.elapsed), "muted", title=done, name="elapsed"),
        ],
        name="activity",
    )


def lasting(milliseconds: float) -> str:
    """Return for how long something has been going on, in whole seconds: `3 s`, `1:05`."""
    seconds = int(milliseconds / 1000)
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60}:{seconds % 60:02d}"


def activity(progress: RunProgress, view: CheckpointView | None, nesting: Nesting | None = None) -> sheet.Block:
    """Return what is running, or what comes next, in one line."""
    if progress.busy:
        return working(progress)
    if view is None:
        return sheet.bar([], name="activity")
    if stopped := breakpoints.stopped(progress, view.id):
        return stopped
    if view.questions:
        return sheet.bar(
            [sheet.word(view.questions[0].prompt, "muted", title=view.questions[0].prompt)], name="activity"
        )
    if view.next and nesting is not None and nesting.effect:
        return sheet.bar([sheet.word(nesting.effect, "muted", title=nesting.effect)], name="activity")
    if view.next:
        return sheet.bar(
            [sheet.word("Step runs", "muted", name="lead"), sheet.word(grouped(view.next), "strong")], name="activity"
        )
    if view.tasks and not view.next and view.status != "done":
        return sheet.bar(
            [sheet.word("All results are in. Step folds them into the channels.", "muted")], name="activity"
        )
    over = "Nothing is left to run here."
    if nesting is not None and nesting.out.allowed:
        over = nesting.effect or "The subgraph has come to its end here. Out leads to its task."
    return sheet.bar([sheet.word(over, "muted", title=over)], name="activity")
