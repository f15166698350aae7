"""What the page sent to its components in an AppTest, and how to let its runs end."""

import hashlib
import json


def sent(page, name, key=None):
    """What Python sent to a component: the first of that name, or the one with the key."""
    for element in page.get("bidi_component"):
        if element.proto.component_name == f"forkpoint.{name}" and (key is None or f"-{key}" in element.proto.id):
            return json.loads(element.proto.json)
    raise AssertionError(f"no component {name} {key or ''}")


def text_of(page, key):
    """All that a sheet shows, as one text."""
    return json.dumps(sent(page, "sheet", key), ensure_ascii=False)


def finish(page):
    """Let the run of the page's thread end, and draw the page again."""
    page.session_state["_tab"].session.wait(30)
    return page.run()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
