"""The form in which a value is shown: as a chat, table or image where it is one, as a tree, or as JSON.

Rule: a choice belongs to a place in the state, not to a checkpoint, so it stays while the cursor moves.
"""

import json
from typing import Any

from debugger_ui.components import sheet
from debugger_ui.components.rich import rich_block
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import PAGE, CheckpointView, ImageView, ValueView, form_of

TREE, JSON = "tree", "json"
MAX_JSON = 200_000


def fit(here: Tab, view: CheckpointView, value: ValueView, drawn: dict[str, Any]) -> dict[str, Any]:
    """Add to a drawn value of the state the forms that it can have, and the one that is chosen."""
    address = json.dumps(list(value.path))
    forms = [*([form_of(value.rich)] if value.rich is not None else []), TREE, JSON]
    chosen = here.forms.get(address, forms[0])
    chosen = chosen if chosen in forms else forms[0]
    drawn |= {"f": forms, "a": chosen, "i": address}
    drawn.pop("b", None)
    if chosen == JSON:
        drawn["b"] = raw(here, view, value)
    elif chosen != TREE:
        drawn["b"] = page(here, view, value, address)
    if chosen != TREE:
        drawn.pop("c", None)
    return drawn


def raw(here: Tab, view: CheckpointView, value: ValueView) -> sheet.Block:
    """Return a value as JSON; a very long one is cut."""
    return sheet.pre(cut(here.see(here.session.raw, value.path, checkpoint=view.id) or ""))


def cut(text: str) -> str:
    """Return a text that a browser shows without delay; what is left out is counted."""
    left = len(text) - MAX_JSON
    return text if left <= 0 else f"{text[:MAX_JSON]}\n… {left:,} more characters: Download has them all"


def page(here: Tab, view: CheckpointView, value: ValueView, address: str) -> sheet.Block | None:
    """Return the page of a chat or table that the person turned to, or an image."""
    found, offset = value.rich, here.pages.get((view.thread, address))
    if found is None:
        return None
    size = 0 if isinstance(found, ImageView) else found.total
    if size and offset is not None and offset < size:
        found = here.see(lambda: here.session.rich(value.path, checkpoint=view.id, offset=offset)) or found
    return {**rich_block(found, sheet.node), "address": address, "page": PAGE}


def pick(here: Tab, view: CheckpointView, picked: dict[str, Any]) -> None:
    """Take over a chosen form, or turn to another page."""
    act = picked.get("act")
    if act not in ("form", "page"):
        return
    address, wanted = json.loads(str(picked.get("value")))
    if act == "form":
        here.forms[str(address)] = str(wanted)
    else:
        here.pages[view.thread, str(address)] = int(wanted)
