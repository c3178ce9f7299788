"""The explorer in a real browser: several tabs that follow the same work."""

from __future__ import annotations

from exploring import Server, Watched


def test_two_tabs_see_and_stop_each_others_runs_and_lose_none(
    watched: Watched, server: Server
) -> None:
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
    assert watched.shows("text=stopped early; what was finished is kept")
    assert watched.shows("h2:has-text('Result: first-1')")
    other.page.wait_for_selector(".runs >> text=first-1")
    assert other.shows("h2:has-text('Result: second-1')")
    other.page.wait_for_selector(stop, state="detached")
    assert (other.complaints, other.foreign) == ([], [])


def test_a_fourth_tab_opens_and_stops_what_three_tabs_follow(
    watched: Watched, server: Server
) -> None:
    context = watched.page.context
    endless = "set=workload.requests%3D1000000000000"
    for name in ("left", "right"):
        watched.page.goto(f"{server.base}/design?from=ssd&set=name%3D%22{name}%22&{endless}")
        watched.page.wait_for_selector("#run:enabled")
        watched.page.click("#run")
        watched.page.wait_for_selector(f".job:has-text('Run of {name}')")
    tabs = [watched, *(Watched(context.new_page(), server.base) for _ in range(3))]
    for tab in tabs[1:]:
        tab.page.goto(f"{server.base}/design")
        tab.page.wait_for_selector(".job >> nth=1")
    for name in ("left", "right"):
        job = f".job:has-text('Run of {name}')"
        tabs[-1].page.click(f"{job} >> button:has-text('Stop')")
        # The list is drawn anew when it ends, and a click within that would go nowhere.
        tabs[-1].page.wait_for_selector(job, state="detached")
    for tab in tabs:
        tab.ready()
        assert tab.page.locator(".job").count() == 0
        assert tab.shows("h2:has-text('Result: ')")
    assert [tab.complaints for tab in tabs] == [[], [], [], []]
