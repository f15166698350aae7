"""Names of the transformer streams (`stream_events(version="v3")`), so that agent packages load.

Graphs of this runtime stream through `stream`, `astream` and langchain-core's `astream_events`.
Transformers can be defined and passed to `compile`; nothing drives them, and the stream objects that
they would fill refuse to be made.
"""

from runtime.stream._types import ProtocolEvent, StreamTransformer
from runtime.stream.run_stream import (
    AsyncGraphRunStream,
    AsyncSubgraphRunStream,
    GraphRunStream,
    SubgraphRunStream,
)
from runtime.stream.stream_channel import StreamChannel
from runtime.stream.transformers import SubgraphStatus

__all__ = (
    "AsyncGraphRunStream",
    "AsyncSubgraphRunStream",
    "GraphRunStream",
    "ProtocolEvent",
    "StreamChannel",
    "StreamTransformer",
    "SubgraphRunStream",
    "SubgraphStatus",
)
