"""Carrying out what `Pregel`'s methods promise: runs and their streams, looking, editing.

Each pair of functions here is the same program on the two drivers.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig

from runtime._constants import CONF, CONFIG_KEY_CHECKPOINT_ID, CONFIG_KEY_CHECKPOINT_NS, INTERRUPT
from runtime.pregel import chunks as shapes
from runtime.pregel.adrive import Asyncio, acarry_out, adrive
from runtime.pregel.cached import namespace
from runtime.pregel.drive import Blocking, carry_out, drive
from runtime.pregel.edit import edit_program
from runtime.pregel.loop import supersteps
from runtime.pregel.model import listed
from runtime.pregel.parse import full_config, new_run, placed_run, plain_ns, resolve_saver
from runtime.pregel.run import NodeResult, Run
from runtime.pregel.snapshot import show, state_program
from runtime.pregel.trace import begin_trace, manager_of, somebody_listens
from runtime.types import StateSnapshot, StateUpdate
from runtime.warnings import DeprecatedSince10

if TYPE_CHECKING:
    from runtime.pregel.app import Pregel

LIVE_MODES = frozenset({"custom", "messages", "tools"})
"""Modes whose chunks are made while a node runs, so that the loop's thread has to stay free for them."""


MODES = frozenset({"values", "updates", "checkpoints", "tasks", "debug", *LIVE_MODES})


@dataclass(slots=True)
class Options:
    """How a caller wants a run to go, and to be told of it."""

    modes: tuple[str, ...]
    many: bool
    printed: frozenset[str]
    context: Any
    output_keys: Any
    interrupt_before: Any
    interrupt_after: Any
    durability: str | None
    control: Any
    subgraphs: bool
    version: str

    @classmethod
    def read(cls, graph: Pregel, given: Mapping[str, Any]) -> Options:
        """Options from the arguments of `stream`, with the graph's own choices filled in."""
        mode = given.get("stream_mode")
        if mode is None:
            mode = graph.stream_mode
        printed = given.get("print_mode") or ()
        if given.get("debug") or (given.get("debug") is None and graph.debug):
            printed = ("updates", "values")
        durability = _durability(given)
        modes = (mode,) if isinstance(mode, str) else tuple(mode)
        unknown = [name for name in modes if name not in MODES]
        if unknown:
            raise ValueError(f"stream_mode {unknown[0]!r} is unknown; there are {', '.join(sorted(MODES))}")
        return cls(
            modes=modes,
            many=not isinstance(mode, str),
            printed=frozenset((printed,) if isinstance(printed, str) else printed),
            context=given.get("context"),
            output_keys=given.get("output_keys"),
            interrupt_before=given.get("interrupt_before") or graph.interrupt_before_nodes,
            interrupt_after=given.get("interrupt_after") or graph.interrupt_after_nodes,
            durability=durability,
            control=given.get("control"),
            subgraphs=bool(given.get("subgraphs")),
            version=given.get("version") or "v1",
        )


def _durability(given: Mapping[str, Any]) -> str | None:
    durability: str | None = given.get("durability")
    older = dict(given.get("deprecated") or {})
    during = older.pop("checkpoint_during", None)
    if older:
        raise TypeError(f"unexpected option {next(iter(older))!r}")
    if during is not None:
        if durability is not None:
            raise ValueError("checkpoint_during is the older name of durability; give only durability")
        warnings.warn(
            "checkpoint_during is deprecated; use durability='async' (for True) or 'exit' (for False)",
            DeprecatedSince10,
            stacklevel=4,
        )
        durability = "async" if during else "exit"
    if durability not in (None, "sync", "async", "exit"):
        raise ValueError(f"durability is 'sync', 'async' or 'exit', not {durability!r}")
    return durability


def prepare(graph: Pregel, input: Any, config: RunnableConfig | None, options: Options) -> Run:
    """A run with its options set; nothing of it has happened yet."""
    run = new_run(graph, input, config, durability=options.durability, context=options.context, control=options.control)
    if options.durability is not None and run.saver is None:
        warnings.warn("durability has no effect without a checkpointer", stacklevel=4)
    run.interrupt_before = _stops(options.interrupt_before)
    run.interrupt_after = _stops(options.interrupt_after)
    keys = options.output_keys
    if keys is None:
        run.show(graph.topology.stream_channels)
    else:
        run.show(keys if isinstance(keys, str) else tuple(keys))
        unknown = [key for key in run.output_set if key not in graph.topology.channels]
        if unknown:
            raise ValueError(f"output_keys names {unknown[0]!r}, which is no channel of graph {graph.name!r}")
    outer = run.parent.run if run.parent is not None else None
    own = frozenset(options.modes) | options.printed
    heard = outer.modes if outer is not None and outer.subgraph_events else frozenset()
    run.modes = own | heard
    if run.modes and run.durability == "async":
        run.saves_at_once = False  # who is told of a result may stop there for long, and by then it is on its way
    run.subgraph_events = options.subgraphs or (outer is not None and outer.subgraph_events)
    if run.modes & {"checkpoints", "debug"}:
        run.inner = graph.subgraphs_by_node
    run.live = bool(own & LIVE_MODES) or options.subgraphs or graph.stream_eager
    return run


