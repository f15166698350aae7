"""`forkpoint db`: what is in a database, every kind of damage found where it is, previews that are true."""

import json
import sqlite3

import pytest
from langchain_core.messages import HumanMessage

from debugger_ui import cli
from runtime.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.kit import Line, at, check


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoints.db"


@pytest.fixture
def line(path):
    """A thread with a list in slices, a fork, a task that was tried again, and an inner namespace."""
    with SqliteSaver.from_conn_string(path) as saver:
        made = Line(saver, "t")
        for n in range(12):
            writes = [("task", "p", [("m", [HumanMessage(f"message {n}" * 30)]), ("n", n)])] if n else []
            pairs = dict(writes[0][2]) if writes else {"m": [], "n": 0}
            made.put({"m": [*made.values.get("m", []), *pairs["m"]], "n": n}, writes=writes)
        made.fork(list(made.expected)[3]).put({"n": 99})
        saver.put_writes(made.config, [("n", 1)], "late")
        inner = Line(saver, "t", ns="inner:1")
        inner.put({"x": 1})
        Line(saver, "another").put({"x": "one"})
    return made


@pytest.fixture
def db(path, capsys):
    """Run `forkpoint db TOOL FILE ...`; return the exit status and what was said."""

    def run(tool, *more, file=None):
        try:
            status = cli.main(["db", tool, str(file or path), *more])
        except SystemExit as stopped:
            status = stopped.code
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def sql(path, *statements):
    connection = sqlite3.connect(path)
    for statement, *values in statements:
        assert connection.execute(statement, values).rowcount > 0, statement
    connection.commit()
    connection.close()


def test_info_counts_what_is_there(line, db):
    status, said = db("info")
    assert status == 0
    assert "version 2" in said
    assert "checkpoints (15 rows)" in said
    assert "threads      2" in said
    assert "t: 14 checkpoints, 23 writes" in said
    assert "another: 1 checkpoint, 0 writes" in said


def test_a_sound_database_passes_and_is_left_as_it_is(line, path, db):
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    status, said = db("check")
    assert (status, said) == (0, "nothing wrong: 15 checkpoints looked at, every value decoded\n")
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def rot(ids):
    return "UPDATE checkpoint_writes SET value = x'c1' WHERE number = 0 AND checkpoint_id = ?", ids[4]


