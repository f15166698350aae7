"""Functions with @entrypoint and @task: what ran, what it returned, and which calls are saved, on every engine."""

import json
from importlib import import_module

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver as TheirSaver

from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach, open_record
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver

CALL = {"name": "weather", "args": {"city": "Basel"}, "id": "c1"}
SECRET = "the codeword"
KINDS = ("runtime", "langgraph", "runtime record", "langgraph record")


def workflow(root, saver, *, as_dict=False):
    func, types = import_module(f"{root}.func"), import_module(f"{root}.types")

    @func.task
    def call_model(city):
        return AIMessage("", tool_calls=[CALL])

    @func.task
    def call_tool(city):
        return ToolMessage(f"rain in {city}", tool_call_id="c1")

    @func.entrypoint(checkpointer=saver)
    def agent(city, *, previous=None):
        call_model(city).result()
        approved = types.interrupt({"question": "Is this correct?"})
        said = call_tool(city).result().content if approved else "not asked"
        return {"said": SECRET} if as_dict else said

    return agent


@pytest.fixture(params=KINDS)
def recorded(request, tmp_path):
    """Record a thread that waits and one that has ended; open them as the kind of engine says."""
    root, _, record = request.param.partition(" ")
    path = str(tmp_path / "threads.sqlite")
    opened = []

    def make(**options):
        with (SqliteSaver if root == "runtime" else TheirSaver).from_conn_string(path) as saver:
            agent = workflow(root, saver, **options)
            command = import_module(f"{root}.types").Command
            for thread in ("waiting", "done"):
                agent.invoke("Basel", {"configurable": {"thread_id": thread}})
            agent.invoke(command(resume=True), {"configurable": {"thread_id": "done"}})
        if record:
            engine = open_record(path)
        else:
            context = (SqliteSaver if root == "runtime" else TheirSaver).from_conn_string(path)
            request.addfinalizer(lambda: context.__exit__(None, None, None))
            engine = attach(workflow(root, context.__enter__(), **options), None, About(name="agent"))
        opened.append(Workspace([engine]))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def at(workspace, thread):
    session = DebugSession(workspace)
    session.move(thread=thread)
    return session


def test_a_waiting_function_shows_the_calls_that_are_saved(recorded):
    session = at(recorded(), "waiting")
    (task,) = session.checkpoint().tasks
    assert task.name in ("agent", "entrypoint")  # LangGraph's database alone does not tell the name
    assert task.status == "interrupted"
    assert [call.kind for call in task.calls] == ["message"]
    assert [question.prompt for question in task.questions] == ["Is this correct?"]
    assert not task.calls[0].rich.messages[0].orphan
    assert task.calls[0].rich.part


def test_a_function_that_has_ended_is_done_and_has_returned(recorded):
    session = at(recorded(), "done")
    view = session.checkpoint()
    assert (view.status, view.nodes, view.next) == ("done", ("agent",), ())
    (task,) = view.made_by
    assert (task.status, task.questions) == ("saved", ())
    assert sorted(call.rich.messages[0].role for call in task.calls) == ["ai", "tool"]
    assert [(write.channel, write.value.text) for write in task.writes if not write.control] == [
        ("__root__", "rain in Basel")
    ]
    (entry,) = view.entries
    assert (entry.key, entry.value.text, entry.changed, entry.writers) == (
        "__root__",
        "rain in Basel",
        True,
        (task.name,),
    )
    assert entry.version
    assert "__root__" in {fold.channel for fold in session.update(view.parent).folds}


def test_the_timeline_and_the_picture_name_the_function(recorded):
    session = at(recorded(), "done")
    row = session.timeline().rows[0]
    assert (row.nodes, row.changed) == (("agent",), ("__root__",))
    nodes = {node.id: node.mark for node in session.graph().nodes}
    assert nodes["agent"] == "done"
    assert not {"call_model", "call_tool"} & set(nodes)


def test_what_a_function_returned_is_one_value_although_it_is_a_dict(recorded):
    session = at(recorded(as_dict=True), "done")
    (entry,) = session.checkpoint().entries
    assert (entry.key, entry.value.kind) == ("__root__", "dict")
    assert session.diff().entries[0].path == ("__root__",)


