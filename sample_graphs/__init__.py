"""Small graphs that each show one thing; `SAMPLES` lists them.

They need no model, no network and no key, and give the same result every time. They use nothing but the runtime's
public modules. Listing them imports none of them: a sample's module is loaded when something of it is asked for.
"""

from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["SAMPLES", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample graph: `name` is also its module's name, `title` is for a list."""

    name: str
    title: str

    @property
    def spec(self) -> str:
        """The graph's address, as `forkpoint` takes it on the command line."""
        return f"{__name__}.{self.name}:graph"

    @property
    def module(self) -> ModuleType:
        """The sample's module, loaded now if it is not yet."""
        return import_module(f"{__name__}.{self.name}")

    @property
    def graph(self) -> Any:
        """The compiled graph, without a checkpointer."""
        return self.module.graph

    @property
    def builder(self) -> Any:
        """The graph's builder, to be compiled with a checkpointer."""
        return self.module.builder

    @property
    def example_input(self) -> dict[str, Any]:
        """An input that shows what the sample is about; a fresh copy each time."""
        return deepcopy(dict(self.module.example_input))

    @property
    def shows(self) -> str:
        """One sentence on what the sample shows."""
        return str(self.module.shows)


SAMPLES: dict[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample("research", "Research with a person in the loop"),
        Sample("counter", "A counter loop"),
        Sample("react", "A model and its tools (ReAct)"),
        Sample("join", "A parallel join"),
        Sample("flaky", "A tool that fails once"),
        Sample("conflict", "Two writers, one plain key"),
        Sample("subgraph", "A graph inside a graph"),
        Sample("sections", "A question two levels down"),
        Sample("handover", "Two agents, one case"),
        Sample("approvals", "Two questions at once"),
        Sample("reducers", "The order of writes"),
        Sample("isolation", "What siblings see"),
        Sample("deferred", "A deferred fan-in"),
        Sample("messages", "Messages: append, replace, remove"),
    )
}
