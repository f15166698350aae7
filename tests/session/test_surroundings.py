"""What a run has around it: a context, keys of its config, a store, and the classes of its state."""

from dataclasses import dataclass
from importlib import import_module

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.engines.surroundings import ContextError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from tests.session.conftest import done


class Told(TypedDict, total=True):
    said: str
    kept: str
    user: str


@dataclass
class Asked:
    """A context whose fields have defaults."""

    model: str = "small"


@dataclass
class Needed:
    """A context that nothing can be made of."""

    user: str


def build(kit, schema=None):
    """One node that tells what is around it, and one that reads what the first has put into the store."""
    runtime = import_module(f"{kit.root}.runtime")

    def tell(state, runtime, config):
        runtime.store.put(("notes",), "first", {"text": "kept"})
        return {"said": str(runtime.context), "user": config["configurable"].get("user", "nobody")}

    async def recall(state, runtime):
        return {"kept": (await runtime.store.aget(("notes",), "first")).value["text"]}

    tell.__annotations__ = recall.__annotations__ = {"runtime": runtime.Runtime}
    builder = kit.StateGraph(Told, context_schema=schema)
    builder.add_node("tell", tell)
    builder.add_node("recall", recall)
    builder.add_edge(kit.START, "tell")
    builder.add_edge("tell", "recall")
    return builder


@pytest.fixture
def ran(kit, tmp_path):
    """Run such a graph on a database of ours; return its last state."""
    opened = []

    def ran(schema=None, *, given=None, phases=False):
        saver = SqliteSaver.from_conn_string(str(tmp_path / "around.sqlite"))
        engine = attach(build(kit, schema).compile(), saver.__enter__(), About(name="g"), owned=True, context=given)
        opened.append(Workspace([engine]))
        session = DebugSession(opened[-1])
        session.new_run({"said": "nothing"}, thread="one", run=not phases)
        for phase in (session.execute, session.fold) * 2 if phases else ():
            assert (problem := done(session).problem) is None, problem
            phase()
        assert (problem := done(session).problem) is None, problem
        return session.workspace.desk("").engine.graph.get_state({"configurable": {"thread_id": "one"}}).values

    yield ran
    for workspace in opened:
        workspace.close()


def test_a_context_has_its_defaults_and_a_graph_without_a_store_gets_one(ran):
    assert ran(Asked) == {"said": "Asked(model='small')", "user": "nobody", "kept": "kept"}


def test_what_is_given_goes_into_the_context_and_the_config(ran):
    assert ran(Asked, given={"model": "large", "user": "ada"})["said"] == "Asked(model='large')"


def test_keys_of_the_config_need_no_schema(ran):
    assert ran(given={"user": "ada"}) == {"said": "None", "user": "ada", "kept": "kept"}


def test_a_context_that_nothing_can_be_made_of_stays_absent(ran):
    assert ran(Needed)["said"] == "None"
    assert ran(Needed, given={"user": "ada"})["said"] == "Needed(user='ada')"


@pytest.mark.parametrize("kit", ["runtime"], indirect=True)
def test_a_run_by_phases_has_the_same_around_it(ran):
    given = {"model": "large", "user": "ada"}
    assert ran(Asked, given=given, phases=True) == {"said": "Asked(model='large')", "user": "ada", "kept": "kept"}


@pytest.mark.parametrize(
    ("given", "said"),
    [({"who": "ada"}, "Needed cannot be made of it.*user"), ({"user": "a", "thread_id": "1"}, "'thread_id' belongs")],
)
def test_a_context_that_does_not_fit_is_refused_when_the_graph_is_opened(kit, given, said):
    with pytest.raises(ContextError, match=said):
        attach(build(kit, Needed).compile(checkpointer=kit.saver()), None, About(), context=given)


# --- the classes of the state --------------------------------------------------------------------


class Analyst(BaseModel):
    """A class of the user's, which only the state's schema names."""

    name: str


class Team(TypedDict):
    topic: str
    analysts: list[Analyst]
    report: str


def test_a_step_from_the_database_finds_objects_of_the_states_own_classes(kit, tmp_path):
    def hire(state):
        return {"analysts": [Analyst(name="Ada")]}

    def report(state):
        return {"report": state["analysts"][0].name}

    builder = kit.StateGraph(Team)
    for node in (hire, report):
        builder.add_node(node.__name__, node)
    builder.add_edge(kit.START, "hire")
    builder.add_edge("hire", "report")
    saver = SqliteSaver.from_conn_string(str(tmp_path / "team.sqlite")).__enter__()
    workspace = Workspace([attach(builder.compile(), saver, About(name="team"), owned=True)])
    session = DebugSession(workspace)
    assert {field.key for field in session.run_form().fields if not field.required} == {"topic", "analysts", "report"}
    session.new_run({"topic": "bridges", "analysts": "", "report": ""}, thread="one")
    for _ in range(3):
        assert (problem := done(session).problem) is None, problem
        if session.checkpoint().next:
            session.step()
    assert session.value(("report",)).text == "Ada"
    workspace.close()
