"""What every engine shares: looking at what a saver has recorded."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.authors import authors
from debugger_ui.engines.base import Header, Outline, Place, Record, ThreadHead, Topology
from debugger_ui.engines.contents import Made, SavedContents, Write
from debugger_ui.engines.reader import AUTHOR, SaverReader
from debugger_ui.engines.salvage import salvaged
from debugger_ui.engines.spaces import Inner

KEEP = 10_000
"""Edits whose authors are remembered."""


class SavedHistory(ABC):
    """The reading half of an engine; a kind of engine says how a stored checkpoint becomes a record."""

    reader: SaverReader

    def __init__(self) -> None:
        self._authors: dict[tuple[str, str, str, int], tuple[str, ...]] = {}
        self._salvaged: tuple[Hashable, Sequence[ThreadHead] | None] | None = None

    def version(self) -> Hashable:
        """Return what the saver says about its data."""
        return self.reader.version()

    def tells(self) -> bool:
        """Return whether two versions that differ mean that something was written."""
        return self.reader.tells()

    def threads(
        self, offset: int, limit: int, *, text: str = "", salvage: bool = False
    ) -> tuple[Sequence[ThreadHead], int | None]:
        """Return threads, newest first."""
        if salvage and (heads := self._readable_heads()) is not None:
            found = [head for head in heads if text.casefold() in f"{head.id} {dict(head.metadata)}".casefold()]
            return found[offset : offset + limit], len(found)
        return self.reader.threads(offset, limit, text=text)

    def _readable_heads(self) -> Sequence[ThreadHead] | None:
        """Return what `salvaged` finds. It goes through all threads, so it is kept as long as nobody writes."""
        version, known = self.version(), self._salvaged
        if known is None or known[0] != version:
            known = self._salvaged = (version, salvaged(self.reader))
        return known[1]

    def sizes(self, threads: Sequence[str]) -> Mapping[str, int]:
        """Return the bytes of threads, where the saver tells."""
        return self.reader.sizes(threads)

    def headers(self, thread: str, namespace: str = "") -> Sequence[Header]:
        """Return all checkpoints of a thread, oldest first."""
        return self.reader.headers(thread, namespace)

    def outlines(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, Outline]:
        """Return what happened around the given checkpoints."""
        found = self.reader.outlines(thread, ids, namespace)
        return {id_: self._signed(outline, thread, id_, namespace) for id_, outline in found.items()}

    def _signed(self, outline: Outline, thread: str, id_: str, namespace: str) -> Outline:
        """Return the outline of an edit with its author, where only its traces tell who that was."""
        if outline.ran or outline.damaged:
            return outline
        clues = self.reader.clues(thread, id_, namespace)
        if clues is None:
            return outline
        key = (thread, namespace, id_, len(self.reader.headers(thread, namespace)))
        if key not in self._authors:
            if len(self._authors) >= KEEP:
                self._authors.clear()
            self._authors[key] = authors(clues, self.topology(thread, namespace))
        return replace(outline, ran=self._authors[key])

    @abstractmethod
    def topology(self, thread: str = "", namespace: str = "") -> Topology:
        """Return the drawn graph, as far as this kind of engine knows one."""

    def inner(self, thread: str) -> Sequence[Inner]:
        """Return what subgraphs have saved inside a thread."""
        return self.reader.inner(thread)

    def record(self, place: Place) -> Record | None:
        """Return one checkpoint with its values and tasks."""
        item = self.reader.get(place)
        return None if item is None else self._record(item, place)

    def records(self, thread: str, ids: Sequence[str], namespace: str = "") -> Iterator[Record]:
        """Yield checkpoints in the order of the ids."""
        for item in self.reader.walk(thread, ids, namespace):
            yield self._record(item, Place(thread, "", namespace))

    def values(
        self, thread: str, ids: Sequence[str], keys: Sequence[str], namespace: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the values of some state keys at checkpoints, those without a value left out."""
        channels = [channel for key in keys for channel in naming.channels_of(key)]
        for id_, found in self.reader.values(thread, ids, channels, namespace):
            yield id_, {naming.key_of(channel): value for channel, value in found.items()}

    def written(self, thread: str, id_: str, namespace: str = "") -> Sequence[Write]:
        """Return the writes that made a checkpoint; of an edit the keys that it changed, as they then were."""
        self.outlines(thread, [id_], namespace)
        return [
            write
            for made in self._made(thread, [id_], namespace)
            for write in self._contents.written(thread, made, namespace)
        ]

    def fingerprints(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, str]:
        """Return for each checkpoint a text that is the same only where the same was written."""
        return self._contents.fingerprints(thread, self._made(thread, ids, namespace), namespace)

    @cached_property
    def _contents(self) -> SavedContents:
        return self.reader.contents(self._task_ids)

    def _task_ids(self, thread: str, id_: str, namespace: str) -> set[str]:
        record = self.record(Place(thread, id_, namespace))
        return {task.id for task in record.tasks} if record is not None else set()

    def _made(self, thread: str, ids: Sequence[str], namespace: str) -> list[Made]:
        headers = {header.id: header for header in self.headers(thread, namespace)}
        edited = {header.parent for header in headers.values() if header.source == "update"}
        others = [id_ for id_ in ids if id_ in headers and headers[id_].source != "loop"]
        outlines = self.outlines(thread, others, namespace)
        return [
            Made(
                id=id_,
                parent=headers[id_].parent,
                source=headers[id_].source,
                changed=outlines[id_].changed if id_ in outlines else (),
                author=str(headers[id_].metadata.get(AUTHOR) or ""),
                edited=headers[id_].parent in edited,
            )
            for id_ in ids
            if id_ in headers
        ]

    @abstractmethod
    def _record(self, item: Any, place: Place) -> Record:
        """Return a stored checkpoint, with its tasks as far as this kind of engine can tell them."""
