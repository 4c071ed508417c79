# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.cluster.simulation import effects
from tests.cluster.simulation.model import Node, Pod
from tests.unit.cluster.simulation.objects import (
    CUDA,
    DRIVER,
    PLUGIN,
    TABLE,
    TOOLKIT,
    node,
    pod,
    ready_pod,
)

NVIDIA = TABLE.stacks["nvidia"]


def serving(on: Node, *pods: Pod) -> effects.Served:
    return effects.served(on, pods, TABLE.stacks)


def test_a_validator_misses_what_is_not_ready() -> None:
    validator = pod(CUDA, gpus=1, restart="Never")
    everything = effects.missing(validator, serving(node(), pod(DRIVER)), NVIDIA, "gpu-1")
    assert len(everything) == 3
    assert everything[0] == "CUDA error: no NVIDIA driver is loaded on node gpu-1"
    ready = [ready_pod(DRIVER, name="d"), ready_pod(TOOLKIT, name="t"), ready_pod(PLUGIN, name="p")]
    assert effects.missing(validator, serving(node(), *ready), NVIDIA, "gpu-1") == []
    without = serving(node(), *ready[1:])
    assert len(effects.missing(validator, without, NVIDIA, "gpu-1")) == 1


def test_a_host_may_bring_driver_and_hook() -> None:
    host = node(preinstalled="driver,toolkit")
    assert effects.missing(pod(PLUGIN), serving(host), NVIDIA, "gpu-1") == []
    smi = pod(CUDA, command=["chroot", "/host", "nvidia-smi"], restart="Never")
    assert effects.missing(smi, serving(host), NVIDIA, "gpu-1") == []
    # A driver container's files are not the host's.
    assert effects.missing(smi, serving(node(), ready_pod(DRIVER)), NVIDIA, "gpu-1")


def test_allocatable_follows_the_plugin_and_capacity_stays() -> None:
    machine = node()
    machine.port = 7
    assert effects.node_patch(machine, serving(machine), 7) is None
    up = effects.node_patch(machine, serving(machine, ready_pod(PLUGIN)), 7)
    assert up == {
        "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}}
    }
    machine.capacity["nvidia.com/gpu"] = machine.allocatable["nvidia.com/gpu"] = "8"
    assert effects.node_patch(machine, serving(machine, ready_pod(PLUGIN)), 7) is None
    assert effects.node_patch(machine, serving(machine, ready_pod(PLUGIN)), 7, 1) == {
        "status": {"allocatable": {"nvidia.com/gpu": "7"}}
    }
    assert effects.node_patch(machine, serving(machine), 7) == {
        "status": {"allocatable": {"nvidia.com/gpu": "0"}}
    }
    assert effects.node_patch(node(), serving(machine), 7) == {
        "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 7}}}
    }


def test_feature_discovery_reports_the_node() -> None:
    machine = node(product="NVIDIA-A100-SXM4-40GB", memory="40960")
    driver = ready_pod(DRIVER.replace("580.95.05", "580"), name="d")
    found = ready_pod(PLUGIN, name="f", command=["gpu-feature-discovery"])
    made = effects.node_features(machine, serving(machine, driver, found), TABLE)
    labels = made["nvidia-features-for-gpu-1"]["spec"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB"
    assert labels["nvidia.com/gpu.memory"] == "40960"
    assert labels["nvidia.com/gpu.count"] == "8"
    assert labels["nvidia.com/cuda.driver-version.full"] == "580.91.07"
    assert effects.node_features(machine, serving(machine, driver), TABLE) == {}


def test_a_kubelet_rejects_what_does_not_fit() -> None:
    machine = node()
    machine.allocatable["nvidia.com/gpu"] = "8"
    holder = ready_pod("user", name="holder", gpus=8)
    asks = pod(CUDA, gpus=1, restart="Never")
    assert effects.shortage(asks, machine, [asks]) == ""
    assert effects.shortage(asks, machine, [asks, holder]).startswith("OutOfnvidia.com/gpu: ")
    # A device plugin that has gone leaves 0, which does not count for who has a claim.
    machine.allocatable["nvidia.com/gpu"] = "0"
    mapping = {"resourceName": "nvidia.com/gpu"}
    claim = {"extendedResourceClaimStatus": {"requestMappings": [mapping]}}
    assert effects.shortage(replace(asks, status=claim), machine, [asks]) == ""


def test_addresses_are_free_ones() -> None:
    assert effects.free_ip(node(), []) == "10.1.0.2"
    assert effects.free_ip(node(), [ready_pod("x")]) == "10.1.0.3"


def labelled(*, host_network: bool = False, **labels: str) -> Pod:
    plain = pod("x")
    return replace(plain, host_network=host_network, metadata={**plain.metadata, "labels": labels})


def test_a_node_names_the_address_of_pods_by_their_labels() -> None:
    named = node(**{"pod-ips": json.dumps({"app=rmd,component=daemon": "127.77.0.1"})})
    assert (
        effects.pod_ip(named, labelled(app="rmd", component="daemon", more="x"), []) == "127.77.0.1"
    )
    assert (
        effects.pod_ip(named, labelled(app="rmd", component="daemon", host_network=True), [])
        == "127.77.0.1"
    )
    assert effects.pod_ip(named, labelled(app="rmd"), []) == "10.1.0.2"
    assert effects.pod_ip(named, labelled(app="rmd", host_network=True), []) == "127.0.0.1"
    assert (
        effects.pod_ip(node(), labelled(app="rmd", component="daemon"), [ready_pod("x")])
        == "10.1.0.3"
    )


@pytest.mark.parametrize(
    "wrong", ['"127.77.0.1"', '{"app": "127.77.0.1"}', '{"app=rmd": "somewhere"}', "{"]
)
def test_an_annotation_of_addresses_that_cannot_be_read_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        node(**{"pod-ips": wrong})


def test_labels_follow_node_features() -> None:
    features = {"gpu-1": {"a": "1", "b": "2"}, "z-features": {"b": "3"}}
    patch = effects.label_patch(node(), features)
    assert patch is not None
    assert patch["metadata"]["labels"] == {"a": "1", "b": "3"}
    written = patch["metadata"]["annotations"]["sim.hardware-enablement.io/labels"]
    assert effects.label_patch(node(labels=written), features) is None
    less = effects.label_patch(node(labels=written), {"gpu-1": {"b": "2"}})
    assert less is not None
    assert less["metadata"]["labels"] == {"a": None, "b": "2"}
