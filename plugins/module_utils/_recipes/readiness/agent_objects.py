# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that run the node agent, and what it is told. Pure."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Set
from dataclasses import asdict, replace
from typing import Any

from ..._cluster.api_objects.labels import (
    ALLOCATION,
    DOMAIN,
    RECIPE_LABEL,
    STATE_LABEL,
    VALIDATOR_LABEL,
    fact_label,
    gated_state,
)
from ..._json import Obj, content_hash, elements
from ..._nodes.device_allocation import NOBODY
from ..._nodes.groups import NodeGroup
from ..._proofs.catalog import KINDS
from ..affinity import required_terms
from ..loading.recipe import Recipe
from ..templates.manifests import pod_template
from ..templates.render_facts import RenderedState, RenderFacts
from .node_agent import (
    agent,
    agent_ending,
    agent_memory,
    configuration,
    node_conditions,
    node_proof,
    watched_objects,
)
from .node_agent.configuration import (
    AgentConfiguration,
    AgentGroup,
    AgentState,
    NodeCondition,
    StateDaemonSet,
)
from .node_readiness import NODE_AGENT, NODE_NAME, gate_proof, refuse_unseen

# The agents of all recipes, as a label says it.
APP = "hardware-enablement-node-agent"
_FEATURES = "/etc/kubernetes/node-feature-discovery"
_CONFIGURATION = "configuration.json"
_PARTS = (
    agent,
    agent_ending,
    agent_memory,
    configuration,
    node_conditions,
    node_proof,
    watched_objects,
)
_RBAC = "rbac.authorization.k8s.io/v1"


def agent_configuration(
    recipe: Recipe,
    facts: RenderFacts,
    rendered: Mapping[str, RenderedState],
    gating: Set[str],
) -> AgentConfiguration:
    """What the agent is told. facts: with the groups for which all is there; rendered: all other
    states; gating: those that others' pods wait for. Raises ReadinessError where a node cannot tell of
    one of them."""
    states = []
    for name, state in rendered.items():
        manifests = [item.manifest for item in state.objects]
        if name in gating and facts.groups:
            refuse_unseen(recipe.source, name, manifests)
        daemonsets = [_daemonset(each, recipe) for each in manifests if each["kind"] == "DaemonSet"]
        requires = [each for each in recipe.states[name].order.requires if each != NODE_AGENT]
        gate = gate_proof(recipe.name, name) in state.proofs
        states.append(AgentState(name, requires, gate, daemonsets))
    found = AgentConfiguration(
        instance=recipe.name,
        namespace=facts.namespace,
        daemonset=f"{recipe.name}-node-agent",
        pods=f"{RECIPE_LABEL}={recipe.name},{STATE_LABEL}",
        hash="",
        states=states,
        groups=[
            AgentGroup(_known_by(recipe, group), _conditions(recipe, group, rendered))
            for group in sorted(facts.groups, key=lambda group: group.id)
        ],
    )
    return replace(found, hash=content_hash(asdict(found)))


def _known_by(recipe: Recipe, group: NodeGroup) -> list[Obj]:
    """By which terms a node knows its group. One whose devices nothing serves, between two ways, has
    that to which it goes, although no pod is for it yet: what it has beside stays proven."""
    label = fact_label(recipe.name, ALLOCATION)

    def known(each: Obj) -> Obj:
        if each["key"] != label or each["operator"] != "NotIn":
            return each
        return {**each, "values": [value for value in each["values"] if value != NOBODY]}

    return [
        {**term, "matchExpressions": list(map(known, term["matchExpressions"]))}
        if "matchExpressions" in term
        else dict(term)
        for term in group.terms
    ]


def _conditions(
    recipe: Recipe, group: NodeGroup, rendered: Mapping[str, RenderedState]
) -> dict[str, list[NodeCondition]]:
    """By state, what nodes of a group have to show themselves."""
    found: dict[str, list[NodeCondition]] = {}
    for name, state in rendered.items():
        for proof in (state.proofs[index] for index in state.proofs_on.get(group.id, ())):
            if proof.kind in node_conditions.CONDITIONS and proof != gate_proof(recipe.name, name):
                settings = asdict(KINDS[proof.kind].settings_of(proof, group.id, NODE_NAME))
                found.setdefault(name, []).append(NodeCondition(proof.kind, settings))
    return found


def _daemonset(manifest: Obj, recipe: Recipe) -> StateDaemonSet:
    """What the agent needs to know of a DaemonSet: its affinity and its nodeSelector are one there."""
    template = pod_template(manifest) or {}
    selector = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in sorted((template["spec"].get("nodeSelector") or {}).items())
    ]
    terms = []
    for term in required_terms(template["spec"]):
        rest = {key: value for key, value in term.items() if key != "matchExpressions"}
        kept = [
            each
            for each in [*selector, *elements(term, "matchExpressions")]
            if not gated_state(recipe.name, each["key"])
        ]
        terms.append({**rest, "matchExpressions": kept} if kept else rest)
    return StateDaemonSet(
        name=manifest["metadata"]["name"],
        terms=terms,
        validator=VALIDATOR_LABEL in manifest["metadata"]["labels"],
        hash=content_hash(template),
    )


