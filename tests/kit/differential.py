"""Random small graphs, built on this runtime and on LangGraph from one description, and what both record."""

import operator
import random
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

from typing_extensions import TypedDict

NAMES = ("a", "b", "c", "d", "e")


def higher(old: int, new: int) -> int:
    """The higher of two: a reducer that LangGraph takes (it refuses the builtin, which has no signature)."""
    return max(old, new)


class State(TypedDict, total=False):
    """A log, a total, a value that only one node of a superstep may write, and a counter for loops."""

    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    value: str
    rounds: Annotated[int, higher]


class Boom(Exception):
    """What a node raises that is told to fail; nobody retries it."""


@dataclass(frozen=True)
class Plan:
    """A graph in words: what each node does, and how they are connected.

    `kinds` by node: plain, quiet (returns None), value (writes the plain key), ask, fails (the first time),
    command (goes to `targets` by Command), replace (overwrites the log).
    """

    kinds: dict[str, str]
    edges: list[tuple[str, str]] = field(default_factory=list)
    joins: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    routes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sends: dict[str, tuple[str, int]] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    before: tuple[str, ...] = ()


def draw(source: random.Random) -> Plan:
    """A random plan. Edges mostly lead forward, so that most graphs end by themselves."""
    names = NAMES[: source.randint(2, len(NAMES))]
    kinds = {n: source.choice(("plain", "plain", "plain", "quiet", "value", "ask", "fails", "command")) for n in names}
    edges = [("__start__", names[0])]
    if source.random() < 0.4:
        edges.append(("__start__", source.choice(names)))
    routes, sends, targets = {}, {}, {}
    for index, name in enumerate(names):
        later = names[index + 1 :]
        if kinds[name] == "command":
            targets[name] = tuple(source.sample(later, min(len(later), source.randint(0, 2))))
        if not later:
            continue
        pick = source.random()
        if pick < 0.45:
            edges.extend((name, target) for target in source.sample(later, min(len(later), source.randint(1, 2))))
        elif pick < 0.65:
            routes[name] = (*source.sample(later, min(len(later), 2)), "__end__")
        elif pick < 0.8:
            sends[name] = (source.choice(later), source.randint(0, 3))
    joins = []
    if len(names) > 3 and source.random() < 0.4:
        joins.append((tuple(source.sample(names[:-1], 2)), names[-1]))
    if source.random() < 0.2:
        routes[names[-1]] = (names[0], "__end__")
    before = (source.choice(names),) if source.random() < 0.2 else ()
    return Plan(kinds, list(dict.fromkeys(edges)), joins, routes, sends, targets, before)


def library(name: str) -> SimpleNamespace:
    """The names that a graph is built with, of one runtime."""
    graph, types = import_module(f"{name}.graph"), import_module(f"{name}.types")
    return SimpleNamespace(
        StateGraph=graph.StateGraph, Send=types.Send, Command=types.Command, interrupt=types.interrupt
    )


def build(plan: Plan, lib: SimpleNamespace, saver: Any) -> Any:
    """The plan's graph, on one runtime."""
    made = lib.StateGraph(State)
    failed: set[str] = set()
    for name, kind in plan.kinds.items():
        made.add_node(name, _node(plan, lib, name, kind, failed), **_declared(plan, name))
    for source, target in plan.edges:
        made.add_edge(source, target)
    for sources, target in plan.joins:
        made.add_edge(list(sources), target)
    for name, choices in plan.routes.items():
        made.add_conditional_edges(name, _router(choices), list(choices))
    for name, (target, count) in plan.sends.items():
        made.add_conditional_edges(name, _sender(lib, target, count), [target])
    return made.compile(checkpointer=saver, interrupt_before=list(plan.before))


def _declared(plan: Plan, name: str) -> dict[str, Any]:
    return {"destinations": plan.targets[name]} if name in plan.targets else {}


def _router(choices: tuple[str, ...]) -> Any:
    def route(state: Any) -> str:
        if state.get("rounds", 0) > 3:
            return "__end__"
        return choices[len(state.get("log", ())) % len(choices)]

    return route


