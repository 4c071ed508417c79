# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which distribution of Kubernetes a node is of: how it says so, and what most nodes say. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

# What a distribution adds to the version of its kubelet: their releases' tags.
_VERSIONS = (
    (re.compile(r"\+k3s\d"), "k3s"),
    (re.compile(r"\+rke2r\d"), "rke2"),
    (re.compile(r"\+k0s"), "k0s"),
    (re.compile(r"-gke\.\d"), "gke"),
)
# What those put onto their nodes whose kubelet's version is Kubernetes' own. The first that is
# there counts, so MicroShift, whose nodes have both, stands before OpenShift.
_LABELS: tuple[tuple[str, str | None, str], ...] = (
    # canonical/microk8s microk8s-resources/default-args/kubelet
    ("microk8s.io/cluster", None, "microk8s"),
    # openshift/microshift pkg/node/kubelet.go
    ("node.kubernetes.io/instance-type", "rhde", "microshift"),
    # openshift/machine-config-operator templates/worker/01-worker-kubelet
    ("node.openshift.io/os_id", None, "openshift"),
)

DISTRIBUTIONS = tuple(dict.fromkeys(each[-1] for each in (*_VERSIONS, *_LABELS)))


def distribution_of(kubelet: str, labels: Mapping[str, str]) -> str:
    """The distribution of a node, by its kubelet's version and its labels: one of DISTRIBUTIONS, ""
    for Kubernetes as kubeadm installs it and for what is not known."""
    by_label = (
        name for label, value, name in _LABELS if label in labels and value in (None, labels[label])
    )
    return _of_version(kubelet) or next(by_label, "")


@lru_cache(maxsize=1024)
def _of_version(kubelet: str) -> str:
    return next((name for pattern, name in _VERSIONS if pattern.search(kubelet)), "")


def common_distribution(found: Iterable[str]) -> str:
    """That of most nodes: a cluster has one, so a node that says another one is wrong about itself.
    "" for no node."""
    counts = Counter(found)
    return max(sorted(counts), key=lambda name: counts[name], default="")
