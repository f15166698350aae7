"""Makes the databases in this folder: run it with the LangGraph of the version that is to have written them.

    python make.py sqlite-VERSION.db3              with langgraph-checkpoint-sqlite
    python make.py postgresql://user@host/empty    with langgraph-checkpoint-postgres; then pg_dump

It uses only what LangGraph has had since 0.2, so that every version since writes the same threads: one that sends,
asks and is answered, and one that waits for its answer.

The SQLite files were written under Python 3.11 with

    langgraph-checkpoint-sqlite  langgraph  langgraph-checkpoint  langchain-core
    1.0.0                        0.2.3      1.0.2                 0.2.30            values as JSON
    1.0.4                        0.2.28     1.0.12                0.3.5             as MessagePack, from here on
    2.0.7                        0.3.34     2.0.25                0.3.56
    2.0.11                       0.6.0      2.1.1                 0.3.72

They end in .db3, since git ignores *.sqlite and *.db here: a file of that name would never be committed.
"""

import operator
import sys
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph

try:
    from langgraph.types import Send
except ImportError:
    from langgraph.constants import Send


class State(TypedDict):
    messages: Annotated[list, operator.add]
    n: int
    kinds: set


def plan(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage("two things", id="plan")], "kinds": {"a", "b"}}


def each(state: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [AIMessage(f"thing {state['n']}", id=f"each-{state['n']}")]}


def end(state: State) -> dict[str, Any]:
    return {"messages": [("tuple", "kept")], "n": len(state["messages"])}


def graph() -> StateGraph:
    builder = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("each", each)
    builder.add_node("end", end)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("each", {"n": n}) for n in range(2)], ["each"])
    builder.add_edge("each", "end")
    return builder


def record(saver: Any) -> None:
    app = graph().compile(checkpointer=saver, interrupt_before=["end"])
    for thread in "finished", "waiting":
        config = {"configurable": {"thread_id": thread}}
        app.invoke({"messages": [HumanMessage("go", id="go")], "n": 0, "kinds": set()}, config)
        if thread == "finished":
            app.update_state(config, {"n": 5})
            app.invoke(None, config)


def main(target: str) -> None:
    if "://" in target:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(target) as saver:
            saver.setup()
            record(saver)
        return
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(target) as saver:
        record(saver)
        saver.conn.execute("PRAGMA journal_mode=DELETE")
        saver.conn.execute("PRAGMA page_size=1024")
        saver.conn.execute("VACUUM")


if __name__ == "__main__":
    main(sys.argv[1])
