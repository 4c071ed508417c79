# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe in docs/recipes/writing.md is written to files as the page says, and rendered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "recipes" / "writing.md"
FILE = re.compile(r"^`(?P<path>[\w./-]+)`\n\n```yaml\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example_renders(render_folder: Any, tmp_path: Path) -> None:
    for found in FILE.finditer(GUIDE.read_text()):
        path = tmp_path / found["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found["text"])
    rendering = render_folder(tmp_path / "acme-fpga")(log_level="debug")
    assert {item["kind"] for item in rendering.objects()} == {"Namespace", "DaemonSet"}
    pod = rendering.one("DaemonSet", "fpga-plugin")["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["--log-level=debug"]
    assert pod["tolerations"] == [
        {"key": "acme.example/fpga", "operator": "Exists"},
        {"key": "hardware-enablement.io/acme-fpga", "operator": "Exists"},
    ]
    assert [proof.kind for proof in rendering.states["device_plugin"].proofs] == [
        "rollout",
        "allocatable",
    ]
