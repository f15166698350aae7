"""What the names of a stored checkpoint's channels tell: the only place that knows them.

A state key is a channel without a reserved name; everything else carries control between nodes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

START = "__start__"
END = "__end__"
PREVIOUS = "__previous__"
"""What a function with @entrypoint keeps for its next run; `__end__` holds what it returned."""
ROOT = "__root__"
"""The key of a state that is one value: its channel has that name, or it is what a function returned."""
TASKS = "__pregel_tasks"
PUSH = "__pregel_push"
"""Begins the path of a task that a Send, or a call, started."""
ERROR = "__error__"
INTERRUPT = "__interrupt__"
RESUME = "__resume__"
RETURN = "__return__"
NO_WRITES = "__no_writes__"
SUPPLIED = "__supplied__"
PASSED = "__passed__"
"""`[task, n, question ids]`: questions that were answered before their task stopped again; the highest n counts."""
REFUSED = "__refused__"
"""`{task: [n, id]}`: n results of the task were refused so far, and its next one stands under the id."""
TO_NODE = "branch:to:"
JOIN = "join:"
FINISHING = (NO_WRITES, RETURN, TASKS)
"""Reserved channels that only a finished task writes to."""


def is_state_key(channel: str) -> bool:
    """Whether a stored channel is a key of the user's state."""
    if channel.startswith("__"):
        return channel == ROOT
    return not (channel.startswith(TO_NODE) or (channel.startswith(JOIN) and channel.count(":") > 1))


def key_of(channel: str) -> str:
    """Return the key under which a channel's value is in the state: of what a function returned, the root."""
    return ROOT if channel == END else channel


def one_value(channels: Collection[str]) -> bool:
    """Whether a graph with these channels has one value for a state: its key is the root."""
    return ROOT in channels or END in channels


def channel_of(key: str, versions: Mapping[str, Any]) -> str:
    """Return the channel behind a state key, among the channels that have a version."""
    return END if key == ROOT and ROOT not in versions and END in versions else key


def channels_of(key: str) -> tuple[str, ...]:
    """Return the channels in which a state key may have its value: one of them exists."""
    return (END, ROOT) if key == ROOT else (key,)


def keys_of(channels: Iterable[str]) -> tuple[str, ...]:
    """Return the state keys among channels, each once."""
    return tuple(dict.fromkeys(key for key in map(key_of, channels) if is_state_key(key)))


def is_control(channel: str) -> bool:
    """Whether a write on the channel is about its task, or a Send, and not folded into a channel's value."""
    return channel.startswith("__") and channel not in (ROOT, END, PREVIOUS)


def settles(channel: str) -> bool:
    """Whether a pending write on the channel means that its task is finished."""
    return channel in FINISHING or not is_control(channel)


def target_of(channel: str) -> str:
    """Return the node that a control channel wakes, or ""."""
    if channel.startswith(TO_NODE):
        return channel.removeprefix(TO_NODE)
    if channel.startswith(JOIN):
        return channel.rpartition(":")[2]
    return START if channel == START else ""


def sources_of(channel: str) -> tuple[str, ...]:
    """Return the nodes that a join waits for, or ()."""
    if not channel.startswith(JOIN):
        return ()
    return tuple(channel.removeprefix(JOIN).rpartition(":")[0].split("+"))


def sends_of(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the Sends waiting in a checkpoint, in the order of their tasks."""
    waiting = values.get(TASKS)
    if not isinstance(waiting, (list, tuple)):
        return ()
    return tuple(send for send in waiting if hasattr(send, "node") and hasattr(send, "arg"))


def newer(version: Any, seen: Any) -> bool:
    """Whether a channel version has moved past the one seen; None is before everything."""
    if version is None:
        return False
    if seen is None:
        return True
    if type(version) is not type(seen):
        return str(version) > str(seen)
    return bool(version > seen)


def show_version(version: Any) -> str:
    """Return a version for people: the counter of a `counter.hash` string without its zeros."""
    if version is None:
        return ""
    text = str(version)
    head = text.partition(".")[0]
    return str(int(head)) if head.isdigit() else text


def ready(channel: str, values: Mapping[str, Any]) -> bool:
    """Whether a channel holds something; a join does once all of its sources have come."""
    if channel not in values:
        return False
    names = sources_of(channel)
    if not names:
        return True
    value = values[channel]
    if isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[1], bool):
        value, finished = value
        if not finished:
            return False
    return isinstance(value, Iterable) and set(names) <= set(value)


def due_nodes(
    values: Mapping[str, Any],
    versions: Mapping[str, Any],
    seen: Mapping[str, Mapping[str, Any]],
    triggers: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, ...]:
    """Return the nodes that the stored versions and Sends make due, each once.

    `triggers` are the graph's own; without them control channels tell by their names.
    """
    if triggers is None:
        wakes: dict[str, list[str]] = {}
        for channel in versions:
            if target := target_of(channel):
                wakes.setdefault(target, []).append(channel)
    else:
        wakes = {node: list(channels) for node, channels in triggers.items()}
    due = [str(send.node) for send in sends_of(values)]
    for node in sorted(wakes):
        known = seen.get(node, {})
        if any(ready(c, values) and newer(versions.get(c), known.get(c)) for c in wakes[node]):
            due.append(node)
    return tuple(dict.fromkeys(due))


def asked_still(writes: Sequence[tuple[str, str, Any]]) -> list[tuple[str, str, Any]]:
    """Return pending writes without the questions that their tasks have passed."""
    found: dict[str, tuple[int, set[Any]]] = {}
    for _, channel, note in writes:
        if channel == PASSED and isinstance(note, list | tuple) and len(note) == 3:
            task, number, ids = note
            found[task] = max(found.get(task, (0, set())), (number, set(ids)), key=lambda known: known[0])
    return [write for write in writes if not (write[1] == INTERRUPT and _passed(write, found))]


def _passed(write: tuple[str, str, Any], found: Mapping[str, tuple[int, set[Any]]]) -> bool:
    task, _, asked = write
    ids = {getattr(one, "id", None) for one in (asked if isinstance(asked, list | tuple) else [asked])}
    return task in found and ids <= found[task][1]


def not_passed(rows: Sequence[Any]) -> list[Any]:
    """Return stored writes without those that came before their task stopped once more without a question."""
    passed: dict[str, int] = {}
    for row in rows:
        if row.channel == PASSED:
            passed[row.task_path] = max(row.number, passed.get(row.task_path, -1))
    return [row for row in rows if row.number > passed.get(row.task_path, -1)]
