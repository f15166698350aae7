"""Why a value is what it is: its chain of writers, out of a subgraph into the graphs around it."""

from dataclasses import replace

from debugger_ui.engines.base import MISSING
from debugger_ui.engines.spaces import SEPARATOR, around, parents_of
from debugger_ui.session.changes import MAX_HOPS, Changes, look, same
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_analysis import ProvenanceHop
from debugger_ui.session.view_values import Path


class Provenance:
    """Follows values through one thread; what was found on the way is kept as long as this object."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._changes: dict[Spot, Changes] = {}
        self._met: set[tuple[str, str, Path]] = set()

    def why(self, spot: Spot, path: Path) -> tuple[ProvenanceHop, ...]:
        """Return who wrote the value, what they had read, who wrote that, back to an input or an edit.

        What a subgraph was given under the same key is followed in the graph around it.
        """
        changes = self._changes.setdefault(spot, Changes(self.reading, spot))
        hops = [hop for hop in changes.why(path) if self._is_new(hop)]
        for given in [hop for hop in hops if hop.kind == "input"] if spot.namespace else []:
            outside = self._around(spot, given)
            if outside is not None and len(hops) < MAX_HOPS:
                before = self.why(outside, given.path)
                hops += [replace(hop, depth=hop.depth + given.depth + 1) for hop in before]
        return tuple(hops[:MAX_HOPS])

    def _is_new(self, hop: ProvenanceHop) -> bool:
        """Whether it is the first time that a chain comes by; the tasks of one superstep come together."""
        key = (hop.namespace, hop.checkpoint + hop.task, hop.path)
        if key in self._met:
            return False
        self._met.add(key)
        return True

    def _around(self, spot: Spot, given: ProvenanceHop) -> Spot | None:
        """Return the checkpoint from which a subgraph took what it was given; None where that had another value.

        A Send brings an input of its own, and a function may hand on what it has made of the state.
        """
        record = self.reading.record(spot, given.checkpoint)
        outer = spot.namespace.rpartition(SEPARATOR)[0]
        found = around(spot.namespace, parents_of(record.header.metadata)).get(outer)
        history = self.reading.history(spot.thread, outer)
        if found is None or found not in history.by_id:
            return None
        outside = Spot(spot.thread, outer, history.branch_of[found], found, follows=False)
        there, here = look(self.reading.record(outside), given.path), look(record, given.path)
        return outside if there is not MISSING and same(there, here) else None
