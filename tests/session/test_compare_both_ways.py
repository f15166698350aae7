"""Comparing any two histories: the same from both sides, and the first divergence is the first."""

import re
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from debugger_ui.engines.base import Header, Outline, Place, Record
from debugger_ui.engines.contents import Write
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach
from debugger_ui.session.session import DebugSession
from debugger_ui.session.views import Edit, Side
from debugger_ui.session.workspace import Workspace
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import END, START, StateGraph
from tests.session.conftest import PATIENT, Total, done

NODES = ("a", "b")


class Recorded:
    """An engine over made-up histories: per thread steps of (parent, source, node, written)."""

    kind, name, spec, shows, database, limits = "record", "made up", "", "", "made up", {}
    runner = editor = None

    def __init__(self, threads):
        self.made = {
            thread: [(f"{thread}{row:03}", *each) for row, each in enumerate(rows)] for thread, rows in threads.items()
        }
        self.rows = {thread: {row[0]: row for row in rows} for thread, rows in self.made.items()}
        self.asked = 0
        self.known = {thread: self.linked(thread) for thread in threads}

    def version(self):
        return 0

    def headers(self, thread, namespace=""):
        return self.known[thread]

    def linked(self, thread):
        found = {}
        for id_, parent, source, _, _ in self.made[thread]:
            above = self.made[thread][parent][0] if parent is not None else ""
            found[id_] = Header(id_, above, found[above].step + 1 if above else -1, source, "")
        return list(found.values())

    def outlines(self, thread, ids, namespace=""):
        rows = self.rows[thread]
        return {id_: Outline((rows[id_][3],) if rows[id_][3] else (), tuple(rows[id_][4])) for id_ in ids}

    def written(self, thread, id_, namespace=""):
        self.asked += 1
        _, _, source, node, values = self.rows[thread][id_]
        return [Write("task", node or source, key, value) for key, value in values.items()]

    def fingerprints(self, thread, ids, namespace=""):
        rows = self.rows[thread]
        return {id_: repr((rows[id_][3], sorted(rows[id_][4].items()))) for id_ in ids}

    def record(self, place):
        header = next(header for header in self.headers(place.thread) if header.id == place.id)
        state = dict(self.record(replace(place, id=header.parent)).state) if header.parent else {"log": []}
        for key, value in self.rows[place.thread][place.id][4].items():
            state[key] = [*state["log"], *value] if key == "log" else value
        return Record(header, state, {}, {}, {}, ())


WRITES = st.fixed_dictionaries({}, optional={"x": st.integers(0, 1), "log": st.lists(st.integers(0, 2), max_size=2)})


@st.composite
def histories(draw):
    rows = [(None, "input", "", draw(WRITES))]
    for row in range(1, draw(st.integers(1, 12))):
        source = draw(st.sampled_from(["loop", "loop", "loop", "update", "fork"]))
        parent = draw(st.integers(max(0, row - 3), row - 1))
        copied = source == "fork"
        rows.append((parent, source, "" if copied else draw(st.sampled_from(NODES)), {} if copied else draw(WRITES)))
    return rows


THREADS = st.sampled_from(["sun", "tea"])


@st.composite
def comparisons(draw):
    engine = Recorded({"sun": draw(histories()), "tea": draw(histories())})
    sides = [
        Side(thread, checkpoint=draw(st.sampled_from([row[0] for row in engine.made[thread]])))
        for thread in draw(st.tuples(THREADS, THREADS))
    ]
    return engine, *sides


def ancestors(engine, thread, id_):
    found = []
    parents = {header.id: header.parent for header in engine.headers(thread)}
    while id_:
        found.insert(0, id_)
        id_ = parents[id_]
    return found


def content(engine, thread, id_):
    _, _, source, node, values = engine.rows[thread][id_]
    return source, node, sorted(values.items())


def mirrored(found):
    def row(each):
        kind = {"left": "right", "right": "left"}.get(each.kind, each.kind)
        return replace(each, kind=kind, left=each.right, right=each.left, begins=each.begins[::-1])

    parted = found.divergence
    if parted is not None:
        parted = replace(parted, left=parted.right, right=parted.left)
    rows = tuple(map(row, found.rows))
    return replace(found, left=found.right, right=found.left, rows=rows, divergence=parted, sentence="")


def words(text):
    return Counter(re.findall(r"\w+", text))


@PATIENT
@given(comparisons())
def test_a_comparison_is_the_same_from_both_sides(made):
    engine, left, right = made
    session = DebugSession(Workspace([engine]))
    there, back = session.compare(left, right), session.compare(right, left)
    assert mirrored(there) == replace(back, sentence="")
    assert words(there.sentence) == words(back.sentence)
    told = [there.sentence.find(view.name) for view in (there.left, there.right)]
    assert told[0] <= told[1] or -1 in told or there.left.name in there.right.name


