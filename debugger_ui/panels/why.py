"""Why this value: the chain of writers behind a path, and where the path changed last and changes next.

Rule: looking never moves the cursor; each hop and each change is a jump that the person makes.
"""

import json
from dataclasses import dataclass, replace

import pandas as pd

from debugger_ui.components import sheet
from debugger_ui.components.timeline import grouped
from debugger_ui.panels.tab import Tab, state
from debugger_ui.session.session import DebugSession
from debugger_ui.session.text import path_label
from debugger_ui.session.views import ChangePoint, CheckpointView, Path, ProvenanceHop, ValueView

SHEET = "why"
NEAR = 5
"""Hops that are shown at first; what led to those is folded."""
LINE = 64
"""Characters of a value in the chain."""
DEEPEST = 3
"""Parts of a path for which the State tab offers the question."""
COLUMNS = (
    sheet.column("by", "Written by", width="34%"),
    sheet.column("value", "Value, and what its writer had read"),
)
KINDS = {"task": ("done", "done"), "supplied": ("edit", "supplied"), "edit": ("edit", "edited"), "input": ("", "input")}


@dataclass(frozen=True, slots=True)
class Hop:
    """All tasks of one superstep that wrote one path."""

    first: ProvenanceHop
    nodes: tuple[str, ...]


def encoded(path: Path) -> str:
    """Return a path as text that `asked` reads back."""
    return json.dumps(list(path))


def asking(path: Path) -> dict[str, str]:
    """Return what makes a row of a table ask about the path."""
    return {"act": "why", "value": encoded(path)}


def ask(here: Tab, text: str) -> None:
    """Open the card for the path that the text means; the same path again closes it."""
    path = tuple(json.loads(text))
    here.act(here.session.move, path=() if path == here.session.cursor.path else path)


def card(here: Tab, view: CheckpointView) -> None:
    """Draw the card when a path is asked about."""
    path = here.session.cursor.path
    if not path:
        return
    found = here.see(here.session.why, path)
    hops = together(found or ())
    block = chain(path, hops, view.namespace)
    sheet.sheet([block], key=SHEET, scope=encoded(path), stamp=view.id, on_pick=lambda: pick(here, view, hops))


def together(found: tuple[ProvenanceHop, ...]) -> tuple[Hop, ...]:
    """Return the hops with the tasks of one superstep that wrote the same path as one."""
    groups: dict[tuple[str, Path, str], list[ProvenanceHop]] = {}
    for hop in found:
        groups.setdefault((f"{hop.namespace} {hop.checkpoint}", hop.path, hop.kind), []).append(hop)
    return tuple(Hop(group[0], tuple(hop.node for hop in group)) for group in groups.values())


def chain(path: Path, hops: tuple[Hop, ...], inside: str) -> sheet.Block:
    """Return the card: who wrote the value first, then what that was made of. `inside`: the namespace looked at."""
    items = [
        sheet.gap(),
        sheet.word("Last change", "button", act="last", value="", title="Go to where it became what it is here"),
        sheet.word("Next change", "button", act="next", value="", title="Go to where it changes next on this branch"),
        sheet.word("Close", "button", act="close", value=""),
    ]
    blocks: list[sheet.Block] = []
    if not hops:
        blocks.append(sheet.text("Nothing has been written there up to this checkpoint.", "muted"))
    else:
        blocks.append(table(hops[:NEAR], 0, inside))
    if len(hops) > NEAR:
        rest = hops[NEAR:]
        blocks.append(sheet.section("Further back", [table(rest, NEAR, inside)], count=len(rest), folded=True))
    title = f"Why {path_label(path)}"
    return sheet.card(title, blocks, items=items, name="why")


def table(hops: tuple[Hop, ...], start: int, inside: str) -> sheet.Block:
    """Return hops as rows; each is a jump to the checkpoint where the value came to be."""
    frame = pd.DataFrame([{"by": writer(hop, inside), "value": written(hop)} for hop in hops])
    rows = [
        {"key": f"hop/{place}", "act": "jump", "value": str(place), "tone": "" if hop.first.depth else "changed"}
        for place, hop in enumerate(hops, start)
    ]
    return sheet.table(frame, COLUMNS, label="Writers behind the value", rows=rows)


def writer(hop: Hop, inside: str) -> list[sheet.Item]:
    """Return who wrote it, and when."""
    tone, icon = KINDS.get(hop.first.kind, ("", "todo"))
    name = grouped(hop.nodes)
    said = f"{name}, supplied" if hop.first.kind == "supplied" else name
    depth = hop.first.depth
    where = "" if hop.first.namespace == inside else " of the graph around"
    when = f"superstep {hop.first.step}{where}" + (f" · hop {depth}" if depth else "")
    return [sheet.chip(said, tone, icon), sheet.word(when, "under")]


def written(hop: Hop) -> list[sheet.Item]:
    """Return what was written where, and from what."""
    items = [sheet.word(path_label(hop.first.path), "mono strong"), brief(hop.first.value)]
    if hop.first.reads:
        items.append(sheet.word(f"from {', '.join(hop.first.reads)}", "under"))
    return items


def brief(value: ValueView) -> sheet.Item:
    """Return a value cut to about one line; a container tells its size."""
    text = value.text if len(value.text) <= LINE else value.text[: LINE - 1] + "…"
    return {"t": "value", "value": {"k": value.kind, "t": value.type, "x": text, "n": value.size}}


def pick(here: Tab, view: CheckpointView, hops: tuple[Hop, ...]) -> None:
    """Jump to a hop or a change, or close the card."""
    picked = state(SHEET).get("picked") or {}
    act, place = picked.get("act"), str(picked.get("value"))
    if act == "close":
        here.act(here.session.move, path=())
    elif act == "last":
        last(here, view)
    elif act == "next":
        following(here)
    elif act == "jump" and place.isdecimal() and int(place) < len(hops):
        jump(here, hops[int(place)].first)


def jump(here: Tab, hop: ProvenanceHop) -> None:
    """Go to the checkpoint where the hop's value came to be, and ask there where that came from."""
    here.act(here.session.move, namespace=hop.namespace, checkpoint=hop.checkpoint, path=hop.path)


def last(here: Tab, view: CheckpointView) -> None:
    """Go to the last change before here: from a change itself, to the one before it."""
    path = here.session.cursor.path
    point: ChangePoint | None = here.act(here.session.last_change, path)
    if point is not None and point.checkpoint == view.id:
        before = DebugSession(here.session.workspace, replace(here.session.cursor, checkpoint=view.parent))
        point = here.act(before.last_change, path) if view.parent else None
    go(here, point, "This is the first time that it was written.")


def following(here: Tab) -> None:
    """Go to the next change on the branch."""
    go(here, here.act(here.session.next_change, here.session.cursor.path), "It does not change again on this branch.")


def go(here: Tab, point: ChangePoint | None, otherwise: str) -> None:
    """Jump to a change and keep the question, or say why there is none."""
    if point is not None:
        here.act(here.session.move, checkpoint=point.checkpoint, path=point.path)
    elif here.problem is None:
        here.notice = otherwise
