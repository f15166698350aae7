"""The recorded demo threads stand where they say they stand."""

from dataclasses import replace

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from sample_graphs import recorded
from sample_graphs.recorded import THREADS, record, sample_of

# thread -> (what would run next, how many questions wait, how many tasks failed); the others are finished.
UNFINISHED = {
    "research-waiting": (["review"], 1, 0),
    "research-forked": (["review"], 1, 0),
    "flaky-failed": (["tide_table"], 0, 1),
    "approvals-waiting": (["finance", "legal"], 2, 0),
    "approvals-half": (["legal"], 1, 0),
    "sections-waiting": (["section"], 1, 0),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "demo.sqlite"
    assert record(path) == [each.thread_id for each in THREADS]
    return path


@pytest.fixture(scope="module")
def saver(database):
    with SqliteSaver.from_conn_string(str(database)) as saver:
        yield saver


def head(saver, recording):
    graph = recording.sample.builder.compile(checkpointer=saver)
    return graph.get_state({"configurable": {"thread_id": recording.thread_id}})


@pytest.mark.parametrize("recording", THREADS, ids=[each.thread_id for each in THREADS])
def test_thread_stands_where_it_should(saver, recording):
    state = head(saver, recording)
    following, questions, failures = UNFINISHED.get(recording.thread_id, ([], 0, 0))
    if recording.thread_id != "conflict-failed":
        assert sorted(state.next) == following
    assert len(state.interrupts) == questions
    assert sum(task.error is not None for task in state.tasks) == failures


def test_refused_update_left_its_thread_before_it(saver):
    recording = next(each for each in THREADS if each.thread_id == "conflict-failed")
    assert head(saver, recording).values == {"place": "Lindhaven"}


def test_forked_thread_has_two_ends(saver):
    config = {"configurable": {"thread_id": "research-forked", "checkpoint_ns": ""}}
    saved = list(saver.list(config))
    parents = [each.parent_config["configurable"]["checkpoint_id"] for each in saved if each.parent_config]
    ends = [each for each in saved if each.config["configurable"]["checkpoint_id"] not in parents]
    assert len(ends) == 2


def test_every_checkpoint_says_which_graph_made_it(saver):
    for recording in THREADS:
        assert sample_of(recording.thread_id) == recording.sample
        saved = list(saver.list({"configurable": {"thread_id": recording.thread_id, "checkpoint_ns": ""}}))
        assert {each.metadata["graph"] for each in saved} == {recording.sample.spec}
    assert sample_of("somebody else's") is None


def test_recording_never_touches_a_file_that_is_there(database):
    before = database.read_bytes()
    with pytest.raises(FileExistsError, match=r"demo\.sqlite is there already"):
        record(database)
    assert database.read_bytes() == before


def test_a_recording_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def stumble(graph, config, example):
        raise RuntimeError("no more")

    broken = [*THREADS[:1], replace(THREADS[1], run=stumble)]
    monkeypatch.setattr(recorded, "THREADS", broken)
    with pytest.raises(RuntimeError, match="no more"):
        record(tmp_path / "demo.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_one_file(tmp_path):
    record(tmp_path / "demo.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.sqlite"]
