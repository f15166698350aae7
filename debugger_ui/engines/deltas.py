"""Channels that LangGraph stores as what was written to them, where no graph is there to fold it.

A checkpoint leaves such a channel out, or has a snapshot of it. The reducer is in the graph's code, so that the
value itself cannot be told; what it is made of can, and is shown as that.
"""

from typing import Any

from langgraph.checkpoint.serde.types import _DeltaSnapshot

COUNTERS = "counters_since_delta_snapshot"
"""Metadata key that names the channels which were written since their last snapshot."""


def values_of(saver: Any, item: Any) -> dict[str, Any]:
    """Return a checkpoint's values; of a delta channel, its last snapshot and what was written since."""
    values = dict(item.checkpoint.get("channel_values") or {})
    for name, value in values.items():
        if isinstance(value, _DeltaSnapshot):
            values[name] = {"snapshot": value.value, "written since": []}
    counters = (item.metadata or {}).get(COUNTERS)
    missing = [name for name in counters if name not in values] if isinstance(counters, dict) else []
    if not missing:
        return values
    for name, history in saver.get_delta_channel_history(config=item.config, channels=missing).items():
        seed = history.get("seed")
        shown = {"snapshot": seed.value if isinstance(seed, _DeltaSnapshot) else seed} if "seed" in history else {}
        values[name] = {**shown, "written since": [value for _, _, value in history["writes"]]}
    return values
