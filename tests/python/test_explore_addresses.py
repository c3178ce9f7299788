"""Tests the explorer in a browser: state in addresses, errors at fields, and idle pages."""

from __future__ import annotations

import shutil

import nacre
import pytest
from exploring import Server, Watched
from nacre.explorer.runs import SHOWN
from serving import Server as Served


def test_an_unfinished_plan_has_an_address(watched: Watched) -> None:
    page = watched.page
    watched.open("/plan")
    watched.fill("#currency", "USD 2023")
    page.keyboard.press("Tab")
    watched.ready()
    page.uncheck("label:has-text('emlc ssd') >> input")
    watched.fill("#price-pcm_ssd", "2.5")
    address = watched.address
    assert "currency=USD+2023" in address
    page.reload()
    watched.ready()
    assert watched.address == address
    assert page.input_value("#currency") == "USD 2023"
    assert page.input_value("#price-pcm_ssd") == "2.5"
    assert page.input_value("#price-disk_15k_kim") == ""
    assert not page.is_visible("#price-emlc_ssd")
    watched.open("/plan?tier=unknown:3")
    assert watched.shows("text=The catalog has no device unknown")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/plan?trace=unknown", "There is no trace called unknown; there are "),
        ("/plan?plan=unknown", "there is nothing called unknown among the plans"),
        ("/crash?fault=unknown", "There is no fault called unknown; there are "),
        ("/papers?paper=unknown", "There is no paper called unknown; there are "),
        ("/papers?paper=envy&figure=unknown", "There is no figure called unknown; there are "),
        ("/papers?class=unknown", "There is no class called unknown; there are prediction"),
        ("/papers?verdict=unknown", "There is no verdict called unknown; there are pass"),
    ],
)
def test_the_address_of_a_missing_item_shows_an_error(
    watched: Watched, address: str, said: str
) -> None:
    watched.open(address)
    assert said in watched.page.inner_text(".trouble")


def test_a_reloaded_run_is_copied_as_its_file(watched: Watched) -> None:
    page = watched.page
    watched.open("/design?from=server-cache-zipf&set=name%3D%22again%22")
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.requests"]', "200000")
    watched.click("#run")
    page.reload()
    watched.ready()
    watched.click(".copying button:has-text('command line')")
    file = page.inner_text(".copying pre").split()[2]
    assert file.endswith("runs/again-1/scenario.toml")
    watched.click(".copying button:has-text('Python')")
    assert file in page.inner_text(".copying pre")


def test_runs_beyond_the_first_page_are_shown_on_request(watched: Watched, server: Server) -> None:
    page = watched.page
    small = {
        "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 10},
        "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
    }
    record = nacre.run(small)
    for number in range(SHOWN + 1):
        record.save(server.folder / "explored" / "runs" / f"many-{number + 1}")
    watched.open("/design")
    assert page.locator(".runs tbody tr").count() == SHOWN
    total = len(list((server.folder / "explored" / "runs").iterdir()))
    assert watched.shows(f"text=The latest {SHOWN} of {total} runs.")
    assert page.locator(f"optgroup[label*='{SHOWN} of {total}']").count() == 0
    watched.click("button:has-text('Show more')")
    assert page.locator(".runs tbody tr").count() == total
    watched.open("/device")
    assert page.locator(f"optgroup[label*='{SHOWN} of {total}']").count() == 1
    for number in range(SHOWN + 1):
        shutil.rmtree(server.folder / "explored" / "runs" / f"many-{number + 1}")


def test_errors_of_a_study_are_shown_at_their_fields(watched: Watched) -> None:
    page = watched.page
    few = "set=workload.requests%3D20000&set=run.warm_up%3D1000"
    path = "axis=workload.arrival%3D%7Bkind%3Dclosed"
    watched.open(f"/study?from=server-cache-zipf&{few}&{path}&name=cut")
    assert page.input_value("#values-0") == "{kind=closed", "a value may have an equals sign"
    watched.open(f"/study?from=server-cache-zipf&{few}&axis=run.seed%3D1&name=often&seeds=many")
    assert watched.shows("#wrong-runs >> text=it is not a whole number")
    assert page.input_value("#seeds") == "many"
    watched.click("button:has-text('Start')")
    assert watched.shows("#wrong-runs >> text=give a whole number from 1 to 1,000")
    assert page.get_attribute("#seeds", "aria-invalid") == "true"
    watched.fill("#seeds", "2")
    assert not watched.shows("#wrong-runs >> text=whole number")
    assert "seeds=2" in watched.address


def test_an_invalid_number_of_power_losses_is_shown_at_its_field(watched: Watched) -> None:
    page = watched.page
    watched.open("/crash?from=disk-15k&points=NaN&seed=1")
    assert page.input_value("#points") == "NaN"
    assert watched.shows("#wrong-points >> text=it is not a whole number")
    watched.fill("#points", "1,000")
    assert not watched.shows("#wrong-points >> text=whole number")
    assert "points=1000" in watched.address
    watched.fill("#seed", "x")
    watched.click("button:has-text('Cut power')")
    assert watched.shows("#wrong-seed >> text=it is out of range")


def test_results_of_single_requests_survive_a_reload(watched: Watched, server: Server) -> None:
    page = watched.page
    watched.open("/device")
    watched.fill("#requests", "read 8 KiB 4 KiB")
    watched.click("button:text-is('Run')")
    told = page.inner_text("table >> nth=0")
    assert "read 4,096 B at 8,192" in told
    page.reload()
    watched.ready()
    assert page.inner_text("table >> nth=0") == told
    watched.fill("#requests", "read 0 4 KiB")
    assert "answered" not in watched.address, "what has changed is not answered yet"
    served = Served(server.folder, "--timing", "emulated")
    try:
        page.goto(f"{watched.base}/device?image={served.image.name}")
        page.wait_for_selector("[data-looks]")
        watched.click("summary:has-text('Requests to this device')")
        watched.fill("[id^=ask-]", "read 4096 4096")
        watched.click("button:has-text('Send')")
        page.reload()
        page.wait_for_selector("[data-looks]")
        assert watched.shows(".export td:has-text('read 4,096 B at 4,096')")
        assert page.input_value("[id^=ask-]") == "read 4096 4096"
    finally:
        served.close()


def test_a_hidden_page_sends_no_requests(watched: Watched, server: Server) -> None:
    page = watched.page
    served = Served(server.folder, "--timing", "emulated")
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true})"
    try:
        page.clock.install()
        page.goto(f"{watched.base}/device?image={served.image.name}")
        page.wait_for_selector("[data-looks='1']")
        page.evaluate(hide % "true")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.clock.run_for(60_000)
        assert asked == []
        page.evaluate(hide % "false")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector("[data-looks='2']")
    finally:
        served.close()
