"""The `messages` stream: what chat models say, token by token, and what nodes put into the state.

Tokens come from langchain-core's callbacks while a model runs; whole messages are taken from finished tasks'
writes. A message that was streamed already, or was there before, is not repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from runtime._constants import NS_SEP
from runtime.constants import TAG_NOSTREAM
from runtime.pregel.run import Run

if TYPE_CHECKING:
    from runtime.pregel.context import TaskContext

_OWN_TAGS = ("seq:", "graph:", "langsmith:")


class MessageStream(BaseCallbackHandler, _StreamingCallbackHandler[Any]):
    """Listens to the models that a run calls.

    Args:
        run: The run whose stream the messages go to.
        subgraphs: Whether models inside inner runs are reported too.
    """

    run_inline = True  # in the model's own thread, so that tokens keep their order

    def __init__(self, run: Run, subgraphs: bool) -> None:
        self._run = run
        self._subgraphs = subgraphs
        self._calls: dict[UUID, tuple[tuple[str, ...], dict[str, Any]]] = {}
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    # langchain-core asks a streaming handler for these; nothing is tapped here.
    def tap_output_aiter(self, run_id: UUID, output: Any) -> Any:
        """Hand an output on as it is."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Any) -> Any:
        """Hand an output on as it is."""
        return output

    def _send(
        self, ns: tuple[str, ...], message: BaseMessage, metadata: Mapping[str, Any], *, once: bool, heard: bool = False
    ) -> None:
        with self._lock:
            if message.id is None:
                message.id = str(uuid4())
            if once and message.id in self._seen:
                return
            self._seen.add(message.id)
        emit = self._run.emit_here if heard else self._run.emit
        if emit is not None:
            emit((ns, "messages", (message, dict(metadata))))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Remember where a model is called."""
        if not metadata or TAG_NOSTREAM in (tags or ()):
            return
        ns = _graph_ns(metadata)
        if not self._subgraphs and ns != self._run.ns_path:
            return
        shown = [tag for tag in tags or () if not tag.startswith(_OWN_TAGS)]
        self._calls[run_id] = (ns, {**metadata, "tags": shown} if shown else metadata)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        """Report a token."""
        call = self._calls.get(run_id)
        if call is not None and isinstance(chunk, ChatGenerationChunk):
            self._send(call[0], chunk.message, call[1], once=False, heard=True)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Report a message that was not streamed."""
        call = self._calls.pop(run_id, None)
        if call is None or not response.generations or not response.generations[0]:
            return
        generation = response.generations[0][0]
        if isinstance(generation, ChatGeneration):
            self._send(call[0], generation.message, call[1], once=True, heard=True)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Forget a model that failed."""
        self._calls.pop(run_id, None)

    def push(self, context: TaskContext, message: BaseMessage) -> None:
        """Report a message that a running task hands over, though it may have been reported before."""
        run = context.run
        if self._subgraphs or run.ns_path == self._run.ns_path:
            self._send(run.ns_path, message, context.config["metadata"], once=False)

    def before(self, context: TaskContext) -> None:
        """Note the messages that a task is given: they are nothing new."""
        for message in messages_in(context.input()):
            if message.id is not None:
                self._seen.add(message.id)

    def after(self, context: TaskContext) -> None:
        """Report the messages that a finished task wrote."""
        run, task = context.run, context.task
        if task.hidden or (not self._subgraphs and run.ns_path != self._run.ns_path):
            return
        for _, value in task.writes:
            for message in messages_in(value):
                self._send(run.ns_path, message, context.config["metadata"], once=True)


def _graph_ns(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    ns = metadata.get("langgraph_checkpoint_ns") or ""
    return tuple(str(ns).split(NS_SEP)[:-1])


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """Messages in a value, one level deep: itself, its items, or its fields and their items."""
    if isinstance(value, BaseMessage):
        yield value
        return
    yield from _listed(value)
    if isinstance(value, Mapping):
        fields: Iterable[Any] = value.values()
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        fields = vars(value).values()
    else:
        return
    for field in fields:
        if isinstance(field, BaseMessage):
            yield field
        else:
            yield from _listed(field)


def _listed(value: Any) -> Iterator[BaseMessage]:
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, BaseMessage))
