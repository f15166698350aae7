"""The rows of a comparison: runs of equal steps folded, copies of a parent beside the step that follows them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from debugger_ui.engines.base import Header
from debugger_ui.session.align import Pair
from debugger_ui.session.view_compare import CompareRow, RowKind, StepView
from debugger_ui.session.written import Written


class Line:
    """A side's checkpoints after the shared ones, oldest first, without those that only copy their parent.

    Such a copy is what a run from an older checkpoint begins with: no step, and nothing to compare.
    """

    def __init__(self, ids: Sequence[str], headers: Mapping[str, Header]) -> None:
        self.ids: list[str] = []
        self.copies: dict[str, list[str]] = {}
        """Copies by the checkpoint before which they stand; those at the end under ""."""
        waiting: list[str] = []
        for id_ in ids:
            if headers[id_].source == "fork":
                waiting.append(id_)
                continue
            self.ids.append(id_)
            if waiting:
                self.copies[id_], waiting = waiting, []
        if waiting:
            self.copies[""] = waiting


class Rows:
    """Makes rows out of what was aligned."""

    def __init__(self, written: Written, lines: Sequence[Line]) -> None:
        self.written = written
        self.lines = lines

    def shared(self, ids: Sequence[str]) -> Iterator[CompareRow]:
        """Yield the row of the common ancestors."""
        if ids:
            first, last = self.written.steps(0, [ids[0], ids[-1]])
            yield CompareRow("shared", last, last, len(ids), (first.step, first.step))

    def equal(self, count: int) -> Iterator[CompareRow]:
        """Yield the rows of the equal steps before the sides part."""
        begin = 0
        lefts, rights = (line.ids[:count] for line in self.lines)
        for place in range(count):
            copies = list(self._copies(lefts[place], rights[place]))
            if copies and place > begin:
                yield self._folded(begin, place)
                begin = place
            yield from copies
        if count > begin:
            yield self._folded(begin, count)

    def rest(self, pairs: Sequence[Pair], *, whole: bool) -> Iterator[CompareRow]:
        """Yield the rows from the parting on; `whole` if nothing follows them."""
        run: list[Pair] = []
        for place, pair in enumerate(pairs):
            copies = list(self._copies(_id(pair.left), _id(pair.right)))
            if run and (copies or not pair.equal):
                yield _run(run)
                run = []
            yield from copies
            if pair.equal:
                run.append(pair)
            else:
                yield CompareRow(_kind(pair), pair.left, pair.right, begins=_steps(pair), parts=not place)
        if run:
            yield _run(run)
        if whole:
            yield from self._copies("", "")

    def _folded(self, begin: int, end: int) -> CompareRow:
        firsts, lasts = (
            [self.written.step(side, line.ids[place]) for side, line in enumerate(self.lines)]
            for place in (begin, end - 1)
        )
        return CompareRow("equal", lasts[0], lasts[1], end - begin, (firsts[0].step, firsts[1].step))

    def _copies(self, left: str | None, right: str | None) -> Iterator[CompareRow]:
        lines = [
            [self.written.step(side, copy) for copy in self.lines[side].copies.get(id_, ())] if id_ is not None else []
            for side, id_ in enumerate((left, right))
        ]
        for one, other in zip_longest(*lines):
            yield CompareRow("replay", one, other, begins=_steps(Pair(one, other)))


def _run(pairs: Sequence[Pair]) -> CompareRow:
    return CompareRow("equal", pairs[-1].left, pairs[-1].right, len(pairs), _steps(pairs[0]))


def _steps(pair: Pair) -> tuple[int | None, int | None]:
    return pair.left.step if pair.left else None, pair.right.step if pair.right else None


def _id(step: StepView | None) -> str | None:
    return step.checkpoint if step else None


def _kind(pair: Pair) -> RowKind:
    if pair.left is None:
        return "right"
    return "left" if pair.right is None else "differs"
