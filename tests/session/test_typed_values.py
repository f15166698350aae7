"""What is typed takes the class that belongs in its place: by what the state declares, or by what others wrote."""

import dataclasses
import operator
from typing import Annotated, Any, Literal, Required

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel
from typing_extensions import TypedDict

from debugger_ui.session.declared import as_declared
from debugger_ui.session.problems import SessionError
from debugger_ui.session.views import Edit
from runtime.func import entrypoint
from tests.session.conftest import done, step
from tests.session.nests import on_runtime


class Section(BaseModel):
    name: str
    words: int = 0


@dataclasses.dataclass
class Score:
    points: int


@dataclasses.dataclass
class Report:
    best: Score
    all: list[Score] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Picky:
    """Refuses in its own way."""

    points: int

    def __post_init__(self):
        if self.points < 0:
            raise KeyError("below zero")


class Chapter(TypedDict, total=False):
    section: Section


class State(TypedDict, total=False):
    text: str
    plan: list[Section]
    done: Annotated[list, operator.add]
    said: Annotated[list[AnyMessage], operator.add]
    score: Score | None
    picky: Picky


def fan_out(kit, open_graph):
    builder = kit.StateGraph(State)
    builder.add_node("plan", lambda state: {"text": "planned"})
    builder.add_node("write", lambda name: {"done": [Section(name=name, words=3)]})
    builder.add_node("count", lambda state: {"text": str(sum(section.words for section in state["done"]))})
    builder.add_edge(kit.START, "plan")
    builder.add_conditional_edges("plan", lambda state: [kit.Send("write", name) for name in "ab"], ["write"])
    builder.add_edge("write", "count")
    session = start_at_input(open_graph, builder)
    step(session)
    return session


def start_at_input(open_graph, builder):
    from debugger_ui.session.session import DebugSession

    session = DebugSession(open_graph(builder, example={"text": "in"}))
    session.new_run({"text": "in"}, thread="t")
    done(session)
    return session


def values(session, key):
    return session.desk.reading.record(session.spot()).state.get(key)


@on_runtime
def test_a_supplied_result_takes_the_class_that_another_task_wrote(kit, open_graph):
    session = fan_out(kit, open_graph)
    first, second = session.tasks()
    session.execute([second.id])
    done(session)
    session.supply(first.id, '{"done": [{"name": "by hand", "words": 4}]}')
    done(session)
    step(session)
    assert values(session, "done") == [Section(name="by hand", words=4), Section(name="b", words=3)]
    step(session)
    assert values(session, "text") == "7"


@on_runtime
def test_a_supplied_result_takes_the_classes_that_the_state_declares(kit, open_graph):
    session = fan_out(kit, open_graph)
    first, _ = session.tasks()
    text = '{"plan": [{"name": "x"}], "said": [{"type": "ai", "content": "hi"}], "score": {"points": 2}, "done": []}'
    session.supply(first.id, text)
    done(session)
    step(session)
    assert values(session, "plan") == [Section(name="x")]
    assert values(session, "score") == Score(2)
    (said,) = values(session, "said")
    assert (type(said), said.content) == (AIMessage, "hi")


@on_runtime
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"plan": [{"words": 1}]}', r"plan\[0\] does not fit Section: name: Field required"),
        ('{"score": {"pints": 1}}', "score does not fit Score"),
        ('{"plan": {"name": "x"}}', "'plan' holds a list"),
        ('{"picky": {"points": -1}}', "picky does not fit Picky: 'below zero'"),
    ],
)
def test_a_result_that_does_not_fit_is_refused_and_nothing_is_lost(kit, open_graph, text, said):
    session = fan_out(kit, open_graph)
    first, _ = session.tasks()
    with pytest.raises(SessionError, match=said):
        session.supply(first.id, text)
    assert [task.status for task in session.tasks()] == ["to run"] * 2


