"""A generator of effects, held by whoever carries them out."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from runtime.pregel.effects import Receive


class Program:
    """One run of a generator of effects.

    `advance` gives the next effect, or None at the end; `answer` or `fail` says what came of it. A Receive
    has to be answered with something that arrived, so an empty answer leaves it open.
    """

    __slots__ = ("_given", "_resume", "_send", "_throw", "open", "receiving", "result")

    def __init__(self, program: Generator[Any, Any, Any]) -> None:
        self._send, self._throw = program.send, program.throw
        self._resume: Any = program.send
        self._given: Any = None
        self.open = False
        self.receiving = False
        self.result: Any = None

    def advance(self) -> Any:
        """Go on to the next effect. Raises what the generator does not handle."""
        try:
            effect = self._resume(self._given)
        except StopIteration as stop:
            self.result = stop.value
            return None
        self.open = True
        self.receiving = type(effect) is Receive
        return effect

    def answer(self, value: Any) -> None:
        """Say what came of the effect."""
        self._resume, self._given = self._send, value
        self.open = self.receiving and not value

    def fail(self, error: BaseException) -> None:
        """Say that the effect failed: the generator, not the driver, decides what that means."""
        self._resume, self._given = self._throw, error
        self.open = False
