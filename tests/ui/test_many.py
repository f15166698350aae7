"""Many tasks in one superstep: who needs somebody comes first, and the others a page at a time."""

from streamlit.testing.v1 import AppTest


def listed():
    """Draw the names of some of the tasks, and a button for what is clicked below them."""
    import streamlit as st

    from debugger_ui.panels import many
    from debugger_ui.session.views import TaskView

    number = st.number_input("tasks", value=100)
    statuses = {7: "failed", 30: "interrupted", 70: "to run", 71: "supplied"}
    found = [TaskView(str(at), f"work {at}", "", statuses.get(at, "saved"), (), None, ()) for at in range(int(number))]
    some, more = many.page(found, "list")
    st.text(" ".join(task.id for task in some))
    st.text(more[0]["items"][0]["text"] if more else "")
    st.button("more", on_click=many.pick, args=({"act": "more", "value": "list"},))


def shown(page):
    names, left = [text.value for text in page.text]
    return names.split(), left


def test_the_ones_that_need_somebody_come_first_and_the_rest_on_request():
    page = AppTest.from_function(listed).run()
    names, left = shown(page)
    assert names[:5] == ["7", "30", "70", "71", "0"]
    assert (len(names), left) == (40, "60 more")
    page.button[0].click().run()
    page.button[0].click().run()
    names, left = shown(page)
    assert (len(names), len(set(names)), left) == (100, 100, "")


def test_a_handful_stands_in_the_order_of_the_superstep():
    page = AppTest.from_function(listed).run()
    page.number_input[0].set_value(40).run()
    assert shown(page) == ([str(at) for at in range(40)], "")
