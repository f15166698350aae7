"""Threads that run tasks: kept for the next superstep, daemons, as many as are asked for.

Daemon threads, because a node that never ends must not keep the process from ending; no fixed size,
because a task may wait for tasks of its own, and a full pool would then wait for ever. How many tasks
run at once is limited by whoever submits them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

_IDLE_SECONDS = 10.0


class Workers:
    """A pool that starts a thread only when none is idle."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, job: Callable[[], None]) -> None:
        """Run `job`, which must not raise, on some thread soon."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
                self._jobs.put(job)
                return
        threading.Thread(target=self._work, args=([job],), name="forkpoint worker", daemon=True).start()

    def _work(self, first: list[Callable[[], None]]) -> None:
        job = first.pop()  # a thread keeps its arguments as long as it lives
        while True:
            job()
            del job  # and with it all that the task had in hand, however long the next one takes to come
            with self._lock:
                self._idle += 1
            try:
                job = self._jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                job = self._jobs.get()  # one was promised to this thread just now

    def forget(self) -> None:
        """After a fork of the process: none of the threads exist here."""
        self.__init__()  # type: ignore[misc]


WORKERS = Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.forget)
