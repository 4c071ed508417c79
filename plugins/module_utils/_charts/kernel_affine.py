# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One set of objects for each kernel, named as the Special Resource Operator names it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import Obj, elements, part
from .._recipes.templates.manifests import copy_of, pod_template

_NFD_KERNEL = "feature.node.kubernetes.io/kernel-version.full"
# Their pods are found by the label app, which therefore differs, too.
_WITH_APP = ("DaemonSet", "Deployment", "StatefulSet")
# The operator's own selection of nodes goes by names of labels that only the operator sets.
_OPERATORS_LABELS = "specialresource.openshift.io/"
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_FNV_OFFSET, _FNV_PRIME, _FNV_SIZE = 0xCBF29CE484222325, 0x100000001B3, 1 << 64


def fnv64a(text: str) -> int:
    """The 64-bit FNV-1a hash of a text."""
    value = _FNV_OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _FNV_PRIME % _FNV_SIZE
    return value


def kernel_suffix(variables: Mapping[str, Any], decimal: str) -> str:
    """The end of the names of a kernel's objects: the operator's own suffix, a hash of the system's
    version and the kernel. Where more tells nodes of one kernel apart (a pool, or an architecture
    that the kernel's name does not show), that is hashed too."""
    kernel = str(variables["kernel"]["raw"])
    arch = str(variables.get("arch") or "")
    parts = [decimal, kernel.replace("_", "-")]
    if _ARCHITECTURES.get(arch, arch) not in kernel:
        parts.append(arch)
    parts.append(str(variables.get("pool") or ""))
    return f"-{fnv64a('-'.join([*parts[:2], *filter(None, parts[2:])])):x}"


def made_affine(manifest: Obj, suffix: str, kernel_label: str) -> Obj:
    """The object for one kernel: its name, the label app by which its pods are found, and where its
    pods run."""
    made: Obj = copy_of(manifest)
    name = made["metadata"]["name"] = f"{made['metadata']['name']}{suffix}"
    kind = made["kind"]
    if kind in _WITH_APP:
        spec = made.setdefault("spec", {})
        selector = spec.setdefault("selector", {}).setdefault("matchLabels", {})
        template = spec.setdefault("template", {}).setdefault("metadata", {})
        selector["app"] = name
        for metadata in (made["metadata"], template):
            metadata["labels"] = {**part(metadata, "labels"), "app": name}
    if kind == "BuildRun":
        made.setdefault("spec", {}).setdefault("buildRef", {})["name"] = name
    if kind == "BuildConfig":
        selector = made.setdefault("spec", {}).setdefault("nodeSelector", {})
        selector[_NFD_KERNEL] = kernel_label
    template = pod_template(made)
    if template is not None:
        _keep_to_kernel(template["spec"], kind, kernel_label)
    return made


def _keep_to_kernel(spec: Obj, kind: str, kernel_label: str) -> None:
    """Let pods run on the kernel's nodes, whatever its author has made of the label, as the operator
    does. DaemonSets are kept there anyway, also while NFD's labels are gone."""
    selector = {**(spec.pop("nodeSelector", None) or {}), _NFD_KERNEL: kernel_label}
    if kind == "DaemonSet":
        del selector[_NFD_KERNEL]
    if selector:
        spec["nodeSelector"] = selector


def without_state_labels(manifest: Obj) -> Obj:
    """The object without what waits for node labels that only the operator sets: the order of states
    is kept by ours."""
    template = pod_template(manifest)
    if template is None or _OPERATORS_LABELS not in str(template["spec"]):
        return manifest
    made: Obj = copy_of(manifest)
    spec = (pod_template(made) or made)["spec"]
    spec["nodeSelector"] = _kept(part(spec, "nodeSelector"))
    if not spec["nodeSelector"]:
        del spec["nodeSelector"]
    _keep_terms(part(spec, "affinity", "nodeAffinity"))
    return made


def _keep_terms(node_affinity: Obj) -> None:
    """Take the operator's labels out of what a pod requires of nodes."""
    required = node_affinity.get(_REQUIRED) or {}
    terms = elements(required, "nodeSelectorTerms")
    for term in terms:
        term["matchExpressions"] = _kept_expressions(term)
    if required and not any(map(_selects, terms)):
        # A term without expressions selects nothing, and nothing else was asked for.
        del node_affinity[_REQUIRED]


def _kept_expressions(term: Mapping[str, Any]) -> list[Obj]:
    """Those of a nodeSelectorTerm that are not about labels of the operator."""
    return [
        each
        for each in elements(term, "matchExpressions")
        if not str(each.get("key")).startswith(_OPERATORS_LABELS)
    ]


def _selects(term: Mapping[str, Any]) -> bool:
    return bool(term.get("matchExpressions") or term.get("matchFields"))


def _kept(selector: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in selector.items() if not key.startswith(_OPERATORS_LABELS)}
