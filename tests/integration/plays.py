# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run playbooks as a user does, under a user of their own, so that the audit log tells what a run
asked for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import Cluster
from tests.gates.place import Place
from tests.integration.play_server import PlayServer

REPO = Path(__file__).resolve().parents[2]
PLAYBOOKS = Path(__file__).parent / "playbooks"
BIN = Path(sys.executable).parent
# A run that does not end by itself; 89 s of a quiet machine were more than 300 beside four levels.
PLAY_S = 900.0
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# A question about rights, which is asked by creating an object that is never stored.
REVIEWS = "/selfsubjectaccessreviews"
# What enable_gpu needs where all nodes are simulated.
SIMULATED: dict[str, Any] = yaml.safe_load(
    (REPO / "tests" / "scenes" / "simulated.yml").read_text()
)
_RECAP = re.compile(r"^\S+\s*: ok=\d+\s+changed=(?P<changed>\d+).*failed=\d+", re.MULTILINE)
_TASK = re.compile(r"^(?=TASK \[)", re.MULTILINE)


@dataclass(frozen=True)
class Played:
    """What a playbook run printed, and how it ended."""

    code: int
    output: str

    @property
    def changed(self) -> int:
        """The sum over the hosts of the recap."""
        return sum(int(found["changed"]) for found in _RECAP.finditer(self.output))

    def unchanged(self) -> Played:
        """The same after a good run that changed nothing, or an assertion with what it printed."""
        assert (self.code, self.changed) == (0, 0), self.explained
        return self

    def check(self) -> Played:
        """The same, or an assertion with what it printed."""
        assert self.code == 0, self.explained
        return self

    @property
    def error(self) -> dict[str, Any]:
        """What the task that failed last has returned."""
        found: dict[str, Any] = json.loads(self.output.rpartition("FAILED! => ")[2].splitlines()[0])
        return found

    @property
    def explained(self) -> str:
        """The whole output after the lines of what failed, or else changed: CI shows the beginning
        only."""
        tasks = _TASK.split(self.output)
        for results in ("fatal: ", "failed: ", "changed: "):
            if found := [task for task in tasks if f"\n{results}" in task]:
                return "\n".join((*found, "in", self.output))
        return self.output


def _surroundings() -> dict[str, str]:
    """The environment of all runs: none of the caller's cluster settings, nor of Ansible's."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("K8S_AUTH_", "ANSIBLE_"))
    }
    kept.pop("KUBECONFIG", None)
    return {
        **kept,
        "PATH": f"{BIN}:{kept.get('PATH', '')}",
        "ANSIBLE_CONFIG": str(REPO / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(Place().tested),
        "ANSIBLE_CONNECTION_PLUGINS": str(PLAYBOOKS / "connection_plugins"),
    }


def known_dependency(file: str) -> None:
    """Fail where the gates do not know that the test that runs depends on a file of ours: they
    would not run it again when that changes."""
    if not (known := os.environ.get("HE_DEPENDENCIES")) or not (REPO / file).is_file():
        return
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    of_test = json.loads(Path(known).read_text()).get(test, [file])
    assert file in of_test, (
        f"{test} uses {file} unknown to tests/gates: it has to name it in a text"
    )


@cache
def _play_server() -> PlayServer:
    """The server of all runners in this process, which all have these surroundings."""
    return PlayServer(_surroundings(), REPO)


def close_play_server() -> None:
    """End the server, if a play has started one."""
    if _play_server.cache_info().currsize:
        _play_server().close()


class Runner:
    """Runs playbooks against a cluster as one user."""

    def __init__(self, cluster: Cluster, user: str, folder: Path) -> None:
        self.cluster = cluster
        self.user = user
        self.folder = folder
        self.kubeconfig = cluster.kubeconfig_for(user)
        self.settings = {"K8S_AUTH_KUBECONFIG": str(self.kubeconfig)}
        self._simulated = not cluster.workers

    def without_kubeconfig(self) -> Runner:
        """The same, but for plays that say themselves how to reach which cluster."""
        other = copy(self)
        other.settings = {}
        return other

    def environment(self) -> dict[str, str]:
        """The environment of a run: nothing of the caller's cluster settings."""
        return {**_surroundings(), **self.settings}

    def command(self, playbook: str | Path, *arguments: str, **variables: Any) -> list[str]:
        """The command line."""
        known_dependency(f"playbooks/{playbook}.yml")
        known_dependency(f"recipes/{variables.get('hardware_enablement_recipe')}/recipe.yml")
        if self._simulated and (
            playbook == "enable_gpu" or variables.get("hardware_enablement_recipe") == "nvidia-gpu"
        ):
            given = variables.get("hardware_enablement_options", {})
            variables["hardware_enablement_options"] = {
                **SIMULATED["hardware_enablement_options"],
                **given,
            }
        if {"hardware_enablement_options", "hardware_enablement_pools"} & variables.keys():
            # Tests say all that is to hold; that less than the record has is refused is one of them.
            variables.setdefault("hardware_enablement_options_replace", True)
        name = (
            str(playbook)
            if "/" in str(playbook) or "." in str(playbook)
            else f"hardware.enablement.{playbook}"
        )
        command = [str(BIN / "ansible-playbook"), name, *arguments]
        return [*command, "-e", json.dumps(variables)] if variables else command

    def play(
        self, playbook: str | Path, *arguments: str, timeout: float = PLAY_S, **variables: Any
    ) -> Played:
        """Run to the end, in a process that is forked from one that has imported what a play needs:
        see play_server.py. With settings of Ansible's own it is the real program."""
        command = self.command(playbook, *arguments, **variables)
        if any(name.startswith("ANSIBLE_") for name in self.settings):
            return self._run_program(command, timeout)
        ended = _play_server().play(command, self.environment(), REPO, timeout)
        return Played(ended.code, ended.stdout + ended.stderr)

    def run_program(
        self, playbook: str | Path, *arguments: str, timeout: float = PLAY_S, **variables: Any
    ) -> Played:
        """The same by the real program, for tests about the process itself."""
        return self._run_program(self.command(playbook, *arguments, **variables), timeout)

    def _run_program(self, command: Sequence[str], timeout: float) -> Played:
        done = subprocess.run(
            command,
            cwd=REPO,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Played(done.returncode, done.stdout + done.stderr)

    def start(
        self, playbook: str | Path, *arguments: str, **variables: Any
    ) -> subprocess.Popen[str]:
        """Start and do not wait; the output goes to a file in the runner's folder."""
        log = (self.folder / f"{Path(str(playbook)).stem}.log").open("w")
        return subprocess.Popen(
            self.command(playbook, *arguments, **variables),
            cwd=REPO,
            env=self.environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def writes(self, since: int) -> list[str]:
        """What the user asked the API server to write since a mark; dry runs and questions about
        rights do not."""
        return [
            f"{event['verb']} {event['requestURI']}"
            for event in self.cluster.audit(user=self.user, since=since)
            if event["verb"] in WRITES
            and "dryRun=All" not in event["requestURI"]
            and REVIEWS not in event["requestURI"]
        ]
