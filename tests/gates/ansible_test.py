# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ansible-test needs to make its own virtual environments from the configured package index
alone.

It fetches a script that installs pip from a server of its own, which not every network can reach,
and it hands pip's environment variables down to nobody. Both are mended in a home folder that only
ansible-test sees, in the cache, where its environments stay warm between runs.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gates.place import Place

# Its name carries the version of pip that the pinned ansible-core asks for.
_SCRIPT = "get_pip_24_2.py"

# Run by ansible-test inside the new environment, with pip's arguments: "pip==24.2 --no-setuptools
# --no-wheel ...".
_INSTALL_PIP = """\
import subprocess
import sys

packages = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
subprocess.run([sys.executable, "-m", "ensurepip", "--default-pip"], check=True, stdout=subprocess.DEVNULL)
subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *packages], check=True)
"""


def home(place: Place) -> Path:
    """The prepared home folder."""
    folder = place.cache / "ansible-test"
    script = folder / ".ansible" / "test" / "cache" / _SCRIPT
    script.parent.mkdir(parents=True, exist_ok=True)
    _keep(script, _INSTALL_PIP)
    settings = folder / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.touch(mode=0o600)
    _keep(settings, _pip_settings())
    return folder


def _keep(file: Path, text: str) -> None:
    """Write a file that another step may be reading, but only if it has to change."""
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)


def _pip_settings() -> str:
    """What pip is told here by files and environment variables, as one settings file."""
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    settings: dict[str, str] = {}
    for line in listing.splitlines():
        key, value = line.split("=", 1)
        section, name = key.rsplit(".", 1)
        if section in ("global", "install", ":env:"):
            settings[name] = value.strip("'")
    return "[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())
