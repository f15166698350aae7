"""The checkpoints in memory: the newest of each thread, so that the next step finds its parent's state.

Rule 1: a head is never trusted blindly. Another process's commits show in the transaction's stamp; then what may
        have changed is looked up again. Rows that were removed or rewritten show in the generation.
Rule 2: a head is out of the cache while it is being turned into its child, and a failed transaction empties the
        cache: what is in it is in the database.
Rule 3: bounded: the least recently used heads are dropped.
Rule 4: writes may be stored before the checkpoint that they are on top of: of two things that an event loop was given,
        the later may come first. The head of such a checkpoint does not know them, and is told so.
"""

from collections import OrderedDict
from threading import Lock

from runtime.checkpoint.sql.prepare import Head

Namespace = tuple[str, str]  # thread id, checkpoint namespace

_MOST = 64
_MOST_EARLY = 4096


class Heads:
    """Heads by thread, namespace and checkpoint id. `epoch` counts how often everything was forgotten."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.epoch = 0
        self._heads: OrderedDict[tuple[str, str, str], Head] = OrderedDict()
        self._newest: dict[Namespace, str] = {}
        self._generation: int | None = None
        self._early: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def take(self, thread_id: str, ns: str, checkpoint_id: str | None) -> Head | None:
        """Remove and return a head. The lock must be held."""
        if checkpoint_id is None:
            return None
        return self._heads.pop((thread_id, ns, checkpoint_id), None)

    def look(self, thread_id: str, ns: str, checkpoint_id: str) -> Head | None:
        """A head, left in place. The lock must be held as long as it is used."""
        return self._heads.get((thread_id, ns, checkpoint_id))

    def keep(self, thread_id: str, ns: str, head: Head) -> None:
        """Put a head back, or a new one in. The lock must be held."""
        if head.state.id is None:
            return
        self._heads[thread_id, ns, head.state.id] = head
        self._heads.move_to_end((thread_id, ns, head.state.id))
        while len(self._heads) > _MOST:
            self._heads.popitem(last=False)

    def came_early(self, key: tuple[str, str, str]) -> None:
        """Writes were stored on top of a checkpoint that is not there yet. The lock must be held."""
        self._early[key] = None
        while len(self._early) > _MOST_EARLY:
            self._early.popitem(last=False)

    def has_early(self, key: tuple[str, str, str]) -> bool:
        """Whether a checkpoint that is stored now has writes already. The lock must be held."""
        return bool(self._early) and key in self._early

    def newest(self, thread_id: str, ns: str) -> str | None:
        """The newest checkpoint's id, if it is known for certain. The lock must be held."""
        return self._newest.get((thread_id, ns))

    def found_newest(self, thread_id: str, ns: str, checkpoint_id: str) -> None:
        """Remember what a look-up found, or what was just committed, if it is newer. The lock must be held."""
        known = self._newest.get((thread_id, ns))
        if known is None or known < checkpoint_id:
            if len(self._newest) > 16 * _MOST:
                self._newest.clear()
            self._newest[thread_id, ns] = checkpoint_id

    def changed_elsewhere(self, generation: int) -> None:
        """Another process committed something: forget what that may have made untrue."""
        with self.lock:
            if self._generation is not None and generation != self._generation:
                self._forget()
            self._generation = generation
            self._newest.clear()
            # Somebody else may have added writes to any checkpoint: have them counted again.
            for head in self._heads.values():
                head.log.stale = True

    def forget(self) -> None:
        """Empty the cache: a transaction failed, or rows were removed."""
        with self.lock:
            self._forget()

    def _forget(self) -> None:
        self.epoch += 1
        self._heads.clear()
        self._newest.clear()
