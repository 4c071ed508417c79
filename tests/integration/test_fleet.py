# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run for many clusters: each host of the group `clusters` is one, reached by its own
kubeconfig and context."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.plays import Played, Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.recipes

RECIPES = Path(__file__).parents[1] / "recipes"
NODES = {"fleet-east": 2, "fleet-west": 1, "fleet-north": 1}
SLOW = "fleet-north"


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, Cluster]]:
    """Three clusters with GPU nodes."""
    with ExitStack() as stack:
        started = {name: stack.enter_context(Cluster.up(name)) for name in NODES}
        for name, cluster in started.items():
            cluster.add_nodes(NODES[name], profile="gpu-t4", prefix="gpu")
        yield started


@pytest.fixture(scope="module")
def inventory(clusters: dict[str, Cluster], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All in one kubeconfig, told apart by context, and another one that does not answer, by a file
    of its own."""
    folder = tmp_path_factory.mktemp("fleet")
    parts = [yaml.safe_load(cluster.kubeconfig.read_text()) for cluster in clusters.values()]
    for part, name in zip(parts, clusters, strict=True):
        part["users"][0]["name"] = part["contexts"][0]["context"]["user"] = name
        part["contexts"][0]["name"] = name
    merged = {
        **parts[0],
        **{key: [part[key][0] for part in parts] for key in ("clusters", "users", "contexts")},
    }
    del merged["current-context"]
    (folder / "kubeconfig").write_text(yaml.safe_dump(merged))
    parts[0]["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (folder / "south").write_text(
        yaml.safe_dump({**parts[0], "current-context": parts[0]["contexts"][0]["name"]})
    )
    hosts = {
        **{
            name: {
                "hardware_enablement_kubeconfig": f"{folder}/kubeconfig",
                "hardware_enablement_context": name,
            }
            for name in clusters
        },
        "fleet-south": {"hardware_enablement_kubeconfig": f"{folder}/south"},
    }
    recipe = {
        "hardware_enablement_recipe": "two-states",
        "hardware_enablement_recipe_dir": str(RECIPES),
    }
    file = folder / "inventory.yml"
    file.write_text(yaml.safe_dump({"clusters": {"hosts": hosts, "vars": recipe}}))
    return file


@pytest.fixture(scope="module")
def fleet(clusters: dict[str, Cluster], tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays that learn from the inventory alone where the clusters are."""
    return Runner(
        clusters["fleet-east"], "nobody", tmp_path_factory.mktemp("runner")
    ).without_kubeconfig()


def recap(output: str, host: str) -> dict[str, int]:
    """A host's line in the recap."""
    line = re.search(rf"^{host}\s*: (.*)$", output, re.MULTILINE)
    assert line, output
    return {name: int(count) for name, count in (part.split("=") for part in line[1].split())}


def phase(cluster: Cluster) -> str:
    """The phase in a cluster's record, "" where nothing is recorded yet."""
    try:
        return cluster.kubectl("get", "sr", "two-states", "-o", "jsonpath={.status.phase}").strip()
    except ClusterError:
        return ""


def rows(file: Path) -> dict[str, tuple[str, str]]:
    """From the table as JSON: cluster to recipe and phase."""
    return {row["cluster"]: (row["recipe"], row["phase"]) for row in json.loads(file.read_text())}


def one_run_serves_all_each_at_its_own_pace_and_a_broken_cluster_stops_no_other(
    clusters: dict[str, Cluster], fleet: Runner, inventory: Path
) -> None:
    # A driver that takes its time on one cluster: the others are recorded while that run still goes
    # on.
    set_fault(clusters[SLOW].kubeconfig, "*", "driver", "slow", seconds=25)
    run = fleet.start("enable", "-i", str(inventory))
    done = [cluster for name, cluster in clusters.items() if name != SLOW]
    wait_until(
        lambda: all(phase(cluster) == "ready" for cluster in done), "the other clusters are ready"
    )
    assert run.poll() is None
    assert phase(clusters[SLOW]) != "ready"
    assert run.wait(120) != 0
    clear_faults(clusters[SLOW].kubeconfig)
    played = Played(run.returncode, (fleet.folder / "enable.log").read_text())
    assert recap(played.output, "fleet-south")["failed"] > 0
    assert re.search(
        r"fatal: \[fleet-south\].*https://127.0.0.1:1\b.*cannot be reached", played.output
    )
    for name, cluster in clusters.items():
        assert recap(played.output, name)["failed"] == 0
        row = cluster.kubectl("get", "sr", "two-states", "--no-headers").split()
        assert row[:3] == ["two-states", "ready", f"{NODES[name]}/{NODES[name]}"]
        uid = cluster.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
        assert re.search(
            rf"\[{name}\] cluster https://\S+, context {name}, UID {uid}", played.output
        )
    table = played.output.partition("CLUSTER ")[2]
    assert re.search(r"fleet-east +two-states +ready +2/2", table)
    assert re.search(r"fleet-south +two-states +error +- +.*cannot be reached", table)


def a_second_run_changes_nothing_on_any(fleet: Runner, inventory: Path) -> None:
    played = fleet.play("enable", "-i", str(inventory), "--limit", "!fleet-south").check()
    played.unchanged()


def other_strategies_serve_all_and_end_with_one_table(
    fleet: Runner, inventory: Path, tmp_path: Path, how: dict[str, Any]
) -> None:
    file = tmp_path / "fleet.json"
    options = {"plugin_version": f"{len(str(how))}.0"}
    fleet_file = {"hardware_enablement_fleet_file": str(file)}
    played = fleet.play(
        "enable", "-i", str(inventory), **how, **fleet_file, hardware_enablement_options=options
    )
    assert played.code != 0
    assert played.output.count("CLUSTER ") == 1
    ready = dict.fromkeys(NODES, ("two-states", "ready"))
    assert rows(file) == {**ready, "fleet-south": ("two-states", "error")}
    page = tmp_path / "page.html"
    status = fleet.play(
        "status", "-i", str(inventory), **how, **fleet_file, hardware_enablement_report=str(page)
    )
    assert status.code != 0
    data = json.loads(page.with_suffix(".json").read_text())
    seen = {each["name"]: [row["phase"] for row in each["resources"]] for each in data["clusters"]}
    assert seen == {**{name: ["ready"] for name in NODES}, "fleet-south": []}
    errors = {each["name"]: each["error"] for each in data["clusters"] if each["error"]}
    assert errors.keys() == {"fleet-south"}
    assert "cannot be reached" in errors["fleet-south"]
    assert rows(file) == {**ready, "fleet-south": ("two-states", "error")}


def status_and_disable_too(clusters: dict[str, Cluster], fleet: Runner, inventory: Path) -> None:
    limit = ("-i", str(inventory), "--limit", "!fleet-south")
    status = fleet.play("status", *limit).check()
    assert "two-states: ready, 2/2 nodes" in status.output
    assert "two-states: ready, 1/1 nodes" in status.output
    fleet.play("disable", *limit).check()
    for cluster in clusters.values():
        assert not cluster.kubectl("get", "sr", "-o", "name")


def test_a_fleet_from_the_first_run_to_disabled(
    clusters: dict[str, Cluster], fleet: Runner, inventory: Path, tmp_path: Path
) -> None:
    """One story: each step goes on from the one before."""
    one_run_serves_all_each_at_its_own_pace_and_a_broken_cluster_stops_no_other(
        clusters, fleet, inventory
    )
    a_second_run_changes_nothing_on_any(fleet, inventory)
    for how in ({"hardware_enablement_strategy": "free"}, {"hardware_enablement_serial": 1}):
        other_strategies_serve_all_and_end_with_one_table(fleet, inventory, tmp_path, how)
    status_and_disable_too(clusters, fleet, inventory)
