"""What differs between two states. Records in lists are matched by id, else by content, not by index."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from debugger_ui.engines.base import MISSING
from debugger_ui.session.codec import identity
from debugger_ui.session.render import BRIEF, view
from debugger_ui.session.shape import items_of, kind_of, ordered, safe_repr, type_name
from debugger_ui.session.text import literal, path_label
from debugger_ui.session.view_analysis import DiffEntry, DiffView
from debugger_ui.session.view_values import Op, Path

MAX_ENTRIES = 400
MAX_DEPTH = 12
ALIGN = 400
"""Longer lists without ids are compared by index only: aligning them takes quadratic time."""

Writers = Callable[[str], tuple[str, ...]]


def diff_states(
    before: Mapping[str, Any], after: Mapping[str, Any], ids: tuple[str, str], writers: Writers
) -> DiffView:
    """Return the differences from one state to another."""
    walker = _Walker()
    unchanged: list[str] = []
    for key in dict.fromkeys([*before, *after]):
        count = len(walker.found)
        walker.compare(before.get(key, MISSING), after.get(key, MISSING), (key,), (key,), 0)
        if len(walker.found) == count and walker.skipped == 0:
            unchanged.append(key)
    return DiffView(
        before=ids[0],
        after=ids[1],
        entries=tuple(_entry(found, writers) for found in walker.found),
        unchanged=tuple(unchanged),
        truncated=walker.skipped,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    shown: Path
    op: Op
    before: Any
    after: Any


def _entry(found: _Found, writers: Writers) -> DiffEntry:
    return DiffEntry(
        path=found.path,
        label=path_label(found.shown),
        op=found.op,
        before=None if found.before is MISSING else view(found.before, BRIEF, found.path),
        after=None if found.after is MISSING else view(found.after, BRIEF, found.path),
        writers=writers(str(found.path[0])),
    )


class _Walker:
    """Collects differences. `shown` is a path as people read it, with ids where records have them."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self.skipped = 0

    def add(self, op: Op, before: Any, after: Any, path: Path, shown: Path) -> None:
        if len(self.found) >= MAX_ENTRIES:
            self.skipped += 1
        else:
            self.found.append(_Found(path, shown, op, before, after))

    def compare(self, before: Any, after: Any, path: Path, shown: Path, depth: int) -> None:
        if before is after or equal(before, after):
            return
        if before is MISSING:
            self.add("added", before, after, path, shown)
        elif after is MISSING:
            self.add("removed", before, after, path, shown)
        elif depth >= MAX_DEPTH or kind_of(before) != kind_of(after) or type_name(before) != type_name(after):
            self.add("changed", before, after, path, shown)
        elif kind_of(before) in ("list", "tuple"):
            self._lists(list(before), list(after), path, shown, depth)
        elif kind_of(before) == "set":
            self._sets(before, after, path, shown)
        elif kind_of(before) in ("dict", "dataclass", "model", "message"):
            self._records(before, after, path, shown, depth)
        else:
            self.add("changed", before, after, path, shown)

    def _records(self, before: Any, after: Any, path: Path, shown: Path, depth: int) -> None:
        old, new = dict(items_of(before)), dict(items_of(after))
        for key in dict.fromkeys([*old, *new]):
            self.compare(old.get(key, MISSING), new.get(key, MISSING), (*path, key), (*shown, key), depth + 1)

    def _sets(self, before: Any, after: Any, path: Path, shown: Path) -> None:
        for item in ordered(before - after):
            self.add("removed", item, MISSING, path, (*shown, f"[{safe_repr(item)[:60]}]"))
        for item in ordered(after - before):
            self.add("added", MISSING, item, path, (*shown, f"[{safe_repr(item)[:60]}]"))

    def _lists(self, old: Sequence[Any], new: Sequence[Any], path: Path, shown: Path, depth: int) -> None:
        pairs = _by_id(old, new)
        if pairs is None:
            pairs = _by_content(old, new)
        for before, after in pairs:
            one = MISSING if before is None else old[before]
            other = MISSING if after is None else new[after]
            place = after if after is not None else before if before is not None else 0
            name = identity(other if other is not MISSING else one)
            label = f"[id={literal(str(name))[:60]}]" if name is not None else place
            at, seen = (*path, place), (*shown, label)
            if before is not None and after is not None and equal(one, other):
                self.add("moved", one, other, at, (*shown, f"[{before} → {after}]"))
            else:
                self.compare(one, other, at, seen, depth + 1)


