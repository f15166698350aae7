"""What the page sent to its components in an AppTest, how to let its runs end; what has no room in a browser."""

import hashlib
import json

CLIPPED = """() => {
  const page = { left: 0, top: 0, right: innerWidth, bottom: innerHeight }
  const inside = (a, b) =>
    a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1
  const overlap = (a, b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  const all = [...document.querySelectorAll('.st-key-transport button, .st-key-header button')]
  const visible = all.filter(b => b.offsetParent)
  const shown = visible.map(b => ({ b, name: b.innerText.trim(), box: b.getBoundingClientRect() }))
  const bad = []
  shown.forEach(({ b, name, box }, i) => {
    if (!inside(box, page)) bad.push('outside the page: ' + name)
    if (b.scrollWidth > b.clientWidth + 1) bad.push('cut: ' + name)
    for (const other of shown.slice(i + 1))
      if (overlap(box, other.box)) bad.push('overlap: ' + name + ' / ' + other.name)
  })
  const main = document.querySelector('[data-testid=stMain]')
  if (main.scrollHeight > main.clientHeight) bad.push(`the page scrolls: ${main.scrollHeight} > ${main.clientHeight}`)
  if (document.documentElement.scrollWidth > innerWidth) bad.push('the page scrolls sideways')
  return bad
}"""
"""Script: what is cut, outside, or over something else among the buttons, and whether the page scrolls."""


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
