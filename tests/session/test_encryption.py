"""Databases whose values are encrypted: nothing readable on disk, opened with the key, a sentence without it."""

import asyncio
import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from debugger_ui.cli import main
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import KEY, attach, open_saver
from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.serde.encrypted import EncryptedSerializer
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.types import interrupt
from tests.session.conftest import answer

SECRET = "a-text-that-must-not-be-on-disk"
AES = "0123456789abcdef"


class Notes(TypedDict, total=False):
    note: str
    log: Annotated[list[str], operator.add]


def graph() -> Any:
    def ask(state):
        return {"log": [interrupt(f"keep {state['note']}?")]}

    builder = StateGraph(Notes)
    builder.add_node("write", lambda state: {"log": [f"noted {state['note']}"]})
    builder.add_node("ask", ask)
    builder.add_edge(START, "write")
    builder.add_edge("write", "ask")
    builder.add_edge("ask", END)
    return builder


def on_disk(path):
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@pytest.fixture(params=["sync", "async"])
def file(request, tmp_path):
    """A database with a waiting thread, every value of it encrypted."""
    path = tmp_path / "closed.sqlite"
    config = {"configurable": {"thread_id": "t"}}

    async def run():
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            saver.serde = EncryptedSerializer.from_pycryptodome_aes(saver.serde, key=AES.encode())
            await graph().compile(checkpointer=saver).ainvoke({"note": SECRET}, config)

    if request.param == "async":
        asyncio.run(run())
    else:
        with SqliteSaver.from_conn_string(path) as saver:
            saver.serde = EncryptedSerializer.from_pycryptodome_aes(saver.serde, key=AES.encode())
            graph().compile(checkpointer=saver).invoke({"note": SECRET}, config)
    assert SECRET.encode() not in on_disk(path)
    return path


def test_with_the_key_everything_is_there_and_stays_encrypted(file, monkeypatch):
    monkeypatch.setenv(KEY, AES)
    saver, why = open_saver(str(file), read_only=False)
    assert why == ""
    session = DebugSession(Workspace([attach(graph().compile(), saver, About(), owned=True)]))
    session.move(thread="t")
    assert session.checkpoint().entries[0].value.text == SECRET
    answer(session, "yes")
    assert session.checkpoint().status == "done"
    assert f"noted {SECRET}" in session.raw()
    session.workspace.close()
    assert SECRET.encode() not in on_disk(file)


@pytest.mark.parametrize("key", [None, "another-key-1234"])
def test_without_the_right_key_it_is_said_and_nothing_is_written(file, monkeypatch, key):
    monkeypatch.delenv(KEY, raising=False)
    if key:
        monkeypatch.setenv(KEY, key)
    before = file.read_bytes()
    saver, why = open_saver(str(file), read_only=False)
    assert "encrypted" in why
    session = DebugSession(
        Workspace([attach(graph().compile(), saver, About(), owned=True)], read_only=bool(why), reason=why)
    )
    session.move(thread="t")
    rows = session.timeline().rows
    assert len(rows) == 3
    assert rows[0].mark == "encrypted"
    with pytest.raises(SessionError, match=r"is encrypted \(aes\), and the right key is not here.*LANGGRAPH_AES_KEY"):
        session.checkpoint()
    with pytest.raises(SessionError, match="encrypted"):
        session.new_run('{"note": "x"}', thread="other")
    session.workspace.close()
    assert file.read_bytes() == before


def test_a_key_of_the_wrong_length_is_told(file, monkeypatch, capsys):
    monkeypatch.setenv(KEY, "short")
    assert main(["--db", str(file), "--no-browser"]) == 2
    assert "must be 16, 24, or 32 bytes" in capsys.readouterr().err


def test_a_database_alone_says_that_it_is_encrypted(file, monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    session = DebugSession(Workspace.open(database=str(file)))
    assert [row.id for row in session.threads().rows] == ["t"]
    session.move(thread="t")
    with pytest.raises(SessionError, match="LANGGRAPH_AES_KEY"):
        session.checkpoint()
    session.workspace.close()


def test_a_file_of_langgraphs_own_saver_opens_with_the_key(tmp_path, monkeypatch):
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    path = tmp_path / "theirs.sqlite"
    with sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        saver.serde = EncryptedSerializer.from_pycryptodome_aes(key=AES.encode())
        graph().compile(checkpointer=saver).invoke({"note": SECRET}, {"configurable": {"thread_id": "t"}})
    assert SECRET.encode() not in on_disk(path)
    for key in (AES, ""):
        monkeypatch.setenv(KEY, key)
        session = DebugSession(Workspace.open(database=str(path)))
        if key:
            session.move(thread="t")
            assert f"noted {SECRET}" in session.raw()
        else:
            with pytest.raises(SessionError, match="is encrypted"):
                session.move(thread="t")
        session.workspace.close()
