"""Whether LangGraph tells a saver the classes of its schemas, in a process of its own: it is a matter of its start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STRICT = """
from typing import TypedDict
from langgraph.graph import StateGraph
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.things import Colour, Model

class State(TypedDict):
    model: Model
    colour: Colour

graph = StateGraph(State).add_node("node", lambda state: {"colour": Colour.RED}).set_entry_point("node")
with SqliteSaver.from_conn_string(":memory:") as saver:
    app, config = graph.compile(checkpointer=saver), {"configurable": {"thread_id": "t"}}
    app.invoke({"model": Model(a=1)}, config)
    print(app.get_state(config).values)
"""


@pytest.mark.parametrize(("strict", "seen"), [("true", "Model(a=1, child=None)"), ("false", "Opaque(")])
def test_langgraph_names_the_classes_of_its_schemas_to_the_saver_where_it_is_strict_itself(strict, seen):
    """Where it is not, they have to be allowed by hand; see docs/storage.md."""
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": strict}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", STRICT], capture_output=True, text=True, cwd=root, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert seen in done.stdout
