# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever request a run is killed at, the next one repairs it: no wrong mark, no orphan, nothing
of others touched.

HE_TEST_KILLS says how many runs are killed (8), and half as many of partition."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import REPO, Runner
from tests.integration.processes import below, lives
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.faults

Obj = dict[str, Any]

KILLS = int(os.environ.get("HE_TEST_KILLS", "8"))
NAME = "two-states"
RECIPE = {
    "hardware_enablement_recipe": NAME,
    "hardware_enablement_recipe_dir": str(REPO / "tests" / "recipes"),
}
GPU_NODES = ("gpu-new-1", "gpu-old-1", "gpu-old-2")
THEIR_TAINT = "example.com/mine=x:PreferNoSchedule"
THEIRS = [
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "theirs", "labels": {"team": "a"}},
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "theirs"},
        "data": {"a": "b"},
    },
]
# They change with everything that happens in a cluster, or go a moment later than what they belong
# to.
RESTLESS = (
    "v1 Node ",
    "coordination.k8s.io/",
    "v1 Pod kube-",
    "CustomResourceDefinition /specialresources",
    "/v1.hardware",
)


def objects(cluster: Cluster) -> dict[str, Obj]:
    """Everything in the cluster by name."""
    return {
        key: obj for key, obj in cluster.dump().items() if not any(part in key for part in RESTLESS)
    }


def chance(number: int, what: str, choices: int) -> int:
    """One of so many choices, the same in every run of the test."""
    return int.from_bytes(hashlib.sha256(f"{number} {what}".encode()).digest()[:4], "big") % choices


def kill(cluster: Cluster, run: subprocess.Popen[str], lock: str = NAME) -> None:
    """End a run and its workers by -9; its lock would be held for up to a minute."""
    workers = below(run.pid)
    for process in (run.pid, *workers):
        if lives(process):
            os.kill(process, signal.SIGKILL)
    run.wait()
    wait_until_none(lambda: list(filter(lives, workers)), "workers of the run")
    cluster.kubectl("delete", "lease", lock, "-n", "hardware-enablement", "--ignore-not-found")


def kill_at(cluster: Cluster, runner: Runner, playbook: str, at: int, **variables: Any) -> None:
    """Start a run, and kill all of it with its so-manieth request."""
    mark = cluster.mark()
    run = runner.start(playbook, **RECIPE, **variables)
    while run.poll() is None and len(cluster.audit(user=runner.user, since=mark)) < at:
        time.sleep(0.005)
    kill(cluster, run)


class Site:
    """A cluster with what others have in it."""

    def __init__(self, cluster: Cluster, runner: Runner) -> None:
        self.cluster, self.runner = cluster, runner
        cluster.kubectl(
            "apply",
            "-f",
            "-",
            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": THEIRS}),
        )
        cluster.kubectl("create", "namespace", "hardware-enablement")
        wait_until(
            lambda: "v1 ConfigMap hardware-enablement/kube-root-ca.crt" in cluster.dump(),
            "the ConfigMap that each namespace gets",
        )
        self.others = objects(cluster)
        self.requests: dict[str, int] = {}
        self.enabled: set[str] = set()

    def count(self, playbook: str) -> None:
        """Run undisturbed, and note what comes of it."""
        mark = self.cluster.mark()
        self.runner.play(playbook, **RECIPE).check()
        self.requests[playbook] = len(self.cluster.audit(user=self.runner.user, since=mark))
        if playbook == "enable":
            self.enabled = _settled(self.cluster)

    def judge(self, playbook: str) -> None:
        """What an undisturbed run would have left, and nothing else."""
        marked = {node: carried for node, carried in sight.marks(self.cluster).items() if carried}
        if playbook == "enable":
            assert {node: carried[NAME] for node, carried in marked.items()} == dict.fromkeys(
                GPU_NODES, "ready"
            )
            assert {carried[f"{NAME}.driver"] for carried in marked.values()} == {"ready"}
            wait_until(
                lambda: _settled(self.cluster) == self.enabled,
                "the objects of an undisturbed run",
            )
        else:
            assert marked == {}
            # Controllers collect what belongs to what is gone a moment later.
            wait_until_none(
                lambda: objects(self.cluster).keys() ^ self.others.keys(),
                "objects of the recipe",
            )
        found = objects(self.cluster)
        assert {key: found[key] for key in self.others} == self.others


def _settled(cluster: Cluster) -> set[str]:
    """The names of everything, but for those that controllers make up."""
    return {
        key for key in objects(cluster) if "Pod " not in key and "ControllerRevision" not in key
    }


