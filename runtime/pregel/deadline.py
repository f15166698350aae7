"""Time limits of a task's attempt, for threads and for coroutines.

A thread cannot be killed: a blocking attempt that runs out of time is abandoned. The caller gets its
error at the deadline, and whatever the node still does is dropped.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from runtime.errors import NodeTimeoutError

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext
    from runtime.types import TimeoutPolicy


class Deadline:
    """The limits of one attempt; made when it starts.

    Args:
        context: The task.
        policy: Its limits, coerced to seconds.
        began: When the task's first attempt began, on the monotonic clock.
        spent: Seconds that the node has used in this run before this attempt.
    """

    __slots__ = ("context", "idle", "limits", "name", "policy", "start", "touched")

    def __init__(self, context: TaskContext, policy: TimeoutPolicy, began: float, spent: float) -> None:
        now = time.monotonic()
        self.context = context
        self.name = context.task.name
        self.policy = policy
        self.start = self.touched = now
        self.idle: Any = policy.idle_timeout
        limits: list[tuple[float, str, Any]] = []
        if policy.run_timeout is not None:
            limits.append((now + policy.run_timeout, "run", policy.run_timeout))  # type: ignore[operator]
        if policy.per_step is not None:
            limits.append((began + policy.per_step, "step", policy.per_step))  # type: ignore[operator]
        if policy.max_execution is not None:
            limits.append((now + policy.max_execution - spent, "total", policy.max_execution))  # type: ignore[operator]
        self.limits = sorted(limits, key=lambda limit: limit[0])

    def touch(self) -> None:
        """Note progress, which puts the idle limit off."""
        self.touched = time.monotonic()

    def remaining(self) -> float:
        """Seconds until the first limit is reached; zero or less when one is."""
        now = time.monotonic()
        ends = [limit[0] for limit in self.limits[:1]]
        if self.idle is not None:
            ends.append(self.touched + self.idle)
        return min(ends) - now

    def error(self) -> NodeTimeoutError:
        """The error that says which limit was reached."""
        now = time.monotonic()
        idle = self.touched + self.idle if self.idle is not None else None
        first = self.limits[0] if self.limits else None
        if first is None or (idle is not None and idle < first[0]):
            return NodeTimeoutError(
                self.name,
                now - self.start,
                kind="idle",
                idle_timeout=self.idle,
                run_timeout=self.policy.run_timeout,  # type: ignore[arg-type]
            )
        kind: Any = first[1]
        return NodeTimeoutError(
            self.name,
            now - self.start,
            kind=kind,
            idle_timeout=self.idle,
            run_timeout=self.policy.run_timeout,  # type: ignore[arg-type]
            limit=None if kind == "run" else first[2],
        )

    def run(self, func: Callable[[], Any]) -> Any:
        """Run a blocking function in a thread that can be left behind."""
        box: list[Any] = []
        done = threading.Event()
        context = copy_context()

        def target() -> None:
            try:
                box.append((True, context.run(func)))
            except BaseException as error:  # carried to the waiting thread, which raises it
                box.append((False, error))
            done.set()

        threading.Thread(target=target, name=f"node {self.name}", daemon=True).start()
        while not done.wait(max(0.0, self.remaining())):
            if self.remaining() <= 0:
                self.context.abandoned = True
                raise self.error()
        fine, value = box[0]
        if fine:
            return value
        raise value

    async def arun(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Await a coroutine, and cancel it at the deadline."""
        task = asyncio.ensure_future(coroutine)
        try:
            while True:
                done, _ = await asyncio.wait({task}, timeout=max(0.0, self.remaining()))
                if done:
                    return task.result()
                if self.remaining() <= 0:
                    self.context.abandoned = True
                    raise self.error()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
