"""What breakpoints and watches may name: the nodes of a graph, and the keys of its state."""

from collections.abc import Iterator

from debugger_ui.engines import naming, spaces
from debugger_ui.session.expression import parsed
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.text import json_safe
from debugger_ui.session.view_values import Path
from debugger_ui.session.workspace import Desk

DEEPEST = 8
"""Levels of subgraphs that are listed: a graph may contain itself."""


def state_keys(desk: Desk, spot: Spot | None) -> tuple[str, ...]:
    """Return the keys of the state: the graph's, and those of the checkpoint that is looked at."""
    namespace = spot.namespace if spot is not None else ""
    names = _keys(desk, namespace)
    if spot is not None and not names:
        names = tuple(key for key in desk.reading.record(spot).state if naming.is_state_key(key))
    return names


def _keys(desk: Desk, namespace: str) -> tuple[str, ...]:
    channels = desk.engine.channels(namespace)
    return tuple(dict.fromkeys(naming.key_of(name) for name, spec in channels.items() if spec.state_key))


def known_keys(desk: Desk, spot: Spot | None) -> frozenset[str]:
    """Return the keys to check names against; none where only a record knows some of them."""
    return frozenset(state_keys(desk, spot)) if desk.engine.channels() else frozenset()


def stopping_nodes(desk: Desk, thread: str) -> tuple[str, ...]:
    """Return the nodes that runs can stop at: `door|inner` is one inside a subgraph, after the node that runs it.

    Inside, only what the code shows; nothing where the engine cannot stop there.
    """
    return tuple(_nodes(desk, thread, ""))


def _nodes(desk: Desk, thread: str, path: str) -> Iterator[str]:
    for node in desk.engine.topology(thread, path).nodes:
        if node.kind in ("start", "end"):
            continue
        name = f"{path}{spaces.SEPARATOR}{node.id}" if path else node.id
        yield name
        known = node.kind == "subgraph" and node.saves and desk.engine.channels(name)
        if known and "inside" not in desk.engine.limits and name.count(spaces.SEPARATOR) < DEEPEST:
            yield from _nodes(desk, thread, name)


def stopping_keys(desk: Desk, spot: Spot | None) -> tuple[str, ...]:
    """Return the state keys at whose change runs can stop, of where the cursor stands: `door|key` inside a subgraph."""
    if spot is None or not spot.namespace:
        return state_keys(desk, spot)
    if "inside" in desk.engine.limits or not desk.engine.channels(spot.namespace):
        return ()
    path = spaces.graph_path(spot.namespace)
    return tuple(f"{path}{spaces.SEPARATOR}{key}" for key in state_keys(desk, spot))


def check_breakpoint(desk: Desk, spot: Spot | None, point: tuple[str, str], condition: str) -> None:
    """Refuse a breakpoint (when, node or key) at what the graph does not have, or with a wrong condition.

    `spot` is where the cursor stands; only the database's record knows the keys of some graphs.
    """
    when, node = point
    path, _, name = node.rpartition(spaces.SEPARATOR)
    thread = spot.thread if spot is not None else ""
    if path:
        if reason := desk.engine.limits.get("inside"):
            raise refuse(reason, kind="unavailable")
        if path not in stopping_nodes(desk, thread):
            raise refuse(f"The graph has no subgraph {worded(path)!r}.")
        keys = frozenset(_keys(desk, path))
    else:
        keys = known_keys(desk, spot if spot is not None and not spot.namespace else None)
    where = f" inside {worded(path)}" if path else ""
    if when == "change" and keys and name not in keys:
        raise refuse(f"The state{where} has no key {name!r}; its keys are {', '.join(sorted(keys))}.")
    if when != "change" and node not in stopping_nodes(desk, thread):
        raise refuse(f"The graph has no node {name!r}{where}.")
    if condition.strip():
        parsed(condition, keys, "condition")


def worded(path: str) -> str:
    """Return the way to a subgraph or a node in one, in words: `section / check`."""
    return " / ".join(path.split(spaces.SEPARATOR))


def expression_at(path: Path) -> str:
    """Return the expression that reads the value at a path of the state, as views give it."""
    first, *rest = path
    name = str(first)
    text = name if name.isidentifier() and not name.startswith("__") else f"state({quoted(name)})"
    for part in rest:
        odd = isinstance(part, str) and part.startswith("[") and part.endswith("]")
        text += str(part) if odd else f"[{part if isinstance(part, int) else quoted(part)}]"
    return text


def quoted(text: str) -> str:
    """Return a text as an expression writes it."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{json_safe(plain)}"'
