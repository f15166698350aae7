"""Both drivers behind one call, so that every test of a graph runs through each."""

import asyncio

import pytest


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Run a graph to its end and return its output."""

    def run(graph, given, config=None, **options):
        if request.param == "async":
            return asyncio.run(graph.ainvoke(given, config, **options))
        return graph.invoke(given, config, **options)

    return run


@pytest.fixture
def updates(request, run):
    """Run a graph and return its updates, those of one superstep by name."""

    def updates(graph, given):
        return run(graph, given, stream_mode="updates")

    return updates