Pairs = list[tuple[int | None, int | None]]


def _by_id(old: Sequence[Any], new: Sequence[Any]) -> Pairs | None:
    """Return index pairs by the records' ids; None unless every item has one of its own."""
    places: list[dict[Any, int]] = []
    for items in (old, new):
        ids = [identity(item) for item in items]
        if any(id_ is None for id_ in ids) or len(set(ids)) != len(ids):
            return None
        places.append({id_: index for index, id_ in enumerate(ids)})
    was, now = places
    kept = [id_ for id_ in was if id_ in now]
    ranks = {id_: rank for rank, id_ in enumerate(sorted(kept, key=now.__getitem__))}
    pairs: Pairs = []
    for rank, id_ in enumerate(kept):
        one, other = old[was[id_]], new[now[id_]]
        if ranks[id_] != rank or not equal(one, other):
            pairs.append((was[id_], now[id_]))
    pairs += [(was[id_], None) for id_ in was if id_ not in now]
    pairs += [(None, now[id_]) for id_ in now if id_ not in was]
    return pairs


def _by_content(old: Sequence[Any], new: Sequence[Any]) -> Pairs:
    pairs: Pairs = []
    begin = 0
    while begin < min(len(old), len(new)) and equal(old[begin], new[begin]):
        begin += 1
    if max(len(old), len(new)) - begin > ALIGN:
        length = max(len(old), len(new))
        return [(i if i < len(old) else None, i if i < len(new) else None) for i in range(begin, length)]
    keys = [_key(item) for item in old[begin:]], [_key(item) for item in new[begin:]]
    # The matcher treats its two sides differently; in a fixed order both directions give the same pairs.
    swapped = keys[1] < keys[0]
    matcher = difflib.SequenceMatcher(None, *((keys[1], keys[0]) if swapped else keys), autojunk=False)
    for tag, *bounds in matcher.get_opcodes():
        i1, i2, j1, j2 = (*bounds[2:], *bounds[:2]) if swapped else bounds
        if tag == "equal":
            # What looks the same may differ: masked parts, objects with the same repr.
            alike = [(begin + i1 + shift, begin + j1 + shift) for shift in range(i2 - i1)]
            pairs += [(one, other) for one, other in alike if not equal(old[one], new[other])]
            continue
        for shift in range(max(i2 - i1, j2 - j1)):
            before = begin + i1 + shift if i1 + shift < i2 else None
            after = begin + j1 + shift if j1 + shift < j2 else None
            pairs.append((before, after))
    return pairs


def _key(value: Any) -> str:
    try:
        return f"{type_name(value)}:{value!r}"
    except Exception:  # repr is the user's code, or gives up on depth: then a value is only equal to itself
        return f"{type_name(value)}:{id(value)}"


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same, types included; 1 differs from True and from 1.0.

    Works with a list of pairs instead of recursion: values may be nested deeper than Python's stack.
    """
    todo = [(one, other)]
    met: set[tuple[int, int]] = set()
    while todo:
        left, right = todo.pop()
        if left is right or (id(left), id(right)) in met:
            continue
        if type(left) is not type(right):
            return False
        kind = kind_of(left)
        if kind in ("list", "tuple"):
            if len(left) != len(right):
                return False
            met.add((id(left), id(right)))
            todo += zip(left, right, strict=True)
        elif kind == "masked":
            todo.append((left.hidden, right.hidden))
        elif kind in ("dict", "dataclass", "model", "message"):
            old, new = dict(items_of(left)), dict(items_of(right))
            if old.keys() != new.keys():
                return False
            met.add((id(left), id(right)))
            todo += [(old[key], new[key]) for key in old]
        elif not _equal_leaves(left, right, kind):
            return False
    return True


def _equal_leaves(one: Any, other: Any, kind: str) -> bool:
    if kind == "float":
        return bool(one == other or (one != one and other != other))
    if kind in ("table", "object", "opaque"):
        return safe_repr(one) == safe_repr(other)
    return bool(one == other)
