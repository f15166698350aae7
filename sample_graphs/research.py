"""Research with a person in the loop: fan out with `Send`, check the evidence, ask, and report or start over.

    plan --Send--> research (one per sub-query) --> check --> review --approve--> report
      ^                                                         |
      +--------------------------- revise ----------------------+

`plan` starts every round with an `Overwrite`, so a second round replaces the findings of the first although
`findings` has a reducer. At the checkpoint after `plan`, an edit made as `research` stands for all workers and goes
on to `check`; an edit made as `plan` sends the workers out again.

The evidence is invented and built in. There are two sources on the winter, and they disagree.
"""

import operator
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from runtime.graph import END, START, StateGraph
from runtime.types import Command, Overwrite, Send, interrupt

shows = "One worker per sub-query, findings gathered by a reducer, a person's decision, and on to the report or back."


class Finding(TypedDict):
    """What one source says on one topic."""

    topic: str
    source: str
    says: str


class Job(TypedDict):
    """What one worker is sent."""

    topic: str
    query: str
    records_only: bool


class Research(TypedDict, total=False):
    """The state; `findings` is the only key that several nodes may write in one superstep."""

    question: str
    round: int
    queries: list[Job]
    findings: Annotated[list[Finding], operator.add]
    conflicts: list[str]
    approved: bool
    report: str


# topic -> (source, is it a record kept on the spot, what it says)
EVIDENCE = {
    "cost": [("council budget", True, "a bridge costs as much as 31 years of ferry service")],
    "traffic": [("toll counter", True, "1,240 crossings on a working day")],
    "winter": [
        ("ferry company leaflet", False, "ice stops the ferry on 3 days a year"),
        ("harbour log", True, "ice stops the ferry on 11 days a year"),
    ],
}


def plan(state: Research) -> dict[str, Any]:
    """Split the question into one sub-query per topic that it names, or per topic there is."""
    question, turn = state["question"], state.get("round", 0) + 1
    topics = [topic for topic in EVIDENCE if topic in question.lower()] or list(EVIDENCE)
    queries = [Job(topic=topic, query=f"{topic}: {question}", records_only=turn > 1) for topic in topics]
    return {"round": turn, "queries": queries, "findings": Overwrite([]), "conflicts": []}


def fan_out(state: Research) -> list[Send]:
    """Send every sub-query to a worker of its own."""
    return [Send("research", job) for job in state["queries"]]


def research(job: Job) -> dict[str, Any]:
    """Look up one topic; from the second round on only records count."""
    found = [
        Finding(topic=job["topic"], source=source, says=says)
        for source, is_record, says in EVIDENCE[job["topic"]]
        if is_record or not job["records_only"]
    ]
    return {"findings": found}


def check(state: Research) -> dict[str, Any]:
    """Name the topics on which the sources do not agree."""
    said: dict[str, list[str]] = {}
    for finding in state["findings"]:
        said.setdefault(finding["topic"], []).append(finding["says"])
    return {"conflicts": [" / ".join(claims) for claims in said.values() if len(set(claims)) > 1]}


def review(state: Research) -> Command[Literal["report", "plan"]]:
    """Ask whether the evidence will do. Answer `"approve"`, `"revise"`, or `{"action": ..., "question": ...}`."""
    answer = interrupt(
        {
            "prompt": "Write the report from these findings?",
            "options": ["approve", "revise"],
            "findings": state["findings"],
            "conflicts": state["conflicts"],
        }
    )
    decision = answer if isinstance(answer, dict) else {"action": answer}
    if decision["action"] == "approve":
        return Command(goto="report", update={"approved": True})
    return Command(goto="plan", update={"question": decision.get("question", state["question"])})


def report(state: Research) -> dict[str, Any]:
    """Put the findings into words, conflicts included."""
    lines = [state["question"], *(f"- {f['says']} ({f['source']})" for f in state["findings"])]
    return {"report": "\n".join(lines + [f"! {conflict}" for conflict in state["conflicts"]])}


builder = StateGraph(Research)
builder.add_node("plan", plan)
builder.add_node("research", research, input_schema=Job)
builder.add_node("check", check)
builder.add_node("review", review)
builder.add_node("report", report)
builder.add_edge(START, "plan")
builder.add_conditional_edges("plan", fan_out, ["research"])
builder.add_edge("research", "check")
builder.add_edge("check", "review")
builder.add_edge("report", END)

graph = builder.compile(name="research")
example_input: Research = {"question": "Should Lindhaven replace its ferry with a bridge?"}
