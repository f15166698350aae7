"""What breakpoints and watches may name: the nodes of a graph, and the keys of its state."""

from debugger_ui.engines import naming
from debugger_ui.session.expression import parsed
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Spot
from debugger_ui.session.text import json_safe
from debugger_ui.session.view_values import Path
from debugger_ui.session.workspace import Desk


def state_keys(desk: Desk, spot: Spot | None) -> tuple[str, ...]:
    """Return the keys of the state: the graph's, and those of the checkpoint that is looked at."""
    namespace = spot.namespace if spot is not None else ""
    names = [name for name, spec in desk.engine.channels(namespace).items() if spec.state_key]
    if spot is not None and not names:
        names = [key for key in desk.reading.record(spot).state if naming.is_state_key(key)]
    return tuple(dict.fromkeys(names))


def known_keys(desk: Desk, spot: Spot | None) -> frozenset[str]:
    """Return the keys to check names against; none where only a record knows some of them."""
    return frozenset(state_keys(desk, spot)) if desk.engine.channels() else frozenset()


def check_breakpoint(desk: Desk, spot: Spot | None, point: tuple[str, str], condition: str) -> None:
    """Refuse a breakpoint (when, node or key) at what the graph does not have, or with a wrong condition."""
    when, node = point
    keys = known_keys(desk, spot)
    if when == "change" and keys and node not in keys:
        raise refuse(f"The state has no key {node!r}; its keys are {', '.join(sorted(keys))}.")
    known = [one.id for one in desk.engine.topology(spot.thread if spot is not None else "").nodes]
    if when != "change" and node not in known:
        raise refuse(f"The graph has no node {node!r}.")
    if condition.strip():
        parsed(condition, keys, "condition")


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
