"""From what a caller passes to a `Run`: configs are merged and read here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver

from runtime._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_MAP,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_THREAD_ID,
    NS_END,
    NS_SEP,
)
from runtime._context import CONFIG_KEY_TASK
from runtime.pregel.context import TaskContext
from runtime.pregel.halting import CONFIG_KEY_HALTING
from runtime.pregel.handover import strip_ids
from runtime.pregel.own import own
from runtime.pregel.run import DEFAULT_RECURSION_LIMIT, Origin, Run

if TYPE_CHECKING:
    from runtime.pregel.app import Pregel

_COORDINATES = (
    CONFIG_KEY_THREAD_ID,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_MAP,
)


def merge(*configs: RunnableConfig | None) -> RunnableConfig:
    """Configs laid over one another, later ones on top.

    Tags add up; metadata and configurable are merged by key; everything else is replaced. Keys that no
    RunnableConfig has are taken for `configurable`.
    """
    merged: dict[str, Any] = {}
    for config in configs:
        layer: Mapping[str, Any] = config or {}
        for key, value in layer.items():
            if value is None:
                continue
            if key == "tags":
                merged["tags"] = [*merged.get("tags", ()), *(t for t in value if t not in merged.get("tags", ()))]
            elif key in ("metadata", CONF):
                merged[key] = {**merged.get(key, {}), **value}
            elif key in _KNOWN:
                merged[key] = value
            else:
                merged[CONF] = {**merged.get(CONF, {}), key: value}
    return merged  # type: ignore[return-value]


_KNOWN = frozenset({"callbacks", "run_name", "run_id", "max_concurrency", "recursion_limit", "tags", "metadata", CONF})


def full_config(graph: Pregel, config: RunnableConfig | None) -> tuple[RunnableConfig, TaskContext | None]:
    """The config of a call of `graph`, and the task that it was called in, if it was."""
    inherited = var_child_runnable_config.get()
    merged = merge(inherited, graph.config, config)
    conf = merged.setdefault(CONF, {})
    outer: TaskContext | None = conf.pop(CONFIG_KEY_TASK, None)
    if outer is not None and _is_apart(outer, config):
        outer = None
        given = (config or {}).get(CONF, {})
        for key in _COORDINATES:
            if key not in given:
                conf.pop(key, None)
    merged["recursion_limit"] = merged.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
    if merged["recursion_limit"] < 1:
        raise ValueError(f"recursion_limit must be at least 1, not {merged['recursion_limit']}")
    return merged, outer


def _is_apart(outer: TaskContext, config: RunnableConfig | None) -> bool:
    """Whether a call inside a task is about a thread of its own: its config says so."""
    given = (config or {}).get(CONF, {})
    thread = given.get(CONFIG_KEY_THREAD_ID)
    return thread is not None and thread != outer.run.thread_id


_TRACED = (
    CONFIG_KEY_THREAD_ID,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_NS,
    "task_id",
    "run_id",
    "assistant_id",
    "graph_id",
)
"""Keys of `configurable` that say where a run is, and so go with everything it reports."""


def _metadata(config: RunnableConfig) -> dict[str, Any]:
    """The config's metadata, and where its configurable says that the run is."""
    metadata = dict(config.get("metadata") or {})
    conf = config.get(CONF, {})
    for key in _TRACED:
        if key in conf and key not in metadata and isinstance(conf[key], str | int | float | bool):
            metadata[key] = conf[key]
    return metadata


def resolve_saver(graph: Pregel, config: RunnableConfig, outer: TaskContext | None) -> BaseCheckpointSaver[Any] | None:
    """The saver that a call of `graph` uses. Raises RuntimeError for `checkpointer=True` at the root."""
    given = graph.checkpointer
    if given is False:
        return None
    lent = config.get(CONF, {}).get(CONFIG_KEY_CHECKPOINTER)
    if lent is None and outer is not None:
        lent = outer.run.saver
    if isinstance(lent, BaseCheckpointSaver):
        return own(lent)
    if given is True:
        raise RuntimeError(
            "checkpointer=True asks for the checkpointer of the graph around this one, and there is none; "
            "give a graph that is run by itself a saver"
        )
    return own(given) if isinstance(given, BaseCheckpointSaver) else None


def new_run(
    graph: Pregel,
    input: Any,
    config: RunnableConfig | None,
    *,
    durability: str | None = None,
    context: Any = None,
    control: Any = None,
) -> Run:
    """A run of `graph`, placed where its config and the task around it say."""
    merged, outer = full_config(graph, config)
    return placed_run(graph, input, merged, outer, durability=durability, context=context, control=control)