def _stops(names: Any) -> str | tuple[str, ...]:
    """Breakpoints as a tuple of names: a lone string is one node, unless it is `"*"` for all."""
    return "*" if names == "*" else listed(names or ())


def _connect(run: Run, own: Any, modes: frozenset[str], *, inner: bool) -> None:
    """Send a run's events to its own stream, and to the run around it where that asked for them."""
    outer = run.parent.run if run.parent is not None else None
    further = outer.emit if outer is not None and outer.subgraph_events else None
    mine, wanted = run.ns_path, run.modes if inner else modes

    def here(event: Any) -> None:
        if event[1] in wanted and (inner or event[0] == mine):
            own(event)

    def emit(event: Any) -> None:
        here(event)
        if further is not None:
            further(event)

    run.emit = emit
    # Models report to every run around them: what they say must not come a second time by way of this one.
    run.emit_here = here if outer is not None and outer.messages is not None else emit


# --- running ------------------------------------------------------------------------------------


def stream(graph: Pregel, input: Any, config: RunnableConfig | None, options: Options) -> Generator[Any, None, Run]:
    """Run on the calling thread, and yield chunks. Returns the run."""
    run = prepare(graph, input, config, options)
    driver = run.driver = Blocking(run)
    own = driver.inbox.put if run.live else driver.chunks.append
    _connect(run, own, frozenset(options.modes) | options.printed, inner=options.subgraphs)
    shape = shapes.shaper(graph, options)
    manager = _traced(graph, run, options, awaited=False)
    started = (
        manager.on_chain_start(None, input, name=_name(graph, run), run_id=run.config.get("run_id"))
        if manager
        else None
    )
    if started is not None:
        begin_trace(run, started, awaited=False)
    events = drive(run, supersteps(run))
    try:
        for event in events:
            yield from shape(event)
    except BaseException as error:
        if started is not None:
            started.on_chain_error(error)
        raise
    finally:
        events.close()
    if started is not None:
        started.on_chain_end(run.output)
    return run


async def astream(
    graph: Pregel, input: Any, config: RunnableConfig | None, options: Options, box: list[Run] | None = None
) -> AsyncGenerator[Any, None]:
    """Run in the calling coroutine, and yield chunks. Puts the run into `box`."""
    run = prepare(graph, input, config, options)
    if box is not None:
        box.append(run)
    driver = run.driver = Asyncio(run)
    own = driver.post if run.live else driver.chunks.append
    _connect(run, own, frozenset(options.modes) | options.printed, inner=options.subgraphs)
    shape = shapes.shaper(graph, options)
    manager = _traced(graph, run, options, awaited=True)
    started = None
    if manager:
        started = await manager.on_chain_start(None, input, name=_name(graph, run), run_id=run.config.get("run_id"))
        begin_trace(run, started, awaited=True)
    events = adrive(run, supersteps(run))
    try:
        async for event in events:
            for chunk in shape(event):
                yield chunk
    except BaseException as error:
        if started is not None:
            await started.on_chain_error(error)
        raise
    finally:
        await events.aclose()
    if started is not None:
        await started.on_chain_end(run.output)


def _name(graph: Pregel, run: Run) -> str:
    return run.config.get("run_name") or graph.get_name()


def _traced(graph: Pregel, run: Run, options: Options, *, awaited: bool) -> Any:
    config = run.config
    if "messages" not in options.modes and not somebody_listens(config):
        return None
    manager = manager_of(config, config.get("callbacks"), awaited=awaited)
    if "messages" in options.modes:
        from runtime.pregel.messages import MessageStream

        run.messages = MessageStream(run, options.subgraphs)
        manager.add_handler(run.messages, inherit=True)
    return manager


def _invoke_options(graph: Pregel, stream_mode: Any, given: dict[str, Any]) -> Options:
    """Invoke is a run that nobody listens to, unless other modes than "values" are asked for."""
    options = Options.read(graph, {**given, "stream_mode": stream_mode, "deprecated": _unknown(given)})
    if options.output_keys is None:
        options.output_keys = graph.topology.output_channels
    if stream_mode == "values":
        options.modes = ()
    return options


_NAMES = frozenset(Options.__slots__) - {"modes", "many", "printed"} | {"print_mode", "debug"}


def _unknown(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in _NAMES}


def invoke(graph: Pregel, input: Any, config: RunnableConfig | None, *, stream_mode: Any, **given: Any) -> Any:
    """Run, and return what the run gives."""
    options = _invoke_options(graph, stream_mode, given)
    chunks, program = [], stream(graph, input, config, options)
    while True:
        try:
            chunks.append(next(program))
        except StopIteration as stop:
            return _given(graph, stop.value, options, stream_mode, chunks)


async def ainvoke(graph: Pregel, input: Any, config: RunnableConfig | None, *, stream_mode: Any, **given: Any) -> Any:
    """Run, awaiting, and return what the run gives."""
    options = _invoke_options(graph, stream_mode, given)
    box: list[Run] = []
    chunks = [chunk async for chunk in astream(graph, input, config, options, box)]
    return _given(graph, box[0], options, stream_mode, chunks)


