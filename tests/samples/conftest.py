"""One face for both drivers, so that every test of a sample runs through each."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from runtime.checkpoint.memory import InMemorySaver

Config = dict[str, Any]


class Thread:
    """A sample graph on a thread of its own, driven by the blocking or by the asyncio driver."""

    def __init__(self, graph: Any, asynchronous: bool) -> None:
        self.graph = graph
        self.asynchronous = asynchronous
        self.config: Config = {"configurable": {"thread_id": f"{graph.name}-{asynchronous}"}}

    def invoke(self, given: Any, config: Config | None = None) -> Any:
        if self.asynchronous:
            return asyncio.run(self.graph.ainvoke(given, config or self.config))
        return self.graph.invoke(given, config or self.config)

    def updates(self, given: Any, config: Config | None = None, **options: Any) -> list[tuple[str, Any]]:
        """Run on, and return who wrote what, in the order of the supersteps and by name within one."""
        return [(node, wrote) for chunk in self.stream(given, config, **options) for node, wrote in chunk.items()]

    def stream(self, given: Any, config: Config | None = None, **options: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [chunk async for chunk in self.graph.astream(given, config or self.config, **options)]

        options = {"stream_mode": "updates", **options}
        if self.asynchronous:
            return asyncio.run(collect())
        return list(self.graph.stream(given, config or self.config, **options))

    def ran(self, given: Any, config: Config | None = None) -> list[str]:
        """Run on, and return the nodes that finished, sorted within the run: completion order says nothing."""
        return sorted(node for node, _ in self.updates(given, config) if not node.startswith("__"))

    def state(self, config: Config | None = None) -> Any:
        if self.asynchronous:
            return asyncio.run(self.graph.aget_state(config or self.config))
        return self.graph.get_state(config or self.config)

    def history(self) -> list[Any]:
        async def collect() -> list[Any]:
            return [state async for state in self.graph.aget_state_history(self.config)]

        return asyncio.run(collect()) if self.asynchronous else list(self.graph.get_state_history(self.config))

    def at(self, *following: str) -> Any:
        """Return the newest checkpoint of the thread from which just these nodes would run."""
        return next(state for state in self.history() if tuple(sorted(state.next)) == following)

    def edit(self, state: Any, values: Any, as_node: str) -> Config:
        if self.asynchronous:
            return asyncio.run(self.graph.aupdate_state(state.config, values, as_node))
        return self.graph.update_state(state.config, values, as_node)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def start(request: pytest.FixtureRequest) -> Callable[[str], Thread]:
    """Return a function that puts a sample on a thread, in memory."""

    def on_a_thread(name: str) -> Thread:
        module = import_module(f"sample_graphs.{name}")
        return Thread(module.builder.compile(checkpointer=InMemorySaver(), name=name), request.param)

    return on_a_thread
