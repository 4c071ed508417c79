# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the operator's annotations make proofs of objects. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part
from .._proofs.proof import Proof
from .._recipes.templates.manifests import pod_template
from .sro_annotations import WAIT, WAIT_FOR_LOGS, annotations_of, is_on
from .vendor_builds import starts_by_itself

_ROLLED_OUT = ("DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob")
# What says of itself by a condition that it is ready.
_CONDITIONS = {
    "CustomResourceDefinition": "Established",
    "Certificate": "Ready",
    "Issuer": "Ready",
    "ClusterIssuer": "Ready",
    "BuildRun": "Succeeded",
}
_FIELDS = {"Pod": ("status.phase", "Succeeded"), "Namespace": ("status.phase", "Active")}
# Whether they are waited for is not up to an annotation.
_ALWAYS = ("CustomResourceDefinition",)
HOOK = "helm.sh/hook"
# Much more than the hundred bytes that the operator looks at.
_LINES = 100


def proofs_of(manifests: Sequence[Obj]) -> list[Proof]:
    """The proofs of the objects of a state. Workloads are proven by a rollout; other objects where
    the annotations `wait` or `wait-for-logs`, a hook, or the kind itself ask for a proof."""
    found: list[Proof] = []
    if any(manifest["kind"] in _ROLLED_OUT for manifest in manifests):
        found.append(Proof("rollout"))
    for manifest in manifests:
        annotations = annotations_of(manifest)
        hook = HOOK in part(manifest["metadata"], "annotations")
        always = manifest["kind"] in _ALWAYS or starts_by_itself(manifest)
        if is_on(annotations, WAIT) or hook or always:
            found += _awaited(manifest)
        if WAIT_FOR_LOGS in annotations:
            found.append(_logs(manifest, annotations[WAIT_FOR_LOGS], manifests))
    return [proof for index, proof in enumerate(found) if proof not in found[:index]]


def _awaited(manifest: Obj) -> Iterator[Proof]:
    kind = manifest["kind"]
    if kind in _ROLLED_OUT:
        return
    if kind == "BuildConfig":
        named = _named(manifest)
        yield Proof("build", {key: named[key] for key in ("name", "namespace") if key in named})
        return
    spec: dict[str, Any] = dict(_named(manifest))
    if kind in _CONDITIONS:
        spec["condition"] = {"type": _CONDITIONS[kind]}
    elif kind in _FIELDS:
        path, value = _FIELDS[kind]
        spec["field"] = {"path": path, "equals": value}
    yield Proof("resource", spec)


def _logs(manifest: Obj, match: str, all_of_state: Sequence[Obj]) -> Proof:
    """A proof of the logs: on each node where the state runs nothing but a DaemonSet, otherwise of
    all pods of the object."""
    spec: dict[str, Any] = {"match": match, "tail": _LINES}
    template = pod_template(manifest) or {}
    containers = elements(template, "spec", "containers")
    if len(containers) > 1:
        spec["container"] = containers[0]["name"]
    running = {each["kind"] for each in all_of_state if pod_template(each) is not None}
    if running != {"DaemonSet"}:
        spec |= _named(manifest)
    return Proof("logs", spec)


def _named(manifest: Obj) -> Mapping[str, Any]:
    metadata = manifest["metadata"]
    named = {
        "api_version": manifest["apiVersion"],
        "kind": manifest["kind"],
        "name": metadata["name"],
    }
    return {**named, "namespace": metadata["namespace"]} if metadata.get("namespace") else named
