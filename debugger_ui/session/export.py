"""Files to take away: the state at the cursor, or the record of a whole thread, as JSON."""

import json
import re
from collections.abc import Callable
from typing import Any

from debugger_ui.engines.base import Record
from debugger_ui.session.codec import to_plain
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.shape import safe_repr, type_name
from debugger_ui.session.text import json_safe
from debugger_ui.session.view_actions import Export

FORMAT = 1
MAX_CHECKPOINTS = 5_000


def plain(value: Any) -> Any:
    """Return a value as JSON-ready data; what is nested too deep is named instead."""
    try:
        return to_plain(value)
    except (ValueError, RecursionError):
        return {"$type": type_name(value), "shown": safe_repr(value)[:2_000], "cut": "nested too deep"}


def export_state(reading: Reading, spot: Spot) -> Export:
    """Return the state of one checkpoint."""
    record = reading.record(spot)
    state = {key: plain(value) for key, value in record.state.items()}
    return Export(f"state-{record.header.id}.json", "application/json", _bytes(state), _masked(reading))


def export_thread(reading: Reading, spot: Spot, progress: Callable[[int, int], None] | None = None) -> Export:
    """Return all checkpoints of a thread with their states, tasks and writes, oldest first.

    `progress` is told how many are done, of how many.
    """
    history = reading.history(spot.thread, spot.namespace)
    ids = history.order[-MAX_CHECKPOINTS:]
    left_out = len(history) - len(ids)
    rows = []
    for record in reading.records(spot.thread, ids, spot.namespace):
        rows.append(_row(record))
        if progress is not None:
            progress(len(rows), len(ids))
    document = {"format": FORMAT, "thread": spot.thread, "namespace": spot.namespace, "checkpoints": rows}
    name = re.sub(r"[^\w.-]+", "-", spot.thread)[:60] or "thread"
    cut = (f"The oldest {left_out} checkpoints are left out.",) if left_out else ()
    notes = (*cut, *_masked(reading))
    return Export(f"thread-{name}.json", "application/json", _bytes(document), notes)


def _masked(reading: Reading) -> tuple[str, ...]:
    patterns = reading.masks.patterns
    return (f"Masked, and not in the file: {', '.join(patterns)}.",) if patterns else ()


def _row(record: Record) -> dict[str, Any]:
    header = record.header
    return {
        "id": header.id,
        "parent": header.parent or None,
        "step": header.step,
        "source": header.source,
        "created": header.created,
        "metadata": plain(dict(header.metadata)),
        "state": {key: plain(value) for key, value in record.state.items()},
        "versions": plain(dict(record.versions)),
        "tasks": [
            {
                "id": task.id,
                "node": task.name,
                "done": task.done,
                "refused": task.refused,
                "error": f"{task.failure.type}: {task.failure.message}" if task.failure else None,
                "questions": [{"id": asked.id, "value": plain(asked.value)} for asked in task.questions],
                "writes": [[channel, plain(value)] for channel, value in task.writes],
            }
            for task in record.tasks
        ],
    }


def _bytes(document: Any) -> bytes:
    return json_safe(json.dumps(document, ensure_ascii=False, indent=1)).encode("utf-8")