def placed_run(  # noqa: PLR0913 - what `new_run` takes, its config in two
    graph: Pregel,
    input: Any,
    merged: RunnableConfig,
    outer: TaskContext | None,
    *,
    durability: str | None = None,
    context: Any = None,
    control: Any = None,
) -> Run:
    """`new_run`, for a config that is merged already, and the task that it was called in."""
    saver = resolve_saver(graph, merged, outer)
    conf = merged[CONF]
    halting = conf.pop(CONFIG_KEY_HALTING, None)
    if saver is not None and not conf.get(CONFIG_KEY_THREAD_ID):
        raise ValueError(
            f"graph {graph.name!r} has a checkpointer, so the config must name the thread to save to: "
            'pass {"configurable": {"thread_id": ...}}'
        )
    if CONFIG_KEY_THREAD_ID in conf and conf[CONFIG_KEY_THREAD_ID] is not None:
        conf[CONFIG_KEY_THREAD_ID] = str(conf[CONFIG_KEY_THREAD_ID])
    run = Run(
        graph.topology,
        input,
        merged,
        saver=saver,
        store=graph.store if graph.store is not None or outer is None else outer.run.store,
        cache=graph.cache if graph.cache is not None or outer is None else outer.run.cache,
        durability=durability or (outer.run.durability if outer is not None else "async"),
        parent=outer,
    )
    run.metadata = _metadata(merged)
    run.name = graph.get_name()
    run.retry_policy = graph.retry_policy
    run.cache_policy = graph.cache_policy
    run.step_timeout = graph.step_timeout
    run.executor = graph.executor if graph.executor is not None or outer is None else outer.run.executor
    run.context = graph.coerce_context(context) if context is not None else (outer.run.context if outer else None)
    if control is not None:
        run.control = control
    if outer is None:
        run.halting = halting
        _place_root(graph, run, conf)
    else:
        _place_inside(graph, run, outer)
    return run


def _place_root(graph: Pregel, run: Run, conf: Mapping[str, Any]) -> None:
    """A config that names a checkpoint inside a subgraph is about this graph's own, and what leads there."""
    run.strict = bool(conf.get("__pregel_strict_resume"))
    if run.control is None:
        from runtime.runtime import RunControl

        run.control = RunControl()
    if run.ns and run.saver is not None:
        targets = dict(run.checkpoint_map)
        if "" not in targets:
            raise ValueError(
                f"the config names the namespace {run.ns!r} inside graph {graph.name!r}, but not the checkpoints "
                "that lead there; use a config from get_state(..., subgraphs=True), which has them in checkpoint_map"
            )
        if run.checkpoint_id:
            targets[run.ns] = run.checkpoint_id
        run.targets = {ns: checkpoint for ns, checkpoint in targets.items() if ns}
        run.checkpoint_id = targets[""]
    _put_at(run, "")
    run.checkpoint_map = {}


def _put_at(run: Run, ns: str) -> None:
    run.ns = ns
    run.ns_path = tuple(ns.split(NS_SEP)) if ns else ()


def _place_inside(graph: Pregel, run: Run, outer: TaskContext) -> None:
    """A run inside a task lives in the task's namespace, numbered after the first."""
    index = outer.next_subrun()
    suffix = f"{NS_SEP}{index}" if index else ""
    ns = outer.task.checkpoint_ns + suffix
    former = outer.run.origins.get(outer.task.id)
    bodies = outer.task.node.bodies
    run.is_node = len(bodies) == 1 and bodies[0].target is graph
    run.persistent = graph.checkpointer is True
    if run.persistent:
        ns = strip_ids(ns)
    _put_at(run, ns)
    run.thread_id = outer.run.thread_id
    run.checkpoint_id = None
    run.checkpoint_map = {**outer.run.checkpoint_map, outer.run.ns: outer.frame.checkpoint_id}
    run.resuming = outer.run.resuming or outer.attempt > 1
    if former is not None and run.saver is not None:
        origin = strip_ids(former + suffix) if run.persistent else former + suffix
        target = run.targets.get(former + suffix) or run.targets.get(origin)
        run.origin = Origin(origin, target)
        if run.halting is not None:
            run.halting.moved[origin] = ns


def plain_ns(ns: str) -> str:
    """A namespace as a path of node names: neither task ids nor numbers."""
    return NS_SEP.join(part.split(NS_END)[0] for part in ns.split(NS_SEP) if not part.isdigit())
