"""What was written into a checkpoint: by the tasks of its superstep, by an edit, or as an input.

Rules:
- Equal fingerprints mean that the same values were written to the same channels by as many tasks. Different
  ones may still be equal by content (the order of a mapping's keys): `written` decides that.
- What made a checkpoint does not change any more, so a fingerprint is worked out once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import Any, Protocol

from debugger_ui.engines import naming
from debugger_ui.engines.counted import counted

Config = Callable[[str, str, str], Any]
"""Makes a saver's config out of thread, checkpoint and namespace."""
TasksOf = Callable[[str, str, str], set[str]]
"""Ids of the tasks that are planned at a checkpoint, given like this."""
Folded = Callable[[str, str, str], Sequence[tuple[Any, str]]]
"""The parent's stored writes that made a checkpoint, each with the node of its task."""


@dataclass(frozen=True, slots=True)
class Write:
    """A value on a channel; `task` tells the writes of one task from those of another."""

    task: str
    node: str
    channel: str
    value: Any


class Contents(Protocol):
    """The part of an engine that tells what was written."""

    def written(self, thread: str, id_: str, namespace: str = "") -> Sequence[Write]:
        """Return the writes that made a checkpoint; of an edit the keys that it changed, as they then were."""
        ...

    def fingerprints(self, thread: str, ids: Sequence[str], namespace: str = "") -> Mapping[str, str]:
        """Return for each checkpoint a text that is the same only where the same was written."""
        ...


@dataclass(frozen=True, slots=True)
class Made:
    """How a checkpoint came about: its id, its parent's, its source, the state keys that it changed, its author."""

    id: str
    parent: str
    source: str
    changed: tuple[str, ...]
    author: str = ""
    edited: bool = False
    """The parent also has an edit for a child, whose writes lie among those of its tasks."""


class SavedContents:
    """What a `BaseCheckpointSaver` tells by `get_tuple`."""

    def __init__(self, saver: Any, config: Config, tasks_of: TasksOf) -> None:
        self.saver = saver
        self.config = config
        self.tasks_of = tasks_of
        self._known: dict[tuple[str, str, str], str] = {}

    def written(self, thread: str, made: Made, namespace: str) -> list[Write]:
        """Return the writes that made a checkpoint, task by task."""
        if made.source != "loop":
            return entered(self._get(thread, made.id, namespace), made)
        return self._by_tasks(self._get(thread, made.parent, namespace), thread, made, namespace)

    def fingerprints(self, thread: str, wanted: Sequence[Made], namespace: str) -> dict[str, str]:
        """Return the fingerprints of the checkpoints, working out those that are new."""
        missing = [made for made in wanted if (thread, namespace, made.id) not in self._known]
        for id_, text in self._fresh(thread, missing, namespace):
            self._known[thread, namespace, id_] = text
        return {made.id: self._known[thread, namespace, made.id] for made in wanted}

    def _fresh(self, thread: str, missing: Sequence[Made], namespace: str) -> Iterator[tuple[str, str]]:
        for made in missing:
            yield made.id, fingerprint(self.written(thread, made, namespace), self._digest)

    def _get(self, thread: str, id_: str, namespace: str) -> Any:
        return self.saver.get_tuple(self.config(thread, id_, namespace)) if id_ else None

    def _by_tasks(self, item: Any, thread: str, made: Made, namespace: str) -> list[Write]:
        pending = counted((item.pending_writes if item is not None else None) or ())
        mine = self.tasks_of(thread, made.parent, namespace) if made.edited else None
        return [
            Write(str(task), "", channel, value)
            for task, channel, value in pending.writes
            if naming.settles(channel) and task not in pending.refused and (mine is None or str(task) in mine)
        ]

    def _digest(self, write: Write) -> bytes:
        kind, data = self.saver.serde.dumps_typed(write.value)
        return blake2b(data, digest_size=16, person=kind.encode()[:16]).digest()


class StoredContents(SavedContents):
    """What a saver of `runtime.checkpoint.sql` tells: which writes were folded, and digests of their bytes.

    Sends are told apart by their number: the same numbers in steps after equal ones mean the same nodes.
    """

    def __init__(self, saver: Any, config: Config, folded: Folded) -> None:
        super().__init__(saver, config, lambda thread, id_, namespace: set())
        self.folded = folded

    def written(self, thread: str, made: Made, namespace: str) -> list[Write]:
        """Return the writes that made a checkpoint, in the order of the tasks."""
        if made.source != "loop":
            return super().written(thread, made, namespace)
        config = self.config(thread, made.parent, namespace)
        return [
            Write(row.task_id, node, row.channel, self.saver.write_value(config, row.number))
            for row, node in self.folded(thread, made.id, namespace)
        ]

    def _fresh(self, thread: str, missing: Sequence[Made], namespace: str) -> Iterator[tuple[str, str]]:
        yield from super()._fresh(thread, [made for made in missing if made.source != "loop"], namespace)
        ids = [made.id for made in missing if made.source == "loop"]
        for id_, rows in self.saver.step_digests(thread, namespace, ids).items():
            kept = [row for row in rows if naming.settles(row.channel)]
            # A task that was executed again wrote again, in the places of its writes before.
            newest = {(row.task_id, row.idx): row for row in kept}
            writes = [Write(row.task_id, row.task_path, row.channel, row.digest) for row in newest.values()]
            yield id_, fingerprint(writes, lambda write: bytes(write.value))


def folded_writes(record: Any, parent: Any, names: Mapping[str, str]) -> list[tuple[Any, str]]:
    """Return the parent's writes that made a checkpoint, each with the node of its task; `names` by task id."""
    numbers = set(record.checkpoint.folded)
    writes = [write for write in parent.writes if write.number in numbers and naming.settles(write.channel)]
    # A task that was executed again wrote again, in the places of its writes before.
    newest = {(write.task_id, write.idx): write.number for write in writes}
    return [(w, names.get(w.task_id, "")) for w in writes if newest[w.task_id, w.idx] == w.number]


def entered(item: Any, made: Made) -> list[Write]:
    """Return what an edit or an input put into a checkpoint: an input's own value, else the changed keys."""
    values = dict(item.checkpoint.get("channel_values") or {}) if item is not None else {}
    given = values.get(naming.START)
    if made.source == "input" and isinstance(given, Mapping):
        return [Write("", naming.START, str(key), value) for key, value in given.items()]
    keys = (naming.START,) if made.source == "input" and naming.START in values else made.changed
    return [Write("", made.author or made.source, key, values[key]) for key in keys if key in values]


def fingerprint(writes: Sequence[Write], digest: Callable[[Write], bytes]) -> str:
    """Return a digest of the writes, whichever task came first and whatever its id is."""
    tasks = [
        blake2b(b"".join(_part(write, digest(write)) for write in mine), digest_size=16).digest()
        for _, mine in groupby(sorted(writes, key=lambda write: write.task), key=lambda write: write.task)
    ]
    return blake2b(b"".join(sorted(tasks)), digest_size=16).hexdigest()


def _part(write: Write, digest: bytes) -> bytes:
    name = f"{len(write.node)} {write.node}{len(write.channel)} {write.channel}"
    return name.encode("utf-8", "surrogatepass") + digest
