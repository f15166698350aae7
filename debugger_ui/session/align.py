"""Aligns two lines of steps: equal ones as long as they are, then by the nodes that ran.

Rules:
- Pure: whether two steps are the same is asked in batches, of as few as it takes.
- Symmetric: swapping the sides swaps the pairs and changes nothing else.
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from debugger_ui.session.view_compare import StepView

BY_NODES = 200
"""Longer rests are aligned one by one: aligning them by their nodes takes quadratic time."""
FIRST, MOST = 32, 1_024
"""Steps asked about at a time: few at first, since most branches part at once."""

Same = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""Whether the steps that made the checkpoints of each pair are the same; may stop after the first that is not."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two steps side by side, or one with nothing beside it."""

    left: StepView | None
    right: StepView | None
    equal: bool = False


def alike(left: StepView, right: StepView) -> bool:
    """Whether two steps came about in the same way, as far as is known without values."""
    return signature(left) == signature(right) and set(left.changed) == set(right.changed)


def signature(step: StepView) -> tuple[str, ...]:
    """Return what steps are aligned by: their source and their nodes."""
    return (step.source, *sorted(step.nodes))


def common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many ids two paths from a root share."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def equal_steps(left: Sequence[str], right: Sequence[str], same: Same) -> int:
    """Return how many steps from the first on are the same on both sides."""
    both, at, size = min(len(left), len(right)), 0, FIRST
    while at < both:
        found = list(same(list(zip(left[at : at + size], right[at : at + size], strict=False))))
        if not all(found):
            return at + found.index(False)
        at += len(found)
        size = min(MOST, size * 2)
    return at


def align_rest(left: Sequence[StepView], right: Sequence[StepView], same: Same, *, by_nodes: bool) -> list[Pair]:
    """Return the pairs from the parting on, where the first steps differ: by their nodes, or one by one."""
    if not by_nodes:
        pairs = list(zip_longest(left, right))
    elif left and right and signature(left[0]) == signature(right[0]):
        pairs = [(left[0], right[0]), *_by_nodes(left[1:], right[1:])]
    else:
        pairs = list(_by_nodes(left, right))
    asked = [(a.checkpoint, b.checkpoint) for a, b in pairs[1:] if a and b and alike(a, b)]
    equal = {pair for pair, yes in zip(asked, same(asked), strict=True) if yes}
    return [Pair(a, b, a is not None and b is not None and (a.checkpoint, b.checkpoint) in equal) for a, b in pairs]


def _by_nodes(left: Sequence[StepView], right: Sequence[StepView]) -> Iterator[tuple[StepView | None, StepView | None]]:
    one, other = [signature(step) for step in left], [signature(step) for step in right]
    # The matcher treats its two sides differently; in a fixed order the result is the same both ways.
    swapped = other < one
    matcher = difflib.SequenceMatcher(None, *((other, one) if swapped else (one, other)), autojunk=False)
    for _, *bounds in matcher.get_opcodes():
        i1, i2, j1, j2 = (*bounds[2:], *bounds[:2]) if swapped else bounds
        yield from zip_longest(left[i1:i2], right[j1:j2])
