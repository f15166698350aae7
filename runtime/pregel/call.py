"""Run one task: its attempts, its node's bodies and branches, and what came of it.

The order of things is written once, as a generator of operations; `call` and `acall` carry them out,
blocking or awaiting. Whatever the node does, exactly one `Result` comes out.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from runtime._constants import NO_WRITES
from runtime._context import TaskConfig, enter
from runtime.errors import GraphBubbleUp, GraphInterrupt, NodeCancelledError, ParentCommand, add_note
from runtime.pregel.body import Body
from runtime.pregel.context import TaskContext
from runtime.pregel.deadline import Deadline
from runtime.pregel.effects import ESCAPED, FAILED, FINISHED, PAUSED, Result
from runtime.pregel.model import Write
from runtime.pregel.retry import next_delay
from runtime.pregel.task import Task
from runtime.pregel.trace import parted, recorded, stream_result
from runtime.types import Command


class Invoke:
    """Run a body on a value."""

    __slots__ = ("body", "value")

    def __init__(self, body: Body, value: Any) -> None:
        self.body = body
        self.value = value

    def perform(self, context: TaskContext) -> Any:
        if context.deadline is None:
            return self.body.call(context, self.value)
        return context.deadline.run(partial(self.body.call, context, self.value))

    async def aperform(self, context: TaskContext, executor: Executor | None) -> Any:
        if context.deadline is None:
            return await self.body.acall(context, self.value, executor)
        return await context.deadline.arun(self.body.acall(context, self.value, executor))


class Route(Invoke):
    """Ask a conditional edge where to go."""

    __slots__ = ()

    async def aperform(self, context: TaskContext, executor: Executor | None) -> Any:
        if context.deadline is None:
            return await self.body.aroute(context, self.value, executor)
        return await context.deadline.arun(self.body.aroute(context, self.value, executor))


class Wait:
    """Let some seconds pass before the next attempt."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def perform(self, _context: TaskContext) -> None:
        if self.seconds > 0:
            time.sleep(self.seconds)

    async def aperform(self, _context: TaskContext, _executor: Executor | None) -> None:
        await asyncio.sleep(self.seconds)


class Trace:
    """Call a method of a callback manager."""

    __slots__ = ("args", "kwargs", "manager", "method")

    def __init__(self, manager: Any, method: str, *args: Any, **kwargs: Any) -> None:
        self.manager = manager
        self.method = method
        self.args = args
        self.kwargs = kwargs

    def perform(self, _context: TaskContext) -> Any:
        return getattr(self.manager, self.method)(*self.args, **self.kwargs)

    async def aperform(self, _context: TaskContext, _executor: Executor | None) -> Any:
        result = getattr(self.manager, self.method)(*self.args, **self.kwargs)
        return await result if asyncio.iscoroutine(result) else result


Operations = Generator["Invoke | Wait | Trace", Any, list[Write]]


def attempts(context: TaskContext) -> Operations:
    """Try the task until it succeeds, pauses, or no retry policy takes its error any more."""
    policies = context.task.node.retry_policy or context.run.retry_policy
    began = time.monotonic()
    context.started = time.time()
    while True:
        _set_deadline(context, began)
        try:
            if context.run.trace is None or context.task.hidden:
                return (yield from _work(context, context.input(), context.task.node.bodies))
            return (yield from _traced(context))
        except GraphBubbleUp:
            raise
        except Exception as error:
            delay = next_delay(policies, context.attempt, error) if policies else None
            if delay is None:
                raise
        finally:
            if context.deadline is not None:
                context.run.spend(context.task.name, time.monotonic() - context.deadline.start)
        yield Wait(delay)
        context.abandoned = False
        context.begin_attempt()


def _set_deadline(context: TaskContext, began: float) -> None:
    policy = context.task.timeout or context.task.node.timeout
    if policy is None:
        return
    deadline = Deadline(context, policy, began, context.run.spent.get(context.task.name, 0.0))
    context.deadline = deadline
    if deadline.idle is not None:
        context.beat = deadline.touch
        if policy.refresh_on == "auto":
            context.progress = deadline.touch


def _traced(context: TaskContext) -> Operations:
    """An attempt that callbacks are told of."""
    value = context.input()
    task = context.task
    parent = context.callbacks
    if parent is None:
        parent = context.run.trace.get_child(f"graph:step:{task.step}")
    config = context.config
    manager = yield from _open(task, context.run.manager_for(config, parent), _traced_input(task, value))
    context.callbacks = manager.get_child()
    config["callbacks"] = context.heard_callbacks()
    try:
        writes = yield from _work(context, value, task.node.bodies)
    except Exception as error:
        yield Trace(manager, "on_chain_error", error)
        raise
    yield from _close(task, manager, context.result)
    return writes


def _open(task: Task, listeners: Any, value: Any) -> Generator[Trace, Any, Any]:
    """Report that the node begins; tracers are shown what its trace policy makes of the input."""
    policy = task.node.trace_policy
    shown = value if policy is None else recorded(value, policy.process_inputs)
    if shown is value:
        return (yield Trace(listeners, "on_chain_start", None, value, name=task.name, run_id=None))
    others, tracers = parted(listeners)
    manager = yield Trace(others, "on_chain_start", None, value, name=task.name, run_id=None)
    yield Trace(tracers, "on_chain_start", None, shown, name=task.name, run_id=manager.run_id)
    manager.handlers = listeners.handlers
    return manager


