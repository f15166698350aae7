"""An engine over a compiled graph and its saver, by the API names that such graphs share.

`get_state`, `update_state`, `stream`/`astream`, `get_graph`, `channels`, `nodes` and a checkpointer
are all it needs. What a runtime offers beyond that (`plan`, `step`, `explain_update`,
`preview_update`) is used when it is there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import (
    MISSING,
    ChannelSpec,
    EdgeSpec,
    Failure,
    Fold,
    Folding,
    NodeSpec,
    NodeVerdict,
    Place,
    Question,
    Record,
    Task,
    Topology,
)
from debugger_ui.engines.counted import counted
from debugger_ui.engines.editing import GraphEditor
from debugger_ui.engines.failures import failure_of, refusals
from debugger_ui.engines.reader import SaverReader, answers_of, config_of, header_of, writes_of
from debugger_ui.engines.running import GraphRunner
from debugger_ui.engines.saved import SavedHistory
from debugger_ui.engines.schema import channel_specs, fold_writes, input_schema
from debugger_ui.engines.spaces import Inner, graph_path
from debugger_ui.engines.surroundings import NOTHING, Surroundings
from debugger_ui.engines.traced import traced


@dataclass(frozen=True, slots=True)
class About:
    """What is said of a graph: its shown name, its address, its database, what it is good for."""

    name: str = ""
    spec: str = ""
    database: str = "in memory"
    shows: str = ""
    example: Any = MISSING


class GraphEngine(SavedHistory):
    """A compiled graph on its saver. `types` is the module with its Command, Send and Overwrite."""

    kind = "langgraph"
    runner_type: type[GraphRunner] = GraphRunner
    editor_type: type[GraphEditor] = GraphEditor

    def __init__(
        self,
        graph: Any,
        types: Any,
        about: About,
        reader: SaverReader | None = None,
        around: Surroundings = NOTHING,
    ) -> None:
        super().__init__()
        self.graph = graph
        self.types = types
        self.about = about
        self.name = about.name or str(getattr(graph, "name", "") or "graph")
        self.spec = about.spec
        self.shows = about.shows
        self.database = about.database
        self.owned = False
        self.limits: dict[str, str] = self._limited(type(graph).__module__.partition(".")[0])
        self._parts: dict[str, Any] | None = None
        self._channels: dict[str, Mapping[str, ChannelSpec]] = {}
        self._topologies: dict[str, Topology] = {}
        self.reader = reader or SaverReader(graph.checkpointer)
        self.runner: GraphRunner | None = self.runner_type(graph, types, about.spec, around)
        self.editor: GraphEditor | None = self.editor_type(graph, types, self.reader, about.spec)

    def _limited(self, root: str) -> dict[str, str]:
        """Return what graphs of this kind cannot do, and why."""
        return {
            "phases": f"A graph of {root} runs whole supersteps only.",
            "inside": f"A graph of {root} runs a subgraph within one superstep of the graph around it, so nothing "
            "stops inside one.",
            "return": f"A graph of {root} that is gone back into starts its subgraph over, so only the newest "
            "checkpoint inside can be edited or gone on from. Step out, and step the node around it.",
        }

    def channels(self, namespace: str = "") -> Mapping[str, ChannelSpec]:
        """Return the channels of the graph, or of a subgraph."""
        path = graph_path(namespace)
        if path not in self._channels:
            graph = self._graph_at(path)
            self._channels[path] = channel_specs(graph) if graph is not None else {}
        return self._channels[path]

    def topology(self, thread: str = "", namespace: str = "") -> Topology:
        """Return the graph, or a subgraph, as its own `get_graph` draws it."""
        path = graph_path(namespace)
        if path not in self._topologies:
            graph = self._graph_at(path)
            if graph is None:
                return traced(self.reader, thread, namespace)
            self._topologies[path] = drawn(graph)
        return self._topologies[path]

    def values(
        self, thread: str, ids: Sequence[str], keys: Sequence[str], namespace: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the values of some state keys; a key that nobody has written has what its channel starts with."""
        graph = self._graph_at(graph_path(namespace))
        channels = graph.channels if graph is not None else {}
        if naming.one_value(channels):
            for record in self.records(thread, ids, namespace):
                yield record.header.id, {key: record.state[key] for key in keys if key in record.state}
            return
        fresh = {key: channels[key].copy() for key in keys if key in channels}
        first = {key: channel.get() for key, channel in fresh.items() if channel.is_available()}
        for id_, found in self.reader.values(thread, ids, keys, namespace):
            yield id_, {**first, **found}

    def inner(self, thread: str) -> Sequence[Inner]:
        """Return what subgraphs have saved; a saver that has to decode for it is not asked where there are none."""
        return super().inner(thread) if self._subgraphs or type(self.reader) is not SaverReader else ()

    @property
    def _subgraphs(self) -> Mapping[str, Any]:
        """The graphs inside this one by their paths of node names."""
        if self._parts is None:
            self._parts = dict(self.graph.get_subgraphs(recurse=True))
        return self._parts

    def _graph_at(self, path: str) -> Any:
        """Return the graph at a path of node names, the outermost for ""; None when the code shows none there."""
        return self._subgraphs.get(path) if path else self.graph

    def node_at(self, place: Place, name: str) -> Any:
        """Return the compiled node of a name in the graph that a place belongs to, or None."""
        graph = self._graph_at(graph_path(place.namespace))
        return graph.nodes.get(name) if graph is not None else None

    def verdicts(self, place: Place) -> Sequence[NodeVerdict] | None:
        """Return None: the session works it out from triggers and versions."""
        return None

    def folds(self, place: Place) -> Sequence[Fold] | None:
        """Return None: the session works it out with `fold`."""
        return None

    def fold(self, channel: str, before: Any, writes: Sequence[Any], namespace: str = "") -> Folding:
        """Fold the writes into a fresh copy of the channel, one by one."""
        graph = self._graph_at(graph_path(namespace))
        return fold_writes(graph.channels.get(channel), before, writes) if graph is not None else Folding()

    def input_schema(self) -> Mapping[str, Any]:
        """Return the JSON schema of the graph's input; empty when it has none that JSON can say."""
        return input_schema(self.graph)

    def example(self) -> Any:
        """Return the example input that came with the graph, or MISSING."""
        return self.about.example

    def close(self) -> None:
        """Close the saver if it is ours."""
        if self.owned:
            self.graph.checkpointer.close()

    def _record(self, item: Any, place: Place) -> Record:
        header = header_of(item)
        here = Place(place.thread, header.id, place.namespace)
        values = dict(item.checkpoint.get("channel_values") or {})
        problems: tuple[str, ...] = ()
        try:
            snapshot = self.graph.get_state(config_of(here))
            state, tasks = snapshot.values, self._tasks(item, here, snapshot.values, snapshot.tasks)
        except Exception as error:  # a graph that no longer fits its record must not hide the record
            problems = (f"The graph cannot read this checkpoint, so it is shown as recorded: {error}",)
            state, tasks = {key: value for key, value in values.items() if naming.is_state_key(key)}, ()
        return Record(
            header=header,
            state=self._state(state, values, place),
            channels=values,
            versions=dict(item.checkpoint.get("channel_versions") or {}),
            seen=item.checkpoint.get("versions_seen") or {},
            tasks=tasks,
            problems=(*problems, *refusals(counted(item.pending_writes or ()).writes, tasks)),
        )

    def _state(self, state: Any, values: Mapping[str, Any], place: Place) -> dict[str, Any]:
        """Return the state by its keys: a state that is one value is under the root, a dict too."""
        graph = self._graph_at(graph_path(place.namespace))
        channels = graph.channels if graph is not None else {}
        if naming.END in channels:
            return {naming.ROOT: values[naming.END]} if naming.END in values else {}
        whole = naming.one_value(channels) or not isinstance(state, Mapping)
        return {naming.ROOT: state} if whole else dict(state)

    def _tasks(self, item: Any, place: Place, state: Any, planned: Any) -> tuple[Task, ...]:
        calls = self.reader.calls(place, item, [(task.id, task.path) for task in planned])
        return tuple(replace(self._task(task, item, state, place), calls=calls.get(task.id, ())) for task in planned)

    def _task(self, task: Any, item: Any, state: Any, place: Place) -> Task:
        written = item.pending_writes or ()
        mine = [(channel, value) for id_, channel, value in written if id_ == task.id]
        settled = any(naming.settles(channel) for channel, _ in mine)
        node = self.node_at(place, task.name)
        # An answered question stays in the record of its task; it is open only while the task is.
        questions = questions_of(task.interrupts)
        return Task(
            id=task.id,
            name=task.name,
            path=tuple(task.path),
            triggers=tuple(node.triggers) if node is not None else (),
            input=_input(task, item, state, node),
            writes=writes_of(mine),
            done=settled and task.error is None,
            failure=_failure(task.error, mine),
            questions=() if settled else questions,
            asked=questions if settled else (),
            answers=answers_of(written).get(task.id, ()),
            attempts=1 if mine else 0,
            namespace=subgraph_namespace(task, place, node),
        )