HERE = "UPDATE checkpoints SET {} WHERE checkpoint_id = ?"
DAMAGE = {
    "a parent that is gone": (
        lambda ids: ("DELETE FROM checkpoints WHERE checkpoint_id = ?", ids[6]),
        7,
        "is not there",
    ),
    "a parent that is younger": (lambda ids: (HERE.format("parent_checkpoint_id = 'zzz'"), ids[6]), 6, "not older"),
    "a parent that is itself": (
        lambda ids: (HERE.format("parent_checkpoint_id = checkpoint_id, keyframe = 0"), ids[6]),
        6,
        "round in a circle",
    ),
    "a frame that is none": (lambda ids: (HERE.format("keyframe = 1, frame = x'80'"), ids[6]), 6, "lacks something"),
    "a frame that is not msgpack": (lambda ids: (HERE.format("frame = x'c1'"), ids[6]), 6, "cannot be decoded"),
    "metadata that are no JSON": (lambda ids: (HERE.format("metadata = '{'"), ids[6]), 6, "not JSON"),
    "metadata that are no object": (lambda ids: (HERE.format("metadata = '[]'"), ids[6]), 6, "not a JSON object"),
    "folded writes that never were": (
        lambda ids: (HERE.format("folded = '0-9'"), ids[6]),
        6,
        "2, 3, 4, 5, 6 and 3 more",
    ),
    "folded writes that are no numbers": (lambda ids: (HERE.format("folded = 'x'"), ids[6]), 6, "no numbers"),
    "a value that is not encoded": (rot, 4, "cannot be decoded"),
    "a value that is needed": (rot, 5, "channel 'm' needs value 0"),
    "a write that is lost": (
        lambda ids: ("DELETE FROM checkpoint_writes WHERE number = 0 AND checkpoint_id = ?", ids[4]),
        4,
        "without a gap, and 0",
    ),
    "a list that is shorter": (
        lambda ids: ("UPDATE checkpoint_writes SET value = x'90' WHERE number = 0 AND checkpoint_id = ?", ids[4]),
        5,
        "elements up to 1 of value 0",
    ),
    "an attempt that goes back": (
        lambda ids: (
            "UPDATE checkpoint_writes SET attempt = attempt + 1 WHERE number = 0 AND checkpoint_id = ?",
            ids[4],
        ),
        4,
        "goes back to attempt 0",
    ),
    "writes of nobody": (
        lambda ids: ("UPDATE checkpoint_writes SET checkpoint_id = 'nobody' WHERE checkpoint_id = ?", ids[11]),
        None,
        "no such checkpoint",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_where_it_is(line, path, db, damage):
    change, where, says = DAMAGE[damage]
    ids = list(line.expected)
    sql(path, change(ids))
    status, said = db("check")
    assert status == 1
    place = f"thread 't', checkpoint {'nobody' if where is None else ids[where]}: "
    assert any(text.startswith(place) and says in text for text in said.splitlines()), said
    assert "problem" in said.splitlines()[-1]
    assert "inner" not in said
    assert "another" not in said


def test_versions_that_go_back_are_found(path, db):
    with SqliteSaver.from_conn_string(path) as saver:
        line = Line(saver, "t")
        line.put({"n": 1})
        line.put({"n": 2})
        line.versions["n"] = 0
        line.put({"n": 3})
    status, said = db("check")
    assert status == 1
    assert f"checkpoint {line.id}: channel 'n' goes back from version 2 to 1" in said


def test_pages_that_are_damaged_are_found(line, path, db):
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    for at_page in range(size * 2, len(content), size):
        content[at_page : at_page + 64] = b"\xff" * 64
    path.write_bytes(bytes(content))
    status, said = db("check")
    assert status == 1
    assert "damaged" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("tool", ["info", "check", "prune", "export"])
@pytest.mark.parametrize("kind", ["missing", "text", "foreign", "folder", "newer"])
def test_a_wrong_file_is_a_sentence_and_left_as_it_is(tmp_path, db, tool, kind):
    file = tmp_path / "given.db"
    if kind == "text":
        file.write_text("not a database at all")
    elif kind == "folder":
        file.mkdir()
    elif kind == "newer":
        with SqliteSaver.from_conn_string(file):
            pass
        sql(file, ("UPDATE checkpoint_store SET version = 99, readable = 99",))
    elif kind == "foreign":
        connection = sqlite3.connect(file)
        connection.execute("CREATE TABLE checkpoints (thread_id TEXT)")
        connection.close()
    before = sorted(each.name for each in tmp_path.iterdir())
    content = file.read_bytes() if file.is_file() else None
    more = {"prune": ["--keep-latest", "--yes"], "export": ["t", str(tmp_path / "out.json")]}
    status, said = db(tool, *more.get(tool, []), file=file)
    assert status == 2
    assert said.startswith("forkpoint: ")
    assert "given.db" in said
    assert "Traceback" not in said
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    assert content is None or file.read_bytes() == content


def test_what_prune_says_it_would_remove_is_what_it_removes(line, path, db):
    status, said = db("prune", "--keep-latest")
    assert status == 0
    assert "t: 12 checkpoints of 14" in said
    assert "would remove 12 checkpoints and " in said
    assert "nothing was removed" in said
    with SqliteSaver.from_conn_string(path) as saver:
        before = saver.sizes("t")
        check(saver, line)
    preview = said.split("would remove ")[1].split(";")[0]
    status, said = db("prune", "--keep-latest", "--yes")
    assert status == 0
    assert f"removed {preview}" in said
    with SqliteSaver.from_conn_string(path) as saver:
        after = saver.sizes("t")
        assert f"{before.writes - after.writes} writes" in preview
        assert [len(saver.checkpoints("t", ns)) for ns in ("", "inner:1")] == [1, 1]
        newest = saver.get_tuple(at("t")).checkpoint
        assert newest["channel_values"] == line.expected[newest["id"]]["channel_values"]
    assert db("check")[0] == 0
    assert "nothing to remove" in db("prune", "--keep-latest")[1]


@pytest.mark.parametrize("watched", [True, False])
def test_whoever_looks_on_is_told_how_far_it_is(line, path, tmp_path, capsys, monkeypatch, watched):
    monkeypatch.setattr("sys.stderr.isatty", lambda: watched)
    for tool, more, says in (
        ("check", [], "15 of 15 checkpoints"),
        ("prune", ["--keep-latest"], "2 of 2 threads"),
        ("export", ["t", str(tmp_path / "out.json")], "13 of 13 checkpoints"),
    ):
        assert cli.main(["db", tool, str(path), *more]) == 0
        said = capsys.readouterr()
        assert (says in said.err) == watched, said.err
        assert says not in said.out


def test_prune_takes_threads_and_refuses_unknown_ones(line, path, db):
    assert "no thread 'absent'" in db("prune", "absent", "--keep-latest", "--yes")[1]
    assert "nothing to remove" in db("prune", "another", "--keep-latest", "--yes")[1]
    with SqliteSaver.from_conn_string(path) as saver:
        assert len(saver.checkpoints("t", None)) == 14
    assert db("prune", "--yes")[0] == 2


def test_export_writes_the_record_of_a_thread_and_overwrites_nothing(line, path, tmp_path, db):
    out = tmp_path / "out.json"
    status, said = db("export", "t", str(out))
    assert status == 0
    assert "13 checkpoints" in said
    document = json.loads(out.read_bytes())
    assert {row["id"] for row in document["checkpoints"]} == set(line.expected)
    assert {row["id"]: row["state"]["n"] for row in document["checkpoints"]} == {
        key: value["channel_values"]["n"] for key, value in line.expected.items()
    }
    before = out.read_bytes()
    status, said = db("export", "another", str(out))
    assert (status, out.read_bytes()) == (2, before)
    assert "out.json" in said
    assert "no thread 'absent'" in db("export", "absent", str(tmp_path / "new.json"))[1]
    assert not (tmp_path / "new.json").exists()
