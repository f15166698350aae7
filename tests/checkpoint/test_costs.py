"""What reading and writing cost, in statements, steps of SQLite's machine and bytes. Nothing grows with what is not
touched. Counted, not timed: the counts are the same on every machine.
"""

import gc
import sqlite3
import weakref
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from runtime.checkpoint.serde.types import ERROR
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from runtime.graph.message import add_messages
from tests.checkpoint.kit import Line, at, check, id_of

STRIDE = 20  # SQLite calls back once in so many of its machine's steps


class Counted:
    """A saver on a connection that counts the statements and the steps that SQLite takes for them."""

    def __init__(self, path) -> None:
        self.connection = sqlite3.connect(path, check_same_thread=False)
        self.saver = SqliteSaver(self.connection)
        self.saver.setup()
        self.statements: list[str] = []
        self.ticks = 0
        self.connection.set_trace_callback(self.statements.append)
        self.connection.set_progress_handler(self._tick, STRIDE)

    def _tick(self) -> int:
        self.ticks += 1
        return 0

    def cost(self, act) -> tuple[int, int]:
        """Statements and steps of calling `act`."""
        self.statements.clear()
        self.ticks = 0
        act()
        return len(self.statements), self.ticks * STRIDE

    def line(self, length: int, width: int = 3, thread: str = "t") -> Line:
        """A thread of so many checkpoints; each changes one channel of so many, and grows a list."""
        made = Line(self.saver, thread)
        made.put({"m": [], **{f"c{n}": n for n in range(width)}})
        for n in range(length - 1):
            pairs = [("m", [f"element {n}"]), ("c0", n)]
            made.put({"m": [*made.values["m"][-20:], f"element {n}"], "c0": n}, writes=[(f"task-{n}", "p", [*pairs])])
        return made


@pytest.fixture
def counted(tmp_path):
    made = Counted(tmp_path / "counted.db")
    yield made
    made.saver.close()
    made.connection.close()


