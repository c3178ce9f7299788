"""Tests the explorer in a browser: the main workflow of each page, an error, and pictures of all
pages.

Tests wait until a page reports that it is ready, not for a fixed time. Pictures are saved in the
folder NACRE_PICTURES. To update the pictures of the documents, run NACRE_PICTURES=docs/pictures
make test-browser. tools/pictures.py makes the pictures of Plan, Device, and Crash with a longer
trace and load.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import nacre
import pytest
from exploring import MSR, Server, Watched
from nacre.base.table import Table
from nacre.explorer.traces import UPLOAD_MAX
from nacre.pages.html import table
from nacre.pages.page import document, figure, listing, wide
from serving import Server as Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PICTURE_MAX = 160_000
"""Maximum size of a picture in bytes, because documents contain many pictures."""
_KEPT_WIDTHS = """[...document.querySelectorAll("figure svg")].map((each) =>
    each.getBoundingClientRect().width / Math.min(600, each.viewBox.baseVal.width))"""
"""JavaScript that returns the displayed width of each figure on a phone, relative to its natural
width (at most 600 px). If this ratio is too small, text cannot be read."""

_CUT_WORDS = """[...document.querySelectorAll("figure")].flatMap((figure) => {
    const { left } = figure.getBoundingClientRect();
    return [...figure.querySelectorAll("svg text")]
        .filter((each) => each.getBoundingClientRect().left < left).map((each) => each.textContent);
})"""
"""JavaScript that returns the texts that start to the left of their figure. Users cannot scroll to
these texts."""


@pytest.fixture(scope="module")
def pictures() -> Path | None:
    given = os.environ.get("NACRE_PICTURES")
    return Path(given) if given else None


def picture(watched: Watched, folder: Path | None, name: str) -> None:
    """Checks a page in light mode, in dark mode, and on a phone. Saves pictures in `folder`, if
    given."""
    page = watched.page
    # Search for accessibility problems only once per color scheme and size, because this takes
    # longest.
    for manner, colors, size, is_kept, is_searched in (
        ("light", "light", WIDE, True, True),
        ("dark", "dark", WIDE, True, False),
        ("phone in the dark", "dark", PHONE, False, True),
        ("phone", "light", PHONE, True, False),
    ):
        # Disable transitions, because backgrounds of buttons change gradually.
        page.emulate_media(color_scheme=colors, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        if is_searched:
            assert watched.serious() == [], f"{name}, {manner}"
        assert page.locator("th:empty").count() == 0, f"{name} has headers without a word"
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{name} is too wide for {manner}"
        if folder and is_kept:
            shot = page.screenshot(path=folder / f"explore-{name}-{manner}.png")
            assert len(shot) < PICTURE_MAX, f"{name}, {manner}"
    assert min(page.evaluate(_KEPT_WIDTHS), default=1) >= 0.99, f"{name}: a figure is too small"
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]


def test_figures_of_a_report_scroll_on_a_phone_and_stay_legible(browser: Browser) -> None:
    drawing = '<svg width="900" height="300" viewBox="0 0 900 300"></svg>'
    content = [Table("", ["", name], [False] * 2, [[name] * 2]) for name in ("first", "second")]
    page = browser.new_page(viewport=PHONE)  # type: ignore[arg-type]
    shown = figure(drawing) + "".join(wide(table(each)) for each in content) + listing("x" * 200)
    page.set_content(document("Report", f"<main><h1>Report</h1>{shown}</main>"))
    assert page.evaluate(_KEPT_WIDTHS) == [1]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert Watched(page, "").serious() == []
    assert page.locator("th:empty").count() == 0
    page.close()


def test_labels_in_figures_of_a_report_are_complete_in_any_font(
    browser: Browser,
) -> None:
    few = {"workload.requests": 20_000, "run.warm_up": 1000}
    report = nacre.report({"small": nacre.run("server-cache-zipf", few)})
    page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]
    page.set_content(report)
    assert page.locator("figure svg").count() == 4
    assert page.evaluate(_CUT_WORDS) == []
    page.close()


def test_design_runs_a_changed_stack_and_compares_two_runs(
    watched: Watched, pictures: Path | None
) -> None:
    page = watched.page
    assert "token" not in page.url
    pair = "/design?from=server-cache-zipf&set=name%3D%22pair%22"
    watched.open(pair)
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.requests"]', "200000")
    assert watched.address == f"{pair}&set=workload.requests%3D200000"
    watched.click("#run")
    watched.comes_to("/design?run=pair-1")
    assert page.locator("figure svg").count() >= 3
    page.evaluate("scrollTo(0, 0)")
    picture(watched, pictures, "design")
    page.evaluate("document.querySelector('.headline').parentElement.scrollIntoView()")
    picture(watched, pictures, "result")

    watched.click(".copying button:has-text('command line')")
    assert page.evaluate("navigator.clipboard.readText()").startswith("nacre run")
    watched.open(f"{pair}&set=workload.requests%3D150000")
    watched.click('.box button:has-text("pcm ssd")')
    page.select_option('[id="f-stack.level[0].device"]', "preset:emlc_ssd")
    watched.ready()
    assert "emlc_ssd" in watched.address
    page.focus("#run")
    page.keyboard.press("Enter")
    watched.comes_to("/design?run=pair-2")
    for number in (1, 2):
        page.check(f"[aria-label='Compare pair-{number}']")
    watched.click("a.button:has-text('Compare')")
    assert page.locator("figure svg").count() >= 3
    assert "has the lowest mean read latency" in page.inner_text(".headline")
    picture(watched, pictures, "compared")


def test_design_shows_every_error_at_its_field(watched: Watched, pictures: Path | None) -> None:
    page = watched.page
    page.select_option("#from", "ssd")
    watched.ready()
    watched.fill('[name="stack.channels"]', "many")
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.footprint"]', "10 kg")
    assert watched.shows("text=2 errors")
    assert page.is_disabled("#run")
    field = page.locator(".field", has=page.locator('[name="workload.footprint"]'))
    assert 'there is no unit "kg"' in field.inner_text()
    assert page.get_attribute('[name="workload.footprint"]', "aria-invalid") == "true"
    picture(watched, pictures, "errors")
    watched.click("button:has-text('stack.channels')")
    assert page.evaluate("document.activeElement.name") == "stack.channels"
    watched.fill('[name="stack.channels"]', "8")
    assert watched.shows("text=1 error")


def test_design_stops_a_run_and_keeps_finished_results(watched: Watched) -> None:
    page = watched.page
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.requests"]', "1000000000000")
    page.click("#run")
    page.wait_for_selector("progress[value]")
    page.reload()
    page.wait_for_selector("progress[value]")
    watched.click(".job button:has-text('Stop')")
    assert watched.shows("text=stopped early; finished results are saved")
    assert watched.shows(".headline")


def test_entered_prices_stay_when_the_currency_is_entered(watched: Watched) -> None:
    page = watched.page
    watched.open("/plan")
    assert page.input_value("#price-disk_15k_kim") == "1"
    watched.fill("#price-pcm_ssd", "2.5")
    watched.fill("#currency", "USD 2023")
    page.keyboard.press("Tab")
    watched.ready()
    assert page.input_value("#price-pcm_ssd") == "2.5"
    assert page.input_value("#price-disk_15k_kim") == ""


def test_a_trace_that_is_too_large_is_not_uploaded_and_uploads_can_be_stopped(
    watched: Watched, tmp_path: Path
) -> None:
    page, sent = watched.page, []
    small = {"bytes": 2 * len(MSR), "otherwise": "it is too large"}
    about = page.request.get(
        f"{watched.base}/api/about",
        headers={"authorization": f"Bearer {page.evaluate('localStorage.getItem(`nacre-token`)')}"},
    ).json()
    page.route("**/api/about", lambda route: route.fulfill(json={**about, "upload": small}))
    page.route("**/api/traces/*", lambda route: sent.append(route.request.method))
    watched.open("/plan")
    (tmp_path / "large.csv").write_text(3 * MSR)
    (tmp_path / "slow.csv").write_text(MSR)
    page.set_input_files("#file", tmp_path / "large.csv")
    watched.ready()
    assert watched.shows("text=large.csv: it is too large")
    assert sent == []
    page.set_input_files("#file", tmp_path / "slow.csv")
    page.click("p:has-text('Uploading slow.csv') >> button:has-text('Stop')")
    watched.ready()
    assert watched.shows("text=Upload stopped; nothing was stored.")
    assert sent == ["PUT"]
    assert about["upload"]["bytes"] == UPLOAD_MAX


def test_plan_finds_a_mix_and_a_cache_for_an_uploaded_trace(
    watched: Watched, pictures: Path | None, tmp_path: Path
) -> None:
    page = watched.page
    watched.open("/plan")
    (tmp_path / "monday.csv").write_text(MSR)
    (tmp_path / "notes.txt").write_text("not a trace\n" * 50)
    page.set_input_files("#file", tmp_path / "notes.txt")
    watched.ready()
    assert watched.shows("text=no known trace format fits")
    page.set_input_files("#file", tmp_path / "monday.csv")
    watched.ready()
    assert "monday.csv" in page.inner_text("#trace option:checked")
    watched.fill("#price-pcm_ssd", "")
    watched.click("button:has-text('Plan')")
    assert watched.shows("text=it has no price")
    watched.fill("#price-pcm_ssd", "24")
    watched.click("button:has-text('Plan')")
    assert watched.address == "/plan?plan=monday-csv-1-1"
    assert page.locator("figure svg").count() == 2
    page.evaluate("scrollTo(0, 0)")
    picture(watched, pictures, "plan-form")
    page.locator("h2:has-text('mixes of tiers')").evaluate("each => each.scrollIntoView()")
    picture(watched, None, "plan")
    watched.click(".copying button:has-text('TOML')")
    assert 'kind = "tiers"' in page.inner_text(".copying pre")
    before = page.inner_text(".headline")
    page.locator("#slide-disk_15k_kim").press("ArrowRight")
    watched.ready()
    assert "price.disk_15k_kim=1.05" in watched.address
    assert page.inner_text(".headline") != before
    watched.click(".copying button:has-text('command line')")
    said = """--set 'stack.tier[2].device.price="1.05 /GiB"' --out"""
    assert said in page.inner_text(".copying pre")
    watched.open("/plan?plan=monday-csv-1-1&budget=much")
    assert "budget" in page.inner_text(".trouble")
    assert page.input_value("#budget") == "much", "the plan is there, and the error can be mended"
    watched.fill("#budget", "30")
    assert before in page.inner_text(".headline")
    watched.fill("#money", "0.01")
    page.uncheck("label:has-text('disk 15k kim') >> input")
    watched.click("button:has-text('Simulate caches for this budget')")
    assert watched.address == "/design?compare=monday-csv-1-pcm-ssd-1,monday-csv-1-emlc-ssd-1"
    assert page.locator("figure svg").count() >= 1


def test_study_shows_its_front_while_it_runs_and_can_be_continued(
    watched: Watched, pictures: Path | None
) -> None:
    page = watched.page
    endless = (
        "axis=workload.requests%3D20000%2C 1000000000000&axis=stack.level[0].policy%3Dlru%2C arc"
    )
    watched.open(f"/study?from=server-cache-zipf&set=run.warm_up%3D1000&{endless}&name=endless")
    page.click("button:has-text('Start')")
    page.wait_for_selector("figure svg")
    assert watched.shows(".job progress")
    watched.click(".job button:has-text('Stop')")
    assert watched.shows("text=Stopped early.")
    assert watched.shows("text=2 of 4 points")
    page.click("button:has-text('Continue')")
    watched.click(".job button:has-text('Stop')")
    assert watched.shows("text=Stopped early.")

    few = "set=workload.requests%3D100000&set=run.warm_up%3D10000"
    watched.open(f"/study?from=server-cache-zipf&{few}&name=sizes")
    watched.fill("#path-1", "stack.level[0].polici")
    watched.click("button:has-text('Start')")
    assert watched.shows("text=there is no such setting")
    watched.fill("#path-1", "stack.level[0].policy")
    values = page.input_value("#values-1")
    watched.fill("#values-1", "")
    watched.click("button:has-text('Start')")
    assert watched.shows("#wrong-axis-1:has-text('it is empty: there is nothing to study')")
    assert not watched.shows(".trouble")
    watched.fill("#values-1", values)
    watched.click("button:has-text('Start')")
    assert watched.address == "/study?study=sizes-1"
    assert page.inner_text(".headline").startswith("6 designs.")
    assert page.locator("figure svg").count() >= 2
    page.evaluate("scrollTo(0, 0)")
    picture(watched, pictures, "study-form")
    page.locator("h2:has-text('Study: ')").evaluate("each => each.scrollIntoView()")
    picture(watched, pictures, "study")


def test_the_result_in_an_address_is_shown_while_another_study_runs(watched: Watched) -> None:
    page = watched.page
    few = "set=workload.requests%3D20000&set=run.warm_up%3D1000"
    watched.open(f"/study?from=server-cache-zipf&{few}&axis=run.seed%3D1&name=shown")
    watched.click("button:has-text('Start')")
    page.goto(f"{watched.base}/study?from=server-cache-zipf&axis=workload.requests%3D1000000000000")
    page.click("button:has-text('Start')")
    page.wait_for_selector(".job progress")
    page.goto(f"{watched.base}/study?study=shown-1")
    page.wait_for_selector("#under-way button")
    assert watched.shows("h2:has-text('Study: shown-1')")
    assert not watched.shows(".job")
    watched.click("#under-way button")
    page.wait_for_selector("#under-way button", state="detached")
    assert watched.address == "/study?study=shown-1"
    assert watched.shows("h2:has-text('Study: shown-1')")


def test_the_keyboard_focus_stays_when_a_form_is_redrawn(watched: Watched) -> None:
    page = watched.page
    called = (
        "document.activeElement.closest('label')?.innerText ?? document.activeElement.innerText"
    )
    for address, control, name in (
        ("/plan", "label:has-text('pcm ssd') >> input >> nth=0", "pcm ssd"),
        ("/study", "button:has-text('Add a setting')", "Add a setting"),
        ("/design?from=server-cache-zipf", "button:has-text('Add a level')", "Add a level"),
    ):
        watched.open(address)
        page.focus(control)
        for _ in range(2):
            page.keyboard.press("Space")
            watched.ready()
            assert page.evaluate(called).startswith(name)
    watched.open("/study")
    page.focus("[aria-label='Remove setting 2']")
    page.keyboard.press("Enter")
    watched.ready()
    assert page.evaluate(called) == "Add a setting"


def test_device_shows_statistics_power_loss_and_single_requests(
    watched: Watched, server: Server, pictures: Path | None
) -> None:
    page = watched.page
    page.on("dialog", lambda dialog: dialog.accept())
    watched.open("/device")
    watched.fill("#image", "none.img")
    page.click("button:has-text('Watch')")
    page.wait_for_selector("text=no server for")
    served = Served(server.folder, "--timing", "emulated")
    try:
        watched.fill("#image", served.image.name)
        page.click("button:has-text('Watch')")
        page.wait_for_selector("[data-looks='3']")
        assert watched.shows(".export figure text:has-text('0 reads/s')")
        watched.click("summary:has-text('Requests to this device')")
        watched.fill("[id^=ask-]", "write 0 4 KiB\nread 0 4 KiB")
        watched.click("button:has-text('Send')")
        assert watched.shows(".export td:has-text('write 4,096 B at 0')")
        page.wait_for_selector(".mark-line path[d]:not([d='']) >> nth=3", state="attached")
        watched.click("summary:has-text('Media errors')")
        watched.fill("[id^=size-]", "1000")
        watched.click("button:has-text('Apply')")
        assert watched.shows("text=bytes 0 to 1,023, 2 sectors of 512 bytes: reads fail")
        watched.fill("[id^=ask-]", "read 0 512")
        watched.click("button:has-text('Send')")
        assert watched.shows(".export td:has-text('the device reported an error')")
        watched.fill("#requests", "read 0 4 KiB\nfly")
        watched.click("button:text-is('Run')")
        assert watched.shows("text=it is not a request")
        watched.fill("#requests", "read 0 4 KiB\nread 0 4 KiB\nwrite 0 4 KiB")
        watched.click("button:text-is('Run')")
        assert watched.shows("td:has-text('write 4,096 B at 0')")
        watched.click("button:text-is('TOML')")
        assert 'kind = "server_cache"' in page.inner_text(".copying pre >> visible=true")
        watched.click("button:text-is('TOML')")
        page.evaluate("scrollTo(0, 0)")
        picture(watched, None, "device")
        page.evaluate("document.querySelector('#requests').scrollIntoView()")
        picture(watched, pictures, "requests")
        watched.click("button:has-text('Cut power')")
        assert watched.shows(".note")
    finally:
        served.close()


def test_crash_cuts_power_and_shows_the_guarantees(watched: Watched) -> None:
    watched.open("/crash")
    assert watched.shows("label:has-text('Minimum number of power losses')")
    watched.fill("#points", "none")
    watched.click("button:has-text('Cut power')")
    assert watched.shows("text=it is out of range")
    watched.fill("#points", "300")
    watched.click("label:has-text('bit rot') >> input")
    assert watched.address == "/crash?from=disk-15k&points=300&seed=1&fault=bit_rot"
    watched.click("button:has-text('Cut power')")
    assert watched.address == "/crash?found=disk-15k-1"
    assert watched.shows(
        "text=the device returned corrupted data without an error, through bit rot"
    )
    assert watched.page.locator(".headline.bad").count() == 1
    watched.page.evaluate("scrollTo(0, 0)")
    picture(watched, None, "crash")


def test_papers_recompute_a_figure_and_show_it_next_to_the_published_values(
    watched: Watched, pictures: Path | None
) -> None:
    page = watched.page
    watched.click("nav >> text=Papers")
    assert watched.shows(".roomy")
    picture(watched, pictures, "papers")
    watched.click("td >> text=nvram-cards")
    page.select_option("#figure", "capacitor")
    watched.ready()
    assert watched.address == "/papers?paper=nvram-cards&figure=capacitor"
    watched.click("button:has-text('Run capacitor again')")
    assert page.locator("figure svg").count() == 1
    assert "pass" in page.inner_text(".claims")
    watched.click(".claims summary >> nth=0")
    assert "kept in" in page.inner_text(".claims")
    watched.click(".copying button:has-text('TOML of capacitors')")
    assert "[[axis]]" in page.inner_text(".copying pre")
    watched.click(".copying button:has-text('TOML of capacitors')")
    page.evaluate("scrollTo(0, 0)")
    picture(watched, pictures, "claims")
    watched.open("/papers?paper=unknown")
    assert watched.shows("text=There is no paper called unknown")


def test_a_page_without_the_token_names_the_address_to_open(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context()
    made = Watched(context.new_page(), server.base)
    made.open("/design")
    assert made.shows("text=open the address that nacre explore printed")
    context.close()


def test_a_page_reports_that_its_server_has_ended(browser: Browser, tmp_path: Path) -> None:
    ended = Server(tmp_path)
    context = browser.new_context()
    made = Watched(context.new_page(), ended.base)
    made.page.goto(ended.address)
    made.ready()
    ended.close()
    made.click("#run")
    assert made.shows("text=nacre explore has stopped")
    context.close()


def test_a_page_reports_that_its_server_was_killed_during_a_run(
    browser: Browser, tmp_path: Path
) -> None:
    killed = Server(tmp_path)
    context = browser.new_context()
    made = Watched(context.new_page(), killed.base)
    made.page.goto(killed.address)
    made.ready()
    made.click('[data-path="workload"]')
    made.fill('[name="workload.requests"]', "1000000000000")
    made.page.click("#run")
    made.page.wait_for_selector("progress[value]")
    killed.close()
    made.ready()
    assert made.shows("text=The server has stopped. Finished results are in its folder.")
    assert not made.shows("button:has-text('Stop')")
    context.close()
