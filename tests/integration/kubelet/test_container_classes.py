# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe rdt-classes on a real node: its classes are kept in what looks like resctrl there, and nothing
is taken for proven that the kernel does not say. Kubelet, container runtime, NRI, volumes and admission
are real; the node's container runtime and its kernel have no classes for containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration.conftest import grant
from tests.integration.kubelet.bench import PYTHON, Bench, pod_spec
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until
from tests.rmd.machine import Machine
from tests.rmd.resctrl import Resctrl

pytestmark = pytest.mark.kubelet

RECIPE = "rdt-classes"
# On the node; /sys is the machine's, and most machines have no resctrl.
TREE = "/srv/resctrl-classes"
LABEL = "rdt-classes-test"
# The tree is a folder, in which mkdir makes no files: the group is there before the agent comes.
GOLD = "hardware-enablement.gold"
MACHINE = Machine(sockets=1, cpus=2, ways=11, mba_closids=0)


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """A node whose resctrl is not mounted."""
    node = cluster.workers[0]
    for image in ("device-injector", "python-base"):
        cluster.load_image(image, nodes=[node])
    cluster.kubectl("label", "node", node, f"{LABEL}=wanted")
    cluster.real_node(node).run("mkdir", "-p", TREE)
    grant(cluster, RECIPE, "cluster-admin")
    yield Runner(cluster, RECIPE, tmp_path_factory.mktemp("runner"))
    cluster.kubectl("delete", "namespace", RECIPE, "--ignore-not-found")
    cluster.kubectl("delete", "specialresource", RECIPE, "--ignore-not-found")
    cluster.kubectl("label", "node", node, f"{LABEL}-")
    cluster.real_node(node).run("rm", "-rf", TREE)


def play(runner: Runner, **options: Any) -> Played:
    settings = {
        "classes": {"gold": {"ways": 4}},
        "agent_image": PYTHON,
        "agent_interval": 1,
        "resctrl_path": TREE,
        "hardware_labels": [{LABEL: "wanted"}],
        **options,
    }
    return runner.play(
        "enable",
        hardware_enablement_recipe=RECIPE,
        hardware_enablement_failure_grace=10,
        hardware_enablement_options=settings,
    )


def ways(runner: Runner) -> dict[str, str]:
    """Group -> its ways, by the node's files."""
    root = runner.cluster.real_node(runner.cluster.workers[0]).root / TREE.lstrip("/")
    groups = {"everybody": root, "gold": root / GOLD}
    return {name: (folder / "schemata").read_text().strip() for name, folder in groups.items()}


def a_node_without_resctrl_says_so(runner: Runner) -> None:
    played = play(runner)
    assert played.code != 0
    assert f"resctrl is not mounted at {TREE}" in played.output, played.output


def classes_are_made_true_and_then_left_alone(runner: Runner) -> None:
    root = runner.cluster.real_node(runner.cluster.workers[0]).root / TREE.lstrip("/")
    Resctrl(MACHINE, root).make(GOLD)
    # It starts anew by itself, a while after it has failed.
    rollout = ("rollout", "status", f"daemonset/{RECIPE}", "-n", RECIPE, PATIENTLY)
    runner.cluster.kubectl(*rollout)
    assert f"{RECIPE}: ready, 1/1 nodes" in play(runner).check().output
    assert ways(runner) == {"everybody": "L3:0=7f", "gold": "L3:0=780"}
    play(runner).unchanged()


def what_somebody_changes_is_changed_back_without_a_run(runner: Runner) -> None:
    root = runner.cluster.real_node(runner.cluster.workers[0]).root / TREE.lstrip("/")
    before = ways(runner)
    (root / GOLD / "schemata").write_text("    L3:0=003\n")
    wait_until(lambda: ways(runner) == before, "the class has its ways again")


def pods_may_ask_for_classes_and_for_nothing_else(bench: Bench) -> None:
    def ask(key: str, value: str) -> None:
        annotations = {f"{key}.rdt.noderesource.dev/container.main": value}
        metadata = {"name": "asks", "annotations": annotations}
        bench.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    spec = pod_spec("pass", nodeName=bench.cluster.workers[1])
    ask("closid", GOLD)
    for key, value in (("schemata", "L3:0=7ff"), ("closid", "COS1"), ("closid", f"{GOLD}/../x")):
        bench.kubectl("delete", "pod", "asks", "--now", "--ignore-not-found")
        with pytest.raises(ClusterError, match="pods may have the annotation closid"):
            ask(key, value)


def a_container_that_is_in_no_class_is_no_proof(runner: Runner) -> None:
    """An injector that runs, and does nothing for classes."""
    played = play(runner, injector_image="localhost/device-injector:1")
    assert played.code != 0
    said = played.output
    assert "cpu_resctrl_groups" in said or "in the group ''" in said, said


def with_an_injector_that_does_all_is_ready(runner: Runner) -> None:
    """On the simulated node, where validation pods end well; of one that has no kernel nothing is
    counted."""
    options = {
        "exporter_validation": False,
        "injector_image": "registry.example.org/nri-rdt:0.12.5",
        "hardware_labels": [{"kubernetes.io/hostname": "cpu-only-1"}],
    }
    assert f"{RECIPE}: ready, 1/1 nodes" in play(runner, **options).check().output
    play(runner, **options).unchanged()


def disabled_it_is_gone(runner: Runner) -> None:
    runner.play("disable", hardware_enablement_recipe="rdt-classes").check()
    made = f"hardware-enablement.io/recipe={RECIPE}"
    kinds = "all,configmap,serviceaccount,validatingadmissionpolicy"
    assert runner.cluster.kubectl("get", kinds, "-A", "-l", made, "-o", "name") == ""


def test_classes_from_no_resctrl_to_disabled(runner: Runner, bench: Bench) -> None:
    """One story: each step goes on from the one before."""
    a_node_without_resctrl_says_so(runner)
    classes_are_made_true_and_then_left_alone(runner)
    what_somebody_changes_is_changed_back_without_a_run(runner)
    pods_may_ask_for_classes_and_for_nothing_else(bench)
    a_container_that_is_in_no_class_is_no_proof(runner)
    with_an_injector_that_does_all_is_ready(runner)
    disabled_it_is_gone(runner)
