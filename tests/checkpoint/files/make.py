"""Makes the databases in this folder: run it with the LangGraph of the version that is to have written them.

    python make.py old.sqlite                      with langgraph-checkpoint-sqlite
    python make.py postgresql://user@host/empty    with langgraph-checkpoint-postgres; then pg_dump

It uses only what LangGraph has had since 0.2, so that every version since writes the same threads: one that sends,
asks and is answered, and one that waits for its answer.
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
