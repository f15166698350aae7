"""The superstep machine: plan → execute → update.

`plan`, `execute` and `update` are the three phases, pure and unknown to each other; `loop` ties them into
supersteps and yields `effects`, which `drive` (threads) and `adrive` (asyncio) carry out. `start` finds
where a run begins, `record` makes checkpoints, `edit`, `snapshot` and `stepping` look and edit through the
very same phases. `app` is what callers hold.
"""

from runtime.pregel.app import Pregel
from runtime.pregel.node_builder import NodeBuilder

__all__ = ("NodeBuilder", "Pregel")
