# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run for many clusters: each host of the group `clusters` is one, reached by its own kubeconfig and context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster import Cluster
from tests.integration.plays import Runner

RECIPES = Path(__file__).parents[1] / "recipes"
NODES = {"fleet-east": 2, "fleet-west": 1}


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, Cluster]]:
    """Two clusters with GPU nodes."""
    with Cluster.up("fleet-east") as east, Cluster.up("fleet-west") as west:
        for cluster in (east, west):
            cluster.add_nodes(NODES[cluster.name], profile="gpu-t4", prefix="gpu")
        yield {east.name: east, west.name: west}


@pytest.fixture(scope="module")
def inventory(clusters: dict[str, Cluster], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both in one kubeconfig, told apart by context, and a third one that does not answer, by a file of its own."""
    folder = tmp_path_factory.mktemp("fleet")
    parts = [yaml.safe_load(cluster.kubeconfig.read_text()) for cluster in clusters.values()]
    for part, name in zip(parts, clusters, strict=True):
        part["users"][0]["name"] = part["contexts"][0]["context"]["user"] = name
        part["contexts"][0]["name"] = name
    merged = {**parts[0], **{key: parts[0][key] + parts[1][key] for key in ("clusters", "users", "contexts")}}
    del merged["current-context"]
    (folder / "kubeconfig").write_text(yaml.safe_dump(merged))
    parts[0]["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (folder / "south").write_text(yaml.safe_dump({**parts[0], "current-context": parts[0]["contexts"][0]["name"]}))
    hosts = {
        **{
            name: {"hardware_enablement_kubeconfig": f"{folder}/kubeconfig", "hardware_enablement_context": name}
            for name in clusters
        },
        "fleet-south": {"hardware_enablement_kubeconfig": f"{folder}/south"},
    }
    recipe = {"hardware_enablement_recipe": "two-states", "hardware_enablement_recipe_dir": str(RECIPES)}
    file = folder / "inventory.yml"
    file.write_text(yaml.safe_dump({"clusters": {"hosts": hosts, "vars": recipe}}))
    return file


@pytest.fixture(scope="module")
def fleet(clusters: dict[str, Cluster], tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays that learn from the inventory alone where the clusters are."""
    return Runner(clusters["fleet-east"], "nobody", tmp_path_factory.mktemp("runner")).without_kubeconfig()


def recap(output: str, host: str) -> dict[str, int]:
    """A host's line in the recap."""
    line = re.search(rf"^{host}\s*: (.*)$", output, re.MULTILINE)
    assert line, output
    return {name: int(count) for name, count in (part.split("=") for part in line[1].split())}


def test_one_run_serves_all_and_a_broken_cluster_stops_no_other(
    clusters: dict[str, Cluster], fleet: Runner, inventory: Path
) -> None:
    played = fleet.play("enable", "-i", str(inventory))
    assert played.code != 0
    assert recap(played.output, "fleet-south")["failed"] > 0
    assert re.search(r"fatal: \[fleet-south\].*https://127.0.0.1:1\b.*cannot be reached", played.output)
    for name, cluster in clusters.items():
        assert recap(played.output, name)["failed"] == 0
        row = cluster.kubectl("get", "sr", "two-states", "--no-headers").split()
        assert row[:3] == ["two-states", "ready", f"{NODES[name]}/{NODES[name]}"]


def test_a_second_run_changes_nothing_on_any(fleet: Runner, inventory: Path) -> None:
    played = fleet.play("enable", "-i", str(inventory), "--limit", "!fleet-south").check()
    played.unchanged()


def test_status_and_disable_too(clusters: dict[str, Cluster], fleet: Runner, inventory: Path) -> None:
    limit = ("-i", str(inventory), "--limit", "!fleet-south")
    status = fleet.play("status", *limit).check()
    assert "two-states: ready, 2/2 nodes" in status.output
    assert "two-states: ready, 1/1 nodes" in status.output
    fleet.play("disable", *limit).check()
    for cluster in clusters.values():
        assert not cluster.kubectl("get", "sr", "-o", "name")
