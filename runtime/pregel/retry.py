"""Whether a failed attempt is tried again, and after how long. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from runtime.types import RetryPolicy


def next_delay(
    policies: Sequence[RetryPolicy],
    attempt: int,
    error: Exception,
    jitter: Callable[[], float] | None = None,
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    The first policy that takes the error decides. `attempt` counts from 1, so a policy of three
    attempts waits after the first and the second.
    """
    for policy in policies:
        if not takes(policy, error):
            continue
        if attempt >= policy.max_attempts:
            return None
        wait = policy.initial_interval * policy.backoff_factor ** (attempt - 1)
        wait = min(policy.max_interval, wait)
        return wait + (jitter() if jitter is not None else random.uniform(0, 1)) if policy.jitter else wait
    return None


def takes(policy: RetryPolicy, error: Exception) -> bool:
    """Whether a policy's `retry_on` covers the error."""
    retry_on = policy.retry_on
    if isinstance(retry_on, type):
        return isinstance(error, retry_on)
    if isinstance(retry_on, Sequence):
        return isinstance(error, tuple(retry_on))
    if callable(retry_on):
        return bool(retry_on(error))
    raise TypeError(
        f"RetryPolicy(retry_on=…) takes an exception class, several, or a function of the error; got {retry_on!r}"
    )