def questions_of(interrupts: Sequence[Any]) -> tuple[Question, ...]:
    """Return a task's interrupts as questions."""
    return tuple(Question(asked.id, asked.value, getattr(asked, "response_schema", None)) for asked in interrupts)


def drawn(graph: Any) -> Topology:
    """Return a compiled graph as its own `get_graph` draws it."""
    picture = graph.get_graph()
    subgraphs = dict(graph.get_subgraphs())
    triggers = {name: tuple(node.triggers) for name, node in graph.nodes.items()}
    nodes = tuple(
        NodeSpec(
            id_,
            str(node.name),
            _kind(id_, subgraphs),
            triggers=triggers.get(id_, ()),
            calls=id_ in subgraphs and getattr(graph.nodes[id_], "bound", None) is not subgraphs[id_],
            saves=getattr(subgraphs.get(id_), "checkpointer", None) is not False,
        )
        for id_, node in picture.nodes.items()
    )
    edges = tuple(
        EdgeSpec(edge.source, edge.target, bool(edge.conditional), str(edge.data or "")) for edge in picture.edges
    )
    return Topology(nodes, edges)


def _kind(id_: str, subgraphs: Collection[str]) -> str:
    if id_ == naming.START:
        return "start"
    if id_ == naming.END:
        return "end"
    return "subgraph" if id_ in subgraphs else "node"


def _input(task: Any, item: Any, state: Any, node: Any) -> Any:
    path = tuple(task.path)
    if path and path[0] == "__pregel_push":
        sends = naming.sends_of(item.checkpoint.get("channel_values") or {})
        index = path[1] if len(path) > 1 else None
        return sends[index].arg if isinstance(index, int) and index < len(sends) else MISSING
    wanted = getattr(node, "channels", None)
    if isinstance(wanted, str):
        return (item.checkpoint.get("channel_values") or {}).get(wanted, MISSING)
    if isinstance(wanted, (list, tuple)) and isinstance(state, Mapping):
        return {key: state[key] for key in wanted if key in state}
    return MISSING


def _failure(error: Any, writes: Sequence[tuple[str, Any]]) -> Failure | None:
    if error is None:
        return None
    if isinstance(error, BaseException):
        return failure_of(error)
    return failure_of(next((value for channel, value in writes if channel == naming.ERROR), error))


def subgraph_namespace(task: Any, place: Place, node: Any) -> str:
    """Return the checkpoint namespace of the subgraph that a task runs; "" when it runs none."""
    if not getattr(node, "subgraphs", None):
        return ""
    own = f"{task.name}:{task.id}"
    return f"{place.namespace}|{own}" if place.namespace else own
