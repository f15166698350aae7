"""Reads histories through any checkpoint saver's public methods alone.

Such a saver lists newest first and decodes what it lists, so what a history needs is kept here
without the values, and a later look reads only what is new. History only grows, but writes arrive
late, so the newest rows are read again each time.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.authors import Clues, filled, fresh
from debugger_ui.engines.base import Failure, Header, Outline, Place, ThreadHead
from debugger_ui.engines.contents import SavedContents, TasksOf
from debugger_ui.engines.counted import counted
from debugger_ui.engines.spaces import Inner, parents_of
from debugger_ui.engines.stamps import stamp

AUTHOR = "edited_as"
"""Metadata key with the node that an edit was written as: the checkpoint itself does not always tell."""
Calls = tuple[Any, ...]
"""Results of calls, in the order of the record."""
REREAD = 64
"""Newest checkpoints whose writes may still be coming."""


@dataclass(frozen=True, slots=True)
class _Light:
    header: Header
    versions: Mapping[str, Any]
    seen: Mapping[str, Mapping[str, Any]]
    sends: tuple[str, ...]
    due: tuple[str, ...]
    held: frozenset[str]
    """Channels with a value."""
    failed: tuple[Failure, ...]
    written: tuple[tuple[str, str], ...]
    """Task id and channel of each pending write."""


@dataclass(slots=True)
class _History:
    rows: dict[str, _Light] = field(default_factory=dict)


class SaverReader:
    """Histories of a `BaseCheckpointSaver`, by its `list` and `get_tuple`."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self._histories: dict[tuple[str, str], _History] = {}

    def version(self) -> Hashable:
        """Return the stamp of the saver's data; a new value each time when it does not tell."""
        found = stamp(self.saver)
        return object() if found is None else found

    def tells(self) -> bool:
        """Whether two versions that differ mean that something was written."""
        return stamp(self.saver) is not None

    def threads(self, offset: int, limit: int, *, text: str = "") -> tuple[Sequence[ThreadHead], int | None]:
        """Return threads, newest checkpoint first."""
        heads: dict[str, ThreadHead] = {}
        counts: dict[str, int] = {}
        for item in self.saver.list(None):
            place = item.config["configurable"]
            if place.get("checkpoint_ns", ""):
                continue
            thread = str(place["thread_id"])
            counts[thread] = counts.get(thread, 0) + 1
            head = _head(thread, item)
            if thread not in heads or head.newest > heads[thread].newest:
                heads[thread] = head
        found = [
            ThreadHead(h.id, h.newest, h.step, counts[h.id], h.updated, h.metadata)
            for h in sorted(heads.values(), key=lambda head: (head.updated, head.newest), reverse=True)
            if not text or text.casefold() in f"{h.id} {dict(h.metadata)}".casefold()
        ]
        return found[offset : offset + limit], len(found)

    def sizes(self, threads: Sequence[str]) -> Mapping[str, int]:
        """Return nothing: such a saver does not tell what a thread takes."""
        return {}

    def headers(self, thread: str, namespace: str = "") -> Sequence[Header]:
        """Return all checkpoints of a thread, oldest first."""
        return [row.header for row in self._read(thread, namespace).rows.values()]

    def outlines(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, Outline]:
        """Return what happened around the given checkpoints."""
        rows = self._history(thread, namespace).rows
        if any(id_ not in rows for id_ in ids):
            rows = self._read(thread, namespace).rows
        return {id_: _outline(rows[id_], rows.get(rows[id_].header.parent)) for id_ in ids if id_ in rows}

    def inner(self, thread: str) -> Sequence[Inner]:
        """Return what subgraphs have saved inside a thread, the newest last."""
        newest: dict[str, Any] = {}
        counts: dict[str, int] = {}
        for item in self.saver.list({"configurable": {"thread_id": thread}}):
            place = item.config["configurable"]
            namespace, id_ = str(place.get("checkpoint_ns") or ""), str(place["checkpoint_id"])
            if not namespace:
                continue
            counts[namespace] = counts.get(namespace, 0) + 1
            if namespace not in newest or id_ > newest[namespace][0]:
                newest[namespace] = (id_, parents_of(item.metadata))
        found = sorted(newest.items(), key=lambda one: str(one[1][0]))
        return [Inner(namespace, id_, counts[namespace], parents) for namespace, (id_, parents) in found]

    def get(self, place: Place) -> Any:
        """Return the saver's own tuple for a place, or None."""
        return self.saver.get_tuple(config_of(place))

    def values(
        self, thread: str, ids: Sequence[str], keys: Sequence[str], namespace: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield what some channels hold at checkpoints; such a saver decodes the others as well."""
        for id_ in ids:
            item = self.get(Place(thread, id_, namespace)) if keys else None
            found = (item.checkpoint.get("channel_values") or {}) if item is not None else {}
            yield id_, {key: found[key] for key in keys if key in found}

    def names(self, place: Place) -> Mapping[str, str]:
        """Return the nodes of the tasks that wrote on a checkpoint, by task id, as far as they are certain.

        Such a saver keeps no names. Where only one node was due, every task is its.
        """
        row = self._history(place.thread, place.namespace).rows.get(place.id)
        due = set(row.due) if row else set()
        tasks = dict.fromkeys(task for task, _ in row.written) if row else {}
        return dict.fromkeys(tasks, next(iter(due))) if len(due) == 1 else {}

    def calls(self, place: Place, item: Any, tasks: Sequence[tuple[str, Sequence[Any]]]) -> Mapping[str, Calls]:
        """Return, by task id, the saved results of what tasks called (`@task`); `tasks` are ids and paths.

        Such a saver does not keep who called. Where there is one task, it was that one.
        """
        if len(tasks) != 1:
            return {}
        ((known, _),) = tasks
        found = [
            value for id_, channel, value in item.pending_writes or () if channel == naming.RETURN and id_ != known
        ]
        return {known: tuple(found)}

    def clues(self, thread: str, id_: str, namespace: str = "") -> Clues | None:
        """Return what the record tells of the edit that made a checkpoint; None when none did."""
        rows = self._history(thread, namespace).rows
        row = rows.get(id_)
        parent = rows.get(row.header.parent) if row is not None else None
        if row is None or parent is None or row.header.source != "update":
            return None
        return Clues(fresh(row.seen, parent.seen), filled(row.versions, parent.versions, row.held))

    def attempts(self, place: Place) -> Mapping[str, int]:
        """Return how often each task of a checkpoint's superstep was executed, where the saver keeps that."""
        return {}

    def walk(self, thread: str, ids: Sequence[str], namespace: str = "") -> Iterator[Any]:
        """Yield the saver's tuples for the ids, one in memory at a time."""
        for id_ in ids:
            found = self.get(Place(thread, id_, namespace))
            if found is not None:
                yield found

    def contents(self, tasks_of: TasksOf) -> SavedContents:
        """Return what tells the writes that made each checkpoint."""
        return SavedContents(self.saver, config_at, tasks_of)

    def _history(self, thread: str, namespace: str) -> _History:
        if (thread, namespace) in self._histories:
            return self._histories[thread, namespace]
        return self._read(thread, namespace)

    def _read(self, thread: str, namespace: str) -> _History:
        known = self._histories.get((thread, namespace), _History()).rows
        fresh: list[_Light] = []
        overlap = 0
        for item in self.saver.list(config_of(Place(thread, "", namespace))):
            row = _light(item)
            fresh.append(row)
            overlap += row.header.id in known
            if overlap >= REREAD:
                read = {row.header.id for row in fresh}
                kept = [row for id_, row in known.items() if id_ not in read]
                break
        else:  # all were listed: what is known and not among them was removed
            kept = []
        history = _History({row.header.id: row for row in [*kept, *reversed(fresh)]})
        self._histories[thread, namespace] = history
        return history


def config_at(thread: str, id_: str, namespace: str) -> dict[str, Any]:
    """Return a checkpoint's place as a config."""
    return config_of(Place(thread, id_, namespace))


def config_of(place: Place) -> dict[str, Any]:
    """Return a place as the config that savers and graphs take."""
    parts = {"thread_id": place.thread, "checkpoint_ns": place.namespace}
    if place.id:
        parts["checkpoint_id"] = place.id
    return {"configurable": parts}


def labelled(config: dict[str, Any], spec: str, author: str = "") -> dict[str, Any]:
    """Return a config whose checkpoints carry the graph's address, and the node that an edit was made as."""
    labels = {key: value for key, value in (("graph", spec), (AUTHOR, author)) if value}
    return {**config, "metadata": labels} if labels else config


def answers_of(writes: Sequence[tuple[str, str, Any]]) -> Mapping[str, tuple[Any, ...]]:
    """Return the answers that each task of a superstep was given, in order, from its pending writes."""
    found: dict[str, tuple[Any, ...]] = {}
    for task, channel, value in writes:
        if channel == naming.RESUME:
            found[task] = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return found


def writes_of(writes: Sequence[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Return what a finished task wrote, what a function returned under its state key."""
    return tuple((naming.key_of(channel), value) for channel, value in writes if naming.settles(channel))


def header_of(item: Any) -> Header:
    """Return the header of a saver's tuple."""
    metadata = dict(item.metadata or {})
    parent = (item.parent_config or {}).get("configurable", {}).get("checkpoint_id") or ""
    step = metadata.get("step")
    return Header(
        id=str(item.config["configurable"]["checkpoint_id"]),
        parent=str(parent),
        step=step if isinstance(step, int) else -2,
        source=str(metadata.get("source") or ""),
        created=str(item.checkpoint.get("ts") or ""),
        metadata=metadata,
    )


def _head(thread: str, item: Any) -> ThreadHead:
    header = header_of(item)
    return ThreadHead(thread, header.id, header.step, None, header.created, header.metadata)


def _light(item: Any) -> _Light:
    checkpoint = item.checkpoint
    values = checkpoint.get("channel_values") or {}
    versions = dict(checkpoint.get("channel_versions") or {})
    seen = {node: dict(known) for node, known in (checkpoint.get("versions_seen") or {}).items()}
    written = counted(item.pending_writes or ())
    return _Light(
        header=header_of(item),
        versions=versions,
        seen=seen,
        sends=tuple(str(send.node) for send in naming.sends_of(values)),
        due=naming.due_nodes(values, versions, seen),
        held=frozenset(str(channel) for channel in values),
        failed=written.failed,
        written=tuple((str(task), str(channel)) for task, channel, _ in written.writes),
    )


def _outline(row: _Light, parent: _Light | None) -> Outline:
    before = parent.versions if parent else {}
    moved = [c for c, version in row.versions.items() if version != before.get(c)]
    settled = {task for task, channel in row.written if naming.settles(channel)}
    return Outline(
        ran=ran_between(parent, row),
        changed=naming.keys_of(moved),
        due=row.due,
        failed=row.failed,
        asking=_open(row, naming.INTERRUPT, settled),
        answered=_open(row, naming.RESUME, set()),
    )


def _open(row: _Light, channel: str, settled: set[str]) -> tuple[str, ...]:
    tasks = dict.fromkeys(task for task, written in row.written if written == channel)
    return tuple(task for task in tasks if task not in settled)


def ran_between(parent: _Light | None, row: _Light) -> tuple[str, ...]:
    """Return the nodes whose tasks made a checkpoint out of its parent, each once."""
    if row.header.source not in ("loop", "update") or parent is None:
        return ()
    if row.header.source == "update" and row.header.metadata.get(AUTHOR):
        return (str(row.header.metadata[AUTHOR]),)
    ran = list(parent.sends) if row.header.source == "loop" else []
    for node, known in row.seen.items():
        if (node.startswith("__") and node != naming.START) or not known:
            continue  # what has seen no trigger was called by a node's function, or sent
        if known != parent.seen.get(node):
            ran.append(node)
    return tuple(dict.fromkeys(node for node in ran if node != naming.START))