def test_what_a_function_returned_and_keeps_can_be_masked(recorded):
    workspace = recorded(as_dict=True)
    assert SECRET in everything(at(workspace, "done"))
    workspace.masks.add("said")
    assert SECRET not in everything(at(workspace, "done"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_change_is_found_behind_runs_that_returned_the_same(kind, tmp_path):
    root, _, record = kind.partition(" ")
    func, path = import_module(f"{root}.func"), str(tmp_path / "threads.sqlite")
    with (SqliteSaver if root == "runtime" else TheirSaver).from_conn_string(path) as saver:

        @func.entrypoint(checkpointer=saver)
        def agent(word):
            return word

        for word in "aabbbbb":
            agent.invoke(word, {"configurable": {"thread_id": "t"}})
        engine = open_record(path) if record else attach(agent, None, About(name="agent"))
        session = at(Workspace([engine]), "t")
        found = session.last_change(("__root__",))
        assert (found.step, found.before.text, found.after.text) == (4, "a", "b")
        assert [hop.step for hop in session.why(("__root__",))] == [4]
        session.add_watch('state("__root__")')
        assert session.timeline().rows[0].cells[0].text == "b"
        session.workspace.close()


@pytest.mark.parametrize("root", ["runtime", "langgraph"])
def test_masking_what_a_function_returned_masks_what_it_keeps_too(root):
    func = import_module(f"{root}.func")
    saver = import_module(f"{root}.checkpoint.memory").InMemorySaver()

    @func.entrypoint(checkpointer=saver)
    def agent(word, *, previous=None):
        return SECRET + word

    for word in "ab":
        agent.invoke(word, {"configurable": {"thread_id": "t"}})
    session = at(Workspace([attach(agent, None, About(name="agent"))]), "t")
    assert SECRET in everything(session)
    session.mask("__root__")
    assert SECRET not in everything(session)
    assert SECRET not in session.export().data.decode()


@pytest.mark.parametrize("root", ["runtime", "langgraph"])
def test_masking_a_state_that_is_one_value_masks_what_nodes_and_runs_are_given(root):
    graph = import_module(f"{root}.graph")
    builder = graph.StateGraph(str)
    builder.add_node("act", lambda state: state)
    builder.add_edge(graph.START, "act")
    saver = import_module(f"{root}.checkpoint.memory").InMemorySaver()
    compiled = builder.compile(checkpointer=saver)
    compiled.invoke(SECRET, {"configurable": {"thread_id": "t"}})
    session = at(Workspace([attach(compiled, None, About())]), "t")
    for row in session.timeline().rows:
        session.move(checkpoint=row.checkpoint)
        if session.checkpoint().parent:
            assert SECRET in everything(session)
    session.mask("__root__")
    assert SECRET not in session.export().data.decode()
    for row in session.timeline().rows:
        session.move(checkpoint=row.checkpoint)
        assert SECRET not in str(session.checkpoint()) + str(session.channels(all_channels=True))


def everything(session):
    """All that is shown of a checkpoint and of the superstep that made it."""
    view = session.checkpoint()
    shown = (view, session.channels(all_channels=True), session.diff(), session.raw(("__root__",)))
    return str([*shown, session.checkpoint(view.parent), session.update(view.parent)])


@pytest.mark.parametrize("root", ["runtime", "langgraph"])
@pytest.mark.parametrize("given", ['{"said": "by hand"}', '"by hand"'])
def test_an_edit_replaces_what_a_function_returned_and_keeps(root, given):
    func = import_module(f"{root}.func")
    saver = import_module(f"{root}.checkpoint.memory").InMemorySaver()

    @func.entrypoint(checkpointer=saver)
    def agent(word, *, previous=None):
        return {"said": word, "before": previous}

    config = {"configurable": {"thread_id": "t"}}
    agent.invoke("a", config)
    with_agent = Workspace([attach(agent, None, About(name="agent"))])
    session = at(with_agent, "t")
    form = session.edit_form()
    assert ([field.key for field in form.fields], form.author) == (["__root__"], "agent")
    edit = Edit("__root__", given, "overwrite")
    (outcome,) = session.preview_edit([edit]).outcomes
    assert json.loads(session.raw(("__root__",))) == {"said": "a", "before": None}
    session.save_edit([edit], "agent")
    (entry,) = session.checkpoint().entries
    assert (entry.value.kind, entry.value.text) == (outcome.after.kind, outcome.after.text)
    assert json.loads(session.raw(("__root__",))) == json.loads(given)
    assert agent.invoke("b", config) == {"said": "b", "before": json.loads(given)}
    with_agent.close()
