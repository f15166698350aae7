import asyncio

import pytest

from runtime.runtime import Runtime


@pytest.fixture(params=["sync", "async"])
def run_node(request):
    """Run a node outside a graph, blocking or awaiting; `runtime` is what a graph would hand to it."""

    def run_node(node, value, **runtime):
        config = {"configurable": {"__pregel_runtime": Runtime(**runtime)}} if runtime else None
        if request.param == "sync":
            return node.invoke(value, config)
        return asyncio.run(node.ainvoke(value, config))

    return run_node
