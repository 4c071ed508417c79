# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real kernels: a virtual machine as a node, read over its serial console, and what it said written
down."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.vms.machine import Vm
from tests.integration.guides import shown_on_page

# Where its stories stand, each after its marker.
PAGE = "contributing/real-kernels.md"

# What ends the time since boot before each of the kernel's lines.
_STAMP = "] "


@dataclass
class Transcript:
    """What stories have seen, with the seconds since each began; the level writes it down by itself."""

    file: Path
    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    @contextmanager
    def story(self, name: str) -> Iterator[None]:
        """What is said in it; one that comes to its end is shown on the page."""
        self.began, first = time.monotonic(), len(self.lines)
        self.lines.append(f"{name}, {datetime.datetime.now(datetime.timezone.utc).date()}")
        yield
        shown_on_page(PAGE, name, "".join(f"{line}\n" for line in self.lines[first:]))

    def say(self, text: str) -> None:
        """Lines of it, the first with the time."""
        first, *others = text.strip().splitlines() or ["(nothing)"]
        self.lines.append(f"{time.monotonic() - self.began:4.0f} s  {first}")
        self.lines += [f"        {line}" for line in others]

    def write(self) -> None:
        """Write what there is, also of a story that was broken off."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text("\n".join([*self.lines, ""]))


@dataclass
class Machine:
    """The virtual machine, and what its kernel has said since somebody looked last."""

    vm: Vm
    transcript: Transcript
    seen: int = 0
    kernel: str = ""
    boot: str = ""
    ready: float = 0.0

    def run(self, script: str) -> str:
        """A command on the console, and its answer, both written down."""
        said = self.vm.run(script).strip()
        self.transcript.say(f"# {script}\n{said}")
        return said

    def loaded(self, module: str) -> bool:
        """Whether the kernel has the module."""
        try:
            self.vm.run(f"test -d /sys/module/{module}")
        except ClusterError:
            return False
        return True

    def kernel_says(self, *about: str) -> list[str]:
        """The kernel's lines about one of these since the last look, without their times; written
        down."""
        lines = self._kernel_lines()
        new = [line for line in lines[self.seen :] if any(each in line for each in about)]
        self.seen = len(lines)
        self.transcript.say("\n".join(["the kernel says:", *new]))
        return [line.partition(_STAMP)[2] for line in new]

    def said_at(self, text: str) -> float:
        """When the kernel said this first in this boot, in seconds since its start."""
        lines = [line for line in self._kernel_lines() if text in line]
        assert lines, f"the kernel has not said {text}"
        return float(lines[0].partition(_STAMP)[0].strip("[ "))

    def boots(self) -> str:
        """To be called once it is Ready after a boot: keeps when that was, in seconds since its kernel's
        start, and forgets what the kernel said until now; returns the boot's id."""
        self.ready = float(self.vm.run("cut -d ' ' -f 1 /proc/uptime"))
        self.seen = len(self._kernel_lines())
        self.kernel, self.boot = self.run(
            "uname -r; cat /proc/sys/kernel/random/boot_id"
        ).splitlines()
        return self.boot

    def _kernel_lines(self) -> list[str]:
        return self.vm.run("dmesg --color=never").splitlines()
