"""Where two sides part, and the one sentence about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from debugger_ui.engines.contents import Write
from debugger_ui.session.align import signature
from debugger_ui.session.render import BRIEF, view
from debugger_ui.session.text import literal
from debugger_ui.session.view_compare import Divergence, PartKind, StepView
from debugger_ui.session.view_values import ThreadStatus
from debugger_ui.session.written import Written, routes, values_by_key, written_differently

FEW = 3
"""Names that are told; further ones are counted."""
SHORT = 40
"""Longest value that the sentence quotes."""
PLAIN = ("null", "bool", "int", "float", "str", "enum", "datetime")
ENDS: dict[ThreadStatus, str] = {
    "waiting": "waits for an answer",
    "failed": "has failed",
    "done": "is finished",
    "ready": "has not gone on",
    "running": "is running",
    "empty": "is empty",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """A side's name, and how it ends."""

    name: str
    status: ThreadStatus
    head: bool


@dataclass(frozen=True, slots=True)
class Parted:
    """The first divergence with what both sides wrote there."""

    divergence: Divergence
    left: Sequence[Write] = ()
    right: Sequence[Write] = ()


def part(left: StepView | None, right: StepView | None, written: Written) -> Parted | None:
    """Return the divergence at the next steps of the two sides; None when there is none on either."""
    if left is None and right is None:
        return None
    if left is None or right is None:
        return Parted(Divergence("ends", left, right))
    if signature(left) != signature(right):
        return Parted(Divergence("edit" if "update" in (left.source, right.source) else "tasks", left, right))
    mine, theirs = written.of(0, left.checkpoint), written.of(1, right.checkpoint)
    keys = written_differently(mine, theirs)
    kinds: dict[str, PartKind] = {"input": "input", "update": "edit"}
    kind = kinds.get(left.source, "writes" if keys else "routes")
    return Parted(Divergence(kind, left, right, keys), mine, theirs)


def sentence(shared: int, equal: int, ends: Sequence[Ending], parted: Parted | None, *, same: bool) -> str:
    """Return what the sides have in common, where they part, and the cause."""
    if same:
        return "Both sides are the same checkpoint."
    if parted is None:
        made = _lead(shared, equal) if shared else f"Both made the same {_count(equal, 'step')}."
        return f"{made} Nothing differs."
    return " ".join(filter(None, [_lead(shared, equal), f"{_where(parted.divergence, ends)}: {_cause(parted, ends)}."]))


def _lead(shared: int, equal: int) -> str:
    common = f"Both share {_count(shared, 'checkpoint')}" if shared else ""
    if not equal:
        return f"{common}." if common else ""
    same = _count(equal, "equal step")
    return f"{common}, then come {same}." if common else f"Both begin with {same}."


def _where(parted: Divergence, ends: Sequence[Ending]) -> str:
    left, right = parted.left, parted.right
    if parted.kind == "input" and left and right and left.step == right.step == -1:
        return "They part at the input"
    known = left or right
    if left and right and left.step != right.step:
        return f"They part at superstep {left.step} of {ends[0].name} and {right.step} of {ends[1].name}"
    return f"At superstep {known.step if known else ''} they part"


def _cause(parted: Parted, ends: Sequence[Ending]) -> str:
    found = parted.divergence
    if not found.left or not found.right or signature(found.left) != signature(found.right):
        said = (_did(step, end) for step, end in zip((found.left, found.right), ends, strict=True))
        return "; ".join(said)
    values = _values(parted, ends)
    only = _own_keys(parted)
    what = _names(found.keys, "key")
    if found.kind == "input":
        return f"the inputs differ in {what}{values}" if found.keys else "the inputs differ"
    nodes = _names(tuple(dict.fromkeys(found.left.nodes)), "node")
    if found.kind == "edit":
        by = f" by {nodes}" if nodes else ""
        return f"both have an edit{by}, and each sets a different {what}{values}" if what else f"both edits{by} differ"
    several = len(set(found.left.nodes)) > 1
    actor = f"the same {'nodes' if several else 'node'} {nodes}" if nodes else "the same step"
    if found.kind == "routes":
        goals = [_names(routes(writes), "node") or "nowhere" for writes in (parted.left, parted.right)]
        if goals[0] == goals[1]:
            return f"{actor} sent different values on to {goals[0]}"
        return f"{actor} led on to {goals[0]} in {ends[0].name} and to {goals[1]} in {ends[1].name}"
    if all(only):
        return (
            f"{actor} wrote {_names(only[0], 'key')} in {ends[0].name} and {_names(only[1], 'key')} in {ends[1].name}"
        )
    return f"{actor} wrote {'different' if len(found.keys) > 1 else 'a different'} {what}{values}"


def _did(step: StepView | None, end: Ending) -> str:
    """Return what a side did at the parting, in the words after its name."""
    if step is None:
        return f"{end.name} {ENDS[end.status] if end.head else 'ends there'}"
    if step.source == "update":
        by = f" by {_names(step.nodes, 'node')}" if step.nodes else ""
        what = f" that set {_names(step.changed, 'key')}" if step.changed else ""
        return f"{end.name} has an edit{by}{what}"
    if step.source == "input":
        return f"{end.name} got an input"
    if step.source == "fork" and not step.nodes:
        return f"{end.name} was run again from there"
    return f"{end.name} ran {_names(step.nodes, 'node')}" if step.nodes else f"{end.name} took its input in"


def _own_keys(parted: Parted) -> tuple[tuple[str, ...], ...]:
    """Return what only the left and what only the right side wrote to; empty where both wrote to a key differently."""
    one, other = values_by_key(parted.left), values_by_key(parted.right)
    keys = parted.divergence.keys
    if any(key in one and key in other for key in keys):
        return ((), ())
    return tuple(key for key in keys if key in one), tuple(key for key in keys if key in other)


def _values(parted: Parted, ends: Sequence[Ending]) -> str:
    """Return what each side wrote, in brackets, where that is one short value."""
    keys = parted.divergence.keys
    if len(keys) != 1:
        return ""
    shown = []
    for writes, end in zip((parted.left, parted.right), ends, strict=True):
        found = values_by_key(writes).get(keys[0], [])
        if len(found) != 1:
            return ""
        value = view(found[0], BRIEF)
        text = f"“{value.text}”" if value.kind == "str" else value.text
        if value.kind not in PLAIN or len(text) > SHORT:
            return ""
        shown.append(f"{text} in {end.name}")
    return f" ({', '.join(shown)})"


def _names(names: Sequence[str], noun: str) -> str:
    """Return a few names as text, and how many there are besides."""
    shown = [literal(name)[:SHORT] for name in names[:FEW]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {_count(more, f'more {noun}')}" if more else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else noun + 's'}"