def test_an_edit_of_a_key_without_a_value_takes_the_declared_class(kit, open_graph):
    session = start_at_input(open_graph, builder_of(kit))
    session.save_edit([Edit("plan", '[{"name": "x", "words": 2}]', "overwrite")], "plan")
    assert values(session, "plan") == [Section(name="x", words=2)]


def test_an_edit_that_its_class_refuses_in_its_own_way_is_a_problem_of_the_preview(kit, open_graph):
    session = start_at_input(open_graph, builder_of(kit))
    refused = [Edit("picky", '{"points": -1}', "overwrite")]
    assert [one.message for one in session.preview_edit(refused).problems] == [
        "picky does not fit Picky: 'below zero'."
    ]
    session.save_edit([Edit("picky", '{"points": 1}', "overwrite")], "plan")
    assert values(session, "picky") == Picky(1)
    assert [one.field for one in session.preview_edit(refused).problems] == ["picky"]


def builder_of(kit):
    builder = kit.StateGraph(State)
    builder.add_node("plan", lambda state: {})
    builder.add_edge(kit.START, "plan")
    return builder


@on_runtime
@pytest.mark.parametrize("key", ["__root__", "__end__"])
def test_the_result_of_a_function_is_supplied_as_it_is(kit, key):
    from debugger_ui.engines.graph import About
    from debugger_ui.engines.opening import attach
    from debugger_ui.session.session import DebugSession
    from debugger_ui.session.workspace import Workspace

    @entrypoint(checkpointer=kit.saver())
    def agent(word):
        raise RuntimeError("no answer from the model")

    config = {"configurable": {"thread_id": "t"}}
    with pytest.raises(RuntimeError):
        agent.invoke("a", config)
    workspace = Workspace([attach(agent, None, About(name="agent"))])
    session = DebugSession(workspace)
    session.move(thread="t")
    (task,) = session.tasks()
    assert task.status == "failed"
    session.supply(task.id, f'{{"{key}": {{"said": "by hand"}}}}')
    done(session)
    step(session)
    assert values(session, "__root__") == {"said": "by hand"}
    workspace.close()


@pytest.mark.parametrize(
    ("annotation", "value", "made"),
    [
        (Section, {"name": "x"}, Section(name="x")),
        (list[Section], [{"name": "x"}, Section(name="y")], [Section(name="x"), Section(name="y")]),
        (Annotated[list[Section], operator.add], [{"name": "x"}], [Section(name="x")]),
        (Required[dict[str, Section]], {"a": {"name": "x"}}, {"a": Section(name="x")}),
        (Section | None, {"name": "x"}, Section(name="x")),
        (Section | None, None, None),
        (Section | Score, {"name": "x"}, {"name": "x"}),
        (Section | dict, {"name": "x"}, {"name": "x"}),
        (dict, {"name": "x"}, {"name": "x"}),
        (list, [{"name": "x"}], [{"name": "x"}]),
        (Any, {"name": "x"}, {"name": "x"}),
        ("Section", {"name": "x"}, {"name": "x"}),
        (Report, {"best": {"points": 1}, "all": [{"points": 2}]}, Report(Score(1), [Score(2)])),
        (Chapter, {"section": {"name": "x"}, "more": 1}, {"section": Section(name="x"), "more": 1}),
        (tuple[Score, ...], [{"points": 1}, {"points": 2}], [Score(1), Score(2)]),
        (tuple[Section, Score], [{"name": "x"}, {"points": 2}], [Section(name="x"), Score(2)]),
        (tuple[Section, Score], [{"name": "x"}], [{"name": "x"}]),
        (list[Section] | None, [{"name": "x"}], [Section(name="x")]),
        (list[Section] | tuple[Score, ...], [{"name": "x"}], [{"name": "x"}]),
        (Annotated[Section, "one"] | Literal["none"] | str, {"name": "x"}, Section(name="x")),
        (Section | Any, {"name": "x"}, {"name": "x"}),
    ],
)
def test_only_where_one_class_belongs_objects_are_made_into_it(annotation, value, made):
    assert as_declared(value, annotation, ("key",)) == made
