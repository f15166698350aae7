"""Reads histories from our own database through what its saver offers for looking: no values are read.

Rules:
- What lies under a checkpoint that a superstep has gone on from does not change any more, so it is
  read once. Only heads are read again, and only when somebody has written to the database.
- Values are decoded for heads (is a join complete?) and where Sends have to be named.
"""

import bisect
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from debugger_ui.engines import naming
from debugger_ui.engines.authors import Clues, filled, fresh
from debugger_ui.engines.base import Failure, Header, Outline, Place, ThreadHead
from debugger_ui.engines.circles import circle, circular
from debugger_ui.engines.contents import StoredContents, TasksOf, folded_writes
from debugger_ui.engines.counted import counted
from debugger_ui.engines.paths import PULL, calls_of, edited_as, path_of
from debugger_ui.engines.reader import Calls, SaverReader, config_at, config_of
from debugger_ui.engines.rows import changed_keys, header_in, ran_nodes, still_open, thread_head
from debugger_ui.engines.spaces import Inner, parents_of
from runtime.checkpoint.errors import CheckpointStorageError

PAGE = 1_000
REREAD = 64
"""Checkpoints asked for at a time when most of a thread is known."""
SEARCHED = 20_000
"""Threads that a text search goes through."""
FEW = 4
"""Checkpoints that are read one by one rather than as a page."""
DAMAGE = ("corrupt", "missing", "encrypted")


class _Thread:
    """The headers of a thread, oldest first, and the checkpoints that a superstep has gone on from."""

    __slots__ = ("circular", "followed", "headers", "ordered", "version")

    def __init__(self, version: Hashable, headers: dict[str, Header]) -> None:
        self.version = version
        self.headers = headers
        self.ordered = list(headers.values())
        self.followed = {header.parent for header in self.ordered if header.source == "loop"}
        self.circular = circular(headers)


class _Head(NamedTuple):
    """What is known of a checkpoint that no superstep has gone on from, as of a version of the database."""

    version: Hashable
    record: Any
    names: Mapping[str, str]
    due: tuple[str, ...]
    failed: tuple[Failure, ...]


