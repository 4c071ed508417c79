# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe runtime-hook on a real node: what its list names is in containers of pods that ask for it,
and in no others. Kubelet, container runtime, CDI, NRI and admission are real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration.conftest import grant
from tests.integration.kubelet.bench import PYTHON, Bench, pod_spec
from tests.integration.plays import Runner
from tests.integration.waiting import PATIENTLY, wait_until_none

pytestmark = pytest.mark.kubelet

SLEEP = "import time; time.sleep(3600)"
ASKS = "cdi-devices.noderesource.dev/container.main"
WANTED = "runtime-hook.hardware-enablement.io/wanted=true"
HOOK = "hardware-enablement.io/runtime-hook=all"
LIBRARY, DEVICE = "/usr/local/lib/libacme.so.1", "/dev/acme0"
VARIABLES: dict[str, Any] = {
    "hardware_enablement_recipe": "runtime-hook",
    "hardware_enablement_failure_grace": 10,
    "hardware_enablement_options": {
        "inventory": [
            f"device {DEVICE}",
            "library libacme.so.1",
            "binary? /usr/bin/acme-info",
            "variable ACME_LIBRARY=@libacme.so.1",
        ],
        "image": PYTHON,
        "injector_image": "localhost/device-injector:1",
    },
}


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """A node with the hardware: a device, and a driver's library."""
    node = cluster.workers[0]
    here = cluster.real_node(node)
    cluster.load_image("device-injector", nodes=[node])
    cluster.load_image("python-base", nodes=[node])
    cluster.kubectl("label", "node", node, WANTED)
    here.run("sh", "-c", f"echo 'the library of a driver' > {LIBRARY}")
    grant(cluster, "runtime-hook", "cluster-admin")
    yield Runner(cluster, "runtime-hook", tmp_path_factory.mktemp("runner"))
    cluster.kubectl("delete", "namespace", "runtime-hook", "--ignore-not-found")
    cluster.kubectl("delete", "specialresource", "runtime-hook", "--ignore-not-found")
    cluster.kubectl("label", "node", node, f"{WANTED.partition('=')[0]}-")
    here.run("rm", "-f", LIBRARY, DEVICE)


def start(bench: Bench, name: str, annotations: dict[str, str]) -> None:
    """A pod on the node."""
    spec = pod_spec(SLEEP, nodeName=bench.cluster.workers[0])
    metadata = {"name": name, "annotations": annotations}
    bench.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def seen(bench: Bench, pod: str) -> list[str]:
    """What of the list a pod's container has."""
    script = (
        f"ls {DEVICE} {LIBRARY}; cat {LIBRARY}; echo $ACME_LIBRARY $HARDWARE_ENABLEMENT_HOOK; true"
    )
    return bench.kubectl("exec", pod, "--", "sh", "-c", f"({script}) 2>/dev/null").split("\n")


def what_a_node_lacks_is_named(runner: Runner) -> None:
    played = runner.play("enable", **VARIABLES)
    assert played.code != 0
    said = f"the node has no device {DEVICE}: is the driver installed and loaded?"
    assert said in played.output, played.output


def pods_that_ask_get_it_and_no_others(runner: Runner, bench: Bench) -> None:
    here = runner.cluster.real_node(runner.cluster.workers[0])
    here.run("mknod", DEVICE, "c", "1", "3")
    # It starts anew by itself, a while after it has failed.
    rollout = ("rollout", "status", "daemonset/hook", "-n", "runtime-hook", PATIENTLY)
    runner.cluster.kubectl(*rollout)
    assert "runtime-hook: ready, 1/1 nodes" in runner.play("enable", **VARIABLES).check().output
    start(bench, "asks", {ASKS: json.dumps([HOOK])})
    start(bench, "does-not", {})
    for pod in ("asks", "does-not"):
        bench.wait_ready(pod)
    assert [line for line in seen(bench, "asks") if line] == [
        DEVICE,
        LIBRARY,
        "the library of a driver",
        f"{LIBRARY} {HOOK.removesuffix('=all')}",
    ]
    assert [line for line in seen(bench, "does-not") if line.strip()] == []


def what_no_hook_offers_is_refused(bench: Bench) -> None:
    for asked in (
        {"mounts.noderesource.dev/container.main": "[{source: /, destination: /host, type: bind}]"},
        {"devices.nri.io": "[{path: /dev/mem, type: c, major: 1, minor: 1}]"},
        {ASKS: json.dumps([HOOK, "nvidia.com/gpu=all"])},
    ):
        with pytest.raises(ClusterError, match="pods may have the annotation"):
            start(bench, "greedy", asked)


def a_second_run_changes_nothing(runner: Runner) -> None:
    runner.play("enable", **VARIABLES).unchanged()


def disabled_it_is_gone(runner: Runner, bench: Bench) -> None:
    here = runner.cluster.real_node(runner.cluster.workers[0])
    bench.kubectl("delete", "pod", "asks", "does-not", "--grace-period=1")
    runner.play("disable", hardware_enablement_recipe="runtime-hook").check()
    wait_until_none(lambda: here.run("ls", "/run/cdi").split(), "the specification")


def test_a_hook_from_what_is_missing_to_disabled(runner: Runner, bench: Bench) -> None:
    """One story: each step goes on from the one before."""
    what_a_node_lacks_is_named(runner)
    pods_that_ask_get_it_and_no_others(runner, bench)
    what_no_hook_offers_is_refused(bench)
    a_second_run_changes_nothing(runner)
    disabled_it_is_gone(runner, bench)
