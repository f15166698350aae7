"""Errors say what was wrong; older names still work, and say what replaced them."""

import importlib
import pickle

import pydantic
import pytest

from runtime import _constants, constants, errors
from runtime.errors import (
    ErrorCode,
    GraphBubbleUp,
    GraphDrained,
    GraphInterrupt,
    MisalignedResumeError,
    NodeCancelledError,
    NodeInterrupt,
    NodeTimeoutError,
    ParentCommand,
    UnknownInterruptError,
    create_error_message,
    is_invalid_resume,
    mark_invalid_resume,
)
from runtime.types import Command, Interrupt, default_retry_on
from runtime.warnings import (
    DeprecatedSince05,
    DeprecatedSince10,
    DeprecatedSince11,
    GraphDeprecationWarning,
)


def test_bubbling_up_is_caught_as_one_kind():
    for error in (GraphInterrupt(), ParentCommand(Command()), GraphDrained()):
        assert isinstance(error, GraphBubbleUp)
    assert GraphDrained("SIGTERM").reason == "SIGTERM"
    assert GraphInterrupt((Interrupt("q", "1"),)).args[0][0].value == "q"


def test_node_interrupt_warns_and_still_interrupts():
    with pytest.warns(DeprecatedSince10, match=r"runtime\.types\.interrupt"):
        error = NodeInterrupt("stop", "id-1")
    assert error.args[0] == [Interrupt("stop", "id-1")]
    with pytest.warns(DeprecatedSince10):
        assert NodeInterrupt("stop").args[0][0].value == "stop"


@pytest.mark.parametrize(
    ("kind", "limit", "says"),
    [("run", "run_timeout", "run timeout"), ("idle", "idle_timeout", "no progress"), ("step", "limit", "superstep"),
     ("total", "limit", "whole run")],
)  # fmt: skip
def test_timeouts_say_node_limit_and_time(kind, limit, says):
    error = NodeTimeoutError("slow", 2.5, kind=kind, **{limit: 2.0})
    assert (error.node, error.kind, error.timeout, error.elapsed) == ("slow", kind, 2.0, 2.5)
    for part in ("'slow'", "2.000s", "2.500s", says):
        assert part in str(error)
    assert default_retry_on(error)
    with pytest.raises(ValueError, match=f"{limit} is required"):
        NodeTimeoutError("slow", 2.5, kind=kind)


def test_an_unknown_kind_of_timeout_is_refused():
    with pytest.raises(ValueError, match="'other'"):
        NodeTimeoutError("slow", 1.0, kind="other", run_timeout=1.0)


def test_refused_resumes_are_runtime_errors():
    error = UnknownInterruptError("no", reason="not_pending", interrupt_ids=["a"], pending_ids=["b"])
    assert isinstance(error, RuntimeError)
    assert (error.reason, error.interrupt_ids, error.pending_ids) == ("not_pending", ("a",), ("b",))
    moved = MisalignedResumeError("ask", 1, "name?", "age?")
    assert isinstance(moved, RuntimeError)
    for part in ("'ask'", "question 2", "'name?'", "'age?'"):
        assert part in str(moved)


def test_an_invalid_answer_is_told_from_other_validation_errors():
    def refused():
        with pytest.raises(pydantic.ValidationError) as caught:
            pydantic.TypeAdapter(int).validate_python("x")
        return caught.value

    answer, other = refused(), refused()
    mark_invalid_resume(answer)
    assert is_invalid_resume(answer)
    assert not is_invalid_resume(other)


def test_messages_carry_their_code():
    text = create_error_message(message="two writers", error_code=ErrorCode.INVALID_CONCURRENT_GRAPH_UPDATE)
    assert text.startswith("two writers")
    assert "INVALID_CONCURRENT_GRAPH_UPDATE" in text


def test_a_cancelled_node_is_named():
    assert "'a'" in str(NodeCancelledError("a"))
    assert str(NodeCancelledError("a", "own words")) == "own words"


def test_every_public_name_of_errors_is_there():
    assert all(hasattr(errors, name) for name in errors.__all__)


@pytest.mark.parametrize(
    ("kind", "since", "removal"),
    [(DeprecatedSince05, "0.5", "2.0"), (DeprecatedSince10, "1.0", "2.0"), (DeprecatedSince11, "1.1", "3.0")],
)
def test_warnings_say_since_when_and_until_when(kind, since, removal):
    warning = kind("`old` is deprecated, use `new`.")
    assert isinstance(warning, DeprecationWarning)
    assert str(warning) == f"`old` is deprecated, use `new`. (Deprecated since API {since}, goes away in {removal}.)"
    assert GraphDeprecationWarning("x", since=(3, 1)).expected_removal == (4, 0)


@pytest.mark.parametrize("name", ["Send", "Interrupt"])
def test_types_are_found_in_constants_with_a_warning(name):
    with pytest.warns(DeprecatedSince10, match=r"runtime\.types"):
        found = getattr(constants, name)
    assert found is getattr(importlib.import_module("runtime.types"), name)


def test_private_constants_are_found_in_constants_with_a_warning():
    with pytest.warns(DeprecatedSince10, match="PREVIOUS is private"):
        assert constants.PREVIOUS == _constants.PREVIOUS
    with pytest.raises(AttributeError, match="NO_SUCH"):
        constants.NO_SUCH  # noqa: B018 - reading it is the test
    with pytest.raises(AttributeError):
        constants.annotations  # noqa: B018


@pytest.mark.parametrize(
    "error",
    [
        GraphDrained("why"),
        ParentCommand(Command(goto="a")),
        GraphInterrupt((Interrupt("q", "1"),)),
        UnknownInterruptError("no", reason="ambiguous", pending_ids=["b"]),
        MisalignedResumeError("ask", 1, "name?", "age?"),
        NodeTimeoutError("slow", 2.5, kind="step", limit=2.0),
        NodeCancelledError("a"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (again.args, vars(again)) == (error.args, vars(error))
