# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""runc for an engine that lacks CAP_SYS_RESOURCE: containers do not ask for what cannot be given.

`python runtime.py RUNC-ARGUMENTS...`, as Docker calls a runtime: by path, with nothing of this
repository at hand.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

_REFUSED = "CAP_SYS_RESOURCE"


def without_refused(process: dict[str, Any]) -> dict[str, Any]:
    """The `process` of an OCI specification without that capability, and without an OOM score below
    the one that is there."""
    kept = {
        name: [each for each in names if each != _REFUSED]
        for name, names in process.get("capabilities", {}).items()
    }
    score = max(0, process.get("oomScoreAdj", 0))
    return {**process, "capabilities": kept, "oomScoreAdj": score}


def option(arguments: list[str], *names: str) -> str:
    """What an option is given, "" where it is not there."""
    for argument, after in zip(arguments, [*arguments[1:], ""], strict=True):
        option, equals, value = argument.partition("=")
        if option in names:
            return value if equals else after
    return ""


def _rewrite(arguments: list[str]) -> None:
    if "create" in arguments or "run" in arguments:
        file = Path(option(arguments, "--bundle", "-b"), "config.json")
        specification = json.loads(file.read_text())
        specification["process"] = without_refused(specification["process"])
        file.write_text(json.dumps(specification))
    elif process := option(arguments, "--process", "-p"):
        file = Path(process)
        file.write_text(json.dumps(without_refused(json.loads(file.read_text()))))


def main() -> None:
    """Become runc."""
    arguments = sys.argv[1:]
    _rewrite(arguments)
    os.execv(shutil.which("runc") or "/usr/sbin/runc", ["runc", *arguments])  # noqa: S606


if __name__ == "__main__":
    main()
