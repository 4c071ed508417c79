# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on simulated nodes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.integration.driver_bed import SECRET, DriverBed, Obj, check_output
from tests.integration.namespaces import make_namespace
from tests.integration.plays import PLAYBOOKS, Runner
from tests.integration.registry_bed import Bed

NAMESPACE = "simple-kmod"
# Two kernels of the scene, and one whose name no tag can hold.
OLD, NEW, ODD = "6.8.0-60-generic", "6.8.0-71-generic", "6.12.107+deb12-cloud-amd64"
# (the recipes' kernel.tag: what no tag may hold replaced, and a hash)
ODD_TAG = "6.12.107_deb12-cloud-amd64-b3ed4a"


class Kmod(DriverBed):
    """simple-kmod on gpu-old-1 and gpu-old-2 (OLD), gpu-new-1 (NEW), odd-1 (ODD). plain-1 builds."""

    recipe = NAMESPACE
    nodes = "kmod=wanted"

    def options(self, **others: Any) -> Obj:
        """The recipe's options."""
        host = self.registry.address
        return {
            "repository": f"{host}/drivers/simple-kmod",
            "prebuilt_repository": f"{host}/drivers/prebuilt",
            "headers": "base_image",
            "base_image": f"{host}/base/kmod:1",
            "node_selector": {"kmod": "wanted"},
            "image_pull_secrets": [SECRET],
            **others,
        }

    def build(self, folder: Path, **others: Any) -> Obj:
        """The result of driver_container alone, with all that it does."""
        return self._find(folder, **others)

    def look_up(
        self, folder: Path, *arguments: str, faulty: bool = False, how: str = "local", **others: Any
    ) -> Obj:
        """The result of driver_container alone, in check mode."""
        return self._find(folder, "--check", *arguments, faulty=faulty, how=how, **others)

    def _find(
        self, folder: Path, *arguments: str, faulty: bool = False, how: str = "local", **others: Any
    ) -> Obj:
        where = {"how": how, "python": sys.executable, "out": str(folder / "found.json")}
        params = {**self.settings(faulty=faulty), "recipe_options": self.options(), **others}
        check_output(
            self.runner.play(PLAYBOOKS / "look_up.yml", *arguments, **where, **params).check()
        )
        return dict(json.loads((folder / "found.json").read_text()))


def make_kmod(cluster: Cluster, runner: Runner, bed: Bed) -> Kmod:
    """Label the nodes, add the one with the odd kernel, and push a base image."""
    cluster.add_nodes(1, profile="cpu-only", kernel=ODD, os="debian:12", prefix="odd")
    for node in ("gpu-old-1", "gpu-old-2", "gpu-new-1", "odd-1"):
        cluster.kubectl("label", "node", node, "kmod=wanted")
    make_namespace(cluster, NAMESPACE)
    bed.images.push("base/kmod", "1", labels={"made": "first"})
    kmod = Kmod(cluster, runner, bed)
    kmod.give_secret()
    return kmod
