import operator
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Generic, NotRequired, Required, TypedDict, TypeVar

import pytest
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict as ExtendedTypedDict

from runtime.channels import (
    AnyValue,
    BinaryOperatorAggregate,
    DeltaChannel,
    EphemeralValue,
    LastValue,
    Topic,
    UntrackedValue,
)
from runtime.errors import EmptyChannelError, InvalidUpdateError
from runtime.graph import END, START, StateGraph
from runtime.managed import IsLastStep, RemainingSteps
from runtime.warnings import DeprecatedSince10

T = TypeVar("T")


def keep_longest(one, other):
    return max(one, other, key=len)


def echo(schema, node=lambda state: None, **options):
    """A graph of one node that calls `node`."""
    builder = StateGraph(schema, **options)
    builder.add_node("a", node)
    builder.add_edge(START, "a")
    return builder.compile()


# --- channels -----------------------------------------------------------------------------------


class Every(TypedDict, total=False):
    plain: int
    required: Required[int]
    not_required: NotRequired[str]
    described: Annotated[int, "what it is"]
    added: Annotated[list[int], operator.add]
    added_if_required: Required[Annotated[list, operator.add]]
    added_if_there: Annotated[NotRequired[Sequence[int]], operator.add]
    longest: Annotated[str, "described", keep_longest]
    highest: Annotated[int, max]
    topic: Annotated[list[int], Topic(int, accumulate=True)]
    once: Annotated[int, EphemeralValue]
    once_if_there: NotRequired[Annotated[int, EphemeralValue]]
    any: Annotated[Required[int], AnyValue]
    unsaved: Annotated[object, UntrackedValue]
    delta: Annotated[list[int], DeltaChannel(lambda value, writes: value + writes)]
    last: IsLastStep
    left: NotRequired[RemainingSteps]


def test_the_channel_of_a_key_follows_its_annotation():
    builder = StateGraph(Every)
    kinds = {key: type(channel) for key, channel in builder.channels.items()}
    assert kinds == {
        "plain": LastValue,
        "required": LastValue,
        "not_required": LastValue,
        "described": LastValue,
        "added": BinaryOperatorAggregate,
        "added_if_required": BinaryOperatorAggregate,
        "added_if_there": BinaryOperatorAggregate,
        "longest": BinaryOperatorAggregate,
        "highest": BinaryOperatorAggregate,
        "topic": Topic,
        "once": EphemeralValue,
        "once_if_there": EphemeralValue,
        "any": AnyValue,
        "unsaved": UntrackedValue,
        "delta": DeltaChannel,
    }
    assert set(builder.managed) == {"last", "left"}
    assert all(channel.key == key for key, channel in builder.channels.items())
    assert builder.channels["topic"].accumulate
    assert builder.channels["once"].typ is int


def test_reducers_start_from_what_their_type_makes():
    channels = StateGraph(Every).channels
    assert [channels[key].get() for key in ("added", "added_if_required", "added_if_there", "longest", "highest")] == [
        [],
        [],
        [],
        "",
        0,
    ]
    with pytest.raises(EmptyChannelError):
        channels["plain"].get()


def test_a_channel_in_an_annotation_is_not_shared_between_graphs():
    given = Topic(int)
    Shared = TypedDict("Shared", {"one": Annotated[list, given]})  # noqa: UP013 - `given` is a value
    first, second = StateGraph(Shared), StateGraph(Shared)
    assert first.channels["one"] is not second.channels["one"]
    assert given.key == ""


def test_a_custom_channel(run):
    class Sum(LastValue):
        def update(self, values):
            return super().update([sum(values)]) if values else False

    class State(TypedDict):
        total: Annotated[int, Sum]

    builder = StateGraph(State)
    for name in "abc":
        builder.add_node(name, lambda state: {"total": 2})
        builder.add_edge(START, name)
    assert run(builder.compile(), {"total": 1}) == {"total": 6}


@pytest.mark.parametrize(
    "reducer", [lambda one: one, lambda: 1, lambda one, other, third: one, lambda *both: both], ids=["1", "0", "3", "*"]
)
def test_a_callable_that_cannot_be_a_reducer_is_refused_at_once(reducer):
    State = TypedDict("State", {"x": Annotated[int, reducer]})  # noqa: UP013 - `reducer` is a value
    with pytest.raises(ValueError, match=r"Invalid reducer signature.*\(a, b\) -> c"):
        StateGraph(State)


