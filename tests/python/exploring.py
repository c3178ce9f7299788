"""Helpers for tests of the explorer, which runs in the test process or in a server process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.explorer.app import Explorer
from serving import NACRE, missing, until
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 120_000.0
"""Timeout in milliseconds for pages, which is much longer than any operation takes."""
HOST = "127.0.0.1:8000"
TOKEN = "sesame"
SMALL = {
    "name": "small",
    "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 2000, "read_share": "50 %"},
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
}
ENDLESS = {**SMALL, "name": "endless", "workload": {**SMALL["workload"], "requests": 10**12}}  # type: ignore[dict-item]

MSR = "".join(
    f"{128166372003061629 + 10_000 * i},host,0,{'Write' if i % 3 else 'Read'},"
    f"{4096 * (7919 * i % 500)},4096,100\n"
    for i in range(1500)
)
"""Trace in the MSR Cambridge format (Microsoft Research)."""


class Client(TestClient):
    """HTTP client of an explorer in this process."""

    def __init__(self, folder: Path) -> None:
        self.explorer = Explorer(folder)
        app = self.explorer.app(hosts=(HOST,), token=TOKEN)
        super().__init__(
            app, base_url=f"http://{HOST}", headers={"authorization": f"Bearer {TOKEN}"}
        )

    def last(self, job: dict[str, Any]) -> dict[str, Any]:
        """Waits until a job has ended. Returns the last report of the job."""

        def told() -> dict[str, Any]:
            found: dict[str, Any] = self.get(f"/api/jobs/{job['number']}").json()
            return found

        until(lambda: told()["state"] not in ("waiting", "running"))
        return told()

    def done(self, path: str, document: object) -> dict[str, Any]:
        """Starts a job and waits until it has ended. Returns the last report of the job."""
        answer = self.post(path, json=document)
        assert answer.status_code == 200, answer.text
        return self.last(answer.json())


@contextmanager
def client(folder: Path) -> Iterator[Client]:
    """Runs an explorer in this process while the block runs."""
    made = Client(folder)
    try:
        yield made
    finally:
        made.explorer.close()


class Server:
    """`nacre explore` in a separate process."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        command = [str(NACRE), "explore", *options]
        self.process = subprocess.Popen(
            command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().removeprefix("open ").strip()
        assert "#token=" in self.address, self.process.communicate()

    @property
    def base(self) -> str:
        """Address of the server without the token."""
        return self.address.partition("/#")[0]

    @property
    def token(self) -> str:
        """Token in the fragment of the address."""
        return self.address.partition("#token=")[2]

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stops the server. Returns its exit status and its error output."""
        self.process.send_signal(number)
        _, complaint = self.process.communicate(timeout=120)
        return self.process.returncode, complaint

    def close(self) -> None:
        """Kills the server if it is still running."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=120)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Starts Debian's Chromium. Skips the test if Chromium is not installed."""
    program = shutil.which("chromium")
    if program is None:
        missing("chromium is not installed, so no page was looked at: apt install chromium")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=options)
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page whose console errors and requests to other machines are recorded."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._request(request.url, base))

    def ready(self) -> None:
        """Waits until the page reports that it is ready."""
        self.page.wait_for_selector("html[data-state=ready]", state="attached")

    def open(self, address: str) -> None:
        """Opens an address of the explorer."""
        self.page.goto(self.base + address)
        self.ready()

    def click(self, selector: str) -> None:
        """Clicks an element, and waits until the page is ready."""
        self.page.click(selector)
        self.ready()

    def fill(self, selector: str, text: str) -> None:
        """Fills in a field, and waits until the page is ready."""
        self.page.fill(selector, text)
        self.ready()

    def comes_to(self, address: str) -> None:
        """Waits until the page has this address and is ready."""
        try:
            self.page.wait_for_url(self.base + address)
        except Exception as error:
            error.add_note(f"at {self.address}: {self.page.inner_text('main')}")
            raise
        self.ready()

    def shows(self, selector: str) -> bool:
        """Returns whether the selected element is visible."""
        return self.page.locator(selector).first.is_visible()

    @property
    def address(self) -> str:
        """Path and query of the page's address."""
        return self.page.url.removeprefix(self.base)

    def _console(self, kind: str, text: str) -> None:
        # Ignore HTTP errors in the log of the browser, because the page itself shows them.
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            self.complaints.append(text)

    def _request(self, url: str, base: str) -> None:
        if not url.startswith((f"{base}/", "data:", "blob:")):
            self.foreign.append(url)

    def serious(self) -> list[str]:
        """Returns serious accessibility problems that axe finds."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{each['id']}: {each['help']}: {[node['target'] for node in each['nodes']]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
