# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who made an object. Its labels do not say: anybody who may make a pod in any namespace may give it
the labels of anybody's. Pure.

A pod that names a workload of its own namespace as its controller is that workload's: the
controllers of Kubernetes let go, or end, what they did not make, and the garbage collector ends what
names an owner that is not there (kubernetes/pkg/controller/controller_ref_manager.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._json import Obj, elements, part


def controller_of(obj: Mapping[str, Any]) -> Obj:
    """The reference to the controller of an object, {} for none."""
    owners = elements(obj["metadata"], "ownerReferences")
    return next((dict(each) for each in owners if each.get("controller")), {})


def is_made_by(obj: Mapping[str, Any], workload: Mapping[str, Any]) -> bool:
    """Whether an object was made by a DaemonSet, StatefulSet, Job or ReplicaSet of its namespace."""
    uid = workload["metadata"].get("uid")
    return _are_together(obj, workload) and bool(uid) and controller_of(obj).get("uid") == uid


def is_made_for(pod: Mapping[str, Any], deployment: Mapping[str, Any]) -> bool:
    """Whether a pod was made for a Deployment, by one of its ReplicaSets, which are told by name:
    NAME-HASH, with the hash among the labels of their pods
    (kubernetes/pkg/controller/deployment/sync.go)."""
    owner = controller_of(pod)
    digest = part(pod["metadata"], "labels").get("pod-template-hash")
    named = f"{deployment['metadata']['name']}-{digest}"
    return _are_together(pod, deployment) and (owner.get("kind"), owner.get("name")) == (
        "ReplicaSet",
        named,
    )


def runs_as(pod: Mapping[str, Any], workload: Mapping[str, Any]) -> bool:
    """Whether a pod has the ServiceAccount of a workload's template."""
    template = part(workload, "spec", "template", "spec")
    return _account(part(pod, "spec")) == _account(template)


def _account(spec: Mapping[str, Any]) -> str:
    return str(spec.get("serviceAccountName") or "default")


def _are_together(obj: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(obj["metadata"].get("namespace") == other["metadata"].get("namespace"))
