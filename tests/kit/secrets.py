"""Secrets in values of several kinds, and all texts in what was told."""

import dataclasses

from pydantic import BaseModel

SECRET = "sk-never-shown-4711"
OTHER = "another-7331-secret"


@dataclasses.dataclass
class Account:
    owner: str
    token: str


class Vault(BaseModel):
    token: str
    place: str = "here"


class Safe:
    """Shown by its repr."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return f"Safe({self.token})"


def told(thing):
    """All texts in what a session returned."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, bytes):
        yield thing.decode()
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from told(getattr(thing, field.name))
    elif isinstance(thing, dict):
        yield from told([*thing, *thing.values()])
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for part in thing:
            yield from told(part)
