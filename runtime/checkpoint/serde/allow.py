"""Which classes a stored value may come back as.

Rule 1: a class is looked up only if it is on a list: the safe ones here, those of `allow_types`, and the
        serializer's own. A module that is on none is never imported.
Rule 2: nothing is guessed: a class is its module and its qualified name.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from threading import Lock
from typing import Any

Key = tuple[str, str]

_STANDARD = {
    "builtins": "set frozenset complex range slice",
    "collections": "deque OrderedDict Counter defaultdict",
    "datetime": "datetime date time timedelta timezone",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "ipaddress": "IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network",
    "pathlib": "Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath",
    "pathlib._local": "Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath",
    "re": "compile",
    "uuid": "UUID",
    "zoneinfo": "ZoneInfo",
    "pydantic.types": "SecretStr SecretBytes",
    "langchain_core.documents.base": "Document",
    "langchain_core.messages.base": "BaseMessage BaseMessageChunk",
    "langchain_core.messages.human": "HumanMessage HumanMessageChunk",
    "langchain_core.messages.ai": "AIMessage AIMessageChunk",
    "langchain_core.messages.system": "SystemMessage SystemMessageChunk",
    "langchain_core.messages.chat": "ChatMessage ChatMessageChunk",
    "langchain_core.messages.tool": "ToolMessage ToolMessageChunk",
    "langchain_core.messages.function": "FunctionMessage FunctionMessageChunk",
    "langchain_core.messages.modifier": "RemoveMessage",
    "langgraph.store.base": "Item GetOp",
}
SAFE: frozenset[Key] = frozenset((module, name) for module, names in _STANDARD.items() for name in names.split())

# Ours are stored under the names that they have there, so that either side reads them.
GRAPH_TYPES, OUR_TYPES = "langgraph.types", "runtime.types"
_HOMES = frozenset((GRAPH_TYPES, OUR_TYPES, "langgraph.constants"))  # the last is where they were in LangGraph 0.2
SHARED = frozenset(("Send", "TimeoutPolicy", "Interrupt", "Command", "Overwrite", "StateSnapshot", "PregelTask"))

_allowed: dict[Key, type] = {}
_lock = Lock()


def allow_types(*classes: type) -> None:
    """Let stored values of these classes come back as themselves, everywhere in this process.

    Raises:
        TypeError: something that is not a class.
    """
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"allow_types takes classes, not {cls!r}")
    with _lock:
        for cls in classes:
            _allowed[cls.__module__, cls.__qualname__] = cls
            # Values that were not stored by us name a nested class by its last name alone.
            _allowed.setdefault((cls.__module__, cls.__name__), cls)


def keys_of(classes: Iterable[Any]) -> tuple[frozenset[Key], dict[Key, type]]:
    """An allow-list of classes and (module, name) pairs, as names and as the classes themselves."""
    names: set[Key] = set()
    known: dict[Key, type] = {}
    for item in classes:
        if isinstance(item, type):
            known[item.__module__, item.__qualname__] = item
            known.setdefault((item.__module__, item.__name__), item)
        else:
            module, *parts = item
            names.add((module, ".".join(parts)))
    return frozenset(names), known


def find(module: str, name: str, names: frozenset[Key], known: dict[Key, type]) -> Any:
    """The class (or `re.compile`) of a stored value.

    Raises:
        LookupError: it is not allowed, or not there; the message says which and what to do.
    """
    key = (module, name)
    cls = known.get(key) or _allowed.get(key)
    if cls is not None:
        return cls
    if name in SHARED and module in _HOMES:
        return known.get((OUR_TYPES, name)) or _graph_type(name)
    if key not in SAFE and key not in names:
        raise LookupError(f"the class is not allowed: call runtime.checkpoint.serde.allow_types({name})")
    try:
        found: Any = sys.modules.get(module) or import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"the class cannot be imported: {error}") from error
    return found


def _graph_type(name: str) -> Any:
    """`Send` and the like, for whoever does not ask for ours: the peer's in a program that has it loaded.

    Its graphs take no others, and may use the same saver as ours, which do ask (`runtime.pregel.own`).
    """
    home = sys.modules.get(GRAPH_TYPES) or sys.modules.get(OUR_TYPES) or import_module(OUR_TYPES)
    return getattr(home, name)
