"""Checkpoints to store, and the answers that are right, kept by a model that stores everything whole."""

import copy
from typing import Any

from runtime.checkpoint.ids import next_checkpoint_id


def at(thread: str, checkpoint_id: str | None = None, ns: str = "") -> dict[str, Any]:
    place = {"thread_id": thread, "checkpoint_ns": ns}
    if checkpoint_id is not None:
        place["checkpoint_id"] = checkpoint_id
    return {"configurable": place}


def id_of(config: dict[str, Any]) -> str:
    return config["configurable"]["checkpoint_id"]


def checkpoint(checkpoint_id: str, values: dict[str, Any], versions: dict[str, int], seen=None) -> dict[str, Any]:
    return {
        "v": 4,
        "id": checkpoint_id,
        "ts": "2026-01-02T03:04:05+00:00",
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": seen or {},
        "updated_channels": sorted(values),
    }


class Line:
    """One branch being written: what a run loop holds in memory."""

    def __init__(self, saver: Any, thread: str, ns: str = "") -> None:
        self.saver = saver
        self.thread = thread
        self.ns = ns
        self.config = at(thread, ns=ns)
        self.values: dict[str, Any] = {}
        self.versions: dict[str, int] = {}
        self.seen: dict[str, dict[str, int]] = {}
        self.step = -1
        self.expected: dict[str, dict[str, Any]] = {}

    @property
    def id(self) -> str | None:
        return self.config["configurable"].get("checkpoint_id")

    def fork(self, checkpoint_id: str) -> "Line":
        """Another branch, from one of this one's checkpoints."""
        other = Line(self.saver, self.thread, self.ns)
        then = copy.deepcopy(self.expected[checkpoint_id])
        other.config = at(self.thread, checkpoint_id, self.ns)
        other.values, other.versions, other.seen = (
            then["channel_values"],
            then["channel_versions"],
            then["versions_seen"],
        )
        other.step, other.expected = then["step"], self.expected
        return other

    def put(
        self,
        changes: dict[str, Any],
        *,
        removed: tuple[str, ...] = (),
        writes: list[Any] | None = None,
        node: str = "node",
        whole: bool = False,
        source: str = "loop",
        metadata: dict[str, Any] | None = None,
    ) -> str:
        """Store the next checkpoint: by `put_step` with what changed, or by `put` with everything (`whole`)."""
        self.values = {name: value for name, value in (self.values | changes).items() if name not in removed}
        new = {name: self.versions.get(name, 0) + 1 for name in (*changes, *removed)}
        self.versions = self.versions | new
        self.seen = self.seen | {node: dict(new)}
        self.step += 1
        made = next_checkpoint_id(self.id, self.step)
        values = self.values if whole else {name: self.values[name] for name in new if name in self.values}
        stored = checkpoint(made, dict(values), dict(self.versions), copy.deepcopy(self.seen))
        about = {"source": source, "step": self.step, "parents": {}} | (metadata or {})
        expected = copy.deepcopy(
            stored | {"channel_values": self.values, "step": self.step, "updated_channels": sorted(values)}
        )
        if whole:
            for task, path, pairs in writes or ():
                self.saver.put_writes(self.config, pairs, task, path)
            self.config = self.saver.put(self.config, stored, about, new)
        else:
            self.config = self.saver.put_step(self.config, stored, about, new, writes or [])
        self.expected[made] = expected
        return made


def check(saver: Any, line: Line) -> None:
    """Every checkpoint of a line and its forks reads as it was stored, one by one and in a list."""
    for checkpoint_id, expected in line.expected.items():
        found = saver.get_tuple(at(line.thread, checkpoint_id, line.ns))
        assert found is not None, checkpoint_id
        same(found.checkpoint, expected)
    listed = saver.list(at(line.thread, ns=line.ns))
    assert [id_of(item.config) for item in listed] == sorted(line.expected, reverse=True)
    for item in listed:
        same(item.checkpoint, line.expected[id_of(item.config)])


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for part in ("id", "ts", "v", "channel_versions", "versions_seen", "channel_values", "updated_channels"):
        assert found[part] == expected[part], part
    for name, value in expected["channel_values"].items():
        assert repr(found["channel_values"][name]) == repr(value), name
