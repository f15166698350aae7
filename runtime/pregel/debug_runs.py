"""Carrying out `Pregel`'s debugging methods on the two drivers."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from runtime.pregel import runs
from runtime.pregel.adrive import Asyncio, acarry_out, adrive
from runtime.pregel.drive import Blocking, carry_out, drive
from runtime.pregel.run import Run
from runtime.pregel.stepping import (
    ChannelFold,
    Move,
    Planned,
    Preview,
    explain_update_program,
    plan_program,
    preview_program,
    step_program,
)
from runtime.types import StateSnapshot, StateUpdate


def plan(graph: Any, config: RunnableConfig) -> Planned:
    """See `Debugging.plan`."""
    _, run, place = runs.state_run(graph, config)
    planned: Planned = carry_out(Blocking(run), plan_program(run, place))
    return planned


async def aplan(graph: Any, config: RunnableConfig) -> Planned:
    """See `Debugging.plan`."""
    _, run, place = runs.state_run(graph, config)
    planned: Planned = await acarry_out(Asyncio(run), plan_program(run, place))
    return planned


def explain_update(graph: Any, config: RunnableConfig) -> list[ChannelFold]:
    """See `Debugging.explain_update`."""
    _, run, place = runs.state_run(graph, config)
    folds: list[ChannelFold] = carry_out(Blocking(run), explain_update_program(run, place))
    return folds


async def aexplain_update(graph: Any, config: RunnableConfig) -> list[ChannelFold]:
    """See `Debugging.explain_update`."""
    _, run, place = runs.state_run(graph, config)
    folds: list[ChannelFold] = await acarry_out(Asyncio(run), explain_update_program(run, place))
    return folds


def preview_update(graph: Any, config: RunnableConfig, values: Any, as_node: str | None) -> Preview:
    """See `Debugging.preview_update`."""
    _, run, place = runs.state_run(graph, config)
    program = preview_program(run, place, [StateUpdate(values, as_node)])
    preview: Preview = carry_out(Blocking(run), program)
    return preview


async def apreview_update(graph: Any, config: RunnableConfig, values: Any, as_node: str | None) -> Preview:
    """See `Debugging.preview_update`."""
    _, run, place = runs.state_run(graph, config)
    program = preview_program(run, place, [StateUpdate(values, as_node)])
    preview: Preview = await acarry_out(Asyncio(run), program)
    return preview


def _prepared(graph: Any, config: RunnableConfig, input: Any, context: Any) -> Run:
    if runs.resolve_saver(graph, *runs.full_config(graph, config)) is None:
        raise ValueError(f"graph {graph.name!r} was compiled without a checkpointer, so it cannot be stepped")
    given = {"stream_mode": (), "durability": "sync", "context": context}
    return runs.prepare(graph, input, config, runs.Options.read(graph, given))


def _head(config: RunnableConfig) -> RunnableConfig:
    conf = config["configurable"]
    return {**config, "configurable": {k: v for k, v in conf.items() if k in ("thread_id",)}}


def step(graph: Any, config: RunnableConfig, input: Any, move: Move, context: Any) -> StateSnapshot:
    """See `Debugging.step`."""
    run = _prepared(graph, config, input, context)
    run.driver = Blocking(run)
    for _ in drive(run, step_program(run, move)):
        pass
    return runs.look(graph, _head(config), False)


async def astep(graph: Any, config: RunnableConfig, input: Any, move: Move, context: Any) -> StateSnapshot:
    """See `Debugging.step`."""
    run = _prepared(graph, config, input, context)
    run.driver = Asyncio(run)
    async for _ in adrive(run, step_program(run, move)):
        pass
    return await runs.alook(graph, _head(config), False)
