"""What every test may ask for: a PostgreSQL database, empty and its own."""

import pytest

from tests.kit import postgres

_RUN = pytest.StashKey[postgres.Run]()


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker of xdist uses what the run has
        config.stash[_RUN] = postgres.Run()


def pytest_unconfigure(config):
    run = config.stash.get(_RUN, None)
    if run is not None:
        run.end()


def pytest_terminal_summary(terminalreporter):
    counts = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "crash" and report.when == "call"
    ]
    if counts:
        points, kills = (sum(numbers) for numbers in zip(*counts, strict=True))
        every = "python -m tests.crash --all"
        terminalreporter.write_line(f"crashes: {kills} kills at {points} points of {len(counts)} stories; all: {every}")


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of a PostgreSQL server, started when first asked for and shared by everybody in the run."""
    return postgres.found_or_skipped()


@pytest.fixture
def postgres_url(postgres_server):
    """The URL of an empty PostgreSQL database of the test's own."""
    with postgres.database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_schema(postgres_server):
    """The URL of an empty PostgreSQL schema of the test's own: as good as a database, in a hundredth of the time."""
    with postgres.schema(postgres_server) as url:
        yield url
