# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of which distribution of Kubernetes nodes are."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.distribution import (
    common_distribution,
    distribution_of,
)


@pytest.mark.parametrize(
    ("kubelet", "labels", "expected"),
    [
        ("v1.34.1+k3s1", {}, "k3s"),
        ("v1.34.1+rke2r2", {}, "rke2"),
        ("v1.34.1+k0s", {}, "k0s"),
        ("v1.33.5-gke.1201000", {}, "gke"),
        ("v1.34.1", {}, ""),
        ("v1.33.5-eks-3cfe0ce", {}, ""),
        ("", {}, ""),
        ("v1.33.5", {"microk8s.io/cluster": "true"}, "microk8s"),
        ("v1.33.5", {"node.openshift.io/os_id": "rhel"}, "openshift"),
        (
            "v1.33.5",
            {"node.openshift.io/os_id": "rhel", "node.kubernetes.io/instance-type": "rhde"},
            "microshift",
        ),
        ("v1.33.5", {"node.kubernetes.io/instance-type": "m5.large"}, ""),
        # What runs there counts, not what somebody has written onto the node.
        ("v1.34.1+k3s1", {"microk8s.io/cluster": "true"}, "k3s"),
    ],
)
def test_a_node_says_what_it_is(kubelet: str, labels: dict[str, str], expected: str) -> None:
    assert distribution_of(kubelet, labels) == expected


def test_a_cluster_is_what_most_of_its_nodes_say() -> None:
    assert common_distribution(["k3s", "", "k3s"]) == "k3s"
    assert common_distribution(["", "k3s", ""]) == ""
    assert common_distribution([]) == ""
