"""What a database holds, in a form that two runs can be compared by: one to the byte, one without ids and times."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from runtime.checkpoint.serde import Serializer

SERDE = Serializer()
Found = dict[str, dict[str, Any]]


def digest(value: Any) -> str:
    """The bytes of a value as they are stored, in short."""
    kind, data = SERDE.dumps_typed(value)
    return hashlib.sha256(kind.encode() + data).hexdigest()[:24]


def dump(saver: Any) -> Found:
    """Every checkpoint by thread, namespace and id: its bytes with its metadata and parent, and each of its writes."""
    found: Found = {}
    for item in saver.list(None):
        place = item.config["configurable"]
        parent = (item.parent_config or {"configurable": {}})["configurable"].get("checkpoint_id")
        stored = {name: _sorted(part) for name, part in item.checkpoint.items()}
        values = item.checkpoint["channel_values"]
        found["|".join((place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]))] = {
            "bytes": digest([sorted(stored.items()), _sorted(dict(item.metadata)), parent]),
            "parent": parent,
            "names": names([*values.get("log", ()), *values.get("inner", ())]),
            "writes": {
                digest(list(write)): names(write[2]) if write[1] in ("log", "inner") else [write[1]]
                for write in item.pending_writes
            },
            "plain": plain(item),
        }
    return dict(sorted(found.items(), key=lambda pair: pair[0].rpartition("|")[2]))


def _sorted(part: Any) -> Any:
    return sorted(part.items()) if isinstance(part, dict) else part


def names(lines: Iterable[Any]) -> list[str]:
    """The nodes whose lines these are."""
    return [line.partition(":")[0] for line in lines if isinstance(line, str)]


def plain(item: Any) -> str:
    """A checkpoint without what is made from ids or times."""
    place, checkpoint = item.config["configurable"], item.checkpoint
    namespace = place["checkpoint_ns"].partition(":")[0]
    writes = sorted((channel, _said(channel, value)) for _, channel, value in item.pending_writes)
    values = {name: repr(value) for name, value in checkpoint["channel_values"].items()}
    about = [item.metadata.get("step"), item.metadata.get("source")]
    versions = [_sorted(checkpoint["channel_versions"]), sorted((n, _sorted(s)) for n, s in _seen(checkpoint))]
    return repr([place["thread_id"], namespace, about, sorted(values.items()), versions, writes])


def _said(channel: str, value: Any) -> str:
    """A write without the ids of the question in it."""
    if channel == "__asked__":
        return ""
    return repr(value[0].value) if channel == "__interrupt__" else repr(value)


def _seen(checkpoint: Any) -> Any:
    """Who has seen what; without `__interrupt__`, which notes where a run was begun or gone on with."""
    return [pair for pair in checkpoint["versions_seen"].items() if pair[0] != "__interrupt__"]


def harm(found: Found, twin: Found, before: Found, told: set[str]) -> list[str]:
    """What is wrong with a database after a kill, against what an unharmed twin saved."""
    problems = [f"{key} was saved, and never by the twin" for key in found.keys() - twin.keys()]
    for key in found.keys() & twin.keys():
        if found[key]["bytes"] != twin[key]["bytes"]:
            problems.append(f"{key} has other bytes than the twin's")
        more = found[key]["writes"].keys() - twin[key]["writes"].keys()
        if more:
            problems.append(f"{key} has {len(more)} writes that the twin's has not")
    new = [key for key in found if key not in before]
    expected = [key for key in twin if key not in before]
    if set(new) != set(expected[: len(new)]):
        problems.append(f"something is missing between the {len(new)} checkpoints that were saved")
    problems += [f"{checkpoint} was promised and is lost" for checkpoint in told - {_id(key) for key in found}]
    return problems


def _id(key: str) -> str:
    return key.rpartition("|")[2]


def saved(found: Found, before: Found) -> Counter[str]:
    """The nodes whose results or question were saved by what was killed: they must not run again."""
    done: set[str] = set()
    for key, held in found.items():
        if key not in before:
            done.update(held["names"])
        for write, said in held["writes"].items():
            if write not in before.get(key, {"writes": {}})["writes"]:
                done.update("ask" if name == "__interrupt__" else name for name in said)
    return Counter(done)