class StoredReader(SaverReader):
    """Histories of a saver of `runtime.checkpoint.sql`."""

    def __init__(self, saver: Any) -> None:
        super().__init__(saver)
        self._headers: dict[tuple[str, str], _Thread] = {}
        self._sizes: dict[str, tuple[str, int]] = {}
        self._lock = threading.RLock()
        self._inner: dict[str, tuple[Hashable, Sequence[Inner]]] = {}
        self._damaged: dict[tuple[str, str, str], str] = {}
        self._locked: set[tuple[str, str, str]] = set()
        self._settled: dict[tuple[str, str, str], tuple[Any, Mapping[str, str]]] = {}
        self._heads: dict[tuple[str, str, str], _Head] = {}

    def version(self) -> Hashable:
        """Return the database's data version: the same as long as nobody has written."""
        version: Hashable = self.saver.data_version()
        return version

    def threads(self, offset: int, limit: int, *, text: str = "") -> tuple[Sequence[ThreadHead], int | None]:
        """Return threads, newest checkpoint first; the number of all only where it is known anyway."""
        if text:
            return self._search(offset, limit, text.casefold())
        found = [thread_head(row) for row in self.saver.threads(limit=limit + 1, offset=offset)]
        return found[:limit], offset + len(found) if len(found) <= limit else None

    def sizes(self, threads: Sequence[str]) -> Mapping[str, int]:
        """Return the bytes of threads; one is measured again when it has a new checkpoint."""
        found: dict[str, int] = {}
        for thread in threads:
            ordered = self._thread(thread, "").ordered
            newest = ordered[-1].id if ordered else ""
            known = self._sizes.get(thread)
            if known is None or known[0] != newest:
                known = self._sizes[thread] = newest, self.saver.thread_bytes(thread)
            found[thread] = known[1]
        return found

    def headers(self, thread: str, namespace: str = "") -> Sequence[Header]:
        """Return all checkpoints of a thread, oldest first."""
        return self._thread(thread, namespace).ordered

    def outlines(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, Outline]:
        """Return what happened around the given checkpoints."""
        whole = self._thread(thread, namespace)
        headers = whole.headers
        known = [id_ for id_ in ids if id_ in headers]
        wanted = {*known, *(headers[id_].parent for id_ in known)} & headers.keys()
        with self._lock:
            self._load(thread, namespace, sorted(wanted), whole)
            return {id_: self._outline(thread, namespace, headers, id_) for id_ in known}

    def inner(self, thread: str) -> Sequence[Inner]:
        """Return what subgraphs have saved inside a thread, the newest last."""
        version = self.version()
        with self._lock:
            known = self._inner.get(thread)
            if known is None or known[0] != version:
                rows = self.saver.namespaces(thread)
                found = [Inner(row.ns, row.newest, row.checkpoints, parents_of(row.metadata)) for row in rows]
                known = self._inner[thread] = (version, found)
            return known[1]

    def get(self, place: Place) -> Any:
        """Return the saver's tuple for a place, or None.

        Raises:
            CheckpointStorageError: its ancestors form a circle, which reading it would follow for ever.
        """
        if place.id in self._thread(place.thread, place.namespace).circular:
            raise CheckpointStorageError(circle(place.id), "corrupt")
        return super().get(place)

    def values(
        self, thread: str, ids: Sequence[str], keys: Sequence[str], namespace: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield what some channels hold at checkpoints; the others are not read.

        Raises:
            CheckpointStorageError: a checkpoint is damaged, or its ancestors form a circle.
        """
        circular = self._thread(thread, namespace).circular
        if circular.isdisjoint(ids):
            yield from self.saver.channel_values(thread, namespace, ids, keys)
            return
        for id_ in ids:
            if id_ in circular:
                raise CheckpointStorageError(circle(id_), "corrupt")
            yield from self.saver.channel_values(thread, namespace, [id_], keys)

    def names(self, place: Place) -> Mapping[str, str]:
        """Return the nodes of the tasks that wrote on a checkpoint, by task id."""
        self.outlines(place.thread, [place.id], place.namespace)
        row = self._row((place.thread, place.namespace, place.id))
        return row[1] if row else {}

    def calls(self, place: Place, item: Any, tasks: Sequence[tuple[str, Sequence[Any]]]) -> Mapping[str, Calls]:
        """Return, by task id, the saved results of what tasks called, in the order of the calls."""
        self.outlines(place.thread, [place.id], place.namespace)
        row = self._row((place.thread, place.namespace, place.id))
        return calls_of(row[0].writes if row else (), item, tasks)

    def clues(self, thread: str, id_: str, namespace: str = "") -> Clues | None:
        """Return what the record tells of the edit that made a checkpoint; None when none did."""
        headers = self._thread(thread, namespace).headers
        if id_ not in headers or headers[id_].source != "update":
            return None
        parent = headers[id_].parent
        self.outlines(thread, [id_], namespace)
        row, before = self._row((thread, namespace, id_)), self._row((thread, namespace, parent))
        if row is None or before is None:
            return None
        record, old = row[0], before[0]
        edits = [header for header in headers.values() if header.parent == parent and header.source == "update"]
        return Clues(
            fresh(record.versions_seen, old.versions_seen),
            filled(record.channel_versions, old.channel_versions, record.channels),
            edited_as(old.writes),
            len(edits) == 1,
        )

    def attempts(self, place: Place) -> Mapping[str, int]:
        """Return how often each task of a checkpoint's superstep was executed."""
        self.outlines(place.thread, [place.id], place.namespace)
        row = self._row((place.thread, place.namespace, place.id))
        found: dict[str, int] = {}
        for write in row[0].writes if row else ():
            found[write.task_id] = max(found.get(write.task_id, 0), write.attempt + 1)
        return found

    def folded(self, thread: str, id_: str, namespace: str = "") -> list[tuple[Any, str]]:
        """Return the parent's writes that a checkpoint folded, each with the node of its task."""
        row = self._row((thread, namespace, id_))
        parent = self._row((thread, namespace, (row[0].checkpoint.parent or "") if row else ""))
        return folded_writes(row[0], *parent) if row and parent else []

    def contents(self, tasks_of: TasksOf) -> StoredContents:
        """Return what tells the writes that made each checkpoint."""
        return StoredContents(self.saver, config_at, self.folded)

    def _search(self, offset: int, limit: int, text: str) -> tuple[Sequence[ThreadHead], int | None]:
        found: list[ThreadHead] = []
        for start in range(0, SEARCHED, PAGE):
            rows = self.saver.threads(limit=PAGE, offset=start)
            heads = map(thread_head, rows)
            found += [head for head in heads if text in f"{head.id} {dict(head.metadata)}".casefold()]
            if len(rows) < PAGE:
                return found[offset : offset + limit], len(found)
        return found[offset : offset + limit], None

    def _thread(self, thread: str, namespace: str) -> _Thread:
        version = self.version()
        with self._lock:
            known = self._headers.get((thread, namespace))
            if known is None or known.version != version:
                known = self._extended(thread, namespace, known, version)
                self._headers[thread, namespace] = known
            return known

    def _extended(self, thread: str, namespace: str, known: _Thread | None, version: Hashable) -> _Thread:
        old = known.headers if known is not None else {}
        limit = REREAD if old else PAGE
        fresh: list[Header] = []
        before = None
        overlaps = False
        while not overlaps:
            page = self.saver.checkpoints(thread, namespace, before=before, limit=limit)
            new = [header_in(row) for row in page if row.id not in old]
            fresh += new
            overlaps = len(new) < len(page)
            if overlaps and len(page) < limit:  # the oldest is on it: what is known and not on it was removed
                old = {row.id: old[row.id] for row in reversed(page) if row.id in old}
            if not page:
                break
            before = page[-1].id
        if known is not None and overlaps and not fresh and len(old) == len(known.headers):
            known.version = version
            return known
        # Without a row that is known already, what is known is gone.
        return _Thread(version, {**(old if overlaps else {}), **{header.id: header for header in reversed(fresh)}})

    def _row(self, key: tuple[str, str, str]) -> tuple[Any, Mapping[str, str]] | None:
        if key in self._settled:
            return self._settled[key]
        head = self._heads.get(key)
        return (head.record, head.names) if head is not None else None

    def _load(self, thread: str, namespace: str, ids: Sequence[str], whole: _Thread) -> None:
        """Read the outlines that are missing or out of date, in as few pages as their ids allow."""
        version = self.version()
        missing = [
            id_
            for id_ in ids
            if (thread, namespace, id_) not in self._settled
            and not (((head := self._heads.get((thread, namespace, id_))) is not None) and head.version == version)
        ]
        if len(missing) <= FEW or whole.circular:
            self._load_each(thread, namespace, missing, whole)
            return
        wanted = set(missing)
        before = _after(missing[-1], whole.ordered)
        while wanted:
            try:
                page = self.saver.outlines(thread, namespace, before=before, limit=min(PAGE, len(wanted) + 16))
            except CheckpointStorageError:
                # One of them is damaged: the others can still be read by themselves.
                self._load_each(thread, namespace, sorted(wanted), whole)
                return
            for record in page:
                if record.checkpoint.id in wanted:
                    wanted.remove(record.checkpoint.id)
                    self._keep(record, version, whole.followed)
            if not page:
                return
            before = page[-1].checkpoint.id

    def _load_each(self, thread: str, namespace: str, ids: Sequence[str], whole: _Thread) -> None:
        version = self.version()
        for id_ in ids:
            key = (thread, namespace, id_)
            if key in self._damaged:
                continue
            if id_ in whole.circular:
                self._damaged[key] = circle(id_)
                continue
            try:
                record = self.saver.outline(config_of(Place(thread, id_, namespace)))
                if record is not None:
                    self._keep(record, version, whole.followed)
            except CheckpointStorageError as error:
                if error.reason not in DAMAGE:
                    raise
                self._damaged[key] = str(error)
                if error.reason == "encrypted":
                    self._locked.add(key)

    def _keep(self, record: Any, version: Hashable, followed: set[str]) -> None:
        header = record.checkpoint
        key = (header.thread_id, header.ns, header.id)
        place = Place(header.thread_id, header.id, header.ns)
        if header.id in followed:
            self._settled[key] = (record, self._names(record, place))
            self._heads.pop(key, None)
            return
        item = self.get(place)
        checkpoint = item.checkpoint if item is not None else {}
        due = naming.due_nodes(checkpoint.get("channel_values") or {}, record.channel_versions, record.versions_seen)
        failed = counted((item.pending_writes if item is not None else None) or ()).failed
        self._heads[key] = _Head(version, record, self._names(record, place), due, failed)

    def _names(self, record: Any, place: Place) -> Mapping[str, str]:
        names: dict[str, str] = {}
        pushed: dict[str, int] = {}
        for write in record.writes:
            kind, rest = path_of(write.task_path)
            if kind == PULL:
                names[write.task_id] = rest
            elif kind == naming.PUSH and rest.isdigit():
                pushed[write.task_id] = int(rest)
        if pushed:
            item = self.get(place)
            sends = naming.sends_of((item.checkpoint.get("channel_values") or {}) if item is not None else {})
            names.update({task: str(sends[at].node) for task, at in pushed.items() if at < len(sends)})
        return names

    def _outline(self, thread: str, namespace: str, headers: Mapping[str, Header], id_: str) -> Outline:
        row = self._row((thread, namespace, id_))
        if row is None:
            key = (thread, namespace, id_)
            return Outline(damaged=self._damaged.get(key, ""), encrypted=key in self._locked)
        record, names = row
        before = self._row((thread, namespace, headers[id_].parent))
        rows = [write for write in record.writes if write.counts]
        settled = {write.task_id for write in rows if naming.settles(write.channel)}
        ran_here = dict.fromkeys(names[w.task_id] for w in rows if w.task_id in names and w.task_id in settled)
        head = None if (thread, namespace, id_) in self._settled else self._heads.get((thread, namespace, id_))
        return Outline(
            ran=ran_nodes(record, before, headers[id_]),
            changed=changed_keys(record, before),
            due=head.due if head is not None else tuple(ran_here),
            failed=head.failed if head is not None else (),
            asking=still_open(naming.not_passed(rows), naming.INTERRUPT, settled),
            answered=still_open(rows, naming.RESUME, set()),
        )


def _after(id_: str, headers: Sequence[Header]) -> str | None:
    """Return the next newer id, since pages are given by what they come before; None for the newest."""
    ids = [header.id for header in headers]
    at = bisect.bisect_right(ids, id_)
    return ids[at] if at < len(ids) else None
