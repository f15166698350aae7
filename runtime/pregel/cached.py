"""Node caching: under which key a task's writes are kept.

The namespace says whose writes they are (what really runs, and as which node); the key says on what
input. Two graphs or nodes share entries only when they run the same code.
"""

from __future__ import annotations

import hashlib
import types
import weakref
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

from langchain_core.runnables import Runnable
from xxhash import xxh3_128_hexdigest

from runtime._constants import CACHE_NS_WRITES, ERROR, INTERRUPT, RESUME
from runtime.pregel.body import Body
from runtime.pregel.frame import Frame
from runtime.pregel.run import Run
from runtime.pregel.task import Task

Key = tuple[tuple[str, ...], str]

_serials = count(1)
_instances: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


def namespace(bodies: tuple[Body, ...], name: str) -> tuple[str, ...]:
    """Where the cached writes of a node live."""
    return (CACHE_NS_WRITES, "+".join(identity(body.target or body.afunc) for body in bodies), name)


def identity(target: Any) -> str:
    """Names what really runs: the same for the same code, different for everything else.

    A plain function is known by module, qualified name and code, also in another process. What a
    function closes over, and any other callable object, cannot be compared between processes, so
    such an object is known by itself for as long as it lives.
    """
    if isinstance(target, partial):
        return f"{identity(target.func)}({target.args!r},{target.keywords!r})"
    func = getattr(target, "func", target) if isinstance(target, Runnable) else target
    if isinstance(func, types.FunctionType):
        code = hashlib.sha256(func.__code__.co_code + repr(func.__code__.co_consts).encode()).hexdigest()[:16]
        name = f"{func.__module__}.{func.__qualname__}.{code}"
        return f"{name}.{_serial(func)}" if func.__closure__ else name
    return f"{type(target).__module__}.{type(target).__qualname__}.{_serial(target)}"


def _serial(target: Any) -> str:
    try:
        return _instances.setdefault(target, f"object-{next(_serials)}-{_PROCESS}")
    except TypeError:  # no weak references: never found again, rather than found wrongly
        return f"object-{next(_serials)}-{_PROCESS}"


def _process() -> str:
    import uuid  # through the module, so that a test can take the randomness out

    return uuid.uuid4().hex[:12]


_PROCESS = _process()


def cache_key(run: Run, frame: Frame, task: Task) -> Key | None:
    """The key of a task's writes, or None if its node is not cached."""
    policy = task.node.cache_policy or run.cache_policy
    if policy is None or task.hidden:
        return None
    if task.call is not None:
        args, kwargs = task.call
        text = policy.key_func(*args, **kwargs)
    else:
        value = task.given
        if task.path[0] != "__pregel_push":
            node = task.node
            value = frame.view(node.channels, (), run.clock(frame))
            value = value if node.mapper is None else node.mapper(value)
        text = policy.key_func(value)
    data = text.encode() if isinstance(text, str) else text
    return namespace(task.node.bodies, task.name), xxh3_128_hexdigest(data)


def cache_entry(run: Run, frame: Frame, task: Task) -> Mapping[Key, tuple[Any, int | None]] | None:
    """What to put into the cache for a finished task."""
    if any(channel in (ERROR, INTERRUPT, RESUME) for channel, _ in task.writes):
        return None
    key = cache_key(run, frame, task)
    policy = task.node.cache_policy or run.cache_policy
    if key is None or policy is None:
        return None
    return {key: (task.writes, policy.ttl)}
