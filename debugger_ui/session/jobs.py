"""Running jobs: at most one per thread, on a worker that no page owns.

Rules:
- Whether a job may start is decided under the board's lock, together with whether the checkpoint
  that the person saw is still the newest of its branch. So a double click or a second browser
  cannot run the same step twice: the later one is told, and nothing runs.
- A job goes on when the page that started it is gone; its last state stays readable.
"""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from debugger_ui.engines.base import Event
from debugger_ui.session.diff import equal
from debugger_ui.session.problems import SessionError, refuse
from debugger_ui.session.view_actions import RunningTask, RunProgress
from debugger_ui.session.view_values import Problem, RunState

SERIAL = itertools.count(1)
"""Numbers for changes of progress, over all jobs, so that a poll tells a new job from the last one."""

KEEP = 200
"""Finished jobs whose result is remembered."""


class Job:
    """One run on one thread; written by its worker, read by anybody."""

    def __init__(self, thread: str, verb: str, start: str, at: str = "", given: object = None) -> None:
        self.thread = thread
        self.verb = verb
        self.start = start
        """Checkpoint from which it was started; "" for a new thread."""
        self.given = given
        """What the person gave it: answers and input as they were typed, results as what they were read as."""
        self._state: RunState = "running"
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._taken_in = threading.Event()
        self._began = time.monotonic()
        self._progress = RunProgress(thread, "running", verb, serial=next(SERIAL))
        self._running: dict[str, tuple[str, float]] = {}
        """Name and beginning of each task at work, by its id."""
        self.pause_wanted = False
        self.stop_wanted = False
        self.at = at or start
        """Checkpoint of the outermost graph whose superstep is at work."""

    @property
    def running_tasks(self) -> tuple[str, ...]:
        """Ids of the tasks at work."""
        with self._lock:
            return tuple(self._running)

    @property
    def busy(self) -> bool:
        """Whether the worker still holds the thread."""
        return not self._done.is_set()

    def same(self, other: "Job") -> bool:
        """Whether it is the very same step with the same things given: a second click, not another person's wish."""
        same_step = (self.verb, self.start) == (other.verb, other.start)
        return same_step and equal(self.given, other.given)

    def progress(self) -> RunProgress:
        """Return where it stands."""
        with self._lock:
            if self._done.is_set():
                return self._progress
            now = time.monotonic()
            begun = sorted(self._running.items(), key=lambda item: item[1][1])
            tasks = tuple(RunningTask(id_, name, _passed(since, now)) for id_, (name, since) in begun)
            running = tuple(dict.fromkeys(task.name for task in tasks))
            return replace(self._progress, elapsed=_passed(self._began, now), running=running, tasks=tasks)

    def report(self, event: Event) -> None:
        """Take in what a running superstep tells."""
        with self._lock:
            if self._done.is_set():
                return  # an abandoned node of a stopped run is still talking
            if event.kind == "started":
                self._running[event.task] = (event.text, time.monotonic())
                self._change()  # a page that was drawn a moment before has to show it at work
            elif event.kind == "saved":
                self._change(checkpoint=event.text)
            else:
                self._running.pop(event.task, None)
                self._change(finished=(*self._progress.finished, event.text))

    def stepped(self, checkpoint: str, *, counts: bool = True) -> None:
        """Note that a superstep has ended at a checkpoint; taking in input does not count as one."""
        with self._lock:
            self._running.clear()
            self.at = checkpoint
            self._change(checkpoint=checkpoint, steps=self._progress.steps + counts, finished=())
        self._taken_in.set()

    def land(self, namespace: str, checkpoint: str) -> None:
        """Note that it ends inside a subgraph, at a checkpoint of it."""
        with self._lock:
            self._running.clear()
            self._change(namespace=namespace, checkpoint=checkpoint)

    def enters(self, superstep: int) -> None:
        """Note the number of the superstep that is at work from here on."""
        with self._lock:
            self._change(superstep=superstep)

    def ask_pause(self) -> None:
        """Stop after the superstep that is at work."""
        self._want("pausing")
        self.pause_wanted = True

    def ask_stop(self) -> None:
        """Give up the superstep that is at work."""
        self._want("stopping")
        self.stop_wanted = True

    def end(self, state: RunState, message: str, problem: Problem | None = None, why: str = "") -> None:
        """Set the result and give the thread back; `why` is the breakpoint that it stopped at."""
        with self._lock:
            if self._done.is_set():
                return
            self._running.clear()
            elapsed = _passed(self._began, time.monotonic())
            done = {"state": state, "message": message, "problem": problem, "why": why, "elapsed": elapsed}
            self._change(running=(), superstep=None, **done)
            self._done.set()
            self._taken_in.set()

    def wait(self, timeout: float) -> bool:
        """Wait for the end; return whether it came."""
        return self._done.wait(timeout)

    def refused(self, timeout: float) -> Problem | None:
        """Wait until the first checkpoint is made; return what went wrong when the job ended without one."""
        self._taken_in.wait(timeout)
        now = self.progress()
        return now.problem if now.state == "failed" and not now.checkpoint else None

    def _want(self, state: RunState) -> None:
        with self._lock:
            if not self._done.is_set():
                self._change(state=state)

    def _change(self, **parts: object) -> None:
        self._progress = replace(self._progress, serial=next(SERIAL), **parts)  # type: ignore[arg-type]


def _passed(since: float, now: float) -> float:
    return round((now - since) * 1000, 1)


class JobBoard:
    """The jobs of one engine by thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def get(self, thread: str) -> Job | None:
        """Return the running or last job of a thread."""
        return self._jobs.get(thread)

    def busy(self) -> tuple[str, ...]:
        """Return the threads that are held by a job."""
        return tuple(thread for thread, job in list(self._jobs.items()) if job.busy)

    def start(self, job: Job, check: Callable[[], None], work: Callable[[Job], None]) -> Job:
        """Start a job, or return the running one when it is the very same step.

        `check` raises `SessionError` when what the person saw is no longer so; it runs under the
        lock, after the thread is known to be free.
        """
        with self._lock:
            running = self._jobs.get(job.thread)
            if running is not None and running.busy:
                if running.same(job):
                    return running
                other = f" What you gave for {job.verb} was not used." if job.given is not None else ""
                raise refuse(
                    f"Thread {job.thread!r} is busy: {running.verb} is running.{other} "
                    "Wait for it, pause it or stop it.",
                    kind="busy",
                )
            check()
            self._jobs.pop(job.thread, None)
            self._jobs[job.thread] = job
            self._forget()
        threading.Thread(target=self._run, args=(job, work), name=f"forkpoint {job.verb}", daemon=True).start()
        return job

    def _run(self, job: Job, work: Callable[[Job], None]) -> None:
        try:
            work(job)
        except SessionError as error:
            job.end("failed", error.problem.message, error.problem)
        finally:
            # Whatever else happened: a thread must never stay held by a worker that is gone.
            job.end("failed", "The worker ended without a result.", Problem("The worker ended without a result."))

    def _forget(self) -> None:
        for thread in [thread for thread, job in self._jobs.items() if not job.busy][:-KEEP]:
            del self._jobs[thread]
