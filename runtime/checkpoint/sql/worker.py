"""The writer thread: what the async face hands over, committed together as it comes.

Rule 1: first in, first out. A read sees every write that was handed over before it.
Rule 2: the event loop only encodes and enqueues. All that waits together is one transaction; if that fails, each
        is tried alone, so that one bad step does not take its neighbours down.
Rule 3: the thread lives as long as there is work, and a little longer; `close` waits for what was handed over.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread, get_ident
from typing import Any, TypeVar

from runtime.checkpoint.sql.jobs import Job
from runtime.checkpoint.sql.store import Store

T = TypeVar("T")

_IDLE = 2.0  # seconds that the thread waits for more before it ends
_MOST = 256  # jobs in one transaction


class Worker:
    """A queue and the thread that empties it, started when first needed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: SimpleQueue[tuple[Job | Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._waiting = 0

    def write(self, job: Job) -> "asyncio.Future[None]":
        """Encode a job here and have it committed there."""
        with self._store.turn(job.thread_id):
            job.prepare(self._store.heads)
            return asyncio.wrap_future(self.add(job))

    async def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a function on the worker's thread, after everything that was handed over before."""
        return await asyncio.wrap_future(self.add(lambda: function(*arguments, **options)))

    def flush(self) -> None:
        """Wait until everything handed over so far is done. Free when nothing is."""
        if self._waiting and (self._thread is None or self._thread.ident != get_ident()):
            self.add(lambda: None).result()

    def close(self) -> None:
        """Finish what was handed over."""
        self.flush()

    def add(self, item: Job | Callable[[], Any]) -> "Future[Any]":
        """Queue a prepared job, or a function to call."""
        future: Future[Any] = Future()
        with self._lock:
            self._waiting += 1
            self._queue.put((item, future))
            if self._thread is None:
                self._thread = Thread(target=self._work, name="checkpoint-writer", daemon=True)
                self._thread.start()
        return future

    def _work(self) -> None:
        while True:
            try:
                items = [self._queue.get(timeout=_IDLE)]
            except Empty:
                with self._lock:
                    if self._queue.empty():
                        self._thread = None
                        return
                continue
            while len(items) < _MOST and not self._queue.empty():
                items.append(self._queue.get())
            self._handle(items)
            del items  # what was written is nobody's any more, however long the next one takes to come

    def _handle(self, items: Sequence[tuple[Job | Callable[[], Any], "Future[Any]"]]) -> None:
        batch: list[tuple[Job, Future[Any]]] = []
        for item, future in items:
            if callable(item):
                self._write(batch)
                batch = []
                self._settle(future, item)
            else:
                batch.append((item, future))
        self._write(batch)

    def _write(self, batch: Sequence[tuple[Job, "Future[Any]"]]) -> None:
        if len(batch) > 1:
            try:
                self._store.execute([job for job, _ in batch])
            except BaseException:  # each is tried alone below, and tells its own caller
                pass
            else:
                for _, future in batch:
                    self._settle(future, lambda: None)
                return
        for job, future in batch:
            self._settle(future, lambda job=job: self._store.execute((job,)))  # type: ignore[misc]

    def _settle(self, future: "Future[Any]", function: Callable[[], Any]) -> None:
        try:
            result = function()
        except BaseException as error:
            outcome: Callable[[], None] = lambda error=error: future.set_exception(error)  # type: ignore[misc] # noqa: E731
        else:
            outcome = lambda: future.set_result(result)  # noqa: E731
        with self._lock:
            self._waiting -= 1
        if future.set_running_or_notify_cancel():
            outcome()
