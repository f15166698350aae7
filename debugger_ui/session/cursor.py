"""The one cursor that drives every panel, and its form in a URL.

A cursor only says where somebody looks. Reading one from a URL never runs or writes anything, and
whatever in it does not exist is dropped or moved to the nearest thing that does by the session.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

from debugger_ui.session.view_values import Path

TEXT_FIELDS = ("graph", "thread", "branch", "checkpoint", "namespace", "task")
MAX_PARAM = 2_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """Graph, thread, branch, checkpoint, namespace (of a subgraph), task and path of a value.

    An empty `checkpoint` means the head of the branch, and so follows the branch as it grows.
    An empty `branch` means the branch of the checkpoint, or the newest one.
    """

    graph: str = ""
    thread: str = ""
    branch: str = ""
    checkpoint: str = ""
    namespace: str = ""
    task: str = ""
    path: Path = ()

    def to_params(self) -> dict[str, str]:
        """Return the non-empty parts as URL parameters."""
        params = {name: getattr(self, name) for name in TEXT_FIELDS if getattr(self, name)}
        if self.path:
            params["path"] = json.dumps(list(self.path), ensure_ascii=True, separators=(",", ":"))
        return params

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "Cursor":
        """Read a cursor from URL parameters; unknown and malformed ones are ignored."""
        known = {field.name for field in fields(cls)} - {"path"}
        parts = {
            name: value
            for name, value in params.items()
            if name in known and isinstance(value, str) and len(value) <= MAX_PARAM
        }
        return cls(**parts, path=_path(params.get("path", "")))


def _path(text: str) -> Path:
    if not text or len(text) > MAX_PARAM:
        return ()
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(parts, list):
        return ()
    if not all(isinstance(part, str) or type(part) is int for part in parts):
        return ()
    return tuple(parts)
