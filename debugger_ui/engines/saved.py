"""What every engine shares: looking at what a saver has recorded."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from debugger_ui.engines.base import Header, Outline, Place, Record, ThreadHead
from debugger_ui.engines.reader import SaverReader


class SavedHistory(ABC):
    """The reading half of an engine; a kind of engine says how a stored checkpoint becomes a record."""

    reader: SaverReader

    def version(self) -> Hashable:
        """Return what the saver says about its data."""
        return self.reader.version()

    def threads(self, offset: int, limit: int, *, text: str = "") -> tuple[Sequence[ThreadHead], int | None]:
        """Return threads, newest first."""
        return self.reader.threads(offset, limit, text=text)

    def sizes(self, threads: Sequence[str]) -> Mapping[str, int]:
        """Return the bytes of threads, where the saver tells."""
        return self.reader.sizes(threads)

    def headers(self, thread: str, namespace: str = "") -> Sequence[Header]:
        """Return all checkpoints of a thread, oldest first."""
        return self.reader.headers(thread, namespace)

    def outlines(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, Outline]:
        """Return what happened around the given checkpoints."""
        return self.reader.outlines(thread, ids, namespace)

    def record(self, place: Place) -> Record | None:
        """Return one checkpoint with its values and tasks."""
        item = self.reader.get(place)
        return None if item is None else self._record(item, place)

    def records(self, thread: str, ids: Sequence[str], namespace: str = "") -> Iterator[Record]:
        """Yield checkpoints in the order of the ids."""
        for item in self.reader.walk(thread, ids, namespace):
            yield self._record(item, Place(thread, "", namespace))

    @abstractmethod
    def _record(self, item: Any, place: Place) -> Record:
        """Return a stored checkpoint, with its tasks as far as this kind of engine can tell them."""
