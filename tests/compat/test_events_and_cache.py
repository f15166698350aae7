"""What a front end relies on: every node's result as a streamed event, and a task's result cached for the next call."""

import asyncio
from typing import Any

import pytest
from typing_extensions import TypedDict

from runtime.cache.memory import InMemoryCache
from runtime.func import entrypoint, task
from runtime.graph import START, StateGraph
from runtime.types import CachePolicy
from tests.kit.faces import Face


class State(TypedDict, total=False):
    x: int


def test_each_node_streams_its_result_as_an_event() -> None:
    async def awaited(state: State) -> State:
        return {"x": state["x"] + 1}

    def plain(state: State) -> State:
        return {"x": state["x"] + 1}

    graph = StateGraph(State).add_sequence([awaited, plain]).add_edge(START, "awaited").compile()

    async def chunks() -> list[Any]:
        events = graph.astream_events({"x": 0}, version="v2")
        return [(e["name"], e["data"]["chunk"]) async for e in events if e["event"] == "on_chain_stream"]

    found = [chunk for chunk in asyncio.run(chunks()) if chunk[0] != "LangGraph"]
    assert found == [("awaited", {"x": 1}), ("plain", {"x": 2})]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_call_finds_what_the_call_before_it_has_cached(is_async: bool) -> None:
    ran: list[int] = []

    if is_async:

        @task(cache_policy=CachePolicy(ttl=60))
        async def double(x: int) -> int:
            ran.append(x)
            return 2 * x

        @entrypoint(cache=InMemoryCache())
        async def workflow(x: int) -> list[int]:
            return [await double(x), await double(x)]

    else:

        @task(cache_policy=CachePolicy(ttl=60))
        def double(x: int) -> int:
            ran.append(x)
            return 2 * x

        @entrypoint(cache=InMemoryCache())
        def workflow(x: int) -> list[int]:
            return [double(x).result(), double(x).result()]

    run = Face(is_async)
    assert run(workflow, 3) == [6, 6]
    assert ran == [3]
    cached = {"double": 6, "__metadata__": {"cached": True}}
    assert run.stream(workflow, 3, stream_mode="updates") == [cached, cached, {"workflow": [6, 6]}]
    assert ran == [3]
