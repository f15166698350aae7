"""The Channels tab: every channel with its version, whether it moved here, and who has seen what."""

import pandas as pd
import streamlit as st

from debugger_ui.components import sheet
from debugger_ui.panels.tab import Tab
from debugger_ui.session.views import ChannelView, CheckpointView

INTERRUPT = "__interrupt__"
"""Not a node: what was seen when the run was last interrupted."""

COLUMNS = (
    sheet.column("name", "Channel", width="38%"),
    sheet.column("version", "Version", width="24%", hint="grows when a write reaches the channel"),
    sheet.column("seen", "Seen by", width="38%", hint="version that each node saw when it last ran"),
    sheet.column("bytes", "Bytes", align="right", width="13%"),
)


def channels(here: Tab, view: CheckpointView) -> None:
    """Draw the channels at the checkpoint."""
    everything = st.toggle("Triggers and barriers too", value=True, key="all_channels")
    found = here.see(here.session.channels, view.id, all_channels=everything)
    if found is None:
        return
    moved = sum(channel.changed for channel in found)
    found = tuple(sorted(found, key=lambda channel: not channel.version))
    blocks = [
        sheet.text(f"{moved} of {len(found)} changed in this superstep.", "small"),
        table(found),
    ]
    sheet.sheet(blocks, key="channels", scope=view.id, stamp=view.id)


def table(found: tuple[ChannelView, ...]) -> sheet.Block:
    """Return the channels as a table, those that moved here marked."""
    frame = pd.DataFrame(
        [
            {
                "name": name(channel),
                "version": version(channel),
                "seen": seen(channel),
                "bytes": "" if channel.bytes is None else f"{channel.bytes:,}",
            }
            for channel in found
        ],
        columns=[column["key"] for column in COLUMNS],
    )
    rows = [{"key": channel.name, "tone": "changed" if channel.changed else ""} for channel in found]
    columns = COLUMNS if any(channel.bytes is not None for channel in found) else COLUMNS[:-1]
    return sheet.table(frame, columns, label="Channels", rows=rows, empty="No channel has a version yet.")


def version(channel: ChannelView) -> list[sheet.Item]:
    """Return the version, and the one before when it moved here."""
    items = [sheet.word(number(channel.version) or "none", "mono", title=channel.version, name="version")]
    if channel.changed:
        items.append(sheet.chip("changed", "changed", title=f"was {channel.previous or 'empty'}"))
    return items


def number(version_text: str) -> str:
    """Return the counting part of a version; savers append a random part to it."""
    whole = version_text.split(".")[0]
    return whole.lstrip("0") or whole[:1]


def seen(channel: ChannelView) -> list[sheet.Item]:
    """Return who saw which version; those that the channel wakes by moving on are marked."""
    items: list[sheet.Item] = []
    for one in channel.seen_by:
        if one.node == INTERRUPT:
            continue
        word = f"{one.node} {number(one.version)}" if one.version else f"{one.node} never"
        if one.trigger and one.fresh and channel.value is not None:
            items.append(sheet.chip(word, "next", "next", title="has moved on since: wakes this node"))
        else:
            items.append(sheet.chip(word, title=f"saw version {one.version}" if one.version else "never ran"))
    if not items:
        items.append(sheet.word("wakes no node" if channel.state_key else "nobody yet", "muted"))
    return items


def name(channel: ChannelView) -> list[sheet.Item]:
    """Return the channel's name, and under it its kind and reducer."""
    kind = f"{channel.kind} · {channel.reducer}" if channel.reducer else channel.kind
    return [sheet.word(channel.name, "mono"), sheet.word(kind, "under")]
