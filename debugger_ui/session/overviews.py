"""The header of every page: what is open, what has drifted, and which buttons may be pressed."""

from debugger_ui.engines import naming
from debugger_ui.engines.base import Record
from debugger_ui.session.acting import Acting
from debugger_ui.session.nested import standing
from debugger_ui.session.reading import Spot
from debugger_ui.session.views import Abilities, Ability, Drift, Overview
from debugger_ui.session.workspace import Desk, Workspace


def overview(workspace: Workspace, desk: Desk, spot: Spot | None) -> Overview:
    """Return what is open."""
    engine, record = desk.engine, desk.reading.readable(spot)
    return Overview(
        database=workspace.database,
        graph="" if engine.kind == "record" else engine.name,
        graphs=tuple(name for name, other in workspace.desks.items() if other.engine.kind != "record"),
        engine=engine.kind,
        read_only=workspace.read_only,
        read_only_reason=workspace.read_only_reason,
        shows=engine.shows,
        drift=drift(desk, record, spot.namespace) if spot is not None and record is not None else Drift(),
    )


def drift(desk: Desk, record: Record, namespace: str = "") -> Drift:
    """Return what a checkpoint knows that the graph in hand does not have."""
    specs = desk.engine.channels(namespace)
    if not specs:
        return Drift()
    known = {node.id for node in desk.engine.topology(namespace=namespace).nodes}
    nodes = {node for node in record.seen if not node.startswith("__")}
    nodes |= {naming.target_of(channel) for channel in record.versions} - {"", naming.START}
    gone = tuple(sorted(nodes - known))
    keys = tuple(sorted(key for key in record.versions if naming.is_state_key(key) and key not in specs))
    if not gone and not keys:
        return Drift()
    parts = [f"nodes {', '.join(gone)}"] if gone else []
    parts += [f"state keys {', '.join(keys)}"] if keys else []
    message = f"The graph has changed since this was recorded: it no longer has {' and '.join(parts)}."
    return Drift(gone, keys, message)


def abilities(acting: Acting, spot: Spot | None) -> Abilities:
    """Return what can be done at a spot."""
    record = acting.desk.reading.readable(spot)
    damaged = Ability(False, "This checkpoint cannot be read.") if spot and record is None else None
    running = damaged if damaged and acting.may("run").allowed else acting.run_ability(spot, record)
    return Abilities(
        run=running,
        step=running,
        answer=_answering(acting, spot, record),
        edit=damaged if damaged and acting.may("edit").allowed else acting.edit_ability(spot),
        new_run=acting.may("new_run"),
        phases=acting.phase_ability(spot),
        plan=acting.may("plan"),
        update=acting.may("update"),
        preview=acting.may("preview"),
        answer_again=acting.answer_again(spot, record),
        inside=acting.may("inside"),
    )


def _answering(acting: Acting, spot: Spot | None, record: Record | None) -> Ability:
    general = acting.may("answer")
    if not general.allowed:
        return general
    if spot is None or record is None or not any(task.questions for task in record.tasks):
        return Ability(False, "No question is pending here.")
    if spot.namespace and (reason := standing(acting.desk.reading, spot).reason):
        return Ability(False, reason)
    if not acting.desk.reading.history(spot.thread, spot.namespace).is_head(spot.id):
        return Ability(False, "This branch has moved on; its newest checkpoint is the place to answer.")
    return Ability(True)