def _given(graph: Pregel, run: Run, options: Options, stream_mode: Any, chunks: list[Any]) -> Any:
    if stream_mode != "values":
        return chunks
    output, interrupts = run.output, tuple(run.interrupts)
    if options.version == "v2":
        return shapes.as_output(graph, output, interrupts)
    if interrupts:
        return {**output, INTERRUPT: list(interrupts)} if isinstance(output, dict) else {INTERRUPT: list(interrupts)}
    return NodeResult(output, run.unchanged) if run.is_node and type(output) is dict else output


# --- looking and editing ------------------------------------------------------------------------


def state_run(graph: Pregel, config: RunnableConfig) -> tuple[Pregel, Run, RunnableConfig]:
    """For a state method: the (sub)graph that a config is about, a run to drive with, and the place."""
    merged, outer = full_config(graph, config)
    conf = merged.get(CONF, {})
    ns = conf.get(CONFIG_KEY_CHECKPOINT_NS) or ""
    base = {key: value for key, value in conf.items() if key not in ("checkpoint_ns", "checkpoint_map")}
    run = placed_run(graph, None, {**merged, CONF: base}, outer, durability="sync")
    if run.saver is None:
        raise ValueError(f"graph {graph.name!r} was compiled without a checkpointer, so there is no state to look at")
    target = subgraph_at(graph, ns) if ns else graph
    run.parent = None
    run.topology = target.topology
    run.name = target.get_name()
    run.show(target.topology.output_channels)
    run.ns = ns
    run.ns_path = tuple(ns.split("|")) if ns else ()
    run.checkpoint_id = conf.get(CONFIG_KEY_CHECKPOINT_ID) or (conf.get("checkpoint_map") or {}).get(ns)
    return target, run, run.at(run.checkpoint_id)


def subgraph_at(graph: Pregel, ns: str) -> Pregel:
    """The subgraph that a namespace belongs to. Raises ValueError if the graph has no such."""
    path = plain_ns(ns)
    for _, subgraph in graph.get_subgraphs(namespace=path, recurse=True):
        return subgraph  # type: ignore[no-any-return]
    raise ValueError(f"graph {graph.name!r} has no subgraph {path!r}")


def look(graph: Pregel, config: RunnableConfig, recurse: bool) -> StateSnapshot:
    """A thread's state."""
    target, run, place = state_run(graph, config)
    snapshot: StateSnapshot = carry_out(Blocking(run), state_program(target, run, place, recurse=recurse))
    return snapshot


async def alook(graph: Pregel, config: RunnableConfig, recurse: bool) -> StateSnapshot:
    """A thread's state, awaiting."""
    target, run, place = state_run(graph, config)
    snapshot: StateSnapshot = await acarry_out(Asyncio(run), state_program(target, run, place, recurse=recurse))
    return snapshot


def history(
    graph: Pregel, config: RunnableConfig, filter: Any, before: Any, limit: int | None
) -> Iterator[StateSnapshot]:
    """A thread's checkpoints as snapshots, newest first, read as they are asked for."""
    target, run, place = state_run(graph, config)
    driver = Blocking(run)
    saver: Any = run.saver
    for saved in saver.list(place, filter=filter, before=before, limit=limit):
        yield carry_out(driver, show(target, run, place, saved, recurse=False, live=False))


async def ahistory(
    graph: Pregel, config: RunnableConfig, filter: Any, before: Any, limit: int | None
) -> AsyncIterator[StateSnapshot]:
    """A thread's checkpoints as snapshots, awaiting."""
    target, run, place = state_run(graph, config)
    driver = Asyncio(run)
    saver: Any = run.saver
    async for saved in saver.alist(place, filter=filter, before=before, limit=limit):
        yield await acarry_out(driver, show(target, run, place, saved, recurse=False, live=False))


def edit(graph: Pregel, config: RunnableConfig, steps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
    """Apply edits."""
    _, run, _ = state_run(graph, config)
    saved: RunnableConfig = carry_out(Blocking(run), edit_program(run, steps))
    return saved


async def aedit(graph: Pregel, config: RunnableConfig, steps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
    """Apply edits, awaiting."""
    _, run, _ = state_run(graph, config)
    saved: RunnableConfig = await acarry_out(Asyncio(run), edit_program(run, steps))
    return saved


# --- cache --------------------------------------------------------------------------------------


def cache_of(graph: Pregel) -> Any:
    """The graph's cache. Raises ValueError if it has none."""
    if graph.cache is None:
        raise ValueError(f"graph {graph.name!r} was compiled without a cache")
    return graph.cache


def cache_namespaces(graph: Pregel, nodes: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Where the cached writes of nodes live."""
    chosen = graph.topology.nodes if nodes is None else nodes
    return [namespace(graph.topology.nodes[name].bodies, name) for name in chosen if name in graph.topology.nodes]


__all__ = (
    "Options",
    "ahistory",
    "ainvoke",
    "alook",
    "astream",
    "full_config",
    "history",
    "invoke",
    "look",
    "prepare",
    "resolve_saver",
    "state_run",
    "stream",
)
