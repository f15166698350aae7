"""What a debugger needs of a compiled graph, as its public methods: plan, step, explain, preview."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from runtime.pregel.halting import Halting, Made, carried
from runtime.pregel.stepping import ChannelFold, Move, Phase, Planned, Preview
from runtime.types import StateSnapshot


class Debugging:
    """The part of `Pregel` that steps and explains. Looking runs nothing; only `step` runs nodes."""

    def plan(self, config: RunnableConfig) -> Planned:
        """What would run next at a checkpoint (the head if the config names none), and why.

        Returns:
            A verdict for every node, and the superstep's tasks with inputs and saved results.
        """
        from runtime.pregel import debug_runs

        return debug_runs.plan(self, config)

    async def aplan(self, config: RunnableConfig) -> Planned:
        """As `plan`, awaiting."""
        from runtime.pregel import debug_runs

        return await debug_runs.aplan(self, config)

    def step(
        self,
        config: RunnableConfig,
        input: Any = None,
        *,
        phase: Phase = "superstep",
        tasks: Collection[str] | None = None,
        supply: Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> StateSnapshot:
        """Advance a thread by one superstep, or by one phase of it.

        Args:
            config: Names the thread, and the checkpoint to go on from.
            input: A new input, which becomes a checkpoint and runs nothing yet; or a `Command`.
            phase: "superstep", only "execute" (results become pending writes), or only "update".
            tasks: Ids of the tasks to execute; all that have no result by default.
            supply: Results to take for tasks instead of running them, by task id.
            context: What nodes find in `runtime.context`.

        Returns:
            The state of the thread afterwards.

        Raises:
            TaskNotFound: a task id that the superstep does not have.
            ValueError: "update" while results are missing.
        """
        from runtime.pregel import debug_runs

        return debug_runs.step(self, config, input, Move(phase, tasks, supply or {}), context)

    async def astep(
        self,
        config: RunnableConfig,
        input: Any = None,
        *,
        phase: Phase = "superstep",
        tasks: Collection[str] | None = None,
        supply: Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> StateSnapshot:
        """As `step`, awaiting."""
        from runtime.pregel import debug_runs

        return await debug_runs.astep(self, config, input, Move(phase, tasks, supply or {}), context)

    def halting(
        self,
        config: RunnableConfig,
        reached: Callable[[Made], bool],
        *,
        toward: str = "",
        moved: dict[str, str] | None = None,
    ) -> RunnableConfig:
        """A config for a run that halts inside subgraphs: between two supersteps of theirs, as `interrupt_after` does.

        Args:
            config: The config of the call.
            reached: Asked at every checkpoint that a run inside makes, from the thread that made it, and answers
                whether it halts there. Its task in the graph around it then stays unfinished, and a later run takes
                it up. Not asked by runs that save nothing.
            toward: The namespace of a run inside: in the runs around it only the tasks that lead there run, and
                nothing is folded.
            moved: Filled in while it runs: where `config` names an older checkpoint inside, the namespace of each run
                on the way and the one that it goes on in, on the new branch.

        Returns:
            The config, to be given to `invoke` or `stream` and their awaiting twins.
        """
        return carried(config, Halting(reached, toward, {} if moved is None else moved))

    def explain_update(self, config: RunnableConfig) -> list[ChannelFold]:
        """How a checkpoint's saved results fold into the next state, channel by channel."""
        from runtime.pregel import debug_runs

        return debug_runs.explain_update(self, config)

    async def aexplain_update(self, config: RunnableConfig) -> list[ChannelFold]:
        """As `explain_update`, awaiting."""
        from runtime.pregel import debug_runs

        return await debug_runs.aexplain_update(self, config)

    def preview_update(self, config: RunnableConfig, values: Any, as_node: str | None = None) -> Preview:
        """What `update_state` with these arguments would do; writes nothing.

        Raises:
            InvalidUpdateError: as `update_state` would.
        """
        from runtime.pregel import debug_runs

        return debug_runs.preview_update(self, config, values, as_node)

    async def apreview_update(self, config: RunnableConfig, values: Any, as_node: str | None = None) -> Preview:
        """As `preview_update`, awaiting."""
        from runtime.pregel import debug_runs

        return await debug_runs.apreview_update(self, config, values, as_node)
