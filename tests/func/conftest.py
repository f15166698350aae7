"""Workflows are tested through both faces, as graphs are."""

from tests.pregel.conftest import calls, gate, run, saver

__all__ = ("calls", "gate", "run", "saver")
