"""Two people who act on one thread in the same moment."""

import pytest

from debugger_ui.session.problems import SessionError
from debugger_ui.session.session import DebugSession
from tests.session.conftest import WAIT, chain, done


def test_of_two_answers_at_once_the_second_is_told_that_it_was_not_used(kit, gate, open_graph):
    def ask(state):
        answer = kit.interrupt("sure?")
        gate.inside.set()
        assert gate.open.wait(WAIT)
        return {"note": answer}

    session = DebugSession(open_graph(chain(kit, ask)))
    session.new_run('{"note": "go"}', thread="t", run=True)
    done(session)
    other = DebugSession(session.workspace)
    other.move(thread="t")
    (question,) = session.questions()
    seen = other.checkpoint().id
    session.answer({question.id: '"approve"'}, checkpoint=seen)
    assert gate.inside.wait(WAIT)
    assert session.answer({question.id: '"approve"'}, checkpoint=seen).busy  # a double click
    with pytest.raises(SessionError, match="What you gave for answer was not used"):
        other.answer({question.id: '"reject"'}, checkpoint=seen)
    gate.open.set()
    done(session)
    assert session.desk.reading.record(session.spot()).state["note"] in ("approve", '"approve"')