def _close(task: Task, manager: Any, value: Any) -> Generator[Trace, Any, None]:
    """Report that the node ended, likewise; its result is also the one chunk of what it streams."""
    stream_result(manager, value)
    policy = task.node.trace_policy
    shown = value if policy is None else recorded(value, policy.process_outputs)
    if shown is value:
        yield Trace(manager, "on_chain_end", value)
        return
    others, tracers = parted(manager)
    yield Trace(tracers, "on_chain_end", shown)
    yield Trace(others, "on_chain_end", value)


def _traced_input(task: Task, value: Any) -> Any:
    """What a trace shows of an input: a called task's arguments by name."""
    if task.call is None:
        return value
    args, kwargs = task.call
    target = task.node.bodies[0].target
    try:
        return dict(inspect.signature(target).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # the call itself will say what is wrong with its arguments
        return {"args": args, **kwargs}


def _work(context: TaskContext, value: Any, bodies: Sequence[Body]) -> Operations:
    """The node's bodies in a row, then its writes, then where its conditional edges lead."""
    node = context.task.node
    try:
        for body in bodies:
            value = yield Invoke(body, value)
    except ParentCommand as bubble:
        value = _addressed(context, bubble)
    if context.paused is not None:
        raise context.paused  # a node cannot swallow its own pause
    context.result = value
    writes = node.outputs(value) if node.outputs is not None else []
    if context.pushed:
        writes = [*context.pushed, *writes]
    for branch in node.branches:
        seen = context.view(branch.reads, writes)
        if branch.passes_on and isinstance(value, dict) and isinstance(seen, dict):
            seen = {**value, **seen}
        if branch.mapper is not None:
            seen = branch.mapper(seen)
        answer = yield Route(branch.router, seen)
        writes.extend(branch.route(answer))
        if context.paused is not None:
            raise context.paused
    return writes or [(NO_WRITES, None)]


def settle(context: TaskContext, value: Any) -> Operations:
    """What a node's result stands for, had its bodies returned `value`: nothing runs but its edges."""
    return _work(context, value, ())


def _addressed(context: TaskContext, bubble: ParentCommand) -> Command[Any]:
    """A command that a graph inside this task sent out: it is for us, as one of our own."""
    command = bubble.args[0]
    return Command(update=command.update, goto=command.goto, resume=command.resume)


def _enter(context: TaskContext) -> None:
    enter(context)
    var_child_runnable_config.set(TaskConfig(context))  # type: ignore[arg-type]  # whoever reads it, reads items


def perform(context: TaskContext, program: Operations) -> list[Write]:
    """Carry out a task's operations on the calling thread."""
    try:
        operation = next(program)
        while True:
            try:
                answer = operation.perform(context)
            except BaseException as error:  # the program decides what failure means
                operation = program.throw(error)
            else:
                operation = program.send(answer)
    except StopIteration as stop:
        writes: list[Write] = stop.value
        return writes


async def aperform(context: TaskContext, program: Operations, executor: Executor | None) -> list[Write]:
    """Carry out a task's operations in the calling coroutine."""
    try:
        operation = next(program)
        while True:
            try:
                answer = await operation.aperform(context, executor)
            except asyncio.CancelledError as error:
                if cancelled_from_outside():
                    raise
                operation = program.throw(_as_failure(context, error))
            except BaseException as error:  # the program decides what failure means
                operation = program.throw(error)
            else:
                operation = program.send(answer)
    except StopIteration as stop:
        writes: list[Write] = stop.value
        return writes


def call(context: TaskContext) -> Result:
    """Run a task on the calling thread, in a context of its own (see `contextvars`)."""
    try:
        _enter(context)
        return Result(context, FINISHED, perform(context, attempts(context)))
    except BaseException as error:  # carried as a value; the loop decides when to raise it
        return outcome_of(context, error)


async def acall(context: TaskContext, executor: Executor | None) -> Result:
    """Run a task in the calling coroutine. Cancellation from outside passes through."""
    try:
        _enter(context)
        return Result(context, FINISHED, await aperform(context, attempts(context), executor))
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # carried as a value; the loop decides when to raise it
        return outcome_of(context, error)


def cancelled_from_outside() -> bool:
    """Whether somebody asked the running asyncio task to stop."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_failure(context: TaskContext, error: BaseException) -> BaseException:
    failure = NodeCancelledError(context.task.name)
    failure.__cause__ = error
    return failure


def outcome_of(context: TaskContext, error: BaseException) -> Result:
    """The result that an exception stands for."""
    if isinstance(error, GraphInterrupt):
        return Result(context, PAUSED, tuple(error.args[0]) if error.args else ())
    if isinstance(error, ParentCommand):
        return Result(context, ESCAPED, error)
    if isinstance(error, asyncio.CancelledError):
        error = _as_failure(context, error)
    if isinstance(error, Exception):
        task = context.task
        add_note(error, f"in node {task.name!r}, superstep {task.step}, task {task.id}")
    return Result(context, FAILED, error)


__all__ = ("acall", "aperform", "call", "perform", "settle")
