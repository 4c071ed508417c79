# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that pools divide or share: what their nodes offer then, and how a node gets there that is in
use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.cluster.simulation.gpu_sharing import PARTITIONER
from tests.integration import sight
from tests.integration.conftest import documented
from tests.integration.exchange_bed import AT_ONCE, RECIPE, THEIRS, Site
from tests.integration.plays import Played
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.recipes

DIVIDED, WHOLE = ["n-1", "n-2"], ["n-4", "n-5"]
SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
SEVEN = {"1g.10gb": 7}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Five nodes with one GPU each, in three kinds."""
    with Cluster.up("test-gpu-sharing") as cluster:
        nodes = cluster.add_nodes(5, profile="gpu-t4", prefix="n")
        for node, use in [(node, "divided") for node in DIVIDED] + [("n-3", "shared")]:
            cluster.kubectl("label", "node", node, f"example.com/gpus={use}")
        cluster.kubectl("create", "namespace", THEIRS)
        yield Site(cluster, documented(cluster, tmp_path_factory.mktemp("runner")), nodes)


def enable(site: Site, **profiles: int) -> Played:
    """With these MIG devices in the one pool, and MPS in the other."""
    divided: dict[str, Any] = {"mig_devices": profiles, "mig_strategy": "mixed"}
    pools = [
        {
            "name": name,
            "selector": {"matchLabels": {"example.com/gpus": name}},
            "options": options,
        }
        for name, options in (("divided", divided), ("shared", {"mps_replicas": 4}))
    ]
    return site.runner.play("enable_gpu", **RECIPE, hardware_enablement_pools=pools)


def offered(site: Site, node: str) -> dict[str, str]:
    """The GPUs, and parts of them, that a node has for pods."""
    allocatable = sight.nodes(site.cluster)[node]["status"]["allocatable"]
    return {
        name: amount
        for name, amount in allocatable.items()
        if name.startswith("nvidia.com/") and amount != "0"
    }


def all_ready(site: Site) -> bool:
    """Whether every state is proven on every node."""
    marks = sight.marks(site.cluster)
    return {marks[node].get("nvidia-gpu") for node in site.nodes} == {"ready"}


@pytest.fixture(autouse=True)
def divided_by_seven(site: Site) -> None:
    """Nobody's pods, each node in its pool, and seven parts of each GPU that is divided."""
    site.cluster.kubectl("delete", "pods", "--all", "-n", THEIRS, "--now")
    site.cluster.kubectl("label", "node", *WHOLE, "example.com/gpus-")
    enable(site, **SEVEN)
    if not all_ready(site) or offered(site, "n-1") != {SMALL: "7"}:
        site.upgrade(**AT_ONCE).check()


def test_each_pool_offers_what_its_options_make_of_a_gpu(site: Site) -> None:
    for node in DIVIDED:
        assert offered(site, node) == {SMALL: "7"}
    assert offered(site, "n-3") == {"nvidia.com/gpu": "4"}
    assert offered(site, "n-4") == {"nvidia.com/gpu": "1"}
    assert all_ready(site)
    enable(site, **SEVEN).unchanged()


def test_gpus_are_divided_again_after_a_reboot_before_anybody_uses_them(site: Site) -> None:
    kernel = sight.nodes(site.cluster)["n-1"]["status"]["nodeInfo"]["kernelVersion"]
    # Who does not wait for it comes first.
    set_fault(site.cluster.kubeconfig, "n-1", PARTITIONER, "slow", seconds=10)
    site.cluster.reboot("n-1", kernel)

    def is_back() -> bool:
        pods = sight.pods(site.cluster)
        both = [pods["n-1", "mig"], pods["n-1", "device_plugin"]]
        restarts = [pod["status"]["containerStatuses"][0]["restartCount"] for pod in both]
        return all(restarts) and all(sight.is_ready(pod) for pod in both)

    wait_until(is_back, "GPUs divided again, and advertised")
    wait_until(lambda: offered(site, "n-1") == {SMALL: "7"}, "seven parts again")
    clear_faults(site.cluster.kubeconfig)
    pods = sight.pods(site.cluster)
    mig, plugin = pods["n-1", "mig"], pods["n-1", "device_plugin"]
    # Nobody had the GPU open before.
    assert mig["status"]["containerStatuses"][0]["restartCount"] == 1
    conditions = {each["type"]: each for each in mig["status"]["conditions"]}
    divided = conditions["Ready"]["lastTransitionTime"]
    begun = plugin["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
    assert sight.seconds(begun) >= sight.seconds(divided)
    enable(site, **SEVEN).check()
    assert all_ready(site)


def test_gpus_in_use_are_divided_anew_by_an_upgrade(site: Site) -> None:
    site.run_pod("user", "n-1", container={"resources": {"limits": {SMALL: "1"}}})
    before = site.uids()
    played = enable(site, **{"3g.40gb": 2})
    # What is asked for is not there, and nobody was sent away for it.
    assert played.code == 0
    assert offered(site, "n-1") == {SMALL: "7"}
    assert "user" in site.pods()
    status = site.runner.play("status").output
    assert "the playbook upgrade" in status
    site.upgrade(**AT_ONCE).check()
    for node in DIVIDED:
        assert offered(site, node) == {LARGE: "2"}
    assert "user" not in site.pods()
    assert all_ready(site)
    assert site.cordoned() == set()
    # The driver stays as it is.
    assert site.uids() == before


def test_a_node_that_changes_pools_is_freed_for_it(site: Site) -> None:
    site.run_pod("works", "n-5", runtimeClassName="nvidia")
    others = {node: uid for node, uid in site.uids().items() if node != "n-5"}
    site.cluster.kubectl("label", "node", "n-5", "example.com/gpus=divided")
    enable(site, **SEVEN)
    assert "works" in site.pods()
    assert offered(site, "n-5") != {SMALL: "7"}
    site.upgrade(**AT_ONCE).check()
    assert offered(site, "n-5") == {SMALL: "7"}
    assert "works" not in site.pods()
    assert all_ready(site)
    assert {node: uid for node, uid in site.uids().items() if node != "n-5"} == others
    enable(site, **SEVEN).unchanged()
