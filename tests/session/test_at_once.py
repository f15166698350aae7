"""Two people who act on one thread in the same moment."""

import numpy as np
import pytest

from debugger_ui.session.jobs import Job
from debugger_ui.session.problems import SessionError
from debugger_ui.session.questions import JsonText
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
    with pytest.raises(SessionError, match="What you gave for answer was not used"):
        other.answer({question.id: JsonText('"approve"')}, checkpoint=seen)
    gate.open.set()
    done(session)
    assert session.desk.reading.record(session.spot()).state["note"] in ("approve", '"approve"')


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        ({"sure": True}, {"sure": 1}, False),
        (None, None, True),
    ],
)
def test_the_same_step_is_a_second_click_only_with_the_same_things_given(one, other, same):
    made = [Job("t", "supply", "c", given=(("task",), {"task": given})) for given in (one, other)]
    assert made[0].same(made[1]) == same
    assert not made[0].same(Job("t", "supply", "later", given=made[0].given))
