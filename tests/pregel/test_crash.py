"""`kill -9` at every point where something is saved: another process goes on, and runs only what is missing."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from runtime.graph import START
from runtime.types import Send
from tests.kit.graphs import builder, thread

ROOT = Path(__file__).parents[2]
WORKERS = 4


class Deadly:
    """Kills this process at the nth call of a saver's method, before or after the call was carried out."""

    def __init__(self, saver, method, count, when):
        self.saver = saver
        self.method = method
        self.left = count
        self.when = when

    def arm(self):
        for name in (self.method, f"a{self.method}"):
            if hasattr(self.saver, name):
                setattr(self.saver, name, self.watched(getattr(self.saver, name)))

    def watched(self, real):
        def call(*arguments, **options):
            self.left -= 1
            if self.left == 0 and self.when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **options)
            if self.left == 0 and not asyncio.iscoroutine(result):
                os.kill(os.getpid(), signal.SIGKILL)
            return self.awaited(result) if asyncio.iscoroutine(result) else result

        return call

    async def awaited(self, result):
        last = self.left == 0
        result = await result
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def graph(log, saver, deadly=None):
    """plan, four workers, gather. Each run of a node is a line in a file, and a deadly worker kills the process."""

    def note(name):
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def plan(state):
        note("plan")
        return {"log": ["plan"]}

    def work(n):
        note(f"work{n}")
        if n == deadly:
            wait_for_siblings(saver)
            os.kill(os.getpid(), signal.SIGKILL)
        return {"log": [n]}

    def gather(state):
        note("gather")
        return {"value": list(state["log"])}

    made = builder(plan=plan, work=work, gather=gather)
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda state: [Send("work", n) for n in range(WORKERS)], ["work"])
    made.add_edge("work", "gather")
    return made.compile(checkpointer=saver)


def wait_for_siblings(saver):
    """Return when the results of all other workers are in the file."""
    while True:
        with SqliteSaver.from_conn_string(saver.path, read_only=True) as reader:
            saved = reader.get_tuple(thread())  # none yet: what is saved behind the run may come late
        if saved and len({task for task, channel, _ in saved.pending_writes if channel == "log"}) == WORKERS - 1:
            return
        time.sleep(0.005)


def run(log, path, given, face, durability, arm=None, deadly=None):
    """Run the graph on a file, with either driver."""

    async def awaited():
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            saver.path = path
            if arm is not None:
                Deadly(saver, *arm).arm()
            return await graph(log, saver, deadly).ainvoke(given, thread(), durability=durability)

    if face == "async":
        return asyncio.run(awaited())
    with SqliteSaver.from_conn_string(path) as saver:
        saver.path = path
        if arm is not None:
            Deadly(saver, *arm).arm()
        return graph(log, saver, deadly).invoke(given, thread(), durability=durability)


@pytest.fixture(scope="module")
def killed():
    """Run in a child that is killed. The children are forked from one process, so that only that has to import."""
    command = [sys.executable, __file__]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mother:

        def killed(*arguments):
            mother.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
            mother.stdin.flush()
            assert int(mother.stdout.readline()) == -signal.SIGKILL

        yield killed
        mother.stdin.close()


def children():
    """What the process does that is forked from: a child for each line, and what became of it."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            log, path, face, durability, method, count, when = json.loads(line)
            arm = None if method == "worker" else (method, int(count), when)
            run(Path(log), path, {"log": []}, face, durability, arm, int(count) if method == "worker" else None)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


@pytest.mark.parametrize("face", ["sync", "async"])
@pytest.mark.parametrize("durability", ["sync", "async"])
def test_in_a_fan_out_only_the_killed_worker_runs_again(tmp_path, killed, face, durability):
    log, path = tmp_path / "ran.log", tmp_path / "crash.db"
    killed(log, path, face, durability, "worker", 2, "inside")
    assert sorted(log.read_text().split()) == ["plan", "work0", "work1", "work2", "work3"]
    log.unlink()
    result = run(log, path, None, face, durability)
    assert log.read_text().split() == ["work2", "gather"]
    assert result["value"] == ["plan", 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("face", "method", "count", "when"),
    [
        ("sync", "put_step", 2, "before"),
        ("sync", "put_step", 3, "after"),
        ("sync", "put_step", 4, "before"),
        ("sync", "put_writes", 1, "after"),
        ("sync", "put_writes", 3, "before"),
        ("async", "put_step", 3, "before"),
        ("async", "put_writes", 2, "after"),
    ],
)
def test_at_any_write_the_thread_goes_on_from_what_was_saved(tmp_path, killed, face, method, count, when):
    log, path = tmp_path / "ran.log", tmp_path / "crash.db"
    killed(log, path, face, "sync", method, count, when)
    with SqliteSaver.from_conn_string(path) as saver:
        saved = saver.get_tuple(thread())
        finished = {task for task, channel, _ in saved.pending_writes if channel == "log"}
        step = saved.metadata["step"]
    log.write_text("")
    result = run(log, path, None, face, "sync")
    ran = log.read_text().split()
    missing = WORKERS - len(finished) if step == 1 else 0
    assert result["value"] == ["plan", 0, 1, 2, 3]
    assert ran.count("plan") == (1 if step < 1 else 0)
    assert sum(name.startswith("work") for name in ran) == (WORKERS if step < 1 else missing)
    assert ran.count("gather") == (1 if step < 3 else 0)


if __name__ == "__main__":
    children()
