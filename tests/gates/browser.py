# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at pages of the documentation's site in Chromium, at the width of a phone and of a desk, and at
the report page, with 23 nodes and with 5,000, at that of a tablet as well.

Usage: python -m tests.gates.browser SITE PICTURES. It writes a picture of each page and width, and
fails where a page is wider than the screen, lacks a picture, links to a file that is not there or
says an error on its console."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import websocket

from docs.pictures import report

PAGES = (
    "index.html",
    "docs/admin/how-it-works.html",
    "docs/admin/variables.html",
    "recipes/nvidia-gpu/README.html",
    "reference/special_resource_module.html",
)
WIDTHS = (400, 1280)
REPORT_WIDTHS = (400, 800, 1280)
# Evaluated in the page once the theme's own scripts are done, where it has any. What is too wide the
# theme hides instead of scrolling: it cannot be read, unless it is in a box that scrolls.
LOOK = """(width => {
  const scrolls = e => e && e !== document.body &&
    (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return {
    wide: [...document.body.querySelectorAll("*")]
      .filter(e => e.getBoundingClientRect().right > width + 1 && !scrolls(e))
      .map(e => e.outerHTML.slice(0, 80)),
    images: [...document.images].filter(i => !i.naturalWidth).map(i => i.src),
    links: [...document.links].map(a => a.href).filter(h => h.startsWith("file:")),
  };
})"""


class Browser:
    """A tab that is spoken to by Chromium's DevTools protocol."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=30, suppress_origin=True)
        self._ids = itertools.count(1)
        self._session: dict[str, str] = {}
        self._events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv())
        if "method" in message:
            self._events.append(message)
        return message

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command; events that come before it are kept."""
        number = next(self._ids)
        request = {"id": number, "method": method, "params": params, **self._session}
        self._socket.send(json.dumps(request))
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"Chromium refuses {method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def show(self, page: Path, width: int, height: int) -> None:
        """Open a page, and come back when it is there."""
        self._events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 800,
        )
        self.call("Page.navigate", url=page.as_uri())
        while all(event["method"] != "Page.loadEventFired" for event in self._events):
            self._receive()

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=False)["data"]
        return base64.b64decode(shot)

    def look_at(self, page: Path, width: int, picture: Path) -> list[str]:
        """What a person would complain of; the picture is written."""
        self.show(page, width, 1000)
        seen = self.call(
            "Runtime.evaluate",
            expression=f"new Promise(done => (window.jQuery || (f => f()))(() => done({LOOK}({width}))))",
            awaitPromise=True,
            returnByValue=True,
        )["result"]["value"]
        picture.write_bytes(self.picture())
        said = [f"is too wide at {element}" for element in seen["wide"]]
        said += [f"lacks the picture {source}" for source in seen["images"]]
        files = {unquote(urlsplit(link).path) for link in seen["links"]}
        said += [
            f"links to {file}, which is not there" for file in files if not Path(file).exists()
        ]
        return said + [error for event in self._events if (error := error_of(event))]


def error_of(event: dict[str, Any]) -> str:
    """What an event says of an error on the console; else nothing."""
    params = event["params"]
    if event["method"] == "Runtime.exceptionThrown":
        return f"throws: {params['exceptionDetails']['text']}"
    if event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
        return f"logs: {params['entry']['text']} {params['entry'].get('url', '')}"
    if event["method"] == "Runtime.consoleAPICalled" and params["type"] == "error":
        return f"logs: {params['args']}"
    return ""


@contextmanager
def running(program: str) -> Iterator[Browser]:
    """Chromium with a profile of its own, until the block ends."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        process = subprocess.Popen(
            [program, *options, f"--user-data-dir={profile}"], stderr=subprocess.PIPE, text=True
        )
        try:
            lines = iter(process.stderr or ())
            address = next(
                (line for line in lines if line.startswith("DevTools listening on ")), ""
            )
            if not address:
                raise RuntimeError("Chromium ended before it listened: see what it said above")
            yield Browser(address.rsplit(" ", 1)[1].strip())
        finally:
            process.kill()
            process.wait()


def program() -> str | None:
    """Chromium, where this machine has it."""
    return shutil.which("chromium")


def main(site: Path, pictures: Path) -> int:
    """Look at all pages; 1 where something is wrong."""
    found = program()
    if found is None:
        print("No chromium on this machine: nobody has looked at the site.")
        return 0
    pictures.mkdir(parents=True, exist_ok=True)
    said = []
    large = pictures / "report-5000.html"
    large.write_text(report.enlarged(5000), encoding="utf-8")
    pages = {page.removesuffix(".html").replace("/", "-"): site / page for page in PAGES}
    reports = {"report": report.PAGE, "report-5000": large}
    looks = itertools.chain(
        itertools.product(pages.items(), WIDTHS), itertools.product(reports.items(), REPORT_WIDTHS)
    )
    with running(found) as browser:
        for (name, page), width in looks:
            seen = browser.look_at(page, width, pictures / f"{name}-{width}.png")
            said += [f"{name} at {width} px {sentence}" for sentence in seen]
    print("\n".join([*said, f"Pictures of {len(pages | reports)} pages: {pictures}"]))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
