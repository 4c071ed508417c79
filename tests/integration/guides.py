# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of our guides, run as they are written there, and what pages show, written by tests."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.cluster import Cluster
from tests.cluster.programs import kubectl
from tests.integration.plays import REPO

_SHELL = re.compile(r"```shell\n(.*?)```", re.DOTALL)


def kubectl_commands(page: str, heading: str) -> list[str]:
    """The commands with kubectl under a heading of a page in docs/admin, in their order."""
    blocks = "".join(_shell_blocks(page, heading)).replace("\\\n", " ")
    return [line for line in blocks.splitlines() if line.startswith("kubectl ")]


def shell_block(page: str, heading: str, about: str) -> str:
    """The script under a heading of such a page that has this in it."""
    (found,) = [block for block in _shell_blocks(page, heading) if about in block]
    return found


def _shell_blocks(page: str, heading: str) -> list[str]:
    text = (REPO / "docs" / "admin" / page).read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return _SHELL.findall(section)


def shown_on_page(page: str, name: str, seen: str) -> str:
    """The text that a page of docs shows after the comment with this name; with HE_WRITE_EXAMPLES set, what
    was seen from now on."""
    file = REPO / "docs" / page
    marker = f"<!-- {name} -->\n\n```text\n"
    before, found, rest = file.read_text(encoding="utf-8").partition(marker)
    assert found, f"{page} has no {marker!r}"
    shown, end, after = rest.partition("```\n")
    if not os.environ.get("HE_WRITE_EXAMPLES"):
        return shown
    file.write_text(f"{before}{marker}{seen}{end}{after}", encoding="utf-8")
    return seen


def run_guide(cluster: Cluster, page: str, heading: str, folder: Path) -> None:
    """Run these commands as an admin of the cluster, in a folder; each has to end well."""
    path = f"{Path(kubectl(print)).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "KUBECONFIG": str(cluster.kubeconfig)}
    commands = kubectl_commands(page, heading)
    assert commands, f"no command in {page} under {heading}"
    for command in commands:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
