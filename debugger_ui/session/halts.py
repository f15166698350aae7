"""Where runs of subgraphs halt while a job runs, and where the job leaves the cursor then.

Rules:
- A step inside is one superstep of the run that the person stands in. What runs beside it stands still.
- A breakpoint inside holds what Continue runs. The run that reaches it halts there; those beside it go on until they
  halt or end too, and what they have done is kept.
- Pause holds inside only if the person stood inside: from outside it waits for the superstep of the outermost graph.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from debugger_ui.engines import spaces
from debugger_ui.engines.base import Halting, Made
from debugger_ui.session.breaks import Hold, Reached
from debugger_ui.session.jobs import Job

Break = Callable[[Reached], Hold | None]
"""Given a checkpoint that was just made: why to hold there, or None to go on."""

NOWHERE = ("", "")


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the person stands, for a job: in a subgraph, if `home` is its namespace.

    `once` is the namespace of the run that a step is a superstep of; empty for the outermost graph. If it is one that
    is being entered, it halts before the first of its nodes. `rest` gives, for a namespace, the run from there outwards
    that goes on next: its namespace and newest checkpoint.
    """

    home: str = ""
    once: str = ""
    entering: bool = False
    rest: Callable[[str], tuple[str, str]] = lambda namespace: NOWHERE


OUTSIDE = Stand()


@dataclass(frozen=True, slots=True)
class Held:
    """A run inside that has halted, and at which breakpoint."""

    made: Made
    due: tuple[str, ...]
    hold: Hold | None


class Halts:
    """Decides where runs inside halt during one superstep of the outermost graph, and knows where they did."""

    def __init__(self, job: Job, stand: Stand, breaks: Break | None) -> None:
        self.job = job
        self.stand = stand
        self.breaks = breaks
        self.halting = Halting(self._reached, stand.once)
        self._lock = threading.Lock()
        self._held: list[Held] = []

    def _reached(self, made: Made) -> bool:
        with self._lock:  # runs side by side make their checkpoints on threads of their own
            hold = self._hold(made)
            if hold is None and not self._stepped(made) and not (self.stand.home and self.job.pause_wanted):
                return False
            self._held.append(Held(made, made.due, hold))
            return True

    def _stepped(self, made: Made) -> bool:
        """Whether a step ends here."""
        once = self.stand.once
        if self.stand.entering:  # one with a memory has a namespace without task ids
            return made.namespace in (once, spaces.without_tasks(once)) and bool(made.due)
        return bool(once) and made.namespace == self.here(once)

    def _hold(self, made: Made) -> Hold | None:
        if self.breaks is None:
            return None
        path = spaces.graph_path(made.namespace)
        return self.breaks(Reached(made.due, made.ran, made.changed, made.state, made.before, path))

    def here(self, namespace: str) -> str:
        """Return where a run goes on, if it does so on a new branch."""
        return self.halting.moved.get(namespace, namespace)

    @property
    def held(self) -> Held | None:
        """The halt that the cursor goes to: of the run where the person stood, or the first; None without one."""
        home = self.here(self.stand.home)
        return next((one for one in self._held if one.made.namespace == home), next(iter(self._held), None))

    def others(self) -> str:
        """Return how many other runs have halted at a breakpoint, as a sentence; "" for none."""
        more = sum(one.hold is not None for one in self._held) - 1
        if more < 1:
            return ""
        return (
            f"{more} more {'run' if more == 1 else 'runs'} beside it stopped at {'one' if more == 1 else 'some'} too. "
        )

    def rest(self, *, asking: bool) -> tuple[str, str]:
        """Return where the cursor rests when nothing halted: as far inside as the person stood, if it goes on there.

        After a step it does so in any case; otherwise only where that run waits for an answer, which is for the caller
        to see.
        """
        return self.stand.rest(self.here(self.stand.home)) if self.stand.once or asking else NOWHERE
