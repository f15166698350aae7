"""What a transformer is, for classes that derive from it."""

from typing import Any, ClassVar

from typing_extensions import TypedDict


class ProtocolEvent(TypedDict):
    """One event as transformers would see it: the stream mode in `method`, namespace and data in `params`."""

    type: str
    method: str
    params: dict[str, Any]


class StreamTransformer:
    """Base of transformers. This runtime keeps them with the graph and never calls them."""

    requires_async: ClassVar[bool] = False
    supports_sync: ClassVar[bool] = False
    required_stream_modes: ClassVar[tuple[str, ...]] = ()
    before_builtins: ClassVar[bool] = False

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        self.scope = scope


class NotDriven:
    """A stream object that only a driver of transformers could fill, so it refuses to be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f'{type(self).__name__} belongs to stream_events(version="v3"), which this runtime does not '
            "have; stream with graph.stream() or graph.astream(), in one or several stream modes"
        )
