"""The files beside a database: two programs change them at once, and nobody's rows are lost."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from debugger_ui.session.labels import Labels
from debugger_ui.session.masks import Masks
from debugger_ui.session.problems import SessionError


def test_two_programs_name_branches_and_neither_loses_a_name(tmp_path):
    file = tmp_path / "db.forkpoint.json"
    one, other = Labels(file), Labels(file)
    one.set("branch", "t", "a", name="first")
    other.set("branch", "t", "b", note="second")
    one.set("thread", "t", "", name="the thread")
    for labels in (one, other, Labels(file)):
        assert labels.get("branch", "t", "a").name == "first"
        assert labels.get("branch", "t", "b").note == "second"
        assert labels.get("thread", "t", "").name == "the thread"
    other.set("branch", "t", "a", name="")
    assert one.get("branch", "t", "a").name == ""


def test_what_one_program_masks_is_masked_in_the_other_and_stays(tmp_path):
    file = tmp_path / "db.forkpoint-masks.json"
    one, other = Masks((), file), Masks((), file)
    one.add("api_key")
    other.add("token")
    assert one.patterns == other.patterns == Masks((), file).patterns == ("api_key", "token")
    one.remove("api_key")
    assert other.patterns == ("token",)


def test_many_at_once_lose_nothing(tmp_path):
    file = tmp_path / "db.forkpoint.json"
    programs = [Labels(file) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for number, labels in enumerate(programs):
            for row in range(10):
                pool.submit(labels.set, "branch", "t", f"{number}-{row}", name="named")
    assert len(json.loads(file.read_text())) == 40


def test_a_file_that_is_broken_meanwhile_hides_everything_or_is_left_alone(tmp_path):
    masks, names = tmp_path / "masks.json", tmp_path / "names.json"
    masked, labels = Masks((), masks), Labels(names)
    masked.add("api_key")
    labels.set("branch", "t", "a", name="first")
    for file in (masks, names):
        file.write_text("{not json")
    with pytest.raises(SessionError, match="which keys are masked and cannot be read"):
        masked.apply(("api_key",), "secret")
    assert labels.get("branch", "t", "a").name == "first"
    labels.set("branch", "t", "b", name="second")
    assert labels.get("branch", "t", "b").name == "second"
    assert "cannot be read" in labels.problem
    assert names.read_text() == "{not json"


def test_looking_leaves_nothing_beside_the_database(tmp_path):
    file = tmp_path / "db.forkpoint.json"
    Labels(file).set("branch", "t", "a", name="first")
    before = {path.name for path in tmp_path.iterdir()}
    file.with_name(f"{file.name}.lock").unlink()
    looking = Labels(file, keep=False)
    assert looking.get("branch", "t", "a").name == "first"
    looking.set("branch", "t", "a", name="mine alone")
    assert looking.get("branch", "t", "a").name == "mine alone"
    assert {path.name for path in tmp_path.iterdir()} == before - {f"{file.name}.lock"}
    assert Labels(file).get("branch", "t", "a").name == "first"
