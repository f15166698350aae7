"""StreamChannel, by name."""

from typing import Any, Generic, TypeVar

from runtime.stream._types import NotDriven

Item = TypeVar("Item")


class StreamChannel(NotDriven, Generic[Item]):
    """Where a transformer would put what it makes of the events."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