def _sender(lib: SimpleNamespace, target: str, count: int) -> Any:
    def send(state: Any) -> list[Any]:
        return [lib.Send(target, {"log": [f"job {n}"], "rounds": state.get("rounds", 0)}) for n in range(count)]

    return send


def _node(plan: Plan, lib: SimpleNamespace, name: str, kind: str, failed: set[str]) -> Any:
    def node(state: Any) -> Any:
        update = {"log": [f"{name}:{len(state.get('log', ()))}"], "total": 1, "rounds": state.get("rounds", 0) + 1}
        if kind == "quiet":
            return None
        if kind == "value":
            return {**update, "value": name}
        if kind == "ask":
            return {**update, "log": [f"{name}={lib.interrupt(f'{name}?')}"]}
        if kind == "fails" and name not in failed:
            failed.add(name)
            raise Boom(name)
        if kind == "command":
            return lib.Command(update=update, goto=list(plan.targets[name]))
        return update

    return node


def drive(graph: Any, lib: SimpleNamespace, limit: int = 12) -> dict[str, Any]:
    """Run a graph to its end, answering what it asks and going on after failures. Returns all that was seen."""
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 40, "max_concurrency": 1}
    given: Any = {"log": ["in"], "total": 0}
    seen: dict[str, Any] = {"streams": [], "ends": []}
    for turn in range(limit):
        chunks: list[Any] = []
        end = "done"
        try:
            # In "async", LangGraph may save a join with what arrived at it a superstep later.
            for mode, chunk in graph.stream(given, config, stream_mode=["values", "updates"], durability="sync"):
                chunks.append((mode, _plain(chunk)))
        except Exception as error:
            end = type(error).__name__
        seen["streams"].append(_ordered(chunks))
        seen["ends"].append(end)
        if end not in ("done", "Boom"):
            return _settled(seen)  # after a refused update LangGraph's thread cannot be read
        state = graph.get_state(config)
        if not state.next:
            break
        asked = sorted(state.interrupts, key=lambda interrupt: interrupt.value)
        given = lib.Command(resume={asked[0].id: f"answer {turn}"}) if asked else None
    seen["history"] = [_snapshot(snapshot) for snapshot in graph.get_state_history(config)]
    seen["state"] = _snapshot(graph.get_state(config))
    return _settled(seen)


def _settled(seen: dict[str, Any]) -> dict[str, Any]:
    """Without what chance decides: whether the siblings of a failed task still began in that turn, or in the next."""
    if "Boom" in seen["ends"]:
        updates = [chunk for stream in seen["streams"] for mode, chunk in stream if mode == "updates"]
        seen["streams"] = {repr({k: v for k, v in chunk.items() if k != "__metadata__"}) for chunk in updates}
    return seen


def _snapshot(snapshot: Any) -> dict[str, Any]:
    return {
        "values": snapshot.values,
        "next": snapshot.next,
        "source": snapshot.metadata["source"],
        "step": snapshot.metadata["step"],
        "tasks": [
            (
                task.name,
                task.result,
                task.error is not None and task.result is None,
                tuple(i.value for i in task.interrupts),
            )
            for task in snapshot.tasks
        ],
    }


def _plain(chunk: Any) -> Any:
    if isinstance(chunk, dict):
        return {key: _plain(value) for key, value in chunk.items()}
    if isinstance(chunk, list | tuple):
        return [_plain(item) for item in chunk]
    return chunk.value if hasattr(chunk, "value") and hasattr(chunk, "id") else chunk


def _ordered(chunks: list[Any]) -> list[Any]:
    """Chunks with the updates of one superstep sorted: they come as tasks end, which is nobody's promise."""
    ordered: list[Any] = []
    run: list[Any] = []
    for chunk in [*chunks, None]:
        if chunk is not None and chunk[0] == "updates":
            run.append(chunk)
            continue
        ordered.extend(sorted(run, key=repr))
        run = []
        if chunk is not None:
            ordered.append(chunk)
    return ordered
