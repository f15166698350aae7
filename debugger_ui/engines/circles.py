"""Damaged parent links that form a circle: following one would never end."""

from collections.abc import Mapping

from debugger_ui.engines.base import Header


def circular(headers: Mapping[str, Header]) -> frozenset[str]:
    """Return the checkpoints whose ancestors form a circle; a child is normally newer than its parent."""
    if all(header.parent < id_ for id_, header in headers.items()):
        return frozenset()
    safe: set[str] = set()
    bad: set[str] = set()
    for start in headers:
        walk: dict[str, None] = {}
        id_ = start
        while id_ in headers and id_ not in safe and id_ not in bad and id_ not in walk:
            walk[id_] = None
            id_ = headers[id_].parent
        (bad if id_ in bad or id_ in walk else safe).update(walk)
    return frozenset(bad)


def circle(id_: str) -> str:
    """Return what is said of a checkpoint in such a circle."""
    return f"checkpoint {id_!r} is damaged in the database: its ancestors form a circle"
