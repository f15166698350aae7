"""One rule for what is shown as an escape, in Python and in the browser."""

import json

from debugger_ui.session.text import literal


def test_the_browser_shows_as_escapes_what_python_does(demo, desk_at):
    samples = [
        "plain, \u05d0\u05d1\u05d2, \u6f22\u5b57, \U0001f600, e\u0301, a\tb\nc",
        "\u202ereversed\u202c zero\u200bwidth soft\u00adhyphen \x1b[31m nul \x00 \ufeff",
        "lines \u2028 \u2029, tags \U000e0041, private \ue000, half \ud800, none \uffff",
        "e" + "\u0301" * 1_000 + " o\u0308" * 10,
    ]
    desk = desk_at(demo)
    desk.open(thread="research-finished")
    shown = desk.page.evaluate(
        """async samples => {
          const url = performance.getEntriesByType('resource').map(e => e.name).find(name => name.endsWith('/dom.js'))
          const { plain } = await import(url)
          return JSON.parse(samples).map(plain)
        }""",
        json.dumps(samples),
    )
    assert shown == [literal(text, lines=True) for text in samples]
