"""Kill a process at a point of a story, look at what it left, go on in another process, and look again.

Rule 1: this process opens no database and starts no thread. All is done in processes forked from it, so that none
        has to import anything, and each begins with nothing in memory.
Rule 2: what is right is never written down here: an unharmed twin of the story says it.
"""

import contextlib
import gc
import importlib
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from runtime.checkpoint.sql import SqlSaver
from runtime.checkpoint.sql.statements import Statement
from tests.crash.points import Points, watch
from tests.crash.record import Found, dump, harm, saved
from tests.crash.stories import OLD, STORIES, Place, downgrade
from tests.kit.faces import Face, opened
from tests.kit.postgres import execute


class Combination(NamedTuple):
    """A story, through one face of one database, with one durability."""

    database: str
    story: str
    face: str
    durability: str

    def __str__(self) -> str:
        return ", ".join(self)


COMBINATIONS = [
    Combination(database, name, face, durability)
    for database in ("sqlite", "postgres")
    for name, story in STORIES.items()
    for face in ("sync", "async")
    for durability in story.durabilities
]


class Outcome(NamedTuple):
    """What became of one point: whether the process was killed there, where it was, and what was wrong afterwards."""

    killed: bool
    problems: list[str]


class Scene:
    """A combination, prepared: the database as it is before, and what the twin made of it."""

    def __init__(self, combination: Combination, folder: Path, server: str = "") -> None:
        self.combination = combination
        self.story = STORIES[combination.story]
        self.folder = folder
        self.server = server
        folder.mkdir(parents=True)
        self.template = folder / "before.db"
        where = self._place()
        self.before: Found = _forked(_dumped, where)
        self.points: list[str] = _forked(self._act, where, 0)
        self.twin: Found = _forked(_dumped, where)
        self.ran = Counter(self._ran())
        self._leave(where)

    def at(self, fatal: int) -> Outcome:
        """Kill at the point, counted from 1."""
        where = self._place()
        killed = _forked(self._act, where, fatal) is None
        problems: list[str] = _forked(self._look, where, killed)
        self._leave(where)
        label = self.points[fatal - 1] if fatal <= len(self.points) else "the end"
        return Outcome(killed, [f"{self.combination}, point {fatal} ({label}): {problem}" for problem in problems])

    # --- places ---------------------------------------------------------------------------------------

    def _place(self) -> str:
        """The database as it is before, at a new place."""
        for name in "told", "ran":
            (self.folder / name).write_text("")
        if self.combination.database == "postgres":
            schema = f"crash_{uuid4().hex[:16]}"
            where = f"{self.server}{'&' if '?' in self.server else '?'}options=-csearch_path%3D{schema}"
            _forked(self._prepare, where, f"CREATE SCHEMA {schema}")
            return where
        where = str(self.folder / f"{uuid4().hex[:8]}.db")
        if self.story.old:
            shutil.copy(OLD, where)
        elif self.story.before is not None:
            if not self.template.exists():
                _forked(self._prepare, str(self.template), "")
            shutil.copy(self.template, where)
        return where

    def _leave(self, where: str) -> None:
        if self.combination.database == "postgres":
            schema = where.rpartition("%3D")[2]
            _forked(execute, self.server, f"DROP SCHEMA {schema} CASCADE")
            return
        for path in self.folder.glob(Path(where).name + "*"):
            path.unlink()

    def _prepare(self, where: str, statement: str) -> None:
        points = Points(self.folder / "nothing")
        watch(points, seed=0)
        if statement:
            execute(self.server, statement)
        if self.story.before is not None:
            self._with_saver(where, points, self.story.before)
        (self.folder / "ran").write_text("")
        if self.story.old:
            downgrade(where)

    # --- what the processes do --------------------------------------------------------------------------

    def _act(self, where: str, fatal: int) -> list[str]:
        points = Points(self.folder / "told", fatal)
        watch(points, seed=1)
        points.armed = True
        self._with_saver(where, points, self.story.act)
        points.armed = False
        return points.labels

    def _look(self, where: str, killed: bool) -> list[str]:
        """Whatever is wrong with what the killed process left, or with how another one goes on."""
        points = Points(self.folder / "told")
        watch(points, seed=2)
        found, problems = _sound(where)
        told = set((self.folder / "told").read_text().split()) if killed else set()
        problems += harm(found, self.before | self.twin, self.before, told) if killed else []
        missing = self.ran - saved(found, self.before)
        (self.folder / "ran").write_text("")
        self._with_saver(where, points, self.story.act)
        ran = Counter(self._ran())
        if ran != missing:
            problems.append(f"another process ran {sorted(ran.elements())}, missing was {sorted(missing.elements())}")
        after, wrong = _sound(where)
        problems += wrong
        if [held["plain"] for held in after.values()] != [held["plain"] for held in self.twin.values()]:
            problems.append("what another process made of it is not what the twin made")
        return problems

    def _with_saver(self, where: str, points: Points, work: Callable[[Place], None]) -> None:
        is_async = self.combination.face == "async"
        with opened(self.combination.database, is_async, where) as saver:
            work(Place(saver, Face(is_async), self.combination.durability, self.folder / "ran", points))

    def _ran(self) -> list[str]:
        return (self.folder / "ran").read_text().split()


def warm() -> None:
    """Import here, once, what the processes would import each for itself; and compile the SQL."""
    with tempfile.TemporaryDirectory(prefix="forkpoint-crash-") as folder:
        modules: list[str] = _forked(_imported, folder)
    for name in modules:
        with contextlib.suppress(ImportError):  # some are there under another name, or only once
            importlib.import_module(name)
    for statement in [found for found in gc.get_objects() if isinstance(found, Statement)]:
        statement.compiled("sqlite")
        statement.compiled("postgresql")
    gc.collect()
    gc.freeze()


def _imported(folder: str) -> list[str]:
    for face in "sync", "async":
        Scene(Combination("sqlite", "answer", face, "sync"), Path(folder) / face)._look(f"{folder}/{face}.db", False)
    return sorted(sys.modules)


def _dumped(where: str) -> Found:
    return _sound(where)[0]


def _sound(where: str) -> tuple[Found, list[str]]:
    """What a database holds, and what is wrong with its rows. One that is not there yet holds nothing."""
    if "://" not in where and not Path(where).exists():
        return {}, []
    with SqlSaver(where if "://" in where else f"sqlite:///{where}") as saver:
        return dump(saver), [f"check: {finding}" for finding in saver.audit()]


def _forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returned in a child process; None if that was killed.

    Raises:
        RuntimeError: the function raised, with its traceback.
    """
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        status, said = 0, ""
        try:
            said = json.dumps(function(*arguments))
        except BaseException:
            status, said = 1, traceback.format_exc()
        with os.fdopen(writable, "w", encoding="utf-8") as file:
            file.write(said)
        os._exit(status)
    os.close(writable)
    with os.fdopen(readable, encoding="utf-8") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return None
    if code:
        raise RuntimeError(f"in a child process: {said}")
    return json.loads(said)
