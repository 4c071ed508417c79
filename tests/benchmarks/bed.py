# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where contenders run: a cluster, a user whose requests are counted, and the way back to an empty
cluster."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    summary_label,
)
from tests.benchmarks.measure import Sample, measure
from tests.benchmarks.rendering import Manifests
from tests.cluster import Cluster
from tests.cluster.api import in_parallel
from tests.cluster.programs import kubectl
from tests.integration.plays import REPO, Runner

Obj = dict[str, Any]
DOMAIN = "hardware-enablement.io"
USER = "bench"


class Bed:
    """A running cluster on which one user measures. folder: for playbooks, manifests and caches of
    the contenders."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        cluster.kubectl(
            "create", "clusterrolebinding", USER, "--clusterrole=cluster-admin", f"--user={USER}"
        )
        self.runner = Runner(cluster, USER, folder)
        self.kubectl = kubectl()
        (folder / "tmp").mkdir()

    def environment(self) -> Mapping[str, str]:
        """kubernetes.core keeps its discovery cache in TMPDIR, the collection its bytecode in
        ANSIBLE_HOME: of their own here, warm after the first run."""
        kubeconfig = str(self.runner.kubeconfig)
        return {
            **self.runner.environment(),
            "KUBECONFIG": kubeconfig,
            "TMPDIR": str(self.folder / "tmp"),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "PYTHONDONTWRITEBYTECODE": "",
        }

    def measure(self, command: Sequence[str], *, may_fail: bool = False) -> Sample:
        """Run a contender once."""
        return measure(
            command,
            self.environment(),
            REPO,
            cluster=self.cluster,
            user=USER,
            may_fail=may_fail,
        )

    def other_interpreter(self) -> Path:
        """The same Python under another path, which makes the action plugins send the module."""
        script = self.folder / "other-python"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        script.chmod(0o755)
        return script

    def reset(self, manifests: Manifests) -> None:
        """Take away all that a run has left: these objects, and the collection's record, lock and
        marks on nodes."""
        delete = ("delete", "--ignore-not-found", "--wait", "--timeout=120s")
        self.cluster.kubectl(*delete, "-f", str(manifests.together))
        self.cluster.kubectl(*delete, "customresourcedefinition", f"specialresources.{DOMAIN}")
        self.cluster.kubectl(*delete, "namespace", DOMAIN.partition(".")[0])
        for node in self.cluster.api.pages("/api/v1/nodes"):
            ours: Obj = {
                part: {
                    name: None
                    for name in node["metadata"].get(part, {})
                    if name.startswith(f"{DOMAIN}/")
                }
                for part in ("labels", "annotations")
            }
            if any(ours.values()):
                self._patch(node, ours)

    def unlabel(self, recipe: str) -> None:
        """Take the label that says how a recipe stands from all nodes; no pod waits for it."""
        without = {"labels": {summary_label(recipe): None}}
        in_parallel(
            lambda node: self._patch(node, without), self.cluster.api.pages("/api/v1/nodes")
        )

    def _patch(self, node: Obj, metadata: Obj) -> None:
        self.cluster.api.patch(f"/api/v1/nodes/{node['metadata']['name']}", {"metadata": metadata})


def write_playbook(file: Path, tasks: Sequence[Obj]) -> Path:
    """A playbook (JSON, which is YAML) for the implicit localhost."""
    play = {
        "name": file.stem,
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "tasks": list(tasks),
    }
    file.write_text(json.dumps([play]))
    return file
