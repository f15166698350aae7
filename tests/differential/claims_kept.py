"""What docs/differences.md claims about storage, and of what is the same on purpose (see `claims`)."""

from tests.differential.claims import Raised, at, beside, chain, claim, logs, same, seen

# --- storage ----------------------------------------------------------------------------------------------


@claim("Values come back as they were.", [True, True], [False, Raised("TypeError")])
def values(lib):
    def kept(value):
        graph = chain(lib, a=lambda state: {"value": value})
        graph.invoke({"log": []}, at())
        return graph.get_state(at()).values["value"] == value

    return [seen(lambda _, value=value: kept(value), lib) for value in ([(1, 2)], 2**70)]


# --- choices that are the same ----------------------------------------------------------------------------


@same("A join of single edges runs once for each arrival.", ["a", "b", "c", "end", "end"])
def arrivals(lib):
    made = beside(lib, a=logs("a"), b=logs("b"))
    made.add_node("c", logs("c"))
    made.add_node("end", logs("end"))
    for source, target in (("b", "c"), ("a", "end"), ("c", "end")):
        made.add_edge(source, target)
    return made.compile().invoke({"log": []})["log"]


@same("A goto beside a static edge runs both.", ["a", "b", "c"])
def goto_and_edge(lib):
    made = beside(lib, a=lambda state: lib.Command(goto="b", update={"log": ["a"]}))
    made.add_node("b", logs("b"))
    made.add_node("c", logs("c"))
    made.add_edge("a", "c")
    return made.compile().invoke({"log": []})["log"]


@same("Several questions side by side need answers by id.", True)
def several_questions(lib):
    graph = beside(lib, a=lambda state: lib.interrupt("a"), b=lambda state: lib.interrupt("b"))
    graph = graph.compile(checkpointer=lib.InMemorySaver())
    graph.invoke({"log": []}, at())
    try:
        graph.invoke(lib.Command(resume="which?"), at())
    except RuntimeError:
        return True
    return False


@same("An empty dict is an input.", ["a", "a"])
def empty_input(lib):
    graph = chain(lib, a=logs("a"))
    graph.invoke({"log": []}, at())
    return graph.invoke({}, at())["log"]
