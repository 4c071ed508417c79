# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that no node takes, for one operand on one node.

An admission policy gives the operand's new pods for that node (a DaemonSet's pods name it in their
affinity; others may do so, too, or in their node selector) a node selector that no node fits. The
real scheduler then reports PodScheduled=False, reason Unschedulable. Existing pods are not touched.
Needs Kubernetes 1.36, which serves MutatingAdmissionPolicy v1.
"""

from __future__ import annotations

import hashlib
import json
import time

from tests.cluster.errors import ClusterError

from .api import ApiError, Session
from .model import SIM_DOMAIN, Obj
from .operands import Operands

POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
SELECTOR = f"{SIM_DOMAIN}/never-scheduled"
PATIENCE = 20.0  # seconds until the API server must have taken the policy in


def forbid(session: Session, node: str, operand: str, table: Operands) -> None:
    """Let no node take the operand's new pods for this node; returns when it is in force."""
    name = _name(node, operand)
    for path, body in (
        (POLICIES, policy(node, operand, table)),
        (BINDINGS, binding(node, operand)),
    ):
        try:
            session.request("POST", path, body)
        except ApiError as error:
            if error.status != 409:
                raise
    deadline = time.monotonic() + PATIENCE
    while not _in_force(session, name):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The API server did not take in the policy {name} within {PATIENCE:.0f} s: try again."
            )
        time.sleep(0.1)


def allow(session: Session, node: str, operand: str) -> None:
    """Take the policy back and delete the pods that it holds, so that their owners make new ones."""
    name = _name(node, operand)
    for path in (BINDINGS, POLICIES):
        try:
            session.request("DELETE", f"{path}/{name}")
        except ApiError as error:
            if error.status != 404:
                raise
    deadline = time.monotonic() + PATIENCE
    while _in_force(session, name) and time.monotonic() < deadline:
        time.sleep(0.1)
    pods, _version = session.list_all("/api/v1/pods", {"fieldSelector": "spec.nodeName="})
    for pod in pods:
        if (pod["spec"].get("nodeSelector") or {}).get(SELECTOR) == name:
            meta = pod["metadata"]
            session.request("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}")


def policy(node: str, operand: str, table: Operands) -> Obj:
    """The MutatingAdmissionPolicy."""
    name = _name(node, operand)
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"object.spec.?affinity.nodeAffinity.{required}.nodeSelectorTerms.orValue([])"
    quoted = json.dumps(node)
    by_field = f"{terms}.exists(t, t.?matchFields.orValue([]).exists(f, f.values.exists(v, v == {quoted})))"
    by_label = f"object.spec.?nodeSelector[?'kubernetes.io/hostname'].orValue('') == {quoted}"
    at_node = f"({by_field} || {by_label})"
    # Told by the name: the probe that tells whether the policy is in force.
    probe = f"object.metadata.?name.orValue('') == '{name}'"
    # nodeSelector is atomic to server-side apply, hence a JSON patch.
    key, value = json.dumps(SELECTOR), json.dumps(name)
    patch = (
        "has(object.spec.nodeSelector)"
        f' ? [JSONPatch{{op: "add", path: "/spec/nodeSelector/" + jsonpatch.escapeKey({key}), value: {value}}}]'
        f' : [JSONPatch{{op: "add", path: "/spec/nodeSelector", value: {{{key}: {value}}}}}]'
    )
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name, "labels": {SELECTOR: name}},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ]
            },
            "matchConditions": [
                {
                    "name": "pod",
                    "expression": f"{probe} || ({at_node} && ({_is_operand(operand, table)}))",
                }
            ],
            # An expression that cannot be evaluated shall be seen, not pass for "nothing is
            # forbidden".
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        },
    }


def binding(node: str, operand: str) -> Obj:
    """The MutatingAdmissionPolicyBinding."""
    name = _name(node, operand)
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {SELECTOR: name}},
        "spec": {"policyName": name},
    }


def _is_operand(operand: str, table: Operands) -> str:
    """CEL: the pod is that operand. As in Operands.classify: the first rule that fits decides."""
    if operand == "*":
        return "true"
    earlier: list[str] = []
    chosen: list[str] = []
    for rule in table.rules:
        tests = [f"c.image.matches({json.dumps(rule.image.pattern)})"]
        if rule.command is not None:
            words = "(c.?command.orValue([]) + c.?args.orValue([])).join(' ')"
            tests.append(f"{words}.matches({json.dumps(rule.command.pattern)})")
        fits = f"object.spec.containers.exists(c, {' && '.join(tests)})"
        if rule.extended is not None:
            extended = (
                "object.spec.containers.exists(c, c.?resources.limits.orValue({})"
                ".exists(r, r.contains('/') && !r.startsWith('kubernetes.io/')))"
            )
            fits += f" && {extended}" if rule.extended else f" && !{extended}"
        if operand in (rule.operand.name, rule.operand.role):
            chosen.append(" && ".join([f"({fits})", *(f"!({other})" for other in earlier)]))
        earlier.append(fits)
    if operand == "other":
        chosen.append(" && ".join(f"!({other})" for other in earlier))
    return " || ".join(f"({item})" for item in chosen)


def _in_force(session: Session, name: str) -> bool:
    """Ask by a dry run whether a new pod would get the selector."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [{"name": "probe", "image": "probe"}],
        },
    }
    try:
        answer = session.request("POST", "/api/v1/namespaces/default/pods?dryRun=All", pod)
    except ApiError as error:
        if error.status == 403:  # by an older one of the same name that is still cached
            return False
        raise
    return (answer["spec"].get("nodeSelector") or {}).get(SELECTOR) == name


def _name(node: str, operand: str) -> str:
    """An object name and label value that stands for node and operand."""
    return f"never-scheduled-{hashlib.sha256(f'{node}/{operand}'.encode()).hexdigest()[:12]}"
