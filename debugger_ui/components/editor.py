"""The JSON editor component."""

from typing import Any

import streamlit as st

from debugger_ui.components.registry import mount

HTML = '<div class="editor"></div>'


def json_editor(text: str, *, key: str, rev: str, height: int, label: str, readonly: bool = False) -> str:
    """Draw the editor and return the text in it.

    Args:
        text: what it starts with; used again whenever `rev` changes.
        key: key of the component in the session's state.
        rev: names what is edited (checkpoint and key). Text typed for another `rev` is ignored.
        height: pixels.
        label: name for people who cannot see it.
        readonly: whether typing is off.
    """
    # The text is what it started with, not what was typed: the editor in the browser holds that.
    mount(
        "editor",
        HTML,
        key=key,
        height=height,
        on_doc_change=_nothing,
        data={"value": text, "rev": rev, "readonly": readonly, "label": label},
    )
    return typed(key, rev, text)


def typed(key: str, rev: str, text: str) -> str:
    """Return what stands in the editor for `rev`: the typed text, or `text` when none was typed."""
    state: Any = st.session_state.get(key) or {}
    doc = state.get("doc") or {}
    if isinstance(doc, dict) and doc.get("rev") == rev and isinstance(doc.get("text"), str):
        return str(doc["text"])
    return text


def _nothing() -> None:
    """The rerun that a change causes is enough."""