def test_annotations_that_do_not_resolve_are_refused_with_the_class():
    module = types.ModuleType("elsewhere")
    code = "from __future__ import annotations\nfrom typing import TypedDict\nclass State(TypedDict):\n    x: Missing\n"
    sys.modules["elsewhere"] = module
    try:
        exec(code, module.__dict__)
        with pytest.raises(NameError) as caught:
            StateGraph(module.State)
    finally:
        del sys.modules["elsewhere"]
    assert "Missing" in str(caught.value)
    assert "annotations of State" in caught.value.__notes__[0]


def test_a_value_in_place_of_a_schema_is_warned_of():
    with pytest.warns(UserWarning, match="should be a type"):
        StateGraph(3)


# --- what nodes are given -------------------------------------------------------------------------


class Model(BaseModel):
    kind: ClassVar[str] = "model"
    x: int
    log: Annotated[list[str], operator.add] = Field(default_factory=list)
    name: str = "nobody"
    _private: int = 0


@dataclass
class Data:
    x: int
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    name: str = "nobody"
    kind: ClassVar[str] = "data"


class Dict(TypedDict, total=False):
    x: int
    log: Annotated[list[str], operator.add]
    name: str


@pytest.mark.parametrize("schema", [Model, Data])
@pytest.mark.parametrize("as_instance", [False, True])
def test_nodes_are_given_an_instance_with_its_defaults(run, schema, as_instance):
    seen = []

    def node(state):
        seen.append(state)
        return {"x": state.x + 1, "log": ["a"]}

    out = run(echo(schema, node), schema(x=1) if as_instance else {"x": 1})
    assert isinstance(seen[0], schema)
    assert (seen[0].x, seen[0].log, seen[0].name) == (1, [], "nobody")
    assert out["x"] == 2
    assert out["log"] == ["a"]
    assert set(echo(schema).builder.channels) == {"x", "log", "name"}


def test_nodes_are_given_a_dict_of_the_keys_that_have_a_value(run):
    seen = []
    run(echo(Dict, lambda state: seen.append(state)), {"x": 1})
    assert seen == [{"x": 1, "log": []}]


def test_a_pydantic_state_converts_what_a_node_reads(run):
    seen = []
    run(echo(Model, lambda state: seen.append(state.x)), {"x": "7"})
    assert seen == [7]


def test_a_value_that_does_not_validate_names_the_node(run):
    with pytest.raises(ValidationError) as caught:
        run(echo(Model), {"x": "seven"})
    assert any("node 'a'" in note for note in caught.value.__notes__)


def test_a_node_reads_its_own_schema_only(run):
    seen = []

    class Part(TypedDict):
        name: str

    def annotated(state: Part):
        seen.append(state)

    builder = StateGraph(Dict)
    builder.add_node("annotated", annotated)
    builder.add_node("said", lambda state: seen.append(state), input_schema=Model)
    builder.add_edge(START, "annotated").add_edge("annotated", "said")
    graph = builder.compile()
    run(graph, {"x": 1, "name": "Ada"})
    assert seen == [{"name": "Ada"}, Model(x=1, name="Ada")]
    assert graph.nodes["annotated"].channels == ("name",)
    assert graph.schema_to_mapper[Part] is None


def test_a_private_key_passes_from_node_to_node_and_not_out(run):
    class Private(TypedDict):
        secret: str

    def second(state: Private):
        return {"log": [state["secret"]]}

    builder = StateGraph(Dict, output_schema=Dict)
    builder.add_node("first", lambda state: {"secret": "s"})
    builder.add_node("second", second)
    builder.add_edge(START, "first").add_edge("first", "second")
    assert run(builder.compile(), {"x": 1}) == {"x": 1, "log": ["s"]}


def test_input_and_output_schemas_limit_what_goes_in_and_out(run):
    class Into(TypedDict):
        x: int

    class Out(TypedDict):
        log: list[str]

    seen = []

    def node(state):
        seen.append(state)
        return {"log": ["a"]}

    graph = echo(Dict, node, input_schema=Into, output_schema=Out)
    assert run(graph, {"x": 1, "name": "dropped"}) == {"log": ["a"]}
    assert seen == [{"x": 1, "log": []}]


def test_an_input_schema_may_have_keys_of_its_own(run):
    class Into(TypedDict):
        question: str

    def node(state: Into):
        return {"name": state["question"]}

    assert run(echo(Dict, node, input_schema=Into), {"question": "q"})["name"] == "q"


