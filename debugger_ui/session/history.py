"""A thread's checkpoints as a tree, and its branches as lanes.

The oldest child of a checkpoint continues its branch, every later child starts one of its own. As
history only grows, the id of a branch's first checkpoint names it for good.
Damaged parent links never loop: a cycle is cut at its earliest step, an unknown parent makes a root.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from debugger_ui.engines.base import Header

MAIN = "main"
WORDS = {"update": "edit", "fork": "replay", "input": "input"}


@dataclass(slots=True)
class Branch:
    """A branch: its checkpoints from first to head, oldest first, and where it left its parent."""

    id: str
    name: str
    source: str
    forked_from: str
    parent: str
    members: list[str] = field(default_factory=list)
    lane: int = 0
    starts: int = 0
    """Row (oldest is 0) from which the lane is drawn: that of the fork point, or the first."""

    @property
    def head(self) -> str:
        """Id of the newest checkpoint."""
        return self.members[-1]


class History:
    """The tree over headers that are given oldest first."""

    def __init__(self, headers: Sequence[Header]) -> None:
        self.by_id = {header.id: header for header in headers}
        self.marks: dict[str, str] = {}
        self.parents = self._parents()
        self.order = self._order()
        self.position = {id_: row for row, id_ in enumerate(self.order)}
        self.children: dict[str, list[str]] = {}
        self.branches: dict[str, Branch] = {}
        self.branch_of: dict[str, str] = {}
        self._grow()
        self.lanes = self._place()

    def __len__(self) -> int:
        return len(self.order)

    @property
    def newest(self) -> str:
        """Id of the thread's newest checkpoint, or ""."""
        return self.order[-1] if self.order else ""

    def path(self, id_: str) -> list[str]:
        """Return ids from the root to the checkpoint."""
        found: list[str] = []
        while id_:
            found.append(id_)
            id_ = self.parents.get(id_, "")
        return found[::-1]

    def is_head(self, id_: str) -> bool:
        """Whether nothing follows the checkpoint."""
        return not self.children.get(id_)

    def forward(self, id_: str, branch: str) -> str:
        """Return the child that leads to the head of a branch, or the oldest child; "" at a head."""
        children = self.children.get(id_, [])
        if len(children) < 2:
            return children[0] if children else ""
        wanted = set(self.path(self.branches[branch].head)) if branch in self.branches else set()
        return next((child for child in children if child in wanted), children[0])

    def _parents(self) -> dict[str, str]:
        parents: dict[str, str] = {}
        for id_, header in self.by_id.items():
            known = header.parent in self.by_id
            if header.parent and not known:
                self.marks[id_] = "orphan"
            parents[id_] = header.parent if known else ""
        self._cut_cycles(parents)
        return parents

    def _cut_cycles(self, parents: dict[str, str]) -> None:
        safe: set[str] = set()
        for start in parents:
            walk: list[str] = []
            on_walk: set[str] = set()
            id_ = start
            while id_ and id_ not in safe:
                if id_ in on_walk:
                    members = walk[walk.index(id_) :]
                    first = min(members, key=lambda member: (self.by_id[member].step, member))
                    self.marks[first] = "cycle"
                    parents[first] = ""
                    break
                walk.append(id_)
                on_walk.add(id_)
                id_ = parents[id_]
            safe.update(walk)

    def _order(self) -> list[str]:
        order: list[str] = []
        placed: set[str] = set()
        for start in self.by_id:
            chain: list[str] = []
            id_ = start
            while id_ and id_ not in placed:
                chain.append(id_)
                placed.add(id_)
                id_ = self.parents[id_]
            order.extend(reversed(chain))
        return order

    def _grow(self) -> None:
        counts: dict[str, int] = {}
        for id_ in self.order:
            parent = self.parents[id_]
            siblings = self.children.setdefault(parent, []) if parent else []
            if parent and not siblings:
                branch = self.branches[self.branch_of[parent]]
            else:
                branch = self._begin(id_, parent, counts)
            siblings.append(id_)
            branch.members.append(id_)
            self.branch_of[id_] = branch.id

    def _begin(self, id_: str, parent: str, counts: dict[str, int]) -> Branch:
        source = self.by_id[id_].source
        if not self.branches:
            name = MAIN
        else:
            word = WORDS.get(source, "fork") if parent else "root"
            counts[word] = counts.get(word, 0) + 1
            name = f"{word} {counts[word]}"
        branch = Branch(id_, name, source, parent, self.branch_of.get(parent, ""))
        branch.starts = self.position[parent] if parent else self.position[id_]
        self.branches[id_] = branch
        return branch

    def _place(self) -> int:
        """Give each branch the first lane that is free from its fork point to its head."""
        ends: list[list[tuple[int, int]]] = []
        for branch in self.branches.values():
            first, last = branch.starts, self.position[branch.head]
            free = (lane for lane, taken in enumerate(ends) if all(last < begin or first > end for begin, end in taken))
            branch.lane = next(free, len(ends))
            if branch.lane == len(ends):
                ends.append([])
            ends[branch.lane].append((first, last))
        return len(ends)

    def through(self, row: int) -> tuple[int, ...]:
        """Return the lanes with a line passing a row without a checkpoint of theirs in it."""
        own = self.branch_of[self.order[row]]
        return tuple(
            sorted(
                branch.lane
                for branch in self.branches.values()
                if branch.id != own and branch.starts < row < self.position[branch.head]
            )
        )
