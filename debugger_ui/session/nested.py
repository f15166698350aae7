"""Runs of subgraphs: which ones a thread has, whose task each belongs to, and how one goes on from inside.

Rules:
- What ran inside is read from the record alone; a graph's code is asked only whether it can go on.
- Whatever runs, the outermost graph does: it is entered anew for each step inside, and the subgraph goes on in it
  from the checkpoint that is looked at. Where a run inside can halt, it does so after one superstep; with other
  engines, a step from inside is a superstep of the outermost graph.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from debugger_ui.engines import spaces
from debugger_ui.engines.base import Outline
from debugger_ui.engines.spaces import Inner
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.view_nested import InnerRun

UNTOLD = "The record does not tell which checkpoint of the graph around it this belongs to; it can only be looked at."
UNKNOWN = "The graph that ran here cannot be found in the code of its node; it can only be looked at."


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a subgraph, as recorded."""

    thread: str
    namespace: str
    around: str
    parent: str
    node: str
    task: str
    call: int
    newest: str
    checkpoints: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How a checkpoint inside a subgraph can be gone on from.

    `live`: plainly going on with the thread takes it up. Otherwise the graphs around it have to be told.
    `reason`: why it cannot be done at all.
    """

    around: Mapping[str, str]
    live: bool
    reason: str = ""


class Nested:
    """The runs of subgraphs in one thread."""

    def __init__(self, reading: Reading, thread: str) -> None:
        self.reading = reading
        self.thread = thread
        self.runs = [run for inner in reading.engine.inner(thread) for run in self._runs(inner)]

    def _runs(self, inner: Inner) -> Sequence[Run]:
        """Return the runs in a namespace: one, but where a subgraph has a memory one for each time that it ran."""
        if ":" in inner.namespace.rpartition(spaces.SEPARATOR)[2] or _numbered(inner.namespace):
            return [self._run(inner.namespace, inner.parents, inner.newest, inner.checkpoints)]
        found: dict[str, Run] = {}
        for header in self.reading.engine.headers(self.thread, inner.namespace):
            run = self._run(inner.namespace, spaces.parents_of(header.metadata), header.id, 1)
            known = found.get(run.parent)
            found[run.parent] = replace(run, checkpoints=known.checkpoints + 1) if known else run
        return list(found.values())

    def _run(self, namespace: str, parents: Mapping[str, str], newest: str, checkpoints: int) -> Run:
        above, node, task, call = spaces.parts_of(namespace)
        found = spaces.around(namespace, parents)
        space = max(found, key=len) if found else above
        return Run(self.thread, namespace, space, found.get(space, ""), node, task, call, newest, checkpoints)

    def at(self, namespace: str, checkpoint: str) -> list[Run]:
        """Return the runs of the tasks of the superstep that starts at a checkpoint, by node and task."""
        found = [run for run in self.runs if (run.around, run.parent) == (namespace, checkpoint)]
        return sorted(found, key=lambda run: (run.node, run.task, run.call))

    def view(self, run: Run) -> InnerRun:
        """Return a run as a view."""
        history = self.reading.history(self.thread, run.namespace)
        outline = self.reading.engine.outlines(self.thread, [run.newest], run.namespace).get(run.newest, Outline())
        around = self.reading.history(self.thread, run.around).by_id.get(run.parent)
        status = self.reading.status(outline, followed=not history.is_head(run.newest))
        return InnerRun(
            namespace=run.namespace,
            node=run.node,
            task=run.task,
            call=run.call,
            path=" / ".join(spaces.graph_path(run.namespace).split(spaces.SEPARATOR)),
            around=run.around,
            parent=run.parent,
            step=around.step + 1 if around is not None else 0,
            newest=run.newest,
            checkpoints=run.checkpoints,
            status="done" if status == "ready" and self.ended(run) else status,
        )

    def ended(self, run: Run) -> bool:
        """Whether the task that ran it has its result: a Command to the graph around it ends a run half way.

        False where that cannot be read.
        """
        if run.parent not in self.reading.history(run.thread, run.around).by_id:
            return False
        record = self.reading.readable(Spot(run.thread, run.around, "", run.parent, False))
        tasks = record.tasks if record is not None else ()
        return any(task.done for task in tasks if task.name == run.node and run.task in ("", task.id))


def _numbered(namespace: str) -> bool:
    return ":" in namespace and namespace.rpartition(spaces.SEPARATOR)[2].isdigit()


def standing(reading: Reading, spot: Spot) -> Standing:
    """Return how a checkpoint inside a subgraph can be gone on from."""
    history = reading.history(spot.thread, spot.namespace)
    around = spaces.around(spot.namespace, spaces.parents_of(history.by_id[spot.id].metadata))
    known = all(id_ in reading.history(spot.thread, space).by_id for space, id_ in around.items())
    if "" not in around or not known:
        return Standing(around, False, UNTOLD)
    # With several branches inside, going on plainly would replace the question of another one by its own.
    alone = len(history.branches) == 1 or "return" in reading.engine.limits
    live = alone and spot.id == history.newest and _waits(reading, spot, around)
    reason = "" if reading.engine.channels(spot.namespace) else UNKNOWN
    if not live and not reason:
        reason = reading.engine.limits.get("return", "")
    return Standing(around, live, reason)


def _waits(reading: Reading, spot: Spot, around: Mapping[str, str]) -> bool:
    """Whether the thread, going on, comes to the spot: all around are newest, their tasks without a result."""
    inner = spot.namespace
    for space in sorted(around, key=len, reverse=True):
        if reading.history(spot.thread, space).newest != around[space]:
            return False
        _, node, task, _ = spaces.parts_of(inner)
        record = reading.record(Spot(spot.thread, space, "", around[space], False))
        if not any(not one.done and one.name == node and task in ("", one.id) for one in record.tasks):
            return False
        inner = space
    return True


def stepped(reading: Reading, spot: Spot) -> str:
    """Return the run of which a step from inside runs one superstep: that of the spot, at its end the one around it."""
    if reading.record(spot).tasks:
        return spot.namespace
    return max(standing(reading, spot).around, key=len)


def resting(reading: Reading, thread: str, namespace: str) -> tuple[str, str]:
    """Return the innermost run, from a namespace outwards, that a thread comes to when it goes on.

    Its namespace and its newest checkpoint; of the outermost graph nothing.
    """
    while namespace:
        history = reading.history(thread, namespace)
        if newest := history.newest:
            spot = Spot(thread, namespace, history.branch_of[newest], newest, True)
            around = spaces.around(namespace, spaces.parents_of(history.by_id[newest].metadata))
            if "" in around and _waits(reading, spot, around) and reading.record(spot).tasks:
                return namespace, newest
        namespace = spaces.parts_of(namespace)[0]
    return "", ""


def ahead(reading: Reading, spot: Spot) -> Mapping[str, str]:
    """Return, by task, the namespaces of subgraphs that run next at a spot and have not begun, where they can halt."""
    engine = reading.engine
    if (
        engine.runner is None
        or "inside" in engine.limits
        or spot.id != reading.history(spot.thread, spot.namespace).newest
    ):
        return {}
    if spot.namespace and not standing(reading, spot).live:
        return {}
    doors = {
        node.id for node in engine.topology(spot.thread, spot.namespace).nodes if node.kind == "subgraph" and node.saves
    }
    due = [task for task in reading.record(spot).tasks if task.name in doors and task.namespace]
    if not due:
        return {}
    runs = Nested(reading, spot.thread).at(spot.namespace, spot.id)
    begun = {run.task or run.node for run in runs}
    return {task.id: task.namespace for task in due if not task.done and not begun & {task.id, task.name}}


def asked_at(reading: Reading, spot: Spot, questions: Collection[str]) -> Spot:
    """Return where questions that are shown at a spot were asked, if plainly answering would not come to it any more.

    A checkpoint that is newer inside (an edit of an older one) is what a thread goes on from. Where nothing of the
    kind is there, or the graph could not go back there, the spot itself is returned.
    """
    if "return" in reading.engine.limits:
        return spot
    found, here, passed = spot, spot, False
    while deeper := _asking(reading, here, questions):
        here = deeper
        passed = passed or here.id != reading.history(here.thread, here.namespace).newest
        found = here if passed else spot
    return found


def _asking(reading: Reading, spot: Spot, questions: Collection[str]) -> Spot | None:
    """Return the checkpoint one level deeper at which one of the questions waits."""
    for run in Nested(reading, spot.thread).at(spot.namespace, spot.id):
        history = reading.history(spot.thread, run.namespace)
        outlines = reading.engine.outlines(spot.thread, history.order, run.namespace)
        for id_ in (id_ for id_ in reversed(history.order) if outlines.get(id_, Outline()).asking):
            inner = Spot(spot.thread, run.namespace, history.branch_of[id_], id_, False)
            if any(asked.id in questions for task in reading.record(inner).tasks for asked in task.questions):
                return inner
    return None


def passed_by(reading: Reading, spot: Spot) -> tuple[str, ...]:
    """Return the nodes whose question an edit inside their subgraph has passed by: the thread goes on from the edit.

    Nothing, unless that holds for all that ask at the spot, and it is where the thread goes on.
    """
    if spot.id != reading.history(spot.thread, spot.namespace).newest:
        return ()
    runs = Nested(reading, spot.thread).at(spot.namespace, spot.id)
    asking = [task for task in reading.record(spot).tasks if task.questions]
    for task in asking:
        mine = [run for run in runs if run.task in ("", task.id) and run.node == task.name]
        if not mine or any(_asks(reading, run) for run in mine):
            return ()
    return tuple(dict.fromkeys(task.name for task in asking))


def _asks(reading: Reading, run: Run) -> bool:
    """Whether a run waits for an answer, at the end of any of its branches if it can still be given there."""
    history = reading.history(run.thread, run.namespace)
    heads = [branch.head for branch in history.branches.values() if history.is_head(branch.head)]
    if "return" in reading.engine.limits:
        heads = [run.newest]
    for head in heads:
        spot = Spot(run.thread, run.namespace, "", head, True)
        if reading.outline(spot, head).damaged:
            return True
        if any(task.questions for task in reading.record(spot).tasks) and not passed_by(reading, spot):
            return True
    return False


def effect(reading: Reading, spot: Spot) -> str:
    """Return what a step does about subgraphs, in words; "" where there is nothing to say."""
    if passed := passed_by(reading, spot):
        names = ", ".join(passed)
        words = f"{names} has been edited inside since it asked: Step goes on from the edit."
        return words if "return" in reading.engine.limits else f"{words} An answer goes where it was asked."
    return _inside(reading, spot) if spot.namespace else ""


def _inside(reading: Reading, spot: Spot) -> str:
    here = standing(reading, spot)
    if here.reason:
        return ""
    record = reading.record(spot)
    asks = any(task.questions for task in record.tasks) and reading.history(spot.thread, spot.namespace).is_head(
        spot.id
    )
    if asks or "inside" in reading.engine.limits:
        return _from_outside(reading, spot, here, "Answering" if asks else "Step")
    path = _shown(spot.namespace)
    if not record.tasks:
        above = max(here.around, key=len)
        step = reading.history(spot.thread, above).by_id[here.around[above]].step + 1
        around = _shown(above) or reading.engine.name
        return f"{path} is at its end: Step runs superstep {step} of {around}." if here.live else ""
    branch = "" if here.live else f" on a new branch of {reading.engine.name}"
    words = f"Step runs superstep {record.header.step + 1} of {path}{branch}."
    names, several = _beside(reading, spot, here)
    if names and here.live:
        words += f" {names} beside it {'stand' if several else 'stands'} still."
    elif names:
        words += f" {names} beside it {'run' if several else 'runs'} again when the branch goes on."
    return f"{words}{_calling(reading, spot)}"


def _shown(namespace: str) -> str:
    """Return the way to a subgraph, in words: `section / check`."""
    return " / ".join(spaces.graph_path(namespace).split(spaces.SEPARATOR))


def _beside(reading: Reading, spot: Spot, here: Standing) -> tuple[str, bool]:
    """Return the nodes that run beside a run, in words, and whether these are several.

    Where it goes on plainly, those that have no result yet.
    """
    found: dict[str, bool] = {}
    inner = spot.namespace
    for space in sorted(here.around, key=len, reverse=True):
        _, node, task, _ = spaces.parts_of(inner)
        tasks = reading.record(Spot(spot.thread, space, "", here.around[space], False)).tasks
        others = [one for one in tasks if not (one.name == node and task in ("", one.id))]
        found = {**_named([one.name for one in others if not (here.live and one.done)], node), **found}
        inner = space
    return ", ".join(found), len(found) > 1 or any(found.values())


def _named(others: Sequence[str], node: str) -> dict[str, bool]:
    """Return tasks by their nodes, further ones of the node itself as that; each with whether it is several."""
    same = sum(name == node for name in others)
    words = {f"another {node}": False} if same == 1 else {f"{same} more {node}": True} if same else {}
    return {**words, **dict.fromkeys((name for name in others if name != node), False)}


def _calling(reading: Reading, spot: Spot) -> str:
    """Return which nodes' functions call the graphs on the way here, and so run again up to the call, in words."""
    names, inner = [], spot.namespace
    while inner:
        inner, node, _, _ = spaces.parts_of(inner)
        nodes = reading.engine.topology(spot.thread, inner).nodes
        names += [one.id for one in nodes if one.id == node and one.calls]
    if not names:
        return ""
    verb = "calls it, and runs" if len(names) == 1 else "call it, and run"
    return f" {', '.join(reversed(names))} {verb} again from the first line to the call."


def _from_outside(reading: Reading, spot: Spot, here: Standing, verb: str) -> str:
    """Return what a superstep of the outermost graph does about the subgraph that the spot is in."""
    outer = reading.record(Spot(spot.thread, "", "", here.around[""], False))
    _, node, task, _ = spaces.parts_of(spot.namespace.split(spaces.SEPARATOR)[0])
    superstep = f"superstep {outer.header.step + 1} of {reading.engine.name}"
    goes_on = f"{_shown(spot.namespace)} goes on from here"
    if here.live:
        return f"{verb} runs {superstep}: {goes_on}."
    others = _named([one.name for one in outer.tasks if not (one.name == node and task in ("", one.id))], node)
    words = f"{verb} runs {superstep} again, on a new branch: {goes_on}."
    if not others:
        return words
    several = len(others) > 1 or any(others.values())
    return f"{words} {', '.join(others)} beside it {'run' if several else 'runs'} again."
