"""Writes edits as new checkpoints, and shows beforehand what they would make."""

from collections.abc import Mapping, Sequence
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import Change, Place, Preview
from debugger_ui.engines.reader import SaverReader, config_of, labelled
from debugger_ui.engines.spaces import graph_path


class GraphEditor:
    """Edits through the graph's own `update_state`, so that an edit obeys the reducers of a run."""

    def __init__(self, graph: Any, types: Any, reader: SaverReader, spec: str = "") -> None:
        self.graph = graph
        self.types = types
        self.spec = spec
        self.reader = reader

    def author(self, place: Place) -> str:
        """Return the node that made the checkpoint; "" when there were none or several."""
        self.reader.headers(place.thread, place.namespace)
        outline = self.reader.outlines(place.thread, [place.id], place.namespace).get(place.id)
        ran = outline.ran if outline else ()
        return ran[0] if len(ran) == 1 else ""

    def preview(self, place: Place, changes: Sequence[Change], author: str) -> Preview:
        """Return the state and the nodes due after the edit, made on a copy in memory."""
        scratch = self.graph.copy(update={"checkpointer": self._copy_of(place)})
        made = scratch.update_state(config_of(place), self._values(changes, place), as_node=author or None)
        snapshot = scratch.get_state(made)
        return Preview(state=self._state(snapshot.values, place), due=tuple(snapshot.next))

    def save(self, place: Place, changes: Sequence[Change], author: str) -> str:
        """Write the edit as a child of the place; return the new checkpoint's id."""
        made = self.graph.update_state(
            labelled(config_of(place), self.spec, author), self._values(changes, place), as_node=author or None
        )
        return str(made["configurable"]["checkpoint_id"])

    def _channels(self, place: Place) -> Mapping[str, Any]:
        path = graph_path(place.namespace)
        graph = dict(self.graph.get_subgraphs(recurse=True))[path] if path else self.graph
        channels: Mapping[str, Any] = graph.channels
        return channels

    def _state(self, values: Any, place: Place) -> dict[str, Any]:
        """Return what a graph gives as its state, by keys; a state that is one value is under the root, a dict too."""
        whole = naming.one_value(self._channels(place)) or not isinstance(values, Mapping)
        return {naming.ROOT: values} if whole else dict(values)

    def _values(self, changes: Sequence[Change], place: Place) -> Any:
        """Return the update: values by state key, or the value itself of a state that is one value."""
        channels = self._channels(place)
        reduced = {name for name, channel in channels.items() if getattr(channel, "operator", None) is not None}
        update = {
            change.key: self.types.Overwrite(change.value)
            if change.key in reduced and not change.append
            else change.value
            for change in changes
        }
        return update[naming.ROOT] if naming.ROOT in update and naming.one_value(channels) else update

    def _copy_of(self, place: Place) -> Any:
        from langgraph.checkpoint.memory import InMemorySaver

        saver: Any = InMemorySaver()
        item = self.reader.get(place)
        base = config_of(Place(place.thread, "", place.namespace))
        saver.put(base, item.checkpoint, item.metadata, dict(item.checkpoint["channel_versions"]))
        by_task: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in item.pending_writes or ():
            by_task.setdefault(task, []).append((channel, value))
        for task, writes in by_task.items():
            saver.put_writes(config_of(place), writes, task)
        return saver
