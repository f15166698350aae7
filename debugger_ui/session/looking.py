"""The looking half of a debug session: everything that can be seen from the cursor.

Nothing here runs a node or writes to a database.
"""

import json
from dataclasses import replace
from typing import Any

from debugger_ui.engines.base import MISSING
from debugger_ui.session import compare
from debugger_ui.session.analysis import plan_view, update_view
from debugger_ui.session.changes import Changes, look
from debugger_ui.session.checkpoints import channel_views, checkpoint_view
from debugger_ui.session.clusters import opened
from debugger_ui.session.diff import diff_states
from debugger_ui.session.export import plain
from debugger_ui.session.finding import Finding
from debugger_ui.session.graphs import graph_view
from debugger_ui.session.missing import missing
from debugger_ui.session.problems import refuse
from debugger_ui.session.provenance import Provenance
from debugger_ui.session.render import FULL, USUAL, page_of, view
from debugger_ui.session.text import json_safe, path_label
from debugger_ui.session.told import told
from debugger_ui.session.views import (
    BranchView,
    ChangePoint,
    ChannelView,
    CheckpointView,
    Comparison,
    DiffView,
    GraphView,
    Missing,
    Path,
    PlanView,
    ProvenanceHop,
    Rich,
    Side,
    TaskView,
    UpdateView,
    ValueView,
)


