"""What names a database: paths that are none, and addresses, whose password nobody sees."""

import pytest

from debugger_ui.engines.opening import shown_name
from debugger_ui.session.files import check_database
from debugger_ui.session.problems import SessionError
from debugger_ui.session.workspace import Workspace


def test_a_new_database_is_not_made_of_what_is_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for database in ("~", "~/agent.sqlite", "sqlite:///agent.sqlite"):
        with pytest.raises(SessionError):
            check_database(database, may_be_new=True)
    assert check_database("./~", may_be_new=True) == tmp_path / "~"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("database", "shown"),
    [
        ("postgresql://me:se@cr:et@host:5432/runs?password=secret", "postgresql://me@host:5432/runs"),
        ("postgresql://host/runs", "postgresql://host/runs"),
        ("folder/agent.sqlite", "folder/agent.sqlite"),
    ],
)
def test_the_password_of_a_database_is_not_shown(database, shown):
    assert shown_name(database) == shown


def test_a_server_that_cannot_be_reached_is_named_without_its_password():
    for target in (None, "sample_graphs.counter:graph"):
        with pytest.raises(SessionError) as refused:
            Workspace.open(target, database="postgresql://me:secret@127.0.0.1:1/runs")
        said = refused.value.problem.message
        assert "postgresql://me@127.0.0.1:1/runs cannot be opened" in said
        assert "secret" not in said
