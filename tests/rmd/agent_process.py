# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent of the recipe intel-rmd as the process of a pod, on a simulated node.

Run as a program it is the recipe's own, with one thing changed: what it writes to resctrl goes
through the kernel's rules (KernelFiles), since the tree of a simulated node is a plain folder."""

from __future__ import annotations

import contextlib
import importlib
import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rmd.kernel_files import KernelFiles
from tests.rmd.machine import Machine
from tests.rmd.resctrl import Resctrl

REPO = Path(__file__).resolve().parents[2]
PROGRAM = REPO / "recipes" / "intel-rmd" / "program"
INTERVAL_S = 0.2
_ATTEMPTS, _PAUSE_S = 50, 0.02


@dataclass
class AgentProcess:
    """A node's files below folder, and the agent that reads and writes them. log: what it says goes
    there. api, credentials, settings: as the pod has them. interval: seconds between two looks."""

    node: str
    folder: Path
    log: Path
    api: str
    credentials: Path
    settings: Path
    machine: Machine = field(default_factory=Machine)
    interval: float = INTERVAL_S
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        for cpu in range(self.machine.cpus):
            cache = next(c for c in self.machine.caches if cpu in self.machine.cpus_of(c))
            index = self.folder / "sys/devices/system/cpu" / f"cpu{cpu}" / "cache/index3"
            index.mkdir(parents=True)
            shared = self.machine.share_list(cache)
            texts = {"level": "3", "id": str(cache), "shared_cpu_list": shared}
            for name, text in texts.items():
                (index / name).write_text(text)
        for name in ("cgroup", "kubelet", "state"):
            (self.folder / name).mkdir()
        self.give({})
        Resctrl(self.machine, self.folder / "resctrl")

    @property
    def tree(self) -> Resctrl:
        """The node's resctrl as it is now, to be read or changed by hand."""
        for _attempt in range(_ATTEMPTS):
            # In a folder, other than in the kernel, a group is there before its files are.
            with contextlib.suppress(OSError, KeyError):
                return Resctrl(self.machine, self.folder / "resctrl")
            time.sleep(_PAUSE_S)
        return Resctrl(self.machine, self.folder / "resctrl")

    def groups(self) -> dict[str, str]:
        """Group -> its CPUs, but for the default one."""
        found = self.tree.dump()
        return {name: str(group["cpus_list"]) for name, group in found.items() if name != "."}

    def give(self, entries: dict[str, dict[str, str]]) -> None:
        """What the kubelet's CPU manager has given: pod uid -> container -> CPUs."""
        state = {"policyName": "static", "defaultCpuSet": "", "entries": entries}
        file = self.folder / "kubelet" / "cpu_manager_state"
        file.with_suffix(".new").write_text(json.dumps(state))
        file.with_suffix(".new").replace(file)

    def start(self, api: str = "", *, writes: bool = True) -> None:
        """Start it. api: another address of the API server. writes: with the back end resctrl."""
        places = ("sys", "resctrl", "cgroup", "kubelet", "state")
        words = [f"--{name}={self.folder / name}" for name in places]
        words += [f"--node={self.node}", f"--api={api or self.api}", f"--interval={self.interval}"]
        words += [f"--settings={self.settings}", f"--credentials={self.credentials}"]
        words += ["--write"] if writes else []
        self.log.parent.mkdir(exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-B", "-m", "tests.rmd.agent_process", *words],
                cwd=REPO,
                stdout=log,
            )

    def kill(self) -> None:
        """As the kernel does when memory is short: it has no time for anything."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """As the kubelet ends a pod; its exit code."""
        return self._end(signal.SIGTERM)

    def said(self) -> dict[str, Any]:
        """The last of its reports."""
        found: dict[str, Any] = json.loads(self.log.read_text().splitlines()[-1])
        return found

    def _end(self, number: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        return process.wait(10)


def _main(argv: list[str]) -> int:
    sys.path.insert(0, str(PROGRAM))
    # The program is in no package.
    agent: Any = importlib.import_module("agent")
    refused: type[Exception] = importlib.import_module("resctrl").RefusedWriteError

    def files(root: Path) -> KernelFiles:
        return KernelFiles(root, Machine(), refused)

    agent.Files = files
    return int(agent.main(argv))


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
