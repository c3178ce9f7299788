"""The explorer in a real browser: the main path of each page, an error, pictures of all of them.

The pictures go to the folder that NACRE_PICTURES names, which is how those of the documents are
made: NACRE_PICTURES=docs/pictures .venv/bin/python -m pytest tests/python/test_explore_browser.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from exploring import MSR, Server, Watched, chromium
from serving import Server as Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
_S = 1000.0


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert browser.is_connected()
    started = Server(tmp_path_factory.mktemp("explored"))
    yield started
    started.close()


@pytest.fixture
def watched(browser: Browser, server: Server) -> Iterator[Watched]:
    """A page that has the token, complains of nothing, and asks no other machine."""
    context = browser.new_context(viewport=WIDE, permissions=["clipboard-read", "clipboard-write"])  # type: ignore[arg-type]
    context.set_default_timeout(60 * _S)
    made = Watched(context.new_page(), server.base)
    made.page.goto(server.address)
    made.page.wait_for_selector(".box")
    yield made
    context.close()
    assert made.complaints == []
    assert made.foreign == []


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("NACRE_PICTURES")
    return Path(given) if given else tmp_path_factory.mktemp("pictures")


def picture(watched: Watched, folder: Path, name: str) -> None:
    """Looks at a page in the light, in the dark and on a phone."""
    page = watched.page
    for manner, colours, size in (
        ("light", "light", WIDE),
        ("dark", "dark", WIDE),
        ("phone", "light", PHONE),
    ):
        # Without motion: buttons take a moment from one background to the other.
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        if manner != "phone":  # which shows the same, one below the other
            assert watched.serious() == [], f"{name}, {manner}"
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{name} is too wide for {manner}"
        page.screenshot(path=folder / f"explore-{name}-{manner}.png")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]


def test_design_runs_a_changed_stack_and_puts_two_runs_side_by_side(
    watched: Watched, server: Server, pictures: Path
) -> None:
    page = watched.page
    assert "token" not in page.url
    page.click('[data-path="workload"]')
    page.fill('[name="workload.requests"]', "200000")
    page.wait_for_url("**set=workload.requests%3D200000")
    page.click("#run")
    page.wait_for_url("**/design?run=server-cache-zipf-1")
    page.wait_for_selector("figure svg >> nth=3")
    page.evaluate("scrollTo(0, 0)")
    picture(watched, pictures, "design")
    page.locator("h2:has-text('Result')").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.headline').parentElement.scrollIntoView()")
    picture(watched, pictures, "result")

    page.click(".copying button:has-text('command line')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("nacre run"), copied
    page.goto(f"{server.base}/design?from=server-cache-zipf&set=workload.requests%3D150000")
    page.wait_for_selector(".box")
    page.click('.box button:has-text("pcm ssd")')
    page.select_option('[id="f-stack.level[0].device"]', "preset:emlc_ssd")
    page.wait_for_url("**emlc_ssd**")
    page.keyboard.press("Tab")
    page.focus("#run")
    page.keyboard.press("Enter")
    page.wait_for_url("**/design?run=server-cache-zipf-2")
    page.check("text=server-cache-zipf-2 >> xpath=ancestor::tr >> input")
    page.check("text=server-cache-zipf-1 >> xpath=ancestor::tr >> input")
    page.click("text=Put side by side")
    page.wait_for_selector("figure svg >> nth=3")
    page.wait_for_selector(".headline:has-text('has the lowest mean read latency')")
    picture(watched, pictures, "compared")


def test_design_shows_every_mistake_at_its_field(watched: Watched, pictures: Path) -> None:
    page = watched.page
    page.select_option("#from", "ssd")
    page.fill('[name="stack.channels"]', "many")
    page.click('[data-path="workload"]')
    page.fill('[name="workload.footprint"]', "10 kg")
    page.wait_for_selector("text=2 mistakes")
    assert page.is_disabled("#run")
    field = page.locator(".field", has=page.locator('[name="workload.footprint"]'))
    assert 'there is no unit "kg"' in field.inner_text()
    assert page.get_attribute('[name="workload.footprint"]', "aria-invalid") == "true"
    picture(watched, pictures, "mistakes")
    page.click("button:has-text('stack.channels')")
    assert page.evaluate("document.activeElement.name") == "stack.channels"
    page.keyboard.type("")
    page.fill('[name="stack.channels"]', "8")
    page.wait_for_selector("text=1 mistake")


def test_design_stops_a_run_and_keeps_what_was_finished(watched: Watched) -> None:
    page = watched.page
    page.click('[data-path="workload"]')
    page.fill('[name="workload.requests"]', "1000000000")
    page.wait_for_url("**set=workload.requests%3D1000000000")
    page.click("#run")
    page.wait_for_selector("progress[value]")
    page.reload()
    page.click(".job button:has-text('Stop')")
    page.wait_for_selector("text=stopped early; what was finished is kept")
    page.wait_for_selector(".headline")


def test_plan_finds_a_mix_and_a_cache_for_a_trace_that_is_sent(
    watched: Watched, server: Server, pictures: Path, tmp_path: Path
) -> None:
    page = watched.page
    page.goto(f"{server.base}/plan")
    (tmp_path / "monday.csv").write_text(MSR)
    (tmp_path / "notes.txt").write_text("not a trace\n" * 50)
    page.set_input_files("#file", tmp_path / "notes.txt")
    page.wait_for_selector("text=no known trace format fits")
    page.set_input_files("#file", tmp_path / "monday.csv")
    page.wait_for_selector("#trace >> text=monday.csv", state="attached")
    page.fill("#price-pcm_ssd", "")
    page.click("button:has-text('Plan')")
    page.wait_for_selector("text=it has no price")
    page.fill("#price-pcm_ssd", "24")
    page.click("button:has-text('Plan')")
    page.wait_for_url("**/plan?plan=monday-csv-1-1")
    page.wait_for_selector("figure svg >> nth=1")
    picture(watched, pictures, "plan-form")
    page.locator("h2:has-text('Mixes of tiers')").evaluate("each => each.scrollIntoView()")
    picture(watched, pictures, "plan")
    before = page.inner_text(".headline")
    page.locator("#slide-disk_15k_kim").press("ArrowRight")
    page.wait_for_url("**price.disk_15k_kim=1.05**")
    page.wait_for_function(
        "said => document.querySelector('.headline').innerText !== said", arg=before
    )
    page.fill("#money", "0.01")
    page.uncheck("label:has-text('disk 15k kim') >> input")
    page.click("button:has-text('Simulate what it buys')")
    page.wait_for_url("**/design?compare=monday-csv-1-pcm-ssd-1,monday-csv-1-emlc-ssd-1")
    page.wait_for_selector("figure svg >> nth=1")


def test_study_shows_the_front_and_goes_on_after_a_stop(
    watched: Watched, server: Server, pictures: Path
) -> None:
    page = watched.page
    short = "set=workload.requests%3D1500000&set=run.warm_up%3D10000"
    page.goto(f"{server.base}/study?from=server-cache-zipf&{short}&name=sizes")
    page.fill("#path-1", "stack.level[0].polici")
    page.click("button:has-text('Begin')")
    page.wait_for_selector("text=there is no such setting")
    page.fill("#path-1", "stack.level[0].policy")
    page.click("button:has-text('Begin')")
    page.click(".job button:has-text('Stop')")
    page.wait_for_selector("text=It was stopped before its end.")
    page.click("button:has-text('Go on with it')")
    page.wait_for_selector("text=It was stopped before its end.", state="detached")
    page.wait_for_selector("figure svg >> nth=1")
    page.wait_for_selector(".headline:has-text('6 designs.')")
    picture(watched, pictures, "study")


def test_device_is_watched_loses_its_power_and_answers_single_requests(
    watched: Watched, server: Server, pictures: Path, tmp_path: Path
) -> None:
    page = watched.page
    page.goto(f"{server.base}/device")
    page.fill("#image", str(tmp_path / "none.img"))
    page.click("button:has-text('Watch')")
    page.wait_for_selector("text=nothing is served from")
    served = Served(tmp_path, "--timing", "emulated")
    try:
        page.fill("#image", str(served.image))
        page.click("button:has-text('Watch')")
        page.wait_for_selector(".chart polyline", state="attached")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("button:has-text('Let the power fail')")
        page.wait_for_selector(".note")
        page.fill("#requests", "read 0 4 KiB\nfly")
        page.click("button:has-text('Ask')")
        page.wait_for_selector("text=it is no request")
        page.fill("#requests", "read 0 4 KiB\nread 0 4 KiB\nwrite 0 4 KiB")
        page.click("button:has-text('Ask')")
        page.wait_for_selector("td:has-text('write 4,096 B at 0')")
        picture(watched, pictures, "device")
    finally:
        served.close()


def test_crash_loses_the_power_and_says_what_was_promised(
    watched: Watched, server: Server, pictures: Path
) -> None:
    page = watched.page
    page.goto(f"{server.base}/crash")
    page.fill("#points", "none")
    page.click("button:has-text('Lose the power')")
    page.wait_for_selector("text=it is out of range")
    page.fill("#points", "300")
    page.check("label:has-text('bit rot') >> input")
    page.wait_for_url("**/crash?from=disk-15k&points=300&seed=1&fault=bit_rot")
    page.click("button:has-text('Lose the power')")
    page.wait_for_url("**/crash?found=disk-15k-1")
    page.wait_for_selector("text=Every promise was kept.")
    picture(watched, pictures, "crash")


def test_papers_recompute_a_figure_and_show_it_beside_what_was_published(
    watched: Watched, server: Server, pictures: Path
) -> None:
    page = watched.page
    page.click("nav >> text=Papers")
    page.wait_for_selector(".roomy")
    picture(watched, pictures, "papers")
    page.click("td >> text=nvram-cards")
    page.wait_for_selector(".claims")
    page.select_option("#figure", "capacitor")
    page.wait_for_url("**/papers?paper=nvram-cards&figure=capacitor")
    page.click("button:has-text('Recompute capacitor')")
    page.wait_for_selector("figure svg")
    assert "pass" in page.inner_text(".claims")
    page.click(".claims summary >> nth=0")
    assert "kept in" in page.inner_text(".claims")
    picture(watched, pictures, "claims")
    page.goto(f"{server.base}/papers?paper=nobody")
    page.wait_for_selector("text=There is no paper called nobody")


def test_a_page_without_the_token_says_which_address_to_open(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/design")
    page.wait_for_selector("text=open the address that nacre explore printed")
    context.close()


def test_a_page_whose_server_has_ended_says_so(browser: Browser, tmp_path: Path) -> None:
    ended = Server(tmp_path)
    context = browser.new_context()
    page = context.new_page()
    page.goto(ended.address)
    page.wait_for_selector(".box")
    ended.close()
    page.click("#run")
    page.wait_for_selector("text=nacre explore does not answer any more")
    context.close()
