import operator

import pytest

from runtime.channels import BinaryOperatorAggregate, EphemeralValue, LastValue
from runtime.pregel import NodeBuilder, Pregel
from runtime.pregel.node_builder import PASSTHROUGH, ChannelWriteEntry
from runtime.types import CachePolicy, RetryPolicy, TimeoutPolicy


def graph_of(channels=("input", "output"), **nodes):
    return Pregel(
        nodes=nodes,
        channels={name: LastValue(int) for name in channels},
        input_channels="input",
        output_channels=[name for name in channels if name != "input"],
    )


def test_a_node_is_given_the_bare_value_of_the_only_channel(run):
    node = NodeBuilder().subscribe_only("input").do(lambda value: value + 1).write_to("output")
    assert run(graph_of(node=node), 1) == {"output": 2}


def test_several_functions_run_in_a_row(run):
    node = NodeBuilder().subscribe_only("input").do(str).do(lambda text: text * 3).do(int).write_to("output")
    assert run(graph_of(node=node), 4) == {"output": 444}


def test_without_a_function_a_node_hands_on_what_it_reads(run):
    assert run(graph_of(node=NodeBuilder().subscribe_only("input").write_to("output")), 4) == {"output": 4}


def test_names_values_functions_and_entries_may_be_written(run):
    node = (
        NodeBuilder()
        .subscribe_only("input")
        .do(lambda value: value + 1)
        .write_to(
            "same",
            ChannelWriteEntry("entry", PASSTHROUGH, mapper=lambda value: value * 100),
            ChannelWriteEntry("left_out", None, skip_none=True),
            fixed=7,
            doubled=lambda value: value * 2,
        )
    )
    channels = ("input", "same", "entry", "left_out", "fixed", "doubled")
    assert run(graph_of(channels, node=node), 1) == {"same": 2, "entry": 200, "fixed": 7, "doubled": 4}


def test_a_none_is_written_unless_it_is_to_be_left_out():
    node = NodeBuilder().subscribe_only("a").write_to("b", ChannelWriteEntry("c", skip_none=True)).build()
    assert node.outputs(None) == [("b", None)]
    assert node.outputs(0) == [("b", 0), ("c", 0)]
    assert node.outputs.channels == ("b", "c")


def test_a_node_reads_several_channels_as_a_dict(run):
    seen = []
    first = NodeBuilder().subscribe_only("input").write_to("one", two=5)
    second = (
        NodeBuilder()
        .subscribe_to("one")
        .read_from("two")
        .do(lambda values: seen.append(values) or sum(values.values()))
        .write_to("output")
    )
    assert run(graph_of(("input", "one", "two", "output"), first=first, second=second), 1)["output"] == 6
    assert seen == [{"one": 1, "two": 5}]


def test_a_channel_may_wake_a_node_without_being_read():
    node = NodeBuilder().subscribe_to("a", "b").subscribe_to("c", read=False).read_from("d").build()
    assert node.triggers == ("a", "b", "c")
    assert node.channels == ("a", "b", "d")


def test_a_node_that_is_given_a_bare_value_cannot_read_more():
    builder = NodeBuilder().subscribe_only("a")
    for refused in (
        lambda: builder.subscribe_to("b"),
        lambda: builder.subscribe_to("b", read=False),
        lambda: builder.read_from("b"),
        lambda: builder.subscribe_only("b"),
        lambda: NodeBuilder().subscribe_to("a").subscribe_only("b"),
    ):
        with pytest.raises(ValueError, match="only"):
            refused()


def test_what_cannot_be_run_is_refused():
    with pytest.raises(TypeError, match="has to be a function"):
        NodeBuilder().do(7)


def test_policies_tags_and_metadata():
    retry, cache = RetryPolicy(max_attempts=4), CachePolicy(ttl=3)
    node = (
        NodeBuilder()
        .meta("tag", "other", owner="me")
        .add_retry_policies(retry, RetryPolicy())
        .add_cache_policy(cache)
        .set_timeout(2)
        .build()
    )
    assert node.tags == ("tag", "other")
    assert node.metadata == {"owner": "me"}
    assert node.retry_policy == (retry, RetryPolicy())
    assert node.cache_policy is cache
    assert node.timeout == TimeoutPolicy(run_timeout=2.0)
    with pytest.raises(ValueError, match="greater than 0"):
        NodeBuilder().set_timeout(0)


def test_a_built_node_does_not_change_with_its_builder():
    builder = NodeBuilder().subscribe_to("a").write_to("b")
    before = builder.build()
    builder.subscribe_to("c").write_to("d").meta("tag", key=1)
    assert before.triggers == before.channels == ("a",)
    assert before.outputs.channels == ("b",)
    assert before.tags == ()
    assert before.metadata == {}


def test_nodes_fan_out_and_fold(run):
    channels = {
        "input": EphemeralValue(int),
        "sum": BinaryOperatorAggregate(int, operator.add),
    }
    nodes = {
        f"n{k}": NodeBuilder().subscribe_only("input").do(lambda value, k=k: value * k).write_to("sum")
        for k in (1, 2, 3)
    }
    graph = Pregel(nodes=nodes, channels=channels, input_channels="input", output_channels="sum")
    assert run(graph, 10) == 60
