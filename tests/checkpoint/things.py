"""Classes that states of users might hold."""

import collections
import dataclasses
import enum
import typing

from pydantic import BaseModel, ConfigDict, PrivateAttr, v1


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


class Permission(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 8


class Sized(enum.Enum):
    SMALL = (1, 2)
    LARGE = [3]  # noqa: RUF012 - a member whose value cannot be hashed


Plain = collections.namedtuple("Plain", "x y", defaults=[None])


@dataclasses.dataclass(kw_only=True, slots=True)
class Keyed:
    a: int
    b: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Begun:
    a: int
    more: dataclasses.InitVar[int] = 0

    def __post_init__(self, more: int) -> None:
        self.a += more


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


class Open(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    t: tuple[int, ...] = ()


class Old(v1.BaseModel):
    a: int = 1
    b: list = []


class Shouting(str):
    def __str__(self) -> str:
        return self.upper()


class Stack(list):
    pass


NEWER = (Permission, Bits, Sized, Plain, Keyed, Begun, Open, Old)
ALL = (Point, Frozen, Doubling, Pair, Colour, Level, Word, Outer.Phase, Outer.Part, Model, Shouting, Stack, *NEWER)
