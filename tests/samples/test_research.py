"""The headline sample: its two ways out of the review, and what an edit at the fan-out sets going."""

import pytest

from runtime.types import Command, Overwrite
from sample_graphs.research import EVIDENCE, example_input

WORKERS = ["research"] * len(EVIDENCE)
FERRY, LOG = EVIDENCE["winter"][0][2], EVIDENCE["winter"][1][2]


@pytest.fixture
def thread(start):
    return start("research")


def sources(state):
    return [finding["source"] for finding in state.values["findings"]]


def test_first_round_stops_at_the_question_with_the_conflict_in_it(thread):
    result = thread.invoke(example_input)
    (question,) = result["__interrupt__"]
    assert thread.state().next == ("review",)
    assert question.value["options"] == ["approve", "revise"]
    assert question.value["conflicts"] == [f"{FERRY} / {LOG}"]
    assert sources(thread.state()) == ["council budget", "toll counter", "ferry company leaflet", "harbour log"]


def test_approve_leads_to_the_report_with_the_conflict_marked(thread):
    thread.invoke(example_input)
    assert thread.ran(Command(resume="approve")) == ["report", "review"]
    state = thread.state()
    assert state.next == ()
    assert state.values["approved"] is True
    assert state.values["report"].splitlines() == [
        "Should Lindhaven replace its ferry with a bridge?",
        "- a bridge costs as much as 31 years of ferry service (council budget)",
        "- 1,240 crossings on a working day (toll counter)",
        f"- {FERRY} (ferry company leaflet)",
        f"- {LOG} (harbour log)",
        f"! {FERRY} / {LOG}",
    ]


def test_revise_plans_again_and_the_second_round_replaces_the_first(thread):
    thread.invoke(example_input)
    assert thread.ran(Command(resume="revise")) == ["check", "plan", *WORKERS, "review"]
    state = thread.state()
    assert state.next == ("review",)
    assert state.values["round"] == 2
    assert sources(state) == ["council budget", "toll counter", "harbour log"]
    assert state.interrupts[0].value["conflicts"] == []
    assert thread.invoke(Command(resume={"action": "approve"}))["report"].count("\n") == 3


def test_revise_with_a_narrower_question_sends_fewer_workers(thread):
    thread.invoke(example_input)
    narrower = {"action": "revise", "question": "How long does winter stop the ferry?"}
    assert thread.ran(Command(resume=narrower)).count("research") == 1
    assert sources(thread.state()) == ["harbour log"]


def test_edit_at_the_fan_out_as_the_worker_goes_on_without_the_workers(thread):
    thread.invoke(example_input)
    fan_out = thread.at(*WORKERS)
    corrected = [{"topic": "winter", "source": "diver", "says": "no ice at all"}]
    branch = thread.edit(fan_out, {"findings": Overwrite(corrected)}, as_node="research")
    assert thread.state(branch).next == ("check",)
    assert thread.state(branch).values["findings"] == corrected
    assert thread.ran(None, branch) == ["check"]
    assert thread.state().next == ("review",)
    assert thread.state().interrupts[0].value["findings"] == corrected


def test_edit_at_the_fan_out_as_the_planner_sends_the_workers_again(thread):
    thread.invoke(example_input)
    fan_out = thread.at(*WORKERS)
    corrected = [{"topic": "winter", "source": "diver", "says": "no ice at all"}]
    branch = thread.edit(fan_out, {"findings": Overwrite(corrected)}, as_node="plan")
    assert thread.state(branch).next == tuple(WORKERS)
    assert thread.ran(None, branch) == ["check", *WORKERS]
    assert sources(thread.state())[0] == "diver"
    assert len(sources(thread.state())) == 5


def test_a_branch_leaves_the_first_one_as_it_was(thread):
    thread.invoke(example_input)
    thread.invoke(Command(resume="approve"))
    before = thread.history()
    branch = thread.edit(thread.at(*WORKERS), {"findings": Overwrite([])}, as_node="research")
    thread.invoke(None, branch)
    assert [state for state in thread.history() if state in before] == before