@PATIENT
@given(comparisons())
def test_the_prefix_is_the_common_ancestors_and_the_first_divergence_is_the_first(made):
    engine, left, right = made
    found = DebugSession(Workspace([engine])).compare(left, right)
    paths = [ancestors(engine, each.thread, each.checkpoint) for each in (left, right)]
    both = [id_ for id_ in paths[0] if id_ in paths[1]] if left.thread == right.thread else []
    assert found.shared == len(both)
    assert not both or found.rows[0].left.checkpoint == both[-1]
    tails = [
        [id_ for id_ in path[len(both) :] if engine.rows[each.thread][id_][2] != "fork"]
        for path, each in zip(paths, (left, right), strict=True)
    ]
    steps = [
        [content(engine, each.thread, id_) for id_ in tail] for tail, each in zip(tails, (left, right), strict=True)
    ]
    alike = 0
    while alike < min(map(len, steps)) and steps[0][alike] == steps[1][alike]:
        alike += 1
    assert found.equal == alike
    expected = [tail[alike] if alike < len(tail) else None for tail in tails]
    parted = found.divergence
    got = [parted.left and parted.left.checkpoint, parted.right and parted.right.checkpoint] if parted else [None, None]
    assert got == expected
    for place, (path, name) in enumerate(zip(paths, ("left", "right"), strict=True)):
        met = [row for row in found.rows if getattr(row, name) is not None]
        assert sum(row.count for row in met) == len(path), place
        order = [path.index(getattr(row, name).checkpoint) for row in met]
        assert order == sorted(order)
    assert [row.kind for row in found.rows if row.parts] == [row.kind for row in found.rows if row.parts][:1]
    assert any(row.parts for row in found.rows) == (parted is not None)


@PATIENT
@given(comparisons())
def test_the_difference_of_the_states_leads_from_one_to_the_other_and_back(made):
    engine, left, right = made
    session = DebugSession(Workspace([engine]))
    there, back = session.compare_states(left, right), session.compare_states(right, left)
    swap = {"added": "removed", "removed": "added"}

    def entries(found, change=lambda op: op, order=("before", "after")):
        shown = [[getattr(entry, name) and getattr(entry, name).text for name in order] for entry in found.entries]
        return Counter((change(e.op), e.path[0], *each) for e, each in zip(found.entries, shown, strict=True))

    assert entries(there) == entries(back, lambda op: swap.get(op, op), ("after", "before"))
    states = [engine.record(Place(each.thread, each.checkpoint)).state for each in (left, right)]
    before, after = (Counter(str(item) for item in state["log"]) for state in states)
    for entry in there.entries:
        if entry.path[0] == "log":
            before -= Counter([entry.before.text] if entry.before and entry.op != "moved" else [])
            before += Counter([entry.after.text] if entry.after and entry.op != "moved" else [])
        else:
            old, new = (state.get(entry.path[0]) for state in states)
            assert [entry.before and entry.before.text, entry.after and entry.after.text] == [
                None if value is None else str(value) for value in (old, new)
            ]
    assert before == after
    changed = {entry.path[0] for entry in there.entries}
    assert {key for key in ("x", "log") if states[0].get(key) != states[1].get(key)} == changed


@settings(PATIENT, max_examples=12)
@given(st.lists(st.sampled_from(["step", "edit", "back", "again"]), min_size=2, max_size=6))
def test_what_really_ran_is_the_same_from_both_sides(moves):
    builder = StateGraph(Total)
    builder.add_node("a", lambda state: {"total": 1})
    builder.add_node("b", lambda state: {"note": str(state["total"])})
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_conditional_edges("b", lambda state: "a" if state["total"] < 4 else END, ["a", END])
    saver = SqliteSaver.from_conn_string(":memory:")
    workspace = Workspace([attach(builder.compile(checkpointer=saver), None, About(name="g", example={}))])
    session = DebugSession(workspace)
    session.new_run({"total": "1"}, thread="t")
    done(session)
    for move in moves:
        if move == "edit":
            session.save_edit([Edit("note", '"edited"')], "a")
        elif move == "back":
            session.back()
        elif session.checkpoint().next:
            (session.step if move == "step" else session.proceed)()
            done(session)
    branches = [Side("t", branch.id) for branch in session.branches()]
    for left in branches:
        for right in branches:
            there, back = session.compare(left, right), session.compare(right, left)
            assert mirrored(there) == replace(back, sentence="")
            assert words(there.sentence) == words(back.sentence)
            assert there.same == (left == right)
    workspace.close()


def test_long_branches_are_compared_with_few_looks_at_values():
    rows = [(None, "input", "", {})] + [(row, "loop", NODES[row % 2], {"x": row % 3}) for row in range(5_000)]
    fork = [(2_500 if row == 0 else 5_000 + row, "loop", NODES[row % 2], {"x": row % 3}) for row in range(5_000)]
    other = [*rows[:4_000], (3_999, "loop", "a", {"x": 9})]
    engine = Recorded({"s": [*rows, *fork], "t": other})
    session = DebugSession(Workspace([engine]))
    session.move(thread="s")
    branches = [Side("s", branch.id) for branch in session.branches()]
    found = session.compare(*branches)
    assert (found.shared, len(found.rows), found.more) == (2_501, 201, 4_800)
    found = session.compare(branches[0], Side("t"))
    assert (found.equal, found.divergence.right.step) == (4_000, 3_999)
    assert engine.asked < 10
