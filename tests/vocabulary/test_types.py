"""What nodes return and callers send."""

import copy
import pickle
import typing
from dataclasses import dataclass
from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

import runtime.types
from runtime._typing import MISSING
from runtime.types import (
    Command,
    GraphOutput,
    Interrupt,
    Overwrite,
    PregelTask,
    RetryPolicy,
    Send,
    StateSnapshot,
    TimeoutPolicy,
    default_retry_on,
    ensure_valid_checkpointer,
    interrupt,
    interrupt_id,
)
from runtime.warnings import DeprecatedSince10, DeprecatedSince11


def test_sends_are_equal_by_what_they_say():
    assert Send("a", {"x": [1]}) == Send("a", {"x": [1]})
    assert Send("a", 1) != Send("a", 2)
    assert Send("a", 1) != Send("a", 1, timeout=3)
    assert Send("a", 1) != ("a", 1)
    assert {Send("a", (1,)), Send("a", (1,))} == {Send("a", (1,))}


def test_send_takes_a_timeout_in_any_form():
    assert Send("a", 1, timeout=timedelta(seconds=2)).timeout == TimeoutPolicy(run_timeout=2.0)
    assert repr(Send("a", 1)) == "Send(node='a', arg=1)"
    assert "run_timeout=2.0" in repr(Send("a", 1, timeout=2))


class Model(BaseModel):
    x: int = 0
    y: str | None = None


class Base:
    x: int


class Derived(Base):
    y: str


@dataclass
class Data:
    x: int
    y: str | None = None


def derived():
    value = Derived()
    value.x, value.y = 1, "a"
    return value


@pytest.mark.parametrize(
    ("update", "pairs"),
    [
        (None, []),
        ({"x": 1, "y": None}, [("x", 1), ("y", None)]),
        ([("x", 1), ("x", 2)], [("x", 1), ("x", 2)]),
        ((("x", 1),), [("x", 1)]),
        ([], []),
        (Model(x=1), [("x", 1)]),
        (Model(), [("x", 0)]),
        (Model(x=1, y=None), [("x", 1), ("y", None)]),
        (Data(1), [("x", 1), ("y", None)]),
        (derived(), [("x", 1), ("y", "a")]),
        (Derived(), []),
        (5, [("__root__", 5)]),
        ("text", [("__root__", "text")]),
        ([1, 2], [("__root__", [1, 2])]),
    ],
)
def test_an_update_in_any_form_is_pairs(update, pairs):
    assert Command(update=update).update_pairs() == pairs


def test_a_command_shows_what_was_given():
    assert repr(Command()) == "Command()"
    assert repr(Command(goto="a", resume=False)) == "Command(resume=False, goto='a')"
    assert Command.PARENT == "__parent__"
    with pytest.raises(AttributeError):
        Command().goto = "a"


def test_interrupt_ids_follow_namespace_and_answers():
    first = interrupt_id("node:1234", 0)
    assert len(first) == 32
    assert int(first, 16)
    assert len({first, interrupt_id("node:1234", 1), interrupt_id("node:1234", 2), interrupt_id("node:5", 0)}) == 4
    assert Interrupt.from_ns("why?", "node:1234", response_schema={"type": "string"}) == Interrupt(
        "why?", first, response_schema={"type": "string"}
    )


def test_an_interrupt_in_its_older_form_is_read():
    stored = Interrupt("why?", ns=["node:1234", "inner:5"], when="during", resumable=True)
    assert stored == Interrupt.from_ns("why?", "node:1234|inner:5")
    assert Interrupt("why?", "abc", ns=["node:1234"]).id == "abc"
    with pytest.raises(TypeError, match="whem"):
        Interrupt("why?", whem="during")
    with pytest.warns(DeprecatedSince10, match="read `id`"):
        assert stored.interrupt_id == stored.id


def test_interrupt_outside_a_node_says_so():
    with pytest.raises(RuntimeError, match="outside a running node"):
        interrupt("why?")


def test_overwrite_keeps_its_mark_through_a_plain_form():
    assert Overwrite([1]).type == "__overwrite__"
    assert Overwrite([1]) == Overwrite([1])


@pytest.mark.parametrize("value", [None, True, False, InMemorySaver()])
def test_checkpointers_that_are_taken(value):
    assert ensure_valid_checkpointer(value) is value


@pytest.mark.parametrize("value", [InMemorySaver, 1, 0, "memory"])
def test_checkpointers_that_are_refused(value):
    with pytest.raises(TypeError, match="Invalid checkpointer"):
        ensure_valid_checkpointer(value)


