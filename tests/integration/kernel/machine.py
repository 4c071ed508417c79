# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real kernels: a virtual machine as a node, read over its serial console, and what it said written
down."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.vms.machine import Vm

# What ends the time since boot before each of the kernel's lines.
_STAMP = "] "


@dataclass
class Transcript:
    """What a story has seen, with the seconds since it began; the level writes it down by itself."""

    file: Path
    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Lines of it, the first with the time."""
        first, *others = text.strip().splitlines() or ["(nothing)"]
        self.lines.append(f"{time.monotonic() - self.began:4.0f} s  {first}")
        self.lines += [f"        {line}" for line in others]

    def write(self) -> None:
        """Write what there is, also of a story that was broken off."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        day = datetime.datetime.now(datetime.timezone.utc).date()
        self.file.write_text("\n".join([f"{day}", *self.lines, ""]))


@dataclass
class Machine:
    """The virtual machine, and what its kernel has said since somebody looked last."""

    vm: Vm
    transcript: Transcript
    seen: int = 0
    kernel: str = ""
    boot: str = ""

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

    def kernel_says(self, about: str) -> list[str]:
        """The kernel's lines about something since the last look, without their times; written down."""
        lines = self._kernel_lines()
        new = [line for line in lines[self.seen :] if about in line]
        self.seen = len(lines)
        self.transcript.say("\n".join(["the kernel says:", *new]))
        return [line.partition(_STAMP)[2] for line in new]

    def boots(self) -> str:
        """To be called after a boot: forgets what the kernel said until now; returns the boot's id."""
        self.seen = len(self._kernel_lines())
        self.kernel, self.boot = self.run(
            "uname -r; cat /proc/sys/kernel/random/boot_id"
        ).splitlines()
        return self.boot

    def _kernel_lines(self) -> list[str]:
        return self.vm.run("dmesg --color=never").splitlines()
