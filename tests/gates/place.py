# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the gates work: paths, and an environment that owes nothing to the user's own Ansible or
cluster settings."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]

# What would point a test at the user's cluster or change how Ansible and Python behave, or which tests run: a
# part of them would count as all.
_FOREIGN = ("KUBECONFIG", "PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
_FOREIGN_PREFIXES = ("ANSIBLE_", "K8S_AUTH_", "MOLECULE_", "GIT_")


@dataclass(frozen=True)
class Place:
    """Folders of one step. The virtual environment is the one whose Python runs the gates. parts:
    those of the step that are to run; none where it has none."""

    venv: Path = field(default_factory=lambda: Path(sys.prefix))
    build: Path = REPO / ".build"
    cache: Path = field(
        default_factory=lambda: Path(
            os.environ.get("HE_CACHE") or "~/.cache/hardware-enablement"
        ).expanduser()
    )
    step: str = "none"
    parts: tuple[str, ...] = ()

    @property
    def scratch(self) -> Path:
        """What no other step reads or writes, since others may run at the same time."""
        return self.build / "steps" / self.step

    @property
    def collections(self) -> Path:
        """Collections path with kubernetes.core and a link to this repository."""
        return self.venv / "collections"

    @property
    def tested(self) -> Path:
        """Collections path that plays run from: ours, unless HE_TEST_COLLECTIONS names another (CI:
        `installed`)."""
        return Path(os.environ.get("HE_TEST_COLLECTIONS") or self.collections).absolute()

    @property
    def dist(self) -> Path:
        """The packed collection, one tarball."""
        return self.scratch / "dist"

    @property
    def installed(self) -> Path:
        """Collections path with kubernetes.core and the tarball, installed as a user does."""
        return self.build / "installed"

    @property
    def site(self) -> Path:
        """The documentation's site."""
        return self.build / "docs-site" / "html"

    @property
    def images(self) -> Path:
        """What images are built from, a folder for each."""
        return self.build / "images"

    @property
    def publishing(self) -> Place:
        """The same with the tools for publishing, whose versions fit no other environment: see
        bootstrap.py."""
        return replace(self, venv=REPO / ".venv-publish")

    @property
    def copy(self) -> Path:
        """The copy of this repository that tools get which insist on
        .../ansible_collections/<namespace>/<name>."""
        return self.scratch / "ansible_collections" / "hardware" / "enablement"

    @property
    def cluster_cpu(self) -> Path:
        """What the step's clusters have cost: a row of JSON for each daemon that was stopped."""
        return self.scratch / "cluster-cpu.jsonl"

    @property
    def dependencies(self) -> Path:
        """For each part of the step, the files that its result depends on, as JSON."""
        return self.scratch / "dependencies.json"

    @property
    def logs(self) -> Path:
        """Output of the steps, one file each."""
        return self.build / "logs"

    def environment(self) -> dict[str, str]:
        """Environment variables for every command of a step.

        HE_TEST_KUBECONFIG stays: it is the one way to name another cluster. Version managers' shim
        folders leave PATH, since they hold commands of Python versions that do not start.
        """
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES)
        }
        path = [
            entry
            for entry in env.get("PATH", os.defpath).split(os.pathsep)
            if Path(entry).name != "shims"
        ]
        env["PATH"] = os.pathsep.join([str(self.venv / "bin"), *path])
        env["ANSIBLE_COLLECTIONS_PATH"] = str(self.collections)
        env["ANSIBLE_HOME"] = str(self.scratch / "ansible-home")
        env["ANSIBLE_CONFIG"] = str(REPO / "ansible.cfg")
        env["PYTHONUNBUFFERED"] = "1"
        env["HE_CLUSTER_CPU"] = str(self.cluster_cpu)
        if self.parts:
            env["HE_DEPENDENCIES"] = str(self.dependencies)
        return env