@told
class Looking(Finding):
    """The looking half of a session."""

    # --- one checkpoint -----------------------------------------------------------------------

    def checkpoint(self, checkpoint: str = "") -> CheckpointView | None:
        """Return the checkpoint (the cursor's by default); None when the thread has none yet."""
        spot = self.spot()
        if spot is None:
            return None
        job = self._job_at(spot)
        here = checkpoint in ("", spot.id)
        running = job.running_tasks if job is not None and here and job.at == spot.id else ()
        shown = checkpoint_view(self.desk.reading, self.workspace.labels, spot, checkpoint or spot.id, running)
        if here:
            self._seen = (self.cursor, spot, shown.head)
        return shown

    def value(self, path: Path, *, checkpoint: str = "", full: bool = False) -> ValueView:
        """Return the value at a path; `full` lifts the limits of size, not the one of depth.

        Raises:
            SessionError: there is nothing at the path.
        """
        return view(self._at(path, checkpoint), FULL if full else USUAL, path)

    def rich(self, path: Path, *, checkpoint: str = "", offset: int = 0) -> Rich:
        """Return the page of a chat or table that begins at `offset`, or an image.

        Raises:
            SessionError: there is nothing at the path, or it is none of these.
        """
        page = page_of(self._at(path, checkpoint), offset)
        if page is None:
            raise refuse(f"{path_label(path)} is no chat, table or image.")
        return page

    def raw(self, path: Path = (), *, checkpoint: str = "") -> str:
        """Return the value at a path (the whole state by default) as indented JSON text."""
        return json_safe(json.dumps(plain(self._at(path, checkpoint)), ensure_ascii=False, indent=2))

    def diff(self, before: str = "", after: str = "") -> DiffView:
        """Compare two checkpoints, by default the cursor's with its parent."""
        spot = self._need_spot()
        reading = self.desk.reading
        new = reading.record(spot, after)
        old = reading.record(spot, before) if before else reading.parent_record(spot, new)
        parent = reading.history(spot.thread, spot.namespace).parents.get(new.header.id, "")
        neighbours = old is not None and old.header.id == parent

        def writers(key: str) -> tuple[str, ...]:
            return Changes(reading, spot).writers(old, new, (key,)) if neighbours else ()

        ids = (old.header.id if old is not None else "", new.header.id)
        return diff_states(old.state if old is not None else {}, new.state, ids, writers)

    def tasks(self, checkpoint: str = "") -> tuple[TaskView, ...]:
        """Return the tasks of the superstep that starts at the checkpoint."""
        shown = self.checkpoint(checkpoint)
        return shown.tasks if shown is not None else ()

    def missing(self) -> Missing | None:
        """Return what a superstep that failed at the cursor lacks; None when none did, or its branch went on."""
        spot = self.spot()
        return missing(self.desk.reading, spot) if spot is not None else None

    def channels(self, checkpoint: str = "", *, all_channels: bool = False) -> tuple[ChannelView, ...]:
        """Return state channels (all of them, also triggers and barriers, when asked for)."""
        spot = self._need_spot()
        record = self.desk.reading.record(spot, checkpoint)
        before = self.desk.reading.parent_record(spot, record)
        return channel_views(record, before, self.desk.engine.channels(spot.namespace), everything=all_channels)

    def graph(self) -> GraphView:
        """Return the graph with marks and counts at the cursor."""
        spot = self.spot()
        job = self._job_at(spot)
        running = job.progress().running if job is not None and spot is not None and job.at == spot.id else ()
        return graph_view(self.desk.reading, spot, running, self.cursor.thread)

    def picture(self) -> GraphView:
        """Return the graph as `graph` does, with its subgraphs opened in place: `door|node` is a node inside."""
        spot = self.spot()
        return opened(self.desk.reading, spot, self.graph()) if spot is not None else self.graph()

    def plan(self, checkpoint: str = "") -> PlanView:
        """Return for every node whether it runs in the superstep that starts here, and why."""
        spot = self._need_spot()
        record = self.desk.reading.record(spot, checkpoint)
        return plan_view(self.desk.engine, record, replace(spot.place, id=record.header.id))

    def update(self, checkpoint: str = "") -> UpdateView:
        """Return how the writes of the superstep that starts here fold into each channel."""
        spot = self._need_spot()
        record = self.desk.reading.real(spot, checkpoint)
        child = self.desk.reading.successor(spot, record.header.id)
        made = self.desk.reading.real(spot, child) if child else None
        return update_view(self.desk.reading, record, made, replace(spot.place, id=record.header.id))

    def why(self, path: Path = ()) -> tuple[ProvenanceHop, ...]:
        """Return the chain of writers behind the value at a path, back to an input or an edit."""
        reading, spot, wanted = self.desk.reading, self._need_spot(), self._path(path)
        # The answer is another one when what came before is removed, which begins with the oldest.
        oldest = next(iter(reading.history(spot.thread, spot.namespace).by_id))
        about = ("why", spot.place, wanted, oldest)
        return reading.remembered(about, lambda: Provenance(reading).why(spot, wanted))

    def last_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where the value at the path got what it has at the cursor; None if never set."""
        return Changes(self.desk.reading, self._need_spot()).last(self._path(path))

    def next_change(self, path: Path = ()) -> ChangePoint | None:
        """Return where on the cursor's branch the value changes next; None if it does not."""
        return Changes(self.desk.reading, self._need_spot()).next(self._path(path))

    # --- two branches or threads ----------------------------------------------------------------

    def compare(self, left: Side, right: Side, *, limit: int = 200) -> Comparison:
        """Return two branches or threads aligned, and the sentence about their first divergence.

        At most `limit` steps after it are told.

        Raises:
            SessionError: no such thread, branch or checkpoint.
        """
        return compare.compare(self.workspace, self.cursor, left, right, limit)

    def compare_states(self, left: Side, right: Side) -> DiffView:
        """Return what differs between the states at which two sides end."""
        return compare.compare_states(self.workspace, self.cursor, left, right)

    def sides(self) -> tuple[Side, Side] | None:
        """Return the cursor's branch and the branch that it left, or the newest other; None when there is no other."""
        return compare.default_sides(self.workspace, self.cursor) if self.spot() is not None else None

    def branches_of(self, side: Side) -> tuple[BranchView, ...]:
        """Return the branches of a side's thread, the oldest first; `current` is the side's."""
        return compare.side_branches(self.workspace, self.cursor, side)

    # --- inside -------------------------------------------------------------------------------

    def _at(self, path: Path, checkpoint: str) -> Any:
        found = look(self.desk.reading.record(self._need_spot(), checkpoint), path)
        if found is MISSING:
            raise refuse(f"There is nothing at {path_label(path)} in this checkpoint.")
        return found

    def _path(self, path: Path) -> Path:
        chosen = path or self.cursor.path
        if not chosen:
            raise refuse("Choose a value first.")
        return chosen
