# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of proof. observed: looked at in every run; else run once, until what it proved changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.kinds import (
    allocatable,
    image,
    logs,
    metrics,
    node_labels,
    resource,
    rollout,
    workload,
)
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import Verdict


@dataclass(frozen=True)
class ProofKind:
    """How to evaluate a kind of proof. per_node: it speaks of a node, not of the cluster."""

    evaluate: Callable[[Look], Verdict]
    observed: bool
    per_node: bool = True


KINDS: dict[str, ProofKind] = {
    "allocatable": ProofKind(allocatable.evaluate, observed=True),
    "image": ProofKind(image.evaluate, observed=True),
    "logs": ProofKind(logs.evaluate, observed=False),
    "metrics": ProofKind(metrics.evaluate, observed=False),
    "node_labels": ProofKind(node_labels.evaluate, observed=True),
    "resource": ProofKind(resource.evaluate, observed=True, per_node=False),
    "rollout": ProofKind(rollout.evaluate, observed=True),
    "workload": ProofKind(workload.evaluate, observed=False),
}
