"""`kill -9` in the middle of the fan-out: another process goes on, and runs only what is missing."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from sample_graphs import research

ROOT = Path(__file__).parents[2]
CONFIG = {"configurable": {"thread_id": "crash"}}
SAVED = "SELECT count(*) FROM checkpoint_writes WHERE channel = 'findings'"


class Watched(dict):
    """The sample's evidence. Each look-up is a line in a file, and looking up `deadly` kills the process."""

    def __init__(self, log, deadly, database):
        super().__init__(research.EVIDENCE)
        self.log, self.deadly, self.database = log, deadly, database

    def __getitem__(self, topic):
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{topic}\n")
        if topic == self.deadly:
            self.wait_for_siblings()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(topic)

    def wait_for_siblings(self):
        """Return when the results of all the other workers are on disk, beside what the planner wrote."""
        connection = sqlite3.connect(self.database, timeout=10)
        while connection.execute(SAVED).fetchone()[0] < len(self):
            time.sleep(0.005)


def run(database, given, asynchronous):
    """Run the sample on a database, with either driver."""

    async def awaited():
        async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
            return await research.builder.compile(checkpointer=saver).ainvoke(given, CONFIG)

    if asynchronous:
        return asyncio.run(awaited())
    with SqliteSaver.from_conn_string(str(database)) as saver:
        return research.builder.compile(checkpointer=saver).invoke(given, CONFIG)


def child(log, deadly, database, mode):
    """What the process does that is killed."""
    research.EVIDENCE = Watched(Path(log), deadly, database)
    run(database, research.example_input, mode == "async")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(("mode", "deadly"), [("sync", "traffic"), ("async", "winter")])
def test_only_the_killed_worker_runs_again(tmp_path, monkeypatch, deadly, mode):
    log, database = tmp_path / "workers.log", tmp_path / "crash.sqlite"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = [sys.executable, __file__, str(log), deadly, str(database), mode]
    killed = subprocess.run(process, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert sorted(log.read_text(encoding="utf-8").split()) == sorted(research.EVIDENCE)

    log.unlink()
    monkeypatch.setattr(research, "EVIDENCE", Watched(log, None, database))
    result = run(database, None, mode == "async")
    assert log.read_text(encoding="utf-8").split() == [deadly]
    assert [finding["topic"] for finding in result["findings"]] == ["cost", "traffic", "winter", "winter"]


if __name__ == "__main__":
    child(*sys.argv[1:])
