"""The help dialog: keys, the words used here, and what can change anything."""

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels import dialogs

ASKED = "_help_asked"

KEYS = (
    ("S", "Step: run one superstep; inside a subgraph one of that graph"),
    ("P", "Phase: show the plan, then run the tasks, then fold their results; one at a time"),
    ("G", "Continue to the next question, breakpoint or the end"),
    ("X", "Stop the run; what finished is kept"),
    ("B", "Back to the parent checkpoint; runs nothing"),
    ("I", "Into: the own history of the subgraph that ran here; one that is due is run up to its first superstep"),
    ("O", "Out: back to the task that ran this subgraph"),
    ("A", "Answer what waits"),
    ("F", "Fork: edit the state here and save it as a branch"),
    ("N", "New run"),
    ("H", "This help"),
    ("↑ ↓ Home End", "in the timeline: move through checkpoints"),
)
EXPRESSIONS = (
    ("score, len(topics)", 'A key of the state; state("my key") where its name is no plain word'),
    ('messages[-1]["content"]', "Fields of messages, models and dataclasses, by name in brackets; slices as [1:3]"),
    ("0 < score <= 0.5", "Comparisons, in, not in, is None; and, or, not; a if b else c"),
    ("+ - * / // % **", "Arithmetic, and + * on texts and lists; all of bounded size"),
    ('any(m["type"] == "ai" for m in messages)', "Lists and sets made from others, of bounded size"),
    ('before("score"), changed("score")', "The value in the checkpoint before; whether it differs from it"),
    ('has("score") and score > 1', "Whether a key has a value yet: without, an expression that needs it has none"),
    (
        "len min max sum abs round any all sorted",
        "Functions; also set str int float bool lower keys values type",
    ),
)
"""Documented in docs/expressions.md."""
WORDS = (
    ("superstep", "One round of plan, execute and update. Step runs exactly one."),
    ("checkpoint", "The state after a superstep. Nothing here ever changes or deletes one."),
    ("thread", "The tree of checkpoints of one conversation."),
    ("branch", "A path from the root to a newest checkpoint. Editing or re-running in the past starts one."),
    ("compare", "Two branches or threads side by side. Steps are equal when the same nodes wrote the same."),
    ("task", "One node's run in one superstep; a fan-out has several of the same node."),
    ("channel", "Where a state key's value lives. Its version grows when a write reaches it."),
    ("pending writes", "What finished tasks wrote before the superstep ended. They are not run again."),
    (
        "breakpoint",
        "Where Continue stops: before or after a node, or when a key changes; on a condition, if given. Nodes inside a "
        "subgraph can have one too.",
    ),
    ("watch", "An expression that the timeline shows for every checkpoint."),
    ("reducer", "Combines several writes into one value, in a fixed order."),
    (
        "subgraph",
        "A graph that a node runs, with supersteps and checkpoints of its own. A step inside runs one superstep of it; "
        "what runs beside it stands still. At its end, Step goes on with the graph around it.",
    ),
    ("interrupt", "A node asks for a value. Answering runs that node again from its first line."),
)


def ask() -> None:
    """Open the dialog in the coming rerun."""
    st.session_state[ASKED] = True


def dialog_if_asked() -> None:
    """Draw the dialog when it was asked for."""
    if st.session_state.pop(ASKED, False):
        dialogs.show("Help", content, width="large")


def content() -> None:
    """Draw the dialog's content."""
    blocks = [
        sheet.section("Keys", [_table(KEYS, "Key", "Does")]),
        sheet.section("Words", [_table(WORDS, "Word", "Means")]),
        sheet.section(
            "Expressions",
            [
                sheet.text(
                    "For conditions of breakpoints and for watches. They only read. More is in docs/expressions.md."
                ),
                _table(EXPRESSIONS, "As in", "Means"),
            ],
            folded=True,
        ),
        sheet.section(
            "What changes something",
            [
                sheet.text(
                    "Step, Continue, Answer and Start and run execute node code. Save branch and Start write a "
                    "checkpoint and execute nothing. Everything else only looks. Nothing leaves this machine."
                )
            ],
        ),
    ]
    sheet.sheet(blocks, key="help_sheet")


def _table(rows: tuple[tuple[str, str], ...], left: str, right: str) -> sheet.Block:
    frame = pd.DataFrame(rows, columns=["left", "right"])
    return sheet.table(
        frame,
        [sheet.column("left", left, mono=True, width="24%"), sheet.column("right", right)],
        label=f"{left} and {right}",
    )
