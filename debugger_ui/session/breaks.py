"""Breakpoints of one graph, shared by every tab and kept with the names and notes."""

import threading

from debugger_ui.engines.base import Outline, Record
from debugger_ui.session.problems import refuse
from debugger_ui.session.view_actions import Breakpoint


class Breakpoints:
    """Breakpoints before and after nodes, with hit counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._points: dict[str, Breakpoint] = {}

    def all(self) -> tuple[Breakpoint, ...]:
        """Return them by node."""
        return tuple(sorted(self._points.values(), key=lambda point: (point.node, point.when)))

    def put(self, node: str, when: str, *, enabled: bool) -> Breakpoint:
        """Add one, or switch it on or off."""
        if when not in ("before", "after"):
            raise refuse(f"A breakpoint is before or after a node, not {when!r}.")
        id_ = f"{when}:{node}"
        with self._lock:
            hits = self._points[id_].hits if id_ in self._points else 0
            point = Breakpoint(id_, node, "before" if when == "before" else "after", enabled, hits)
            self._points[id_] = point
        return point

    def remove(self, id_: str) -> None:
        """Remove one if it is there."""
        with self._lock:
            self._points.pop(id_, None)

    def hit(self, record: Record, outline: Outline, fresh: bool) -> str:
        """Return why to hold at a checkpoint, and count the hit; "" to go on."""
        due = {task.name for task in record.tasks if not task.done}
        with self._lock:
            for id_, point in self._points.items():
                here = point.node in (due if point.when == "before" else outline.ran)
                if point.enabled and here and fresh:
                    self._points[id_] = Breakpoint(id_, point.node, point.when, True, point.hits + 1)
                    return f"Breakpoint {point.when} {point.node}."
        return ""
