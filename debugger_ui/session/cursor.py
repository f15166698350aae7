"""The one cursor that drives every panel, and its form in a URL.

A cursor only says where somebody looks. Reading one from a URL never runs or writes anything, and
whatever in it does not exist is dropped or moved to the nearest thing that does by the session.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from debugger_ui.session.view_values import Path

TEXT_FIELDS = ("graph", "thread", "branch", "checkpoint", "namespace", "task")
MAX_PARAM = 8_000


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
        """Read a cursor from URL parameters; unknown and malformed ones are ignored (see `malformed`)."""
        parts = {name: params[name] for name in TEXT_FIELDS if name in params and _is_text(params[name])}
        return cls(**parts, path=_path(params.get("path", "")) or ())


def malformed(params: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the parameters that no cursor could have written."""
    found = [name for name in TEXT_FIELDS if name in params and not _is_text(params[name])]
    return (*found, "path") if params.get("path") and _path(params["path"]) is None else tuple(found)


def _is_text(value: object) -> bool:
    """Whether it can be a name in a database: a text that is not endless, and that can be stored."""
    if not isinstance(value, str) or len(value) > MAX_PARAM:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _path(text: str) -> Path | None:
    """Return the path that a text says; None when it says none."""
    if not text or not _is_text(text):
        return None
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parts, list) or not all(isinstance(part, str) or type(part) is int for part in parts):
        return None
    return tuple(parts)
