"""Telling a run's GraphCallbackHandlers that it goes on from a checkpoint, or has stopped for interrupts.

A run whose config has no such handlers yields nothing here.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from runtime._constants import NS_SEP
from runtime.pregel.effects import Effect, Tell
from runtime.pregel.frame import Frame
from runtime.pregel.run import Run

Told = Generator[Effect, Any, None]


def resumed(run: Run, frame: Frame) -> Told:
    """The run has begun: tell of it if it goes on from what was there."""
    if not run.config.get("callbacks") or frame.config is None or not (run.resuming or run.replaying):
        return
    from runtime.callbacks import GraphResumeEvent  # here: few runs have a handler

    yield Tell(GraphResumeEvent(_run_id(run), "pending", frame.checkpoint_id, _path(run)))


def stopped(run: Run, frame: Frame) -> Told:
    """The run is about to end: tell of it if it stops for interrupts."""
    if not run.config.get("callbacks") or run.status not in _STATUS:
        return
    from runtime.callbacks import GraphInterruptEvent  # here: few runs have a handler

    interrupts = tuple(run.interrupts)
    yield Tell(
        GraphInterruptEvent(_run_id(run), _STATUS[run.status], frame.checkpoint_id, _path(run), interrupts)  # type: ignore[arg-type]
    )


_STATUS = {
    "paused": "pending",
    "interrupt_before": "interrupt_before",
    "interrupt_after": "interrupt_after",
}


def _run_id(run: Run) -> Any:
    return run.config.get("run_id") if run.trace is None else run.trace.run_id


def _path(run: Run) -> tuple[str, ...]:
    return tuple(run.ns.split(NS_SEP)) if run.ns else ()


def tell(run: Run, effect: Tell) -> None:
    """Carry out a `Tell` on the calling thread."""
    from runtime.callbacks import GraphInterruptEvent, get_sync_graph_callback_manager_for_config

    manager = get_sync_graph_callback_manager_for_config(run.config, run_id=_run_id(run))
    if isinstance(effect.event, GraphInterruptEvent):
        manager.on_interrupt(effect.event)
    else:
        manager.on_resume(effect.event)


async def atell(run: Run, effect: Tell) -> None:
    """Carry out a `Tell` in the calling coroutine."""
    from runtime.callbacks import GraphInterruptEvent, get_async_graph_callback_manager_for_config

    manager = get_async_graph_callback_manager_for_config(run.config, run_id=_run_id(run))
    if isinstance(effect.event, GraphInterruptEvent):
        await manager.on_interrupt(effect.event)
    else:
        await manager.on_resume(effect.event)
