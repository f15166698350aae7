"""Keywords that had other names once, and are still taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from warnings import warn

from runtime._typing import MISSING


def renamed(given: dict[str, Any], old: str, new: str, value: Any, category: type[DeprecationWarning]) -> Any:
    """The value of a keyword that used to be called `old`, with a warning if it still is."""
    taken = given.pop(old, MISSING)
    if taken is MISSING:
        return value
    warn(f"`{old}=` is the older name of `{new}=` and is deprecated; write `{new}=`", category, stacklevel=3)
    return taken if value is None else value


def refuse_rest(given: Mapping[str, Any], call: str) -> None:
    """Raise TypeError for a keyword that nobody took."""
    if given:
        raise TypeError(f"{call} got an unexpected keyword argument {next(iter(given))!r}")