def agent_objects(found: AgentConfiguration, image: str, platform: str) -> list[Obj]:
    """Everything that the agent needs, its pods' place and metadata aside."""
    name = found.daemonset
    text = json.dumps(asdict(found), indent=1, sort_keys=True)
    content = {**_program(), _CONFIGURATION: text}
    account = {"kind": "ServiceAccount", "name": name, "namespace": found.namespace}
    own_rules = [
        _rule("", "pods", "list", "watch"),
        {**_rule("apps", "daemonsets", "get"), "resourceNames": [name]},
    ]
    objects: list[Obj] = [
        _object("v1", "ServiceAccount", name, automountServiceAccountToken=False),
        _object(_RBAC, "Role", name, rules=own_rules),
        _object(_RBAC, "RoleBinding", name, **_binding("Role", name, account)),
        _object(_RBAC, "ClusterRole", name, rules=[_rule("", "nodes", "list", "watch")]),
        _object(_RBAC, "ClusterRoleBinding", name, **_binding("ClusterRole", name, account)),
        _object("v1", "ConfigMap", name, data=content),
        _object("apps/v1", "DaemonSet", name, spec=_agent(name, image, content_hash(content))),
    ]
    if platform == "openshift":
        objects.append(_security_context_constraints(name, found.namespace))
    return objects


def _program() -> dict[str, str]:
    """File of the program -> its text."""
    return {f"{part.__name__.rpartition('.')[2]}.py": inspect.getsource(part) for part in _PARTS}


def _rule(group: str, resource: str, *verbs: str) -> Obj:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def _binding(kind: str, name: str, account: Obj) -> Obj:
    role = {"apiGroup": _RBAC.partition("/")[0], "kind": kind, "name": name}
    return {"roleRef": role, "subjects": [account]}


def _object(api_version: str, kind: str, name: str, **content: Any) -> Obj:
    labels = {"app.kubernetes.io/name": APP, "app.kubernetes.io/component": "node-agent"}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "labels": labels},
        **content,
    }


def _agent(name: str, image: str, content: str) -> Obj:
    labels = {"app.kubernetes.io/name": APP, "app.kubernetes.io/instance": name}
    # A folder, so that its files find each other as they do here.
    paths = {_CONFIGURATION: _CONFIGURATION, **{file: f"node_agent/{file}" for file in _program()}}
    items = [{"key": key, "path": path} for key, path in sorted(paths.items())]
    mounts = [
        {"name": "configuration", "mountPath": "/configuration", "readOnly": True},
        {"name": "features", "mountPath": "/features"},
        {"name": "run", "mountPath": "/run/node-agent"},
    ]
    written = {"command": ["test", "-e", "/run/node-agent/wrote"]}
    probe: Obj = {"exec": written, "timeoutSeconds": 10}
    container = {
        "name": "node-agent",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-B", "-m", "node_agent.agent"],
        "workingDir": "/configuration",
        "env": [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in (("NODE_NAME", "spec.nodeName"), ("POD_UID", "metadata.uid"))
        ],
        "resources": {
            "requests": {"cpu": "5m", "memory": "32Mi"},
            "limits": {"memory": "128Mi"},
        },
        # As macro ready_while of recipes has them, and why.
        "startupProbe": {**probe, "periodSeconds": 5, "failureThreshold": 1_000_000},
        "readinessProbe": {**probe, "periodSeconds": 60, "failureThreshold": 2},
        "securityContext": {
            # Root owns NFD's folder.
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seLinuxOptions": {"type": "spc_t"},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": mounts,
    }
    spec = {
        "serviceAccountName": name,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": agent_ending.GRACE_S,
        "containers": [container],
        "volumes": [
            {"name": "configuration", "configMap": {"name": name, "items": items}},
            {"name": "features", "hostPath": {"path": _FEATURES, "type": "DirectoryOrCreate"}},
            {"name": "run", "emptyDir": {"medium": "Memory"}},
        ],
    }
    annotations = {f"{DOMAIN}/configuration": content}
    return {
        "selector": {"matchLabels": labels},
        # Labels stay while an agent is replaced.
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
        "template": {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": spec,
        },
    }


def _security_context_constraints(name: str, namespace: str) -> Obj:
    return _object(
        "security.openshift.io/v1",
        "SecurityContextConstraints",
        name,
        users=[f"system:serviceaccount:{namespace}:{name}"],
        groups=[],
        priority=None,
        allowPrivilegedContainer=False,
        allowPrivilegeEscalation=False,
        allowHostPID=False,
        allowHostDirVolumePlugin=True,
        allowHostIPC=False,
        allowHostNetwork=False,
        allowHostPorts=False,
        allowedCapabilities=[],
        defaultAddCapabilities=[],
        requiredDropCapabilities=["ALL"],
        readOnlyRootFilesystem=True,
        runAsUser={"type": "RunAsAny"},
        seLinuxContext={"type": "RunAsAny"},
        fsGroup={"type": "RunAsAny"},
        supplementalGroups={"type": "RunAsAny"},
        seccompProfiles=["runtime/default"],
        volumes=["hostPath", "emptyDir", "configMap", "projected"],
    )
