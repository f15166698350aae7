"""Runs one superstep of a compiled graph from the thread that calls.

The graph is driven through its asynchronous face on a loop of our own, so that Stop can give the
thread back at once: a coroutine is cancelled, a synchronous node runs on alone and whatever it
returns is dropped. A saver without an asynchronous face is driven synchronously, and Stop then
waits for the superstep to end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from typing import Any

from debugger_ui.engines import again
from debugger_ui.engines.base import Advance, Event, Place, Stopped
from debugger_ui.engines.reader import config_of, labelled
from debugger_ui.engines.surroundings import NOTHING, Surroundings

POLL = 0.05
GRACE = 1.0
MODES = ["tasks", "checkpoints"]

Report = Callable[[Event], None]


class GraphRunner:
    """Advances a graph; `types` is the module that holds its `Command`."""

    answers_again = False
    """Whether the graph takes another answer at a checkpoint that was answered already."""

    def __init__(self, graph: Any, types: Any, spec: str = "", around: Surroundings = NOTHING) -> None:
        self.graph = graph
        self.types = types
        self.spec = spec
        self.around = around

    def advance(self, step: Advance, report: Report, stop: Callable[[], bool]) -> str:
        """Run one superstep; return the id of the newest checkpoint that it made or stood on."""
        loop = asyncio.new_event_loop()
        try:
            if loop.run_until_complete(self._asynchronous(step.place)):
                return loop.run_until_complete(self._drive(step, report, stop))
        finally:
            loop.close()
        if stop():
            raise Stopped
        if step.again and not self.answers_again:
            step = self._asked_again(step, report)
        tracker = _Tracker(step, report)
        for mode, data in self._stream(step):
            tracker.take(mode, data)
        return tracker.newest

    def compiled_stop(self, due: Collection[str], ran: Collection[str]) -> str:
        """Return where the graph was compiled to stop; see `Runner`."""
        for when, nodes, passed in (
            ("before", self.graph.interrupt_before_nodes, due),
            ("after", self.graph.interrupt_after_nodes, ran),
        ):
            found = [node for node in dict.fromkeys(passed) if nodes == "*" or node in nodes]
            if found:
                return f"{when} {', '.join(found)}"
        return ""

    async def _asynchronous(self, place: Place) -> bool:
        try:
            await self.graph.checkpointer.aget_tuple(config_of(place))
        except NotImplementedError:
            return False
        return True

    async def _drive(self, step: Advance, report: Report, stop: Callable[[], bool]) -> str:
        job = asyncio.ensure_future(self._consume(step, report))
        while not job.done():
            await asyncio.wait({job}, timeout=POLL)
            if stop() and not job.done():
                job.cancel()
                await asyncio.wait({job}, timeout=GRACE)
                raise Stopped
        return await job

    async def _consume(self, step: Advance, report: Report) -> str:
        if step.again and not self.answers_again:
            step = await self._aasked_again(step, report)
        tracker = _Tracker(step, report)
        async for mode, data in self._astream(step):
            tracker.take(mode, data)
        return tracker.newest

    def _asked_again(self, step: Advance, report: Report) -> Advance:
        at_copy = again.copied(step, self.graph.update_state(config_of(step.place), None, as_node=again.COPY))
        report(Event("saved", at_copy.place.id))
        for _ in self._stream(at_copy):
            pass
        states = self.graph.get_state(config_of(step.place)), self.graph.get_state(config_of(at_copy.place))
        return again.answered(step, at_copy, *states)

    async def _aasked_again(self, step: Advance, report: Report) -> Advance:
        made = await self.graph.aupdate_state(config_of(step.place), None, as_node=again.COPY)
        at_copy = again.copied(step, made)
        report(Event("saved", at_copy.place.id))
        async for _ in self._astream(at_copy):
            pass
        before = await self.graph.aget_state(config_of(step.place))
        return again.answered(step, at_copy, before, await self.graph.aget_state(config_of(at_copy.place)))

    def _arguments(self, step: Advance) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        given = self.types.Command(resume=dict(step.answers)) if step.answers else step.input
        pause = "interrupt_before" if step.only_input else "interrupt_after"
        options = {pause: "*", "stream_mode": MODES, "durability": "sync", "context": self.around.context}
        return given, self.around.within(labelled(config_at(step), self.spec)), options

    def _stream(self, step: Advance) -> Iterator[tuple[str, Any]]:
        given, config, options = self._arguments(step)
        yield from self.graph.stream(given, config, **options)

    async def _astream(self, step: Advance) -> AsyncIterator[tuple[str, Any]]:
        given, config, options = self._arguments(step)
        async for part in self.graph.astream(given, config, **options):
            yield part


def config_at(step: Advance) -> dict[str, Any]:
    """Return the config that a run from a place takes: the ids of checkpoints only where they are needed.

    Whatever runs, the outermost graph does; a place inside a subgraph is told with the checkpoints around it.
    """
    if not step.replay:
        return config_of(Place(step.place.thread))
    config = config_of(step.place)
    if step.around:
        config["configurable"]["checkpoint_map"] = {**step.around, step.place.namespace: step.place.id}
    return config


class _Tracker:
    """Turns stream parts into events and remembers the newest checkpoint."""

    def __init__(self, step: Advance, report: Report) -> None:
        self.newest = step.around.get("", step.place.id)
        self.report = report

    def take(self, mode: str, data: Any) -> None:
        if mode == "checkpoints":
            where = data["config"]["configurable"]
            if not where.get("checkpoint_ns") and where["checkpoint_id"] != self.newest:
                self.newest = str(where["checkpoint_id"])
                self.report(Event("saved", self.newest))
            return
        self.report(Event(_happened(data), str(data["name"]), str(data["id"])))


def _happened(data: Any) -> str:
    if "triggers" in data:
        return "started"
    if data.get("error") is not None:
        return "failed"
    return "asked" if data.get("interrupts") else "finished"
