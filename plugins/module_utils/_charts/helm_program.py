# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that starts the program helm: to render templates, and for nothing else.

It gets no cluster, no plugins, no repositories and none of the user's settings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._errors import InvalidInput

PROGRAM = "helm"
TIMEOUT_S = 120
_ERROR = re.compile(r"^(?:Error|level=ERROR.*?msg=)\s*:?\s*", re.MULTILINE)


def run_helm(arguments: Sequence[str], files: Mapping[str, str]) -> tuple[str, str]:
    """Run helm in a folder of its own that holds these files; what it has written, and why it has
    refused ("" where it has not).

    Raises InvalidInput where there is no helm.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise InvalidInput(
            "a recipe that is a Helm chart, or of Go templates, cannot be rendered",
            why=f"the program {PROGRAM} is not on this machine's PATH",
            todo="install it from https://helm.sh/docs/intro/install (version 3 or 4)",
        )
    with tempfile.TemporaryDirectory(prefix="hardware-enablement-") as name:
        folder = Path(name)
        for path, text in files.items():
            place = folder / "files" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        environment = {
            "PATH": os.defpath,
            "HOME": name,
            "KUBECONFIG": str(folder / "none"),
            "HELM_PLUGINS": str(folder / "plugins"),
            "HELM_NO_PLUGINS": "1",
            **{f"HELM_{each}_HOME": str(folder / each) for each in ("CACHE", "CONFIG", "DATA")},
        }
        try:
            done = subprocess.run(
                [program, *arguments],
                cwd=folder / "files",
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "", f"it took longer than {TIMEOUT_S} s"
        if done.returncode == 0:
            return done.stdout, ""
        error = _ERROR.sub("", done.stderr).strip() or f"helm ended with {done.returncode}"
        return done.stdout, error