def test_graph_output_is_read_by_key_with_a_warning():
    output = GraphOutput({"x": 1}, (Interrupt("q", "id"),))
    with pytest.warns(DeprecatedSince11, match=r"result\.value"):
        assert output["x"] == 1
    with pytest.warns(DeprecatedSince11):
        assert output["__interrupt__"] == output.interrupts
    with pytest.warns(DeprecatedSince11, match=r"result\.interrupts"):
        assert "x" in output
    with pytest.warns(DeprecatedSince11):
        assert "__interrupt__" in output
    with pytest.warns(DeprecatedSince11):
        assert "x" in GraphOutput(Data(1))
    with pytest.warns(DeprecatedSince11):
        assert GraphOutput(Data(1))["x"] == 1
    with pytest.warns(DeprecatedSince11), pytest.raises(KeyError):
        GraphOutput(Data(1))["z"]


@pytest.mark.parametrize(
    "value",
    [
        Send("a", {"x": 1}, timeout=2),
        Command(goto=[Send("a", 1)], update={"x": 1}),
        Interrupt("q", "id", response_schema={"type": "string"}),
        Overwrite([1]),
        TimeoutPolicy(per_step=2, max_execution=timedelta(minutes=1), refresh_on="heartbeat"),
        RetryPolicy(max_attempts=2),
        PregelTask("id", "a", ("__pregel_pull", "a")),
        StateSnapshot({"x": 1}, ("a",), {}, None, None, None, (), ()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_vocabulary_survives_copies_and_pickles_under_its_public_name(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert type(value).__module__ == "runtime.types"
    assert getattr(runtime.types, type(value).__name__) is type(value)


def test_every_public_name_is_there_and_its_hints_resolve():
    for name in runtime.types.__all__:
        value = getattr(runtime.types, name)
        if isinstance(value, type):
            typing.get_type_hints(value)


def test_missing_is_one_object():
    assert copy.deepcopy(MISSING) is copy.copy(MISSING) is pickle.loads(pickle.dumps(MISSING)) is MISSING


# --- policies ------------------------------------------------------------------------------------


def test_timeouts_are_coerced_to_positive_seconds():
    assert TimeoutPolicy.coerce(None) is None
    assert TimeoutPolicy.coerce(TimeoutPolicy()) is None
    assert TimeoutPolicy.coerce(3).per_attempt == 3.0
    policy = TimeoutPolicy.coerce(
        TimeoutPolicy(per_attempt=timedelta(minutes=1), per_step=90, max_execution=timedelta(hours=1), idle_timeout=5)
    )
    assert (policy.run_timeout, policy.per_step, policy.max_execution, policy.idle_timeout) == (60, 90, 3600, 5)
    assert TimeoutPolicy.coerce(policy) is policy
    assert TimeoutPolicy.coerce(TimeoutPolicy(idle_timeout=1, refresh_on="heartbeat")).refresh_on == "heartbeat"


def test_per_attempt_and_run_timeout_are_one_limit():
    assert TimeoutPolicy(per_attempt=2) == TimeoutPolicy(run_timeout=2)
    assert TimeoutPolicy(per_attempt=2, run_timeout=2).per_attempt == 2
    with pytest.raises(ValueError, match="per_attempt=1 and run_timeout=2"):
        TimeoutPolicy(per_attempt=1, run_timeout=2)


@pytest.mark.parametrize("field", ["run_timeout", "per_step", "max_execution", "idle_timeout"])
@pytest.mark.parametrize("value", [0, -1, timedelta(0), float("nan")])
def test_senseless_timeouts_are_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"{field} must be greater than 0"):
        TimeoutPolicy.coerce(TimeoutPolicy(**{field: value}))


def test_an_unknown_refresh_is_refused():
    with pytest.raises(ValueError, match="'often'"):
        TimeoutPolicy.coerce(TimeoutPolicy(idle_timeout=1, refresh_on="often"))


def http_error(status):
    import httpx

    request = httpx.Request("GET", "http://example.invalid")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(status, request=request))


@pytest.mark.parametrize("error", [ConnectionError(), ConnectionResetError(), Exception(), http_error(503)])
def test_transient_errors_are_retried(error):
    assert default_retry_on(error)


@pytest.mark.parametrize(
    "error",
    [ValueError(), TypeError(), KeyError(), RuntimeError(), OSError(), TimeoutError(), SyntaxError(), http_error(404)],
)
def test_permanent_errors_are_not_retried(error):
    assert not default_retry_on(error)
