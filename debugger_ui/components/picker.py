"""The picker component: one choice out of a list, with every option shown as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from debugger_ui.components.registry import Width, mount

HTML = '<div class="picker"><select></select></div>'
HEIGHT = 32


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be chosen: pairs of value and label, and the value that is shown until one is chosen."""

    options: Sequence[tuple[str, str]]
    value: str | None
    label: str
    """Name of the choice, for people who cannot see it."""
    placeholder: str = ""
    rev: str = ""
    """Names what the choice is about; a value that was picked for another `rev` is ignored."""


def picker(
    choice: Choice, *, key: str, width: Width = "stretch", on_pick: Callable[[], None] | None = None
) -> str | None:
    """Draw the picker and return the value that is chosen, or None.

    With `on_pick` the caller acts on the choice and says by `choice.value` what is shown; without it the
    picker keeps what was picked.
    """
    value = choice.value if on_pick else picked(key, choice)
    mount(
        "picker",
        HTML,
        key=key,
        height=HEIGHT,
        width=width,
        on_picked_change=on_pick or _nothing,
        data={
            "options": [list(option) for option in choice.options],
            "value": value,
            "label": choice.label,
            "placeholder": choice.placeholder,
            "rev": choice.rev,
        },
    )
    return value


def picked(key: str, choice: Choice) -> str | None:
    """Return what was picked, if it was picked for this choice and can still be had; else its value."""
    state: Any = st.session_state.get(key) or {}
    report = state.get("picked") or {}
    if report.get("rev") == choice.rev and report.get("value") in {value for value, _ in choice.options}:
        return str(report["value"])
    return choice.value


def _nothing() -> None:
    """The rerun that a choice causes is enough."""
