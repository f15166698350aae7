"""What a pattern of masked keys names, and that no kind of value shows a masked part."""

import json
from collections import deque

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from debugger_ui.session.diff import equal
from debugger_ui.session.masks import Masks, matcher, pattern_for
from debugger_ui.session.problems import SessionError
from debugger_ui.session.render import FULL, view
from debugger_ui.session.shape import Masked
from tests.kit.secrets import OTHER, SECRET, Account, Safe, Vault, told
from tests.session.conftest import PATIENT


@pytest.mark.parametrize("pattern", ["", "  ", ".", "*", "**", "x" * 500])
def test_a_pattern_that_names_nothing_is_refused(pattern):
    with pytest.raises(SessionError, match="Name the key to mask"):
        Masks([pattern])


@pytest.mark.parametrize(
    ("pattern", "masked", "shown"),
    [
        ("api_key", ["api_key", "user.api_key", "users.0.api_key"], ["api_keys", "api_key.x", "my_api_key"]),
        ("*_key", ["api_key", "user.some_key"], ["key", "keys.x"]),
        ("user.token", ["user.token", "state.user.token"], ["user.name", "token", "user.x.token"]),
        ("messages.*.content", ["messages.3.content", "messages.content"], ["messages.3.id", "content"]),
        ("user.*", ["user.name", "user.a.b"], ["user", "other.name"]),
        ("*.token", ["token", "a.token", "a.b.token"], ["tokens"]),
        ("a.b", ["a.b"], ["a", "ab", "a-b"]),
        ("k?y", ["key"], ["ky"]),
    ],
)
def test_a_pattern_masks_what_it_names(pattern, masked, shown):
    hides = matcher((pattern,))
    assert [path for path in masked if not hides(path)] == []
    assert [path for path in shown if hides(path)] == []


@PATIENT
@given(st.text(alphabet=st.sampled_from("ab*?[].()\\ $^|\n"), min_size=1).filter(lambda key: key.strip(".*")))
def test_a_key_of_any_characters_can_be_masked(key):
    masks = Masks([pattern_for(key)])
    assert masks.hides((key,))
    assert not masks.hides((f"{key}x",))


# --- what can be looked into ----------------------------------------------------------------------


def loop():
    found = [SECRET]
    found.append(found)
    return found


def deep():
    found = {"token": SECRET}
    for _ in range(3_000):
        found = [found]
    return found


@pytest.mark.parametrize(
    "value",
    [
        {"token": SECRET, 7: "seven"},
        [("x", {"token": SECRET})],
        deque([{"token": SECRET}], 5),
        Account("Ada", SECRET),
        Vault(token=SECRET),
        Safe(SECRET),
        [Safe(SECRET)],
        {frozenset([1]): {"token": [SECRET]}},
        AIMessage("x", tool_calls=[{"name": "f", "args": {"token": SECRET}, "id": "1"}]),
        HumanMessage("x", additional_kwargs={"token": SECRET}),
        pd.DataFrame({"token": [SECRET], "n": [1]}),
        json.dumps({"a": [{"token": SECRET}]}),
        {"token": loop()},
        deep(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_kind_of_value_shows_a_masked_part(value):
    veil = Masks(["token"]).veil(("key",), value)
    assert SECRET not in "".join(told(view(veil.shown, FULL)))
    assert SECRET not in repr(view(veil.shown, FULL))
    assert veil.real(veil.shown) is value


def test_what_has_no_masked_part_is_the_very_object():
    value = {"a": [Account("Ada", ""), loop(), {"token": None}], "b": pd.DataFrame({"n": [1]})}
    assert Masks(["nothing"]).apply(("key",), value["b"]) is value["b"]
    assert Masks(["token"]).apply(("key",), [{"token": None}, "x", Account("Ada", "")])[0] == {"token": None}
    plain = [{"a": 1}, ("x", {1, 2}), HumanMessage("hi")]
    assert Masks(["token"]).apply(("key",), plain) is plain


def test_masked_values_are_compared_and_never_stored():
    one, same, other = Masked([1, SECRET]), Masked([1, SECRET]), Masked([1, OTHER])
    assert equal(one, same)
    assert not equal(one, other)
    with pytest.raises(TypeError, match="not stored"):
        one.__reduce__()
