"""Makes the pictures of Plan, Device, and Crash in docs/pictures.

    .venv/bin/python tools/pictures.py

Requires chromium, and fio with libnbd. These pictures take too long for tests. The tests of the
explorer make all other pictures of the explorer.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = Path(__file__).parent.parent / "docs/pictures"
NACRE = Path(sys.executable).parent / "nacre"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
# The page shows the last two minutes. The pictures are taken under load.
SHOWN_S = 118
LOAD_S = SHOWN_S + 12
DEVICE = """
name = "ssd"
[stack]
preset = "tlc_nvme"
channels = 2
ways = 1
blocks = 128
pages = 64
spare_blocks = 0
factory_bad = "0 %"
over_provisioning = "40 %"
"""


def keep(page: Page, name: str) -> None:
    """Saves pictures of a page: wide, in dark mode, and on a phone."""
    for manner, colors, size in (
        ("light", "light", WIDE),
        ("dark", "dark", WIDE),
        ("phone", "light", PHONE),
    ):
        page.emulate_media(color_scheme=colors, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.screenshot(path=PICTURES / f"explore-{name}-{manner}.png")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]


def plan(page: Page, _folder: Path) -> None:
    """Plans a cache and device mix for a recorded PostgreSQL trace."""
    shipped = page.locator("#trace option:has-text('pgbench')").first.inner_text()
    page.select_option("#trace", label=shipped)
    page.click("button:has-text('Plan')")
    page.wait_for_selector("h2:has-text('mixes of tiers')", timeout=600_000)
    page.wait_for_selector("html[data-state=ready]", state="attached", timeout=600_000)
    page.locator("h2:has-text('mixes of tiers')").evaluate("each => each.scrollIntoView()")
    keep(page, "plan")


def device(page: Page, folder: Path) -> None:
    """Loads a served drive with fio until the time axis of the page is full. Saves a picture."""
    (folder / "ssd.toml").write_text(DEVICE)
    served = subprocess.Popen(
        [NACRE, "serve", "ssd.toml", "ssd.img"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        uri = served.stdout.readline().split()[-1]
        page.fill("#image", "ssd.img")
        page.click("button:has-text('Watch')")
        page.wait_for_selector("[data-looks]")
        load = ["--ioengine=nbd", f"--uri={uri}", "--rw=randrw", "--rwmixread=70", "--bs=4k"]
        load += ["--size=200M", "--time_based", f"--runtime={LOAD_S}", "--name=load"]
        load += ["--iodepth=8", "--thinktime=2ms", "--thinktime_blocks=16"]
        fio = subprocess.Popen(["fio", *load], cwd=folder, stdout=subprocess.DEVNULL)
        time.sleep(SHOWN_S)
        page.evaluate("scrollTo(0, 0)")
        keep(page, "device")
        if fio.wait() != 0:
            raise RuntimeError(f"fio ended with {fio.returncode}")
    finally:
        served.terminate()
        served.wait()


def crash(page: Page, _folder: Path) -> None:
    """Tests power losses of a drive that holds its guarantees."""
    page.fill("#points", "300")
    page.click("button:has-text('Cut power')")
    page.wait_for_selector(".headline", timeout=600_000)
    page.evaluate("scrollTo(0, 0)")
    keep(page, "crash")


MAKERS = {"plan": plan, "device": device, "crash": crash}


def main() -> None:
    """Uses each page in a browser, and saves pictures."""
    from playwright.sync_api import sync_playwright

    wanted = sys.argv[1:] or list(MAKERS)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        explorer = subprocess.Popen(
            [NACRE, "explore"], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        try:
            address = explorer.stdout.readline().removeprefix("open ").strip()
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]
            page.goto(address)
            for each in wanted:
                page.goto(f"{address.partition('/#')[0]}/{each}")
                page.wait_for_load_state("networkidle")
                MAKERS[each](page, folder)
        finally:
            explorer.terminate()
            explorer.wait()


if __name__ == "__main__":
    main()
