"""Views of subgraphs: the runs inside a thread, the way from the outermost graph to where the cursor stands."""

from dataclasses import dataclass

from debugger_ui.session.view_values import Ability, ThreadStatus


@dataclass(frozen=True, slots=True)
class InnerRun:
    """One run of a subgraph: a namespace of its own, belonging to one task of the graph around it."""

    namespace: str
    node: str
    task: str
    """Id of the task that ran it; empty where its namespace does not tell."""
    call: int
    """Which graph of the task it is, from 1: a node may run several."""
    path: str
    """Node names from the outermost graph to it: `report / check`."""
    around: str
    """Namespace of the graph around it; empty for the outermost."""
    parent: str
    """Checkpoint of the graph around it at which its task stands."""
    step: int
    """Superstep of the graph around it in which its task runs."""
    newest: str
    checkpoints: int
    status: ThreadStatus


@dataclass(frozen=True, slots=True)
class Crumb:
    """One level on the way to the cursor: where the cursor goes to when it is chosen."""

    namespace: str
    label: str
    checkpoint: str
    step: int
    """Superstep of this level's graph; of the last crumb the checkpoint's own step."""


@dataclass(frozen=True, slots=True)
class Nesting:
    """Where the cursor stands among subgraphs, and the ways in and out."""

    crumbs: tuple[Crumb, ...]
    """From the outermost graph to here; one alone is the outermost graph itself."""
    inside: tuple[InnerRun, ...]
    """Runs of the tasks at the cursor: first those of the superstep that starts here, then of the one that ended."""
    into: Ability
    out: Ability
    effect: str = ""
    """What a step does about subgraphs, in words: from inside one, or past a question that an edit inside took away."""
    ahead: tuple[str, ...] = ()
    """Ids of the tasks due here whose subgraph has not begun, and can be run into."""
