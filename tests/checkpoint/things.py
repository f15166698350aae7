"""Classes that states of users might hold."""

import dataclasses
import enum
import typing

from pydantic import BaseModel, PrivateAttr


@dataclasses.dataclass
class Point:
    a: int
    b: typing.Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: int = dataclasses.field(init=False, default=7)


@dataclasses.dataclass
class Doubling:
    a: int

    def __post_init__(self) -> None:
        self.a *= 2
        self.cache = {"kept": self.a}


class Pair(typing.NamedTuple):
    left: int
    right: str = "x"


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Outer:
    class Phase(enum.Enum):
        READY = "ready"

    @dataclasses.dataclass
    class Part:
        n: int


class Model(BaseModel):
    a: int
    child: typing.Optional["Model"] = None
    _hidden: int = PrivateAttr(5)


class Shouting(str):
    def __str__(self) -> str:
        return self.upper()


class Stack(list):
    pass


ALL = (Point, Frozen, Doubling, Pair, Colour, Level, Word, Outer.Phase, Outer.Part, Model, Shouting, Stack)
