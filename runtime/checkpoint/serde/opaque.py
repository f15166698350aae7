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

    def __getattr__(self, name: str) -> Any:
        """Say what the object would have needed, to whoever takes this for it."""
        if name.startswith("_") or name in Opaque.__slots__:  # asked by copy, pickle and their kin
            raise AttributeError(name)
        raise AttributeError(
            f"a stored {self.module}.{self.name} has no {name!r} here, as it was not made an object again: {self.why}"
        )
