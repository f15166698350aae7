"""Whether everything on the page has room: nothing cut, nothing over another thing, no page that scrolls."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.seen import CLIPPED

SIZES = [(1440, 900), (1280, 720)]
CUT = "element => element.scrollWidth > element.clientWidth"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_debug_page_fits_the_window(demo, desk_at, width, height, scheme):
    desk = desk_at(demo, viewport={"width": width, "height": height}, color_scheme=scheme)
    desk.open(thread="research-forked", tab="Tasks")
    assert desk.page.evaluate(CLIPPED) == []
    for panel in ("timeline_panel", "graph_panel", "inspector", "footer"):
        box = desk.page.locator(f".st-key-{panel}").bounding_box()
        assert box["height"] > 20
        assert box["y"] + box["height"] <= height
        assert box["x"] + box["width"] <= width
    desk.rows().nth(1).click()
    standing = desk.page.locator(".st-key-standing")
    expect(standing).to_contain_text("not the newest")
    desk.settle()
    room = desk.page.locator(".st-key-header_line").bounding_box()
    for chip in standing.locator(".chip").all():
        box = chip.bounding_box()
        assert box["x"] + box["width"] <= room["x"] + room["width"]
    assert desk.page.evaluate(CLIPPED) == []
    background = desk.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    channels = [int(part) for part in re.findall(r"\d+", background)[:3]]
    assert (sum(channels) > 3 * 128) == (scheme == "light")


def test_rows_of_the_state_fit_into_a_narrow_panel(demo, desk_at):
    desk = desk_at(demo, viewport={"width": 1280, "height": 720})
    desk.open(thread="react")
    expect(desk.page.locator(".st-key-state .why:not(.watch)").first).to_be_visible()
    edge = desk.page.locator(".st-key-inspector").bounding_box()
    for row in desk.page.locator(".st-key-state .top").all():
        key, why = row.locator(".key").first.bounding_box(), row.locator(".why:not(.watch)").first.bounding_box()
        assert why["x"] + why["width"] <= edge["x"] + edge["width"]
        assert abs(why["y"] - key["y"]) < key["height"]
        assert not row.locator(".key").first.evaluate(CUT), "the key is what a row is read by"


def test_names_of_branches_are_whole_in_a_narrow_timeline(demo, desk_at):
    desk = desk_at(demo, viewport={"width": 1280, "height": 720})
    desk.open(thread="research-forked")
    names = desk.page.locator(".timeline .row .branch")
    expect(names.first).to_be_visible()
    assert {"main", "edit 1"} <= set(names.all_inner_texts())
    desk.page.locator(".timeline .row .who").evaluate_all(
        "all => all.forEach(who => { who.textContent = 'n'.repeat(60) })"
    )
    assert [name for name in names.all() if name.evaluate(CUT)] == []
