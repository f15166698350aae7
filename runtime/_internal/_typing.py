"""Typing helpers under the path where agent packages look for them."""

from runtime._typing import EMPTY_SEQ, MISSING, DeprecatedKwargs, StateLike

__all__ = ("EMPTY_SEQ", "MISSING", "DeprecatedKwargs", "StateLike")
