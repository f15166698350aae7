"""A stored value whose class is not allowed, not known or not there any more."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a stored value says of itself: the `module` and qualified `name` of its class, and its `data`.

    Storing it writes the original bytes back. `why` says what would have been needed to get the object.
    """

    module: str
    name: str
    data: Any = field(compare=False)
    why: str = field(default="", compare=False)
    code: int = field(default=0, repr=False)
    raw: bytes = field(default=b"", repr=False)
