"""The ways into a subgraph and out of it: moves of the cursor between the levels of one thread."""

from collections.abc import Mapping, Sequence

from debugger_ui.engines import spaces
from debugger_ui.session.nested import Nested, Run, ahead, effect
from debugger_ui.session.problems import refuse
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_nested import Crumb, InnerRun, Nesting
from debugger_ui.session.view_record import Page
from debugger_ui.session.view_values import Ability

NOTHING = "No task here has run a subgraph."
SEVERAL = "Several runs of subgraphs are here; choose one of them in Tasks."
OUTERMOST = "This is the outermost graph."


def nesting(reading: Reading, spot: Spot, node: str = "") -> Nesting:
    """Return where a spot stands among subgraphs, and the ways in and out; `node` narrows the ways in."""
    nested = Nested(reading, spot.thread)
    found = inside(reading, nested, spot)
    wanted = entrance(nested, found, node)
    into = Ability(True) if wanted else Ability(False, NOTHING if not _of(found, node) else SEVERAL)
    out = Ability(bool(spot.namespace), "" if spot.namespace else OUTERMOST)
    views = tuple(nested.view(run) for run in found)
    if reading.outline(spot, spot.id).damaged:
        return Nesting(crumbs(reading, spot), views, into, out)
    return Nesting(crumbs(reading, spot), views, into, out, effect(reading, spot), tuple(ahead(reading, spot)))


def inside(reading: Reading, nested: Nested, spot: Spot) -> list[Run]:
    """Return the runs of the tasks at a spot: of the superstep that starts there, then of the one that ended."""
    if not nested.runs:
        return []
    history = reading.history(spot.thread, spot.namespace)
    made = nested.at(spot.namespace, history.parents[spot.id]) if history.by_id[spot.id].source == "loop" else []
    return [*nested.at(spot.namespace, spot.id), *made]


def _of(found: Sequence[Run], node: str) -> list[Run]:
    return [run for run in found if node in ("", run.node)]


def entrance(nested: Nested, found: Sequence[Run], node: str = "") -> Run | None:
    """Return the run that stepping in means: the only one there, or the only one that has not come to its end.

    Runs of the superstep that starts at the cursor go before those of the one that ended there.
    """
    mine = _of(found, node)
    here = [run for run in mine if run.parent == mine[0].parent]
    unfinished = [run for run in here if nested.view(run).status != "done"] if len(here) > 1 else here
    return unfinished[0] if len(unfinished) == 1 else None


def way_in(reading: Reading, spot: Spot, namespace: str, node: str) -> Mapping[str, str]:
    """Return the cursor's move into a run: the one of the namespace, or the one that is meant.

    Raises:
        SessionError: there is none, or there are several.
    """
    nested = Nested(reading, spot.thread)
    found = inside(reading, nested, spot)
    if namespace:
        every = [*found, *reversed(nested.runs)]
        run = next((run for run in every if run.namespace == namespace), None)
        if run is None:
            raise refuse(f"Thread {spot.thread!r} has no subgraph run {namespace!r}.", kind="input")
    else:
        run = entrance(nested, found, node)
        if run is None:
            raise refuse(SEVERAL if _of(found, node) else NOTHING, kind="input")
    newest = reading.history(spot.thread, run.namespace).newest
    return {"namespace": run.namespace, **({"checkpoint": run.newest} if run.newest != newest else {})}


def way_out(reading: Reading, spot: Spot) -> Mapping[str, str]:
    """Return the cursor's move to the task around a subgraph.

    Raises:
        SessionError: it is the outermost graph already, or the record does not tell.
    """
    if not spot.namespace:
        raise refuse(OUTERMOST, kind="input")
    above, _, task, _ = spaces.parts_of(spot.namespace)
    found = _around(reading, spot)
    if not found:
        return {"namespace": above if len(reading.history(spot.thread, above)) else ""}
    space, checkpoint = found[-1]
    return {"namespace": space, "checkpoint": checkpoint, "task": task}


def crumbs(reading: Reading, spot: Spot) -> tuple[Crumb, ...]:
    """Return the levels from the outermost graph to a spot."""
    levels = [*_around(reading, spot), (spot.namespace, spot.id)]
    found = []
    for space, id_ in levels:
        step = reading.history(spot.thread, space).by_id[id_].step
        found.append(Crumb(space, _label(reading, space), id_, step if space == spot.namespace else step + 1))
    return tuple(found)


def _label(reading: Reading, namespace: str) -> str:
    if not namespace:
        return reading.engine.name
    _, node, _, call = spaces.parts_of(namespace)
    return node if call == 1 else f"{node} #{call}"


def _around(reading: Reading, spot: Spot) -> list[tuple[str, str]]:
    """Return namespace and checkpoint of the levels around a spot that are there, the outermost first."""
    header = reading.history(spot.thread, spot.namespace).by_id[spot.id]
    found = spaces.around(spot.namespace, spaces.parents_of(header.metadata))
    there = [(space, id_) for space, id_ in found.items() if id_ in reading.history(spot.thread, space).by_id]
    return sorted(there, key=lambda level: len(level[0]))


def every(reading: Reading, thread: str, window: tuple[int, int]) -> Page[InnerRun]:
    """Return the runs of subgraphs in a thread, at any depth, the newest first."""
    offset, limit = window
    nested = Nested(reading, thread)
    shown = nested.runs[::-1][offset : offset + limit]
    more = offset + limit < len(nested.runs)
    return Page(tuple(nested.view(run) for run in shown), offset, limit, len(nested.runs), more)
