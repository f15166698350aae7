"""What a failed superstep still lacks: which tasks are saved, and which a further step runs again."""

from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_record import Missing


def missing(reading: Reading, spot: Spot) -> Missing | None:
    """Return what the superstep at a spot lacks; None unless it failed at the head of its branch.

    A run takes saved results up at the newest checkpoint of its thread only: told to go on from another one,
    it runs the superstep as a whole.
    """
    history = reading.history(spot.thread, spot.namespace)
    if spot.namespace or not history.is_head(spot.id):
        return None
    record = reading.record(spot)
    if not any(task.failure is not None or task.refused for task in record.tasks):
        return None
    return Missing(
        checkpoint=spot.id,
        saved=tuple(task.name for task in record.tasks if task.done),
        again=tuple(task.name for task in record.tasks if not task.done and not task.questions),
        waiting=tuple(task.name for task in record.tasks if task.questions),
        refused=any(task.refused for task in record.tasks),
        keeps=spot.id == max(history.by_id),
    )
