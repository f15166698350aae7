"""Recognising an Overwrite, which replaces a value past its reducer, in its three spellings."""

from collections.abc import Sequence
from typing import Any

from runtime._constants import OVERWRITE
from runtime.errors import ErrorCode, InvalidUpdateError, create_error_message
from runtime.types import Overwrite

_MAY_BE = (Overwrite, dict)


def overwrite_in(write: Any) -> tuple[bool, Any]:
    """Return (True, payload) if `write` is an Overwrite, else (False, None).

    The spellings are the class, `{"__overwrite__": payload}`, and what is left of the class after
    a trip through JSON: `{"value": payload, "type": "__overwrite__"}`.
    """
    if isinstance(write, Overwrite):
        return True, write.value
    if isinstance(write, dict):
        if OVERWRITE in write and len(write) == 1:
            return True, write[OVERWRITE]
        if "value" in write and write.get("type") == OVERWRITE:
            return True, write["value"]
    return False, None


def payload_of(write: Any) -> Any:
    """Return `write`, or what it wraps if it is an Overwrite."""
    if isinstance(write, _MAY_BE):
        found, payload = overwrite_in(write)
        return payload if found else write
    return write


def sole_overwrite(writes: Sequence[Any], where: str) -> tuple[bool, Any]:
    """Return (True, payload) of the one Overwrite among a superstep's writes, if there is one.

    Raises InvalidUpdateError if there are several; `where` names the channel in the message.
    """
    payloads = [payload for found, payload in map(overwrite_in, writes) if found]
    if not payloads:
        return False, None
    if len(payloads) > 1:
        raise InvalidUpdateError(
            create_error_message(
                message=f"{where}: Can receive only one Overwrite value per super-step. It got "
                f"{len(payloads)}, and which of them should win is not defined; let one node of "
                "the superstep overwrite, and the others write plain values",
                error_code=ErrorCode.INVALID_CONCURRENT_GRAPH_UPDATE,
            )
        )
    return True, payloads[0]
