"""What a node returned, as writes.

Rules:
1. Pure, but for a warning the first time that a function returns a key which the state lacks.
2. The plain case, a dict of known keys, costs a subset test, a list of its items and the edges.
3. What cannot be an update is refused with the node's name and what was seen.
4. A target that the graph does not have is refused when it is asked for, with the ones it has.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from runtime._constants import ROOT, TASKS
from runtime._updates import annotated_keys, is_pairs, object_pairs, update_pairs
from runtime.constants import END
from runtime.errors import ErrorCode, InvalidUpdateError, ParentCommand, create_error_message
from runtime.graph.spec import branch_channel
from runtime.pregel.model import Outputs, Write
from runtime.types import Command, Send


class Targets:
    """The nodes that may be gone to, and the channels that wake them."""

    __slots__ = ("channels", "graph")

    def __init__(self, nodes: Iterable[str], graph: str) -> None:
        self.channels = {name: branch_channel(name) for name in nodes}
        self.graph = graph

    def write(self, target: Any, said: str) -> Write | None:
        """The write that wakes `target`; None for END. `said` begins the message of a refusal."""
        if isinstance(target, Send):
            return self._send(target, said)
        channel = self.channels.get(target) if isinstance(target, str) else None
        if channel is not None:
            return channel, None
        if target == END:
            return None
        raise InvalidUpdateError(f"{said} {target!r}, which is no node of graph {self.graph!r}; {self.known()}")

    def _send(self, send: Send, said: str) -> Write:
        if send.node == END:
            raise InvalidUpdateError(f"{said} {send!r}: Cannot send a packet to the END node; return END itself")
        if send.node not in self.channels:
            raise InvalidUpdateError(f"{said} {send!r}, but graph {self.graph!r} has no such node; {self.known()}")
        return TASKS, send

    def known(self) -> str:
        """The possible targets, as the end of a message."""
        names = ", ".join(repr(name) for name in self.channels if not name.startswith("__"))
        return f"it can go to {names + ', ' if names else ''}or END ({END!r})"


class Returned:
    """Reads what one node returned.

    Args:
        node: Its name.
        keys: The state's keys that may be written.
        ignored: Further keys to pass over in silence (managed values, which nodes return with the rest).
        targets: Where the node may go.
        warns: Whether an unknown key is worth a warning; a graph inside has keys of its own.
        reducers: For a graph inside: keys not to write back when it left them as they were.
    """

    __slots__ = ("_ignored", "_node", "_ordered", "_reducers", "_targets", "_warned", "_warns", "keys")

    def __init__(
        self,
        node: str,
        keys: Iterable[str],
        *,
        ignored: Iterable[str] = (),
        targets: Targets,
        warns: bool = True,
        reducers: frozenset[str] = frozenset(),
    ) -> None:
        self._node = node
        self._ordered = tuple(keys)
        self.keys = frozenset(self._ordered)
        self._ignored = frozenset(ignored)
        self._targets = targets
        self._warns = warns
        self._reducers = reducers
        self._warned: set[str] = set()

    def read(self, value: Any) -> list[Write]:
        """The writes of a value in any of the forms that a node may return."""
        if value is None:
            return []
        if isinstance(value, dict):
            return self._dict(value)
        if isinstance(value, Command):
            return self._command(value)
        if isinstance(value, Send):
            return self._goto(value)
        if isinstance(value, list | tuple):
            return self._several(value)
        return self._object(value)

    def _dict(self, value: dict[str, Any]) -> list[Write]:
        unchanged = getattr(value, "unchanged", None) if self._reducers else None
        if unchanged:
            kept = self._reducers & frozenset(unchanged)
            value = {key: item for key, item in value.items() if key not in kept}
        return self._known(value.items())

    def _known(self, pairs: Iterable[tuple[str, Any]]) -> list[Write]:
        writes = []
        for pair in pairs:
            if pair[0] in self.keys:
                writes.append(pair)
            elif self._warns and pair[0] not in self._ignored:
                self._warn(pair[0])
        return writes

    def _warn(self, key: Any) -> None:
        if key in self._warned:
            return
        self._warned.add(key)
        known = ", ".join(self._ordered)
        warnings.warn(
            f"node {self._node!r} returned the key {key!r}, which the state does not have, so its value is dropped; "
            f"the state's keys are {known}",
            UserWarning,
            stacklevel=2,
        )

    def _command(self, command: Command[Any]) -> list[Write]:
        if command.graph == Command.PARENT:
            raise ParentCommand(command)
        writes = self._update(command)
        for target in _listed(command.goto):
            writes.extend(self._goto(target))
        return writes

    def _update(self, command: Command[Any]) -> list[Write]:
        update = command.update
        if update is None:
            return []
        if isinstance(update, dict):
            return self._known(update.items())
        if is_pairs(update):
            return self._known(update)
        return self._object(update, "in Command(update=...)")

    def _goto(self, target: Any) -> list[Write]:
        write = self._targets.write(target, f"node {self._node!r} goes to")
        return [] if write is None else [write]

    def _several(self, values: list[Any] | tuple[Any, ...]) -> list[Write]:
        if values and is_pairs(values):
            return self._known(values)
        writes = []
        for value in values:
            if value is None or isinstance(value, dict | Command | Send) or annotated_keys(type(value)):
                writes.extend(self.read(value))
            else:
                raise self._refusal(values)
        return writes

    def _object(self, value: Any, where: str = "") -> list[Write]:
        if not annotated_keys(type(value)):
            raise self._refusal(value, where)
        return object_pairs(value, self._ordered)

    def _refusal(self, value: Any, where: str = "") -> InvalidUpdateError:
        shown = repr(value)
        shown = shown if len(shown) <= 200 else f"{shown[:200]}…"
        what = f"Expected dict, got {shown}" + (f" {where}" if where else "")
        return InvalidUpdateError(
            create_error_message(
                message=f"{what}: {self._whose()} a dict with some of the keys {', '.join(self._ordered)}, an instance "
                f"of a state class, a Command, Sends, a list of those, or None; this is a {type(value).__name__}",
                error_code=ErrorCode.INVALID_GRAPH_NODE_RETURN_VALUE,
            )
        )

    def _whose(self) -> str:
        return f"node {self._node!r} has to return" if self._node else "the graph's input has to be"


class ReturnedRoot(Returned):
    """The same for a state that is one value without keys: whatever is no command is that value."""

    __slots__ = ()

    def read(self, value: Any) -> list[Write]:
        """The writes of a value; one that is not None replaces or is folded into the state."""
        if value is None:
            return []
        if isinstance(value, Command):
            return self._command(value)
        if isinstance(value, Send):
            return self._goto(value)
        if isinstance(value, list | tuple) and any(isinstance(item, Command | Send) for item in value):
            return [write for item in value for write in self.read(item)]
        return [(ROOT, value)]

    def _update(self, command: Command[Any]) -> list[Write]:
        update = command.update
        if update is None:
            return []
        if (isinstance(update, dict) and ROOT in update) or (update and is_pairs(update)):
            return self._known(update_pairs(update))
        return [(ROOT, update)]


def _listed(goto: Any) -> Iterable[Any]:
    return goto if isinstance(goto, list | tuple) else (goto,)


def outputs(returned: Returned, edges: tuple[Write, ...]) -> Outputs:
    """The function that turns a node's result into writes: what it returned, then its edges."""
    read, keys = returned.read, returned.keys
    has_keys = keys != {ROOT}  # else an empty dict is a value, and not an update of nothing

    def to_writes(value: Any) -> list[Write]:
        if type(value) is dict and (has_keys or value) and value.keys() <= keys:
            return [*value.items(), *edges]
        return [*read(value), *edges]

    return to_writes
