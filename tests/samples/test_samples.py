"""Every sample runs, sync and async, and shows what it says."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from runtime.errors import InvalidUpdateError
from runtime.types import Command
from sample_graphs import SAMPLES

FOLDER = Path(import_module("sample_graphs").__file__).parent

# What comes out of the example input; research and approvals stop at a question, flaky and conflict raise.
RESULTS = {
    "counter": {"value": 5, "limit": 5},
    "join": {
        "city": "Bergen",
        "nights": 3,
        "flight": 100,
        "hotel": "Hotel Bergen Harbour",
        "hotel_price": 300,
        "offer": "Hotel Bergen Harbour and flight: 400",
    },
    "subgraph": {
        "text": "Lindhaven is a small and windy harbour",
        "published": "Lindhaven is a small and windy harbour.",
    },
    "handover": {
        "complaint": "the harbour light is dark",
        "log": [
            "desk: passed on to the technician",
            "technician: found that the fuse is blown",
            "desk: told the customer that the fuse is blown",
        ],
        "diagnosis": "the fuse is blown",
        "closed": True,
    },
    "reducers": {"line": "start > alpha > bravo > charlie"},
    "isolation": {"notes": ["first", "second"], "seen": 2},
    "deferred": {
        "letter": ["The mast is here.", "When is the launch?"],
        "open": ["When is the launch? The harbour office knows"],
        "replies": ["thank you for your letter", "When is the launch? The harbour office knows"],
        "summary": "2 replies to 2 lines",
    },
}


def test_listing_the_samples_loads_none_of_them():
    code = "import sys, sample_graphs; print([n for n in sys.modules if n.startswith(('sample_graphs.', 'runtime'))])"
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(FOLDER.parent)!r}); {code}"]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_every_sample_module_is_listed():
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "recorded"}
    assert modules == set(SAMPLES)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=list(SAMPLES))
def test_sample_says_what_it_shows_and_is_one_idea(sample):
    assert sample.name == sample.graph.name
    assert sample.module.__doc__.strip()
    assert sample.shows.endswith(".")
    assert sample.example_input
    assert len(Path(sample.module.__file__).read_text(encoding="utf-8").splitlines()) <= 130


@pytest.mark.parametrize("name", RESULTS)
def test_sample_gives_the_same_result_every_time(start, name):
    example = SAMPLES[name].example_input
    assert [start(name).invoke(example) for _ in range(2)] == [RESULTS[name]] * 2
    assert example == SAMPLES[name].example_input, "the run changed the input that it was given"


def test_counter_has_one_checkpoint_per_turn(start):
    thread = start("counter")
    thread.invoke(SAMPLES["counter"].example_input)
    values = [state.values.get("value") for state in thread.history()]
    assert values == [5, 4, 3, 2, 1, 0, None]


def test_react_alternates_and_answers_from_what_the_tools_said(start):
    thread = start("react")
    nodes = [node for node, _ in thread.updates(SAMPLES["react"].example_input)]
    assert nodes == ["agent", "tools", "agent", "tools", "agent"]
    messages = thread.state().values["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "ai", "tool", "ai"]
    assert messages[-1].content == "The south quay is 2.6 m deeper."


def test_react_run_again_from_the_middle_replaces_its_messages(start):
    thread = start("react")
    thread.invoke(SAMPLES["react"].example_input)
    before = thread.state().values["messages"]
    thread.invoke(None, thread.at("tools").config)
    assert thread.state().values["messages"] == before


def test_join_runs_once_after_the_slower_branch(start):
    nodes = [node for node, _ in start("join").updates(SAMPLES["join"].example_input)]
    assert sorted(nodes[:2]) == ["flight", "hotel"]
    assert nodes[2:] == ["price_hotel", "offer"]


def test_flaky_keeps_its_siblings_results_and_runs_the_failed_task_alone(start):
    flaky = SAMPLES["flaky"].module
    thread = start("flaky")
    flaky.attempts.pop(thread.config["configurable"]["thread_id"], None)
    with pytest.raises(ConnectionError, match="tide table of Lindhaven"):
        thread.invoke(flaky.example_input)
    assert thread.state().next == ("tide_table",)
    assert thread.ran(None)[:1] == ["advise"]
    state = thread.state()
    assert state.values["advice"] == "sail: 3 readings say so"
    assert len(state.values["readings"]) == 3
    assert flaky.attempts[thread.config["configurable"]["thread_id"]] == 2


def test_conflict_is_refused_by_name_and_changes_nothing(start):
    thread = start("conflict")
    with pytest.raises(InvalidUpdateError, match="forecast"):
        thread.invoke(SAMPLES["conflict"].example_input)
    state = thread.state()
    assert "forecast" not in state.values
    branch = thread.edit(thread.at("optimist", "pessimist"), {"forecast": "fog"}, as_node="pessimist")
    assert thread.state(branch).values["forecast"] == "fog"


def test_subgraph_has_supersteps_of_its_own_and_keeps_its_key_to_itself(start):
    chunks = start("subgraph").stream(SAMPLES["subgraph"].example_input, subgraphs=True)
    inside = [node for namespace, chunk in chunks if namespace for node in chunk]
    outside = [node for namespace, chunk in chunks if not namespace for node in chunk]
    assert inside == ["find_fillers", "cut_fillers"]
    assert outside == ["draft", "edit", "publish"]
    assert "cuts" not in chunks[-1][1]["publish"]


@pytest.mark.parametrize(("answer", "line"), [("yes", "40 million."), ("no", "40 million, they say.")])
def test_sections_ask_in_one_of_two_runs_two_levels_down(start, answer, line):
    thread = start("sections")
    (asked,) = thread.invoke(SAMPLES["sections"].example_input)["__interrupt__"]
    assert asked.value["options"] == ["yes", "no"]
    result = thread.invoke(Command(resume=answer))
    assert result["report"] == f"The bridge costs {line} The ferry runs all year."


def test_handover_goes_there_and_back(start):
    thread = start("handover")
    thread.invoke(SAMPLES["handover"].example_input)
    assert [state.next for state in reversed(thread.history())] == [
        ("__start__",),
        ("desk",),
        ("technician",),
        ("desk",),
        (),
    ]


def test_approvals_are_answered_together(start):
    thread = start("approvals")
    asked = thread.invoke(SAMPLES["approvals"].example_input)["__interrupt__"]
    assert sorted(question.value["prompt"].split(":")[0] for question in asked) == ["finance", "legal"]
    result = thread.invoke(Command(resume={question.id: "yes" for question in asked}))
    assert result["signatures"] == ["finance: yes", "legal: yes"]
    assert result["signed"] is True


def test_approvals_are_answered_one_by_one_and_the_first_answer_is_kept(start):
    thread = start("approvals")
    first, second = thread.invoke(SAMPLES["approvals"].example_input)["__interrupt__"]
    thread.invoke(Command(resume={second.id: "no"}))
    assert [question.id for question in thread.state().interrupts] == [first.id]
    assert thread.invoke(Command(resume={first.id: "yes"}))["signed"] is False


@pytest.mark.parametrize(
    ("letter", "ran"),
    [
        (["Thanks.", "When?"], ["answer", "ask", "look_up", "tally", "thank"]),
        (["Thanks."], ["tally", "thank"]),
        (["When?"], ["answer", "ask", "look_up", "tally"]),
    ],
    ids=["both branches", "the short one", "the long one"],
)
def test_deferred_runs_once_and_last_whatever_branches_were_taken(start, letter, ran):
    nodes = [node for node, _ in start("deferred").updates({"letter": letter})]
    assert sorted(nodes) == ran
    assert nodes[-1] == "tally"


def test_messages_append_replace_and_remove(start):
    thread = start("messages")
    thread.invoke(SAMPLES["messages"].example_input)
    ids = [[message.id for message in state.values.get("messages", [])] for state in reversed(thread.history())]
    assert ids == [
        [],
        ["hello", "question"],
        ["hello", "question", "reply"],
        ["hello", "question", "reply"],
        ["question", "reply", "summary"],
    ]
