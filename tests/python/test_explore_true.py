"""Checks in a browser that pages of the explorer show correct values."""

from __future__ import annotations

from pathlib import Path

from exploring import MSR, Watched

NO_VALUE = ("e.g. ", "any price", "no price yet")
"""Prefixes of placeholders that are not default values."""


def test_the_latencies_of_a_preset_are_shown(watched: Watched) -> None:
    watched.open("/design?from=server-cache-zipf")
    watched.click('.box button:has-text("pcm ssd")')
    held = watched.page.locator('[id="f-stack.level[0].device.read"] option:checked')
    shown = held.text_content()
    assert shown == "constant: 6.7 us (of the preset)"
    watched.page.select_option('[id="f-stack.level[0].device"]', "preset:emlc_ssd")
    watched.ready()
    assert held.text_content() == "constant: 108.0 us (of the preset)"
    assert "nothing yet" not in (watched.page.text_content(".form") or "")


def test_enter_in_a_setting_runs(watched: Watched) -> None:
    watched.open('/design?from=disk-15k&set=name%3D"entered"')
    watched.click('[data-path="workload"]')
    watched.fill('[name="workload.requests"]', "2000")
    watched.page.keyboard.press("Enter")
    watched.ready()
    assert watched.address == "/design?run=entered-1"
    watched.fill('[name="workload.requests"]', "many")
    watched.page.keyboard.press("Enter")
    watched.ready()
    assert watched.page.locator("#run").is_disabled(), "there is an error"


def test_gray_text_is_never_a_value_in_use(watched: Watched) -> None:
    for page in ("plan", "study", "device", "papers"):
        watched.open(f"/{page}")
        empty = watched.page.locator("main input[placeholder]")
        for gray in empty.evaluate_all("all => all.map((each) => each.placeholder)"):
            assert gray.startswith(NO_VALUE), (page, gray)


def test_plan_shows_one_price_of_a_device(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    watched.open("/plan")
    (tmp_path / "tuesday.csv").write_text(MSR)
    page.set_input_files("#file", tmp_path / "tuesday.csv")
    watched.ready()
    watched.click("button:has-text('Plan')")
    assert watched.address == "/plan?plan=tuesday-csv-1-1"
    page.locator("#slide-pcm_ssd").press("ArrowRight")
    watched.ready()
    told = page.inner_text("output[for=slide-pcm_ssd]")
    assert told == page.input_value("#price-pcm_ssd")
    headline = page.inner_text(".headline")
    watched.fill("#price-pcm_ssd", "80")
    watched.ready()
    assert page.inner_text("output[for=slide-pcm_ssd]") == "80"
    assert "price.pcm_ssd=80" in watched.address
    assert page.inner_text(".headline") != headline
    curve = page.locator("figure svg").last.text_content() or ""
    assert "tuesday" in curve
    assert "/" not in curve, "it is not a path of the server"