def test_managed_values_are_given_and_never_part_of_the_output(run):
    class Timed(TypedDict):
        x: int
        left: RemainingSteps

    seen = []
    out = run(echo(Timed, lambda state: seen.append(state["left"])), {"x": 1}, {"recursion_limit": 5})
    assert out == {"x": 1}
    assert len(seen) == 1
    assert 0 < seen[0] <= 5


def test_a_generic_state(run):
    class Box(TypedDict, Generic[T], total=False):
        item: T

    @dataclass
    class Pair(Generic[T]):
        one: T
        other: T | None = None

    assert run(echo(Box[int], lambda state: {"item": state["item"] + 1}), {"item": 1}) == {"item": 2}
    assert run(echo(Pair[int], lambda state: {"other": state.one}), {"one": 1}) == {"one": 1, "other": 1}


def test_a_retyped_key_keeps_the_reducer_of_the_state(run):
    class Plain(TypedDict):
        log: list[str]

    graph = echo(Dict, lambda state: {"log": ["a"]}, input_schema=Plain, output_schema=Plain)
    assert run(graph, {"log": ["in"]}) == {"log": ["in", "a"]}


def test_two_writes_to_a_key_without_a_reducer_are_refused(run):
    builder = StateGraph(Dict)
    for name in "ab":
        builder.add_node(name, lambda state: {"x": 1})
        builder.add_edge(START, name)
    with pytest.raises(InvalidUpdateError, match="At key 'x'"):
        run(builder.compile(), {})


# --- what a graph says of itself -------------------------------------------------------------------


class Typed(ExtendedTypedDict, total=False):
    x: Required[int]
    log: Annotated[list[str], operator.add]


@pytest.mark.parametrize("schema", [Typed, Data, Model, Dict])
def test_input_and_output_as_json_schemas(schema):
    graph = echo(schema)
    for found in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert found["type"] == "object"
        assert found["properties"]["x"]["type"] == "integer"
        assert found["properties"]["log"]["items"] == {"type": "string"}
        assert found.get("required", []) == ([] if schema is Dict else ["x"])


def test_json_schemas_of_input_and_output_schemas():
    class Into(ExtendedTypedDict):
        x: int

    graph = echo(Typed, input_schema=Into, output_schema=Data)
    assert set(graph.get_input_jsonschema()["properties"]) == {"x"}
    assert graph.get_input_jsonschema()["title"] == "Into"
    assert graph.get_output_jsonschema()["title"] == "LangGraphOutput"


def test_the_json_schema_of_a_state_without_keys():
    assert echo(list[int]).get_input_jsonschema() == {
        "items": {"type": "integer"},
        "title": "LangGraphInput",
        "type": "array",
    }


def test_the_schemas_as_pydantic_models():
    graph = echo(Data)
    assert graph.get_input_schema().model_validate({"x": 1}).x == 1
    assert echo(Model).get_output_schema() is Model
    with pytest.raises(ValidationError):
        graph.get_input_schema().model_validate({})


def test_a_context_schema_as_a_json_schema():
    class Context(ExtendedTypedDict):
        user: str

    builder = StateGraph(Dict, Context)
    builder.add_node("a", lambda state: None)
    builder.add_edge(START, "a")
    graph = builder.compile()
    assert graph.get_context_jsonschema()["required"] == ["user"]
    assert echo(Dict).get_context_jsonschema() is None


def test_the_schemas_as_types():
    assert echo(Dict).InputType is Dict
    assert echo(Dict, output_schema=Data).OutputType is Data


def test_the_config_schema_is_deprecated_and_shows_the_context():
    class Context(ExtendedTypedDict):
        user: str

    graph = StateGraph(Dict, Context).add_node("a", lambda state: None).add_edge(START, "a").compile()
    with pytest.warns(DeprecatedSince10, match="get_context_jsonschema"):
        found = graph.get_config_jsonschema(include=["tags"])
    assert set(found["properties"]) == {"tags", "configurable"}
    with pytest.warns(DeprecatedSince10, match="get_context_jsonschema"):
        assert "configurable" in graph.config_schema().model_fields


def test_end_is_a_target_and_no_key():
    with pytest.raises(ValueError, match="'__start__', which is a reserved name"):
        echo(TypedDict("Odd", {START: int, "x": int}))
    assert END not in echo(Dict).channels