def test_a_checkpoint_in_the_middle_costs_the_same_however_long_the_history(counted):
    costs = []
    for length in 100, 900:
        line = counted.line(length, thread=f"of-{length}")
        middle = [at(line.thread, one) for one in list(line.expected)[length // 2 : length // 2 + 20]]
        counted.saver.get_tuple(middle[0])
        costs.append(counted.cost(lambda these=middle: [counted.saver.get_tuple(one) for one in these]))
    (few, few_steps), (many, many_steps) = costs
    assert many <= few * 1.1, costs
    assert many_steps <= few_steps * 1.3, costs


def test_a_page_costs_the_same_however_long_the_history_and_few_statements(counted):
    costs = []
    for length in 100, 900:
        line = counted.line(length, thread=f"of-{length}")
        pages = [
            lambda line=line: list(counted.saver.list(at(line.thread), limit=40)),
            lambda line=line, cut=list(line.expected)[length // 2]: list(
                counted.saver.list(at(line.thread), before=at(line.thread, cut), limit=40)
            ),
        ]
        costs.append([counted.cost(page) for page in pages])
    for (few, few_steps), (many, many_steps) in zip(*costs, strict=True):
        assert max(few, many) < 40, costs  # fewer than checkpoints
        assert many_steps <= few_steps * 1.3, costs


def test_whoever_takes_one_of_a_page_does_not_wait_for_the_decoding_of_the_others(counted):
    line = counted.line(200)
    decoded = []
    loads = counted.saver.serde.loads_typed
    counted.saver.serde.loads_typed = lambda data: decoded.append(1) or loads(data)
    try:
        history = counted.saver.list(at(line.thread))
        next(history)
        one = len(decoded)
        list(history)
    finally:
        del counted.saver.serde.loads_typed
    assert one < len(decoded) / 50


def test_a_page_of_outlines_is_one_walk_however_long_its_lists_have_grown(counted):
    costs = []
    for length in 120, 600:
        made = Line(counted.saver, f"of-{length}")
        made.put({"m": []})
        for n in range(length):
            made.put({"m": [*made.values["m"], f"element {n}"]}, writes=[(f"task-{n}", "p", [("m", [f"element {n}"])])])
        page = []
        costs.append(
            counted.cost(lambda page=page, made=made: page.extend(counted.saver.outlines(made.thread, limit=100)))
        )
        one_by_one = [counted.saver.outline(at(made.thread, id_)) for id_ in sorted(made.expected, reverse=True)[:100]]
        assert page == one_by_one
        middle = at(made.thread, list(made.expected)[length // 2])
        assert counted.cost(lambda middle=middle: counted.saver.get_tuple(middle))[0] < 30  # fewer than elements
        check(counted.saver, made)
    (few, few_steps), (many, many_steps) = costs
    assert max(few, many) < 10, costs
    assert many_steps <= few_steps * 3, costs  # what grew lies before the page, and is walked once


def test_a_state_of_a_thousand_channels_is_read_with_as_many_statements_as_one_of_ten(counted):
    reads, writes = [], []
    for width in 10, 1000:
        line = counted.line(30, width, thread=f"wide-{width}")
        place = at(line.thread, list(line.expected)[15])
        counted.saver.get_tuple(place)
        reads.append(
            (
                counted.cost(lambda place=place: counted.saver.get_tuple(place))[0],
                counted.cost(lambda line=line: list(counted.saver.list(at(line.thread), limit=20)))[0],
            )
        )
        pairs = [("task", "p", [("c0", -1)])]
        writes.append(counted.cost(lambda line=line, pairs=pairs: line.put({"c0": -1}, writes=pairs)))
        check(counted.saver, line)
    assert all(wide <= narrow * 1.5 for narrow, wide in zip(*reads, strict=True)), reads
    assert writes[1][0] == writes[0][0], writes
    assert writes[1][1] <= writes[0][1] * 1.2, writes


def test_a_filter_that_fits_few_reads_the_writes_of_those_only(counted):
    line = Line(counted.saver, "t")
    for n in range(600):
        about = {"mark": n} if n % 100 == 0 else {}
        line.put({"n": n}, writes=[(f"t{n}-{k}", "p", [("n", n)]) for k in range(20)] if n else [], metadata=about)
    found = []
    filtered = counted.cost(lambda: found.extend(counted.saver.list(at("t"), filter={"mark": 300})))
    everything = counted.cost(lambda: list(counted.saver.list(at("t"))))
    assert [item.metadata["mark"] for item in found] == [300]
    assert len(found[0].pending_writes) == 20
    assert filtered[1] < everything[1] / 4
    several = list(counted.saver.list(at("t"), filter={"source": "loop"}, limit=150))
    assert [id_of(item.config) for item in several] == sorted(line.expected, reverse=True)[:150]
    assert all(len(item.pending_writes) == 20 for item in several[1:])


class Chat(TypedDict):
    messages: Annotated[list, add_messages]
    turns: int


def chat(turns: int):
    """A graph in which a person and a model talk; a checkpoint after each of them."""
    graph = StateGraph(Chat)
    graph.add_node("person", lambda state: {"messages": [HumanMessage(f"question {state['turns']}: " + "why? " * 20)]})
    graph.add_node("model", lambda state: {"messages": [AIMessage("because. " * 20)], "turns": state["turns"] + 1})
    graph.add_edge(START, "person")
    graph.add_edge("person", "model")
    graph.add_conditional_edges("model", lambda state: "person" if state["turns"] < turns else END)
    return graph


def test_a_chat_of_a_thousand_turns_is_a_file_of_less_than_five_megabytes_and_forks_share_it(tmp_path):
    path = tmp_path / "chat.db"
    turns = 1000
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 2 * turns + 10}
    with SqliteSaver.from_conn_string(path) as saver:
        app = chat(turns).compile(checkpointer=saver)
        app.invoke({"messages": [], "turns": 0}, config, durability="sync")
        assert len(saver.checkpoints("t", limit=3 * turns)) == 2 * turns + 2
        before = saver.thread_bytes("t")
        middle = saver.checkpoints("t", before=saver.checkpoints("t")[0].id, limit=turns)[-1]
        place = at("t", middle.id)
        there = saver.get_tuple(place).checkpoint["channel_values"]["messages"]
        assert len(there) > turns / 2
        fork = app.update_state(place, {"messages": [HumanMessage("another way")]}, as_node="person")
        forked = saver.get_tuple(fork).checkpoint["channel_values"]["messages"]
        assert [message.content for message in forked] == [message.content for message in there] + ["another way"]
        assert saver.thread_bytes("t") - before < 3000
    assert path.stat().st_size < 5_000_000


def test_an_error_that_was_stored_is_not_held(saver):
    class Fault(Exception):
        pass

    line = Line(saver, "t")
    line.put({"n": 0})
    error = Fault("x")
    gone = weakref.ref(error)
    saver.put_writes(line.config, [(ERROR, error)], "task")
    del error
    gc.collect()
    assert gone() is None
    assert "Fault" in str(saver.get_tuple(at("t")).pending_writes)
