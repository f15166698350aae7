"""Policies of a node: retry, timeouts, caching, tracing.

Annotations are evaluated here (no `from __future__ import annotations`), because the classes say
they live in `runtime.types` and their hints must resolve from there.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, Literal, NamedTuple, Union

from typing_extensions import TypeVar

from runtime._cache_key import default_cache_key

Seconds = float | timedelta

# What a second attempt with the same input would most likely raise again.
_PERMANENT: Final = (
    ArithmeticError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    ReferenceError,
    RuntimeError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
)


def default_retry_on(exc: Exception) -> bool:
    """Whether `exc` looks transient: connection faults and HTTP 5xx, but no programming errors.

    HTTP errors of httpx and requests are recognised when the node's code has loaded them.
    """
    if isinstance(exc, ConnectionError):
        return True
    for module, name in (("httpx", "HTTPStatusError"), ("requests", "HTTPError")):
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(exc, kind):
            response = getattr(exc, "response", None)
            return response is None or 500 <= response.status_code < 600
    return not isinstance(exc, _PERMANENT)


class RetryPolicy(NamedTuple):
    """When and how often a failed node is run again. Times are in seconds.

    The wait before attempt n+1 is `initial_interval * backoff_factor ** (n-1)`, at most
    `max_interval`, plus up to one random second with `jitter`. `max_attempts` counts the first
    one. `retry_on` is an exception class, several, or a function that is given the exception.
    """

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = default_retry_on


def _positive_seconds(value: Seconds | None, field: str) -> float | None:
    if value is None:
        return None
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not seconds > 0:
        raise ValueError(f"{field} must be greater than 0 seconds, not {value!r}")
    return seconds


_LIMITS: Final = ("run_timeout", "idle_timeout", "per_step", "max_execution")


@dataclass(init=False, slots=True, frozen=True)
class TimeoutPolicy:
    """How long a node may take. Limits are seconds or timedeltas; None is no limit.

    `per_attempt` (also `run_timeout`) caps one attempt, `per_step` all attempts of a task in its
    superstep with the waits between them, `max_execution` the node's time over the whole run.
    `idle_timeout` caps the time without progress; `refresh_on="heartbeat"` counts only
    `runtime.heartbeat()` as progress, `"auto"` also writes, streamed chunks, child tasks and
    callbacks.

    A running thread cannot be killed: on a timeout the caller gets its NodeTimeoutError at the
    deadline, and whatever a synchronous node still does is dropped.
    """

    __module__ = "runtime.types"

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"
    per_step: float | timedelta | None = None
    max_execution: float | timedelta | None = None

    def __init__(
        self,
        *,
        per_attempt: Seconds | None = None,
        per_step: Seconds | None = None,
        max_execution: Seconds | None = None,
        run_timeout: Seconds | None = None,
        idle_timeout: Seconds | None = None,
        refresh_on: Literal["auto", "heartbeat"] = "auto",
    ) -> None:
        if per_attempt is not None and run_timeout is not None and per_attempt != run_timeout:
            raise ValueError(
                "per_attempt and run_timeout are two names of one limit; give one of them, not "
                f"per_attempt={per_attempt!r} and run_timeout={run_timeout!r}"
            )
        set_field = object.__setattr__
        set_field(self, "run_timeout", run_timeout if per_attempt is None else per_attempt)
        set_field(self, "idle_timeout", idle_timeout)
        set_field(self, "refresh_on", refresh_on)
        set_field(self, "per_step", per_step)
        set_field(self, "max_execution", max_execution)

    @property
    def per_attempt(self) -> Seconds | None:
        """The cap on one attempt; the same as `run_timeout`."""
        return self.run_timeout

    @classmethod
    def coerce(cls, value: Union[float, timedelta, "TimeoutPolicy", None]) -> "TimeoutPolicy | None":
        """Return `value` as a policy whose limits are positive floats in seconds.

        A number or timedelta is the cap on one attempt; a policy without limits is None. Raises
        ValueError for a limit that is not positive or an unknown `refresh_on`.
        """
        if value is None:
            return None
        policy = value if isinstance(value, TimeoutPolicy) else cls(run_timeout=value)
        if policy.refresh_on not in ("auto", "heartbeat"):
            raise ValueError(f"refresh_on must be 'auto' or 'heartbeat', not {policy.refresh_on!r}")
        limits = {name: _positive_seconds(getattr(policy, name), name) for name in _LIMITS}
        if all(limit is None for limit in limits.values()):
            return None
        if all(getattr(policy, name) is limits[name] for name in _LIMITS):
            return policy
        return cls(refresh_on=policy.refresh_on, **limits)


KeyFuncT = TypeVar("KeyFuncT", bound=Callable[..., str | bytes])


@dataclass(kw_only=True, slots=True, frozen=True)
class CachePolicy(Generic[KeyFuncT]):
    """Keeps a node's writes for inputs that it has seen.

    `key_func` is given the node's input and returns the key; the default digests the input by
    content, without pickle, and raises TypeError for a value that it cannot. `ttl` is in seconds;
    None keeps an entry until the cache is cleared.
    """

    __module__ = "runtime.types"

    key_func: KeyFuncT = default_cache_key  # type: ignore[assignment]
    ttl: int | None = None


@dataclass(kw_only=True, slots=True, frozen=True)
class TracePolicy:
    """What a node's run shows to tracers.

    Each function is given the node's input or output and returns what to record in its place. The
    node itself sees and returns the real values; runs of runnables inside the node are recorded as
    they are, so this keeps traces small and is no means to hide secrets.
    """

    __module__ = "runtime.types"

    process_inputs: Callable[[Any], Any] | None = None
    process_outputs: Callable[[Any], Any] | None = None


def omit_payload(_value: Any) -> dict[str, Any]:
    """Record nothing of a value; for `TracePolicy`."""
    return {}
