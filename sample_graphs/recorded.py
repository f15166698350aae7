"""Record demo threads: every sample, run to a point worth looking at.

The threads are made by really running the graphs, so what a demo shows is what the runtime does. Each thread's
checkpoints carry the sample's address as the metadata key `graph`, by which a thread finds its graph again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.errors import InvalidUpdateError
from runtime.types import Command, Overwrite
from sample_graphs import SAMPLES, Sample, flaky

__all__ = ["THREADS", "Recording", "record", "sample_of"]

Config = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """One demo thread: its id, the sample it is a run of, where it stands, and how to get it there."""

    thread_id: str
    sample: Sample
    stands: str
    run: Callable[[Any, Config, Any], None]


def record(path: str | Path) -> list[str]:
    """Make the database `path` with all demo threads in it, and return their thread ids.

    The database is there when it is complete, or not at all. Raises FileExistsError if there is something at
    `path`: recording never touches an existing database.
    """
    target = Path(path)
    if target.exists():
        raise FileExistsError(f"{target} is there already; choose another path or remove it first")
    with TemporaryDirectory(dir=target.parent, prefix=".recording-") as folder:
        unfinished = Path(folder) / target.name
        with SqliteSaver.from_conn_string(str(unfinished)) as saver:
            for each in THREADS:
                graph = each.sample.builder.compile(checkpointer=saver, name=each.sample.name)
                config = {"configurable": {"thread_id": each.thread_id}, "metadata": {"graph": each.sample.spec}}
                each.run(graph, config, each.sample.example_input)
        unfinished.replace(target)
    return [each.thread_id for each in THREADS]


def sample_of(thread_id: str) -> Sample | None:
    """Return the sample that a demo thread is a run of, or None for a thread that was not recorded here."""
    return next((each.sample for each in THREADS if each.thread_id == thread_id), None)


def run_on(graph: Any, config: Config, example: Any) -> None:
    """Run until the graph ends or asks."""
    graph.invoke(example, config)


def approve_second_round(graph: Any, config: Config, example: Any) -> None:
    """Send the first round back, then approve."""
    graph.invoke(example, config)
    graph.invoke(Command(resume="revise"), config)
    graph.invoke(Command(resume="approve"), config)


def correct_on_a_branch(graph: Any, config: Config, example: Any) -> None:
    """Approve, go back to the fan-out, put right what the workers found, and run the branch to its question."""
    graph.invoke(example, config)
    graph.invoke(Command(resume="approve"), config)
    fan_out = next(state for state in graph.get_state_history(config) if state.next[:1] == ("research",))
    known = next(state for state in graph.get_state_history(config) if state.next == ("check",)).values["findings"]
    records = [finding for finding in known if finding["source"] != "ferry company leaflet"]
    labels = {"metadata": config["metadata"]}
    branch = graph.update_state(fan_out.config | labels, {"findings": Overwrite(records)}, as_node="research")
    graph.invoke(None, branch | labels)


def answer_one(graph: Any, config: Config, example: Any) -> None:
    """Answer one of two questions and leave the other."""
    graph.invoke(example, config)
    (question,) = next(task for task in graph.get_state(config).tasks if task.name == "finance").interrupts
    graph.invoke(Command(resume={question.id: "yes"}), config)


def fail(graph: Any, config: Config, example: Any) -> None:
    """Run into the failure that the sample is about."""
    flaky.attempts.pop(config["configurable"]["thread_id"], None)
    try:
        graph.invoke(example, config)
    except (ConnectionError, InvalidUpdateError):
        return
    raise AssertionError(f"{graph.name} was expected to fail")


THREADS: tuple[Recording, ...] = (
    Recording("research-waiting", SAMPLES["research"], "waits for a decision on the first round", run_on),
    Recording("research-finished", SAMPLES["research"], "sent back once, then approved", approve_second_round),
    Recording("research-forked", SAMPLES["research"], "approved; a corrected branch waits", correct_on_a_branch),
    Recording("counter", SAMPLES["counter"], "finished", run_on),
    Recording("react", SAMPLES["react"], "finished", run_on),
    Recording("join", SAMPLES["join"], "finished", run_on),
    Recording("flaky-failed", SAMPLES["flaky"], "one of three tasks failed, two are saved", fail),
    Recording("conflict-failed", SAMPLES["conflict"], "the update was refused", fail),
    Recording("subgraph", SAMPLES["subgraph"], "finished", run_on),
    Recording("sections-waiting", SAMPLES["sections"], "one of two sections waits, two levels down", run_on),
    Recording("handover", SAMPLES["handover"], "finished", run_on),
    Recording("approvals-waiting", SAMPLES["approvals"], "two questions wait", run_on),
    Recording("approvals-half", SAMPLES["approvals"], "one question answered, one waits", answer_one),
    Recording("reducers", SAMPLES["reducers"], "finished", run_on),
    Recording("isolation", SAMPLES["isolation"], "finished", run_on),
    Recording("deferred", SAMPLES["deferred"], "finished", run_on),
    Recording("messages", SAMPLES["messages"], "finished", run_on),
)
