"""Workflows are tested through both faces, as graphs are."""

from tests.pregel.conftest import calls, gate, pytest_generate_tests, run, saver

__all__ = ("calls", "gate", "pytest_generate_tests", "run", "saver")
