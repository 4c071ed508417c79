# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On what was measured: the machine, its load, the versions."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks import COLLECTIONS
from tests.cluster.programs import ensure_programs

MANIFEST = COLLECTIONS / "ansible_collections" / "kubernetes" / "core" / "MANIFEST.json"


def machine() -> str:
    """Cores, processor, memory."""
    processor = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    named = f" ({processor[1].strip()})" if processor else ""
    return f"{os.cpu_count()} cores{named}, {int(memory[1]) / 1024**2 if memory else 0:.0f} GiB of memory"


def load() -> str:
    """The load average of the last minute, five minutes, a quarter of an hour."""
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def versions() -> Sequence[str]:
    """Of everything that takes part."""
    manifest = json.loads(MANIFEST.read_text())
    program = ensure_programs(print)["kube-apiserver"]
    apiserver = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return [
        f"ansible-core {version('ansible-core')}",
        f"Python {platform.python_version()}",
        f"kubernetes {version('kubernetes')} (Python client)",
        f"kubernetes.core {manifest['collection_info']['version']}",
        apiserver.stdout.strip(),
    ]