@pytest.mark.first
def test_every_killed_run_is_repaired(cluster: Cluster, runner: Runner) -> None:
    site = Site(cluster, runner)
    site.count("enable")
    site.judge("enable")
    site.count("disable")
    site.judge("disable")
    enabled = False
    phase = ("get", "namespace", NAME, "--ignore-not-found", "-o", "jsonpath={.status.phase}")
    for number in range(KILLS):
        killed = ("enable", "disable")[chance(number, "killed", 2)] if enabled else "enable"
        at = 1 + chance(number, "at", site.requests[killed])
        # Always another version, so that a run on an enabled cluster has something to do.
        options = {"plugin_version": f"{number}.0"}
        variables = {"hardware_enablement_options": options} if killed == "enable" else {}
        kill_at(cluster, runner, killed, at, **variables)
        repair = ("enable", "disable")[chance(number, "repair", 2)]
        print(f"{killed} killed at request {at} of {site.requests[killed]}, then {repair}")
        # A namespace that is going takes nothing new: the run says so, and that it has to be waited
        # for.
        wait_until(
            lambda: cluster.kubectl(*phase) != "Terminating",
            "the end of the namespace",
        )
        runner.play(repair, **RECIPE).check()
        site.judge(repair)
        enabled = repair == "enable"


def test_the_record_goes_last(cluster: Cluster, runner: Runner) -> None:
    runner.play("enable", **RECIPE).check()
    held = {"name": "held", "namespace": NAME, "finalizers": ["example.com/held"]}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": held}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(config))
    run = runner.start("disable", **RECIPE, hardware_enablement_delete_others=True)
    path = f"/api/v1/namespaces/{NAME}"
    wait_until(
        lambda: "deletionTimestamp" in cluster.api.get(path)["metadata"],
        "the namespace is being deleted",
    )
    kill(cluster, run)
    assert cluster.kubectl("get", "hwe", NAME, "-o", "name")
    cluster.kubectl(
        "patch",
        "configmap",
        "held",
        "-n",
        NAME,
        "--type=merge",
        "-p",
        '{"metadata":{"finalizers":null}}',
    )
    runner.play("disable", **RECIPE).check()
    assert cluster.kubectl("get", "hwe", NAME, "--ignore-not-found", "-o", "name") == ""
    assert cluster.kubectl("get", "namespace", NAME, "--ignore-not-found", "-o", "name") == ""


def _partition(cluster: Cluster) -> tuple[dict[str, list[str]], set[str]]:
    """The taints of the nodes with the hardware, of which all but theirs are noted as ours; and our
    PriorityClasses."""
    nodes, marks = sight.nodes(cluster), sight.marks(cluster)
    taints = {
        name: [
            f"{t['key']}={t['value']}:{t['effect']}" for t in nodes[name]["spec"].get("taints", [])
        ]
        for name in GPU_NODES
    }
    for name, found in taints.items():
        noted = json.loads(marks[name].get(f"{NAME}.taints", "[]"))
        assert set(noted) == set(found) - {THEIR_TAINT}
    classes = cluster.api.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    names = {item["metadata"]["name"] for item in classes}
    return taints, {name for name in names if name.startswith(NAME)}


def test_a_partition_that_is_killed_is_finished_by_the_next_run(
    cluster: Cluster, runner: Runner
) -> None:
    runner.play("enable", **RECIPE).check()
    cluster.kubectl("taint", "node", "gpu-old-1", THEIR_TAINT)
    taint = {"key": f"{sight.DOMAIN}/{NAME}", "value": "kept", "effect": "NoSchedule"}
    asked = {
        "whole": {"partitioning_taints": [taint], "partitioning_soft": True},
        "absent": {"partitioning_state": "absent"},
    }
    theirs = {node: [THEIR_TAINT] if node == "gpu-old-1" else [] for node in GPU_NODES}
    ours = f"{taint['key']}={taint['value']}:{taint['effect']}"
    both = {node: [*found, ours] for node, found in theirs.items()}
    left = {
        "whole": (both, {f"{NAME}-high-priority", f"{NAME}-low-priority"}),
        "absent": (theirs, set()),
    }
    requests = {}
    for wish, variables in asked.items():
        mark = cluster.mark()
        runner.run_program("partition", **RECIPE, **variables).check()
        requests[wish] = len(cluster.audit(user=runner.user, since=mark))
        assert _partition(cluster) == left[wish]
    for number in range(KILLS // 2):
        killed = ("whole", "absent")[number % 2]
        at = 1 + chance(number, "partition", requests[killed])
        kill_at(cluster, runner, "partition", at, **asked[killed])
        repair = ("whole", "absent")[chance(number, "finish", 2)]
        print(f"{killed} killed at request {at} of {requests[killed]}, then {repair}")
        runner.play("partition", **RECIPE, **asked[repair]).check()
        assert _partition(cluster) == left[repair]
        runner.play("partition", **RECIPE, **asked[repair]).unchanged()
    runner.play("disable", **RECIPE).check()
    assert _partition(cluster) == left["absent"]
    cluster.kubectl("taint", "node", "gpu-old-1", "example.com/mine-")
