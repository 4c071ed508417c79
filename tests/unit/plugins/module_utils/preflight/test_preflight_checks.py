# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stops an enable, by what nodes, objects and pods say: pure functions."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.pod_trial import (
    trial_pod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.kernel_answers import (
    KernelImage,
    PreflightFinding,
    PreflightResult,
    table,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.preflight_checks import (
    repelled_pods,
    unfit_nodes,
)

Obj = dict[str, Any]


def node(name: str, *taints: Obj, **conditions: str) -> Obj:
    """A node that is Ready, but for what is said."""
    said = {"Ready": "True", **conditions}
    return {
        "metadata": {"name": name},
        "spec": {"taints": list(taints)},
        "status": {
            "conditions": [{"type": kind, "status": status} for kind, status in said.items()]
        },
    }


def daemonset(**spec: Any) -> Obj:
    """A DaemonSet whose pods have that spec."""
    pod = {"containers": [{"name": "main", "image": "i"}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "driver", "namespace": "toy"},
        "spec": {"template": {"metadata": {"labels": {"app": "x"}}, "spec": pod}},
    }


def test_nodes_that_are_short_of_disk_are_named_and_stop_an_enable_only_together() -> None:
    short, well = node("a", DiskPressure="True"), node("b", DiskPressure="False")
    (finding,) = unfit_nodes([short, well])
    assert (finding.message, finding.blocks) == (
        "a: under DiskPressure, so that they take no pods",
        False,
    )
    assert next(unfit_nodes([short])).blocks
    assert [finding.message for finding in unfit_nodes([node("c", Ready="Unknown")])] == [
        "c: not Ready"
    ]


def test_a_taint_counts_where_no_pod_tolerates_it() -> None:
    own = {"key": "maintenance", "value": "yes", "effect": "NoSchedule"}
    pressure = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}
    nodes = [node("a", own, pressure), node("b", own)]
    (finding,) = repelled_pods([daemonset()], nodes)
    assert finding.message.startswith("a, b: no pod tolerates maintenance=yes:NoSchedule")
    tolerant = daemonset(tolerations=[{"key": "maintenance", "operator": "Exists"}])
    assert list(repelled_pods([daemonset(), tolerant], nodes)) == []
    assert list(repelled_pods([], nodes)) == []


def test_a_pod_is_tried_as_it_will_be_but_for_an_account_that_is_not_there_yet() -> None:
    manifest = daemonset(serviceAccountName="driver", hostPID=True)
    key, template = key_of(manifest), manifest["spec"]["template"]
    pod = trial_pod(key, template, set())
    assert (pod["metadata"]["namespace"], pod["metadata"]["labels"]) == ("toy", {"app": "x"})
    assert (pod["spec"]["serviceAccountName"], pod["spec"]["hostPID"]) == ("driver", True)
    assert "serviceAccountName" not in trial_pod(key, template, {("toy", "driver")})["spec"]
    assert manifest == daemonset(serviceAccountName="driver", hostPID=True)


def image(kernel: str, answer: str, nodes: int = 0, why: str = "") -> KernelImage:
    """A row for a kernel."""
    return KernelImage(kernel, "ubuntu 24.04", "g", nodes, "build", answer, "r/i:1", why)


def todo(*images: KernelImage, staged: tuple[str, ...] = (), blocked: bool = False) -> str:
    """What comes next for something that is enabled."""
    findings = [PreflightFinding("pods", "no", blocked)]
    return table(PreflightResult("toy", True, images, findings, staged))[-1]


def test_the_last_line_says_what_to_do_next() -> None:
    old, new = image("old", "prebuilt", 2), image("new", "would build")
    assert "run preflight again" in todo(old, blocked=True)
    assert "run preflight again" in todo(old, image("new", "cannot"))
    assert "hardware_enablement_build=true" in todo(old, new)
    assert "hardware_enablement_stage=true" in todo(old, image("new", "built"))
    assert "nodes may reboot" in todo(old, image("new", "built"), staged=("new",))
    result = PreflightResult("toy", True, [old], [])
    assert table(result)[-1] == "-> nothing: enable finds all that it needs"


def test_what_is_not_known_is_a_doubt_in_the_last_line() -> None:
    for last in (todo(image("a", "built", 1)), todo(image("a", "kept", 1, why="no route"))):
        assert last.startswith("-> see whether what is marked with ~ is right")
    found = PreflightResult("toy", True, [image("a", "kept", 1, why="no route")], [])
    assert "finds all that it needs" not in found.todo


def test_a_reason_stands_once_however_many_kernels_have_it() -> None:
    rows = [image("a", "cannot", why="no route"), image("b", "cannot", why="no route")]
    lines = table(PreflightResult("toy", True, rows, []))
    assert lines[0] == "toy: something is in the way, 2 kernels"
    assert [line for line in lines if "no route" in line] == ["! no route"]
