"""One task while it runs: its input, its questions, its place among runs inside runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from runtime._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_ID,
    CONFIG_KEY_CHECKPOINT_MAP,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_READ,
    CONFIG_KEY_SEND,
    CONFIG_KEY_TASK_ID,
    INTERRUPT,
    RESUME,
)
from runtime._context import CONFIG_KEY_TASK
from runtime._typing import MISSING
from runtime.errors import GraphInterrupt
from runtime.pregel.asking import ask
from runtime.pregel.isolate import isolate
from runtime.pregel.questions import ASKED, questions_id
from runtime.pregel.trace import Progress
from runtime.runtime import ExecutionInfo, Runtime, ServerInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from langchain_core.runnables import RunnableConfig

    from runtime.pregel.deadline import Deadline
    from runtime.pregel.frame import Frame
    from runtime.pregel.model import Write
    from runtime.pregel.run import Run
    from runtime.pregel.task import Task


def heard(callbacks: Any, progress: Callable[[], None]) -> Any:
    """Callbacks that also report progress: whatever a model or tool does puts an idle timeout off."""
    if callbacks is None:
        return [Progress(progress)]
    manager = callbacks.copy()
    manager.add_handler(Progress(progress), inherit=True)
    return manager


class TaskContext:
    """One task while it runs: its input, its questions, its place among runs inside runs."""

    __slots__ = (
        "_calls",
        "_config",
        "_runtime",
        "_subruns",
        "abandoned",
        "answered",
        "answers",
        "asked",
        "attempt",
        "beat",
        "callbacks",
        "control",
        "deadline",
        "frame",
        "node_error",
        "paused",
        "progress",
        "pushed",
        "questions",
        "result",
        "run",
        "started",
        "task",
    )

    def __init__(self, run: Run, frame: Frame, task: Task) -> None:
        self.run = run
        self.frame = frame
        self.task = task
        self.attempt = 0
        self.started = 0.0
        self.abandoned = False
        self.callbacks: Any = None
        self.node_error: Any = None
        self.progress: Callable[[], None] | None = None
        self.beat: Callable[[], None] | None = None
        self.deadline: Deadline | None = None
        self.result: Any = None
        self.answers: list[Any] = []
        self.questions: list[tuple[str, str]] = []
        self.begin_attempt()
        if frame.pending:
            self._recall()

    def begin_attempt(self) -> None:
        """Forget what the last attempt did; its answers stay answered."""
        self.attempt += 1
        self.control: list[Write] = []
        self.paused: GraphInterrupt | None = None
        self.pushed: list[Write] = []
        self.asked: set[int] = set()
        self.answered = 0
        self._subruns = itertools.count()
        self._calls = itertools.count()
        self._config: RunnableConfig | None = None
        self._runtime: Runtime[Any] | None = None

    def _recall(self) -> None:
        """Take over the answers and questions that were saved for this task."""
        mine, recorded = self.task.id, {}
        for task_id, channel, value in self.frame.pending:
            if task_id == mine and channel == RESUME:
                self.answers = list(value) if isinstance(value, list) else [value]
            elif channel == ASKED:
                recorded[task_id] = value
        for answers in range(len(self.answers) + 1) if recorded else ():
            found = recorded.get(questions_id(mine, answers), self.questions)
            self.questions = [(id, digest) for id, digest in found]

    # --- interrupts -----------------------------------------------------------------------------

    def ask(self, value: Any, response_schema: Any = None) -> Any:
        """Give the answer to the task's next question, or pause the task on it.

        Raises:
            GraphInterrupt: there is no answer yet.
            MisalignedResumeError: the answer at hand was given to another question.
            pydantic.ValidationError: the answer does not fit `response_schema`.
        """
        if self.run.saver is None and self.run.parent is not None:
            return self.run.parent.ask(value, response_schema)  # it is the node that will run again
        return ask(self, value, response_schema)

    # --- what the node may ask for --------------------------------------------------------------

    @property
    def config(self) -> RunnableConfig:
        """The RunnableConfig that the node, and what it calls, runs under."""
        if self._config is None:
            self._config = self._make_config()
        return self._config

    def _make_config(self) -> RunnableConfig:
        run, task = self.run, self.task
        base = run.config
        ns = task.checkpoint_ns
        metadata = {
            **run.metadata,
            **task.node.metadata,
            "langgraph_step": task.step,
            "langgraph_node": task.name,
            "langgraph_triggers": tuple(task.triggers),
            "langgraph_path": task.path,
            "langgraph_checkpoint_ns": ns,
        }
        configurable = {
            **run.configurable,
            CONFIG_KEY_CHECKPOINT_NS: ns,
            CONFIG_KEY_CHECKPOINT_ID: None,
            CONFIG_KEY_CHECKPOINT_MAP: {**run.checkpoint_map, run.ns: self.frame.checkpoint_id},
            CONFIG_KEY_TASK_ID: task.id,
            CONFIG_KEY_TASK: self,
            CONFIG_KEY_READ: self.read,
            CONFIG_KEY_SEND: self.send,
        }
        config: RunnableConfig = {
            "tags": [*base.get("tags", ()), *task.node.tags],
            "metadata": metadata,
            "callbacks": self.heard_callbacks(),
            "recursion_limit": run.recursion_limit,
            CONF: configurable,
        }
        if run.max_concurrency is not None:
            config["max_concurrency"] = run.max_concurrency
        return config

    def heard_callbacks(self) -> Any:
        """The node's callbacks; with an idle timeout, whatever they report counts as progress."""
        return self.callbacks if self.progress is None else heard(self.callbacks, self.progress)

    @property
    def runtime(self) -> Runtime[Any]:
        """The `Runtime` that is injected into nodes which ask for it."""
        if self._runtime is None:
            self._runtime = self._make_runtime()
        return self._runtime

    def _make_runtime(self) -> Runtime[Any]:
        run, task = self.run, self.task
        return Runtime(
            context=run.context,
            store=run.store,
            stream_writer=self.writer,
            previous=run.previous(self.frame),
            heartbeat=self.heartbeat,
            control=run.control,
            server_info=run.server_info or ServerInfo.found_in(run.configurable),
            execution_info=ExecutionInfo(
                checkpoint_id=self.frame.checkpoint_id,
                checkpoint_ns=task.checkpoint_ns,
                task_id=task.id,
                thread_id=run.thread_id,
                run_id=run.run_id,
                node_attempt=self.attempt,
                node_first_attempt_time=self.started or None,
            ),
        )

    def writer(self, value: Any) -> None:
        """Put a value on the `custom` stream; does nothing when nobody listens."""
        self.emit("custom", value)

    def emit(self, mode: str, payload: Any) -> None:
        """Hand an event of this run to whoever streams it."""
        if self.progress is not None:
            self.progress()
        run = self.run
        if not self.abandoned and mode in run.modes and run.emit is not None:
            run.emit((run.ns_path, mode, payload))

    def heartbeat(self) -> None:
        """Say that the task is alive, for an idle timeout."""
        if self.beat is not None:
            self.beat()

    # --- state ----------------------------------------------------------------------------------

    def input(self) -> Any:
        """The task's input, made anew for each attempt, so that no attempt sees another's changes."""
        given = self.task.given
        return self.state() if given is MISSING else isolate(given)

    def state(self) -> Any:
        """The state as the task's node gets it from an edge, whatever a Send gave it instead."""
        node = self.task.node
        value = self.frame.view(node.channels, (), self.run.clock(self.frame))
        return value if node.mapper is None else node.mapper(value)

    def view(self, select: str | Iterable[str], writes: list[Write]) -> Any:
        """The state as this task's conditional edges see it: with the task's own writes."""
        return self.frame.view(select, writes, self.run.clock(self.frame))

    def write(self, channel: str, value: Any) -> None:
        """Write to a channel ahead of what the node returns."""
        self.pushed.append((channel, value))

    def read(self, select: str | list[str], fresh: bool = False) -> Any:
        """Channels of the state, for whoever holds the config: one's value (None if empty), or several's.

        With `fresh`, what was written ahead of the node's result counts.
        """
        value = self.view(select, list(self.pushed) if fresh else [])
        return None if value is MISSING else value

    def send(self, writes: Iterable[Write]) -> None:
        """Write to channels ahead of what the node returns, for whoever holds the config."""
        self.pushed.extend(writes)

    # --- runs and calls inside the task ---------------------------------------------------------

    def next_subrun(self) -> int:
        """How many graphs this task has called before this one."""
        return next(self._subruns)

    def next_call(self) -> int:
        """How many task functions this task has called before this one."""
        return next(self._calls)

    def outcome(self) -> list[Write]:
        """Writes that record answers taken, to be saved with whatever came of the task."""
        return self.control

    def pending_interrupts(self) -> Iterable[Any]:
        """Questions already saved for this task."""
        for task_id, channel, value in self.frame.pending:
            if task_id == self.task.id and channel == INTERRUPT:
                yield from value if isinstance(value, list | tuple) else (value,)
