"""Several processes on one file, and processes that die in the middle.

A process takes seconds to start. Where connections are what matters, threads with a saver each stand for processes.
"""

import os
import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line, at, check, id_of

ROOT = Path(__file__).parents[2]

WRITER = """
import sys
from threading import Thread
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line

def write(path, name, count):
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, name)
        for n in range(count):
            writes = [(f"{name}-{n}", "path", [("m", [n])])] if n else []
            line.put({"m": [*line.values.get("m", []), n]}, writes=writes)
            print(line.id, flush=True)

path, count, *names = sys.argv[1:]
threads = [Thread(target=write, args=(path, name, int(count))) for name in names]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def start(code, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


EIGHT = """
import os, sys
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line

def write(path, name, count):
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, name)
        for n in range(count):
            writes = [(f"{name}-{n}", "path", [("m", [n])])] if n else []
            line.put({"m": [*line.values.get("m", []), n]}, writes=writes)

children = []
for number in range(8):
    child = os.fork()
    if not child:
        status = 1
        try:
            write(sys.argv[1], f"thread-{number}", int(sys.argv[2]))
            status = 0
        finally:
            os._exit(status)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_eight_processes_write_at_once_and_none_is_turned_away(tmp_path):
    path = tmp_path / "db"
    said, complaints = start(EIGHT, path, 40).communicate()
    assert complaints == ""
    assert said.strip() == str([0] * 8)
    with SqliteSaver.from_conn_string(path) as saver:
        for number in range(8):
            history = list(saver.list(at(f"thread-{number}")))
            assert [item.checkpoint["channel_values"]["m"] for item in history] == [
                list(range(length)) for length in range(40, 0, -1)
            ]
        assert list(saver.audit()) == []


def test_writers_on_one_thread_keep_whole_branches(open_saver):
    lines, failures = [], []

    def write(face):
        try:
            line = Line(face, "same")
            lines.append(line)
            for n in range(25):
                line.put({"m": [*line.values.get("m", []), n]})
        except BaseException as error:
            failures.append(error)

    faces = [open_saver() for _ in range(3)]
    threads = [Thread(target=write, args=(face,)) for face in faces]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert failures == []
    found = {id_of(item.config): item for item in faces[0].list(at("same"))}
    assert len(found) == 75
    for line in lines:
        for parent, child in pairwise(line.expected):
            assert id_of(found[child].parent_config) == parent
            assert child > parent
            assert found[child].checkpoint["channel_values"] == line.expected[child]["channel_values"]
    assert list(faces[0].saver.audit()) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_process_that_is_killed_leaves_every_finished_step_and_no_half_one(tmp_path, seed):
    path = tmp_path / "db"
    writer = start(WRITER, path, 100_000, "t")
    told = [writer.stdout.readline().strip() for _ in range(random.Random(seed).randrange(5, 60))]
    writer.kill()
    told += writer.stdout.read().split("\n")[:-1]
    writer.communicate()
    with SqliteSaver.from_conn_string(path) as saver:
        history = [item for item in saver.list(at("t"))][::-1]
        ids = [id_of(item.config) for item in history]
        assert ids[: len(told)] == told
        assert len(ids) <= len(told) + 1
        for length, item in enumerate(history, start=1):
            assert item.checkpoint["channel_values"]["m"] == list(range(length))
            pending = [(f"t-{length}", "m", [length])] if length < len(history) else []
            assert item.pending_writes == pending


DIE_AT = """
import os, sqlite3, sys
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line
path, fatal = sys.argv[1], int(sys.argv[2])
connection = sqlite3.connect(path, check_same_thread=False)
saver = SqliteSaver(connection)
saver.setup()
line = Line(saver, "t")
line.put({"m": ["before"], "n": 0})
seen = 0
def trace(statement):
    global seen
    seen += 1
    if seen == fatal:
        os._exit(9)
connection.set_trace_callback(trace)
line.put({"m": ["before", "after"], "n": 1}, writes=[("task", "p", [("m", ["after"])])])
print(seen)
"""


def test_whichever_statement_a_process_dies_at_the_step_is_there_whole_or_not_at_all(tmp_path):
    # BEGIN, looking for changes elsewhere, two inserts at least, COMMIT
    writers = {fatal: start(DIE_AT, tmp_path / f"db-{fatal}", fatal) for fatal in (3, 5, 1000)}
    found = {}
    for fatal, writer in writers.items():
        writer.communicate()
        assert writer.returncode == (0 if fatal == 1000 else 9)
        with SqliteSaver.from_conn_string(tmp_path / f"db-{fatal}") as saver:
            history = list(saver.list(at("t")))
            found[fatal] = len(history)
            values = [item.checkpoint["channel_values"] for item in history]
            after = [{"m": ["before", "after"], "n": 1}] if len(history) == 2 else []
            assert values == [*after, {"m": ["before"], "n": 0}]
            assert bool(history[-1].pending_writes) == (len(history) == 2)
    assert found == {3: 1, 5: 1, 1000: 2}


def test_threads_of_one_process_share_a_saver(tmp_path):
    failures = []
    with SqliteSaver.from_conn_string(tmp_path / "db") as saver:
        lines = [Line(saver, f"t{n}") for n in range(6)]

        def run(line):
            try:
                for n in range(40):
                    line.put({"m": [*line.values.get("m", []), n]})
                    list(saver.list(at(line.thread), limit=2))
            except BaseException as error:
                failures.append(error)

        threads = [Thread(target=run, args=(line,)) for line in lines]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert failures == []
        for line in lines:
            check(saver, line)


def test_whoever_saves_at_once_saves_in_an_order_that_can_be_read_at_any_time(tmp_path):
    """Threads store writes and the checkpoint that is made of them, as LangGraph does behind a run; another reads."""
    path = tmp_path / "at_once.db"
    with SqliteSaver.from_conn_string(path) as saver, SqliteSaver.from_conn_string(path) as reader:
        line, stop, seen = Line(saver, "t"), Event(), []
        line.put({"log": ["begin"]})

        def read():
            while not stop.is_set():
                seen.append(reader.get_tuple(at("t")).checkpoint["channel_values"]["log"])

        reading = Thread(target=read)
        reading.start()
        with ThreadPoolExecutor(4) as pool:
            log = ["begin"]
            for step in range(60):
                parent, added = line.config, [[f"{step} {n}"] for n in range(3)]
                log = [*log, *(item for value in added for item in value)]
                jobs = [
                    pool.submit(saver.put_writes, parent, [("log", new)], f"task {n}") for n, new in enumerate(added)
                ]
                jobs.append(pool.submit(line.put, {"log": log}, whole=True))
                for job in jobs:
                    job.result()
        stop.set()
        reading.join()
        assert reader.get_tuple(at("t")).checkpoint["channel_values"]["log"] == log
        assert all(found == log[: len(found)] for found in seen)
        assert list(saver.audit()) == []
