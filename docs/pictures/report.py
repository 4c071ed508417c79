# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report page of the documentation: report.html is what the collection makes of report.json, which
the playbook status has written about 23 simulated nodes; report.png is what Chromium shows of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from plugins.module_utils._states.page import page

HERE = Path(__file__).resolve().parent
DATA, PAGE, PICTURE = (HERE / f"report.{ending}" for ending in ("json", "html", "png"))
WIDTH, HEIGHT = 1200, 1120


def read() -> dict[str, Any]:
    """What the page is made of."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def draw() -> str:
    """The page."""
    return page.render(read())


def enlarged(count: int) -> str:
    """The page as it would be with so many nodes: those that there are, again and again."""
    data = read()
    (resource,) = data["clusters"][0]["resources"]
    some = list(resource["nodes"].items())
    resource["nodes"] = {
        f"{some[number % len(some)][0]}-{number}": some[number % len(some)][1]
        for number in range(count)
    }
    return page.render(data)


def photograph() -> None:
    """Write what Chromium shows of the page, where there is Chromium. Nothing compares it: each machine's
    fonts make another picture."""
    from tests.gates import browser  # noqa: PLC0415 - its client is a tool of the site

    if program := browser.program():
        with browser.running(program) as tab:
            tab.call("Emulation.setScrollbarsHidden", hidden=True)
            tab.show(PAGE, WIDTH, HEIGHT)
            PICTURE.write_bytes(tab.picture())
