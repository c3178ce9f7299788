"""Tests the explorer in a browser, with several tabs that show the same jobs."""

from __future__ import annotations

import pytest
from exploring import Server, Watched

ENDLESS = "set=workload.requests%3D1000000000000"


def begin_endless(tab: Watched, server: Server) -> None:
    """Starts two endless runs named `left` and `right`."""
    for name in ("left", "right"):
        tab.page.goto(f"{server.base}/design?from=ssd&set=name%3D%22{name}%22&{ENDLESS}")
        tab.page.wait_for_selector("#run:enabled")
        tab.page.click("#run")
        tab.page.wait_for_selector(f".job:has-text('Run of {name}')")


def test_two_tabs_see_and_stop_the_runs_of_each_other(watched: Watched, server: Server) -> None:
    other = Watched(watched.page.context.new_page(), server.base)
    other.open("/design?from=server-cache-zipf&set=name%3D%22second%22")
    other.click('[data-path="workload"]')
    other.fill('[name="workload.requests"]', "200000")
    watched.open("/design?from=server-cache-zipf&set=name%3D%22first%22")
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.requests"]', "1000000000000")
    watched.page.click("#run")
    stop = "button[aria-label='Stop Run of first']"
    other.page.wait_for_selector(stop)
    other.click("#run")
    assert other.address == "/design?run=second-1"
    assert other.shows("h2:has-text('Result: second-1')")
    watched.page.wait_for_selector(".runs >> text=second-1")
    assert watched.shows(".job progress")
    other.page.click(stop)
    watched.ready()
    assert watched.shows("text=stopped early; finished results are saved")
    assert watched.shows("h2:has-text('Result: first-1')")
    other.page.wait_for_selector(".runs >> text=first-1")
    assert other.shows("h2:has-text('Result: second-1')")
    other.page.wait_for_selector(stop, state="detached")
    assert (other.complaints, other.foreign) == ([], [])


def test_a_fourth_tab_opens_and_stops_runs_of_the_other_tabs(
    watched: Watched, server: Server
) -> None:
    context = watched.page.context
    begin_endless(watched, server)
    tabs = [watched, *(Watched(context.new_page(), server.base) for _ in range(3))]
    for tab in tabs[1:]:
        tab.page.goto(f"{server.base}/design")
        tab.page.wait_for_selector(".job >> nth=1")
    for name in ("left", "right"):
        tabs[-1].page.click(f".job:has-text('Run of {name}') >> button:has-text('Stop')")
    for tab in tabs:
        tab.ready()
        assert tab.page.locator(".job").count() == 0
        assert tab.shows("h2:has-text('Result: ')")
    assert [tab.complaints for tab in tabs] == [[], [], [], []]


@pytest.mark.parametrize(
    ("address", "stop", "shown"),
    [
        ("/design", ".job button", "h2:has-text('Result: ')"),
        ("/papers", "#under-way button", "main"),
    ],
)
def test_a_press_on_stop_counts_although_another_run_ends_meanwhile(
    watched: Watched, server: Server, address: str, stop: str, shown: str
) -> None:
    begin_endless(watched, server)
    tab = Watched(watched.page.context.new_page(), server.base)
    tab.page.goto(server.base + address)
    tab.page.wait_for_selector(f"{stop} >> nth=1")
    upper, lower = tab.page.locator(stop).element_handles()
    lower.hover()
    tab.page.mouse.down()
    upper.evaluate("each => each.click()")
    upper.wait_for_element_state("hidden")
    tab.page.wait_for_selector(shown)
    tab.page.mouse.up()
    lower.wait_for_element_state("hidden")
    tab.ready()
    assert tab.complaints == []
