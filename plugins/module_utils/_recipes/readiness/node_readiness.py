# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a recipe with `readiness: nfd`: one state more, the node agent, whose labels all
others' pods wait for; and validation pods that nodes start by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._cluster.api_objects.labels import VALIDATION_LABEL, VALIDATOR_LABEL, gate_label
from ..._errors import InvalidInput
from ..._json import Obj, elements
from ..._proofs.catalog import KINDS
from ..._proofs.proof import Proof
from .. import affinity
from ..inject import Context
from ..loading.options import refuse_differing
from ..loading.recipe import OrderRules, Recipe, RecipeSource, State, StateProofs
from ..templates.manifests import copy_of

NFD = "nfd"
NODE_AGENT = "node_agent"
READY = "ready"
# In the text of a pod, where its node's name stands: Kubernetes fills it in.
NODE_NAME = "$(NODE_NAME)"


class ReadinessError(InvalidInput):
    """Nodes cannot tell of all states of this recipe."""


def is_by_nodes(options: Mapping[str, Any]) -> bool:
    """Whether nodes say themselves what is proven on them."""
    return bool(options["readiness"] == NFD)


def with_node_agent(
    recipe: Recipe, options: Mapping[str, Any], pool_options: Mapping[str, Mapping[str, Any]]
) -> Recipe:
    """The recipe as these options have it. The node agent comes after the states that require none,
    which bring the namespace, and before all others. Raises InvalidInput where pools differ."""
    refuse_differing("readiness", options, pool_options, "one agent serves all nodes")
    if not is_by_nodes(options):
        return recipe
    if NODE_AGENT in recipe.states:
        raise InvalidInput(
            f"recipe {recipe.source.name} cannot have readiness {NFD}",
            where=recipe.source.folder,
            why=f"it has a state {NODE_AGENT} of its own, which this option adds",
            todo="rename that state",
        )
    first = {name: state for name, state in recipe.states.items() if not state.order.requires}
    agent = State(
        name=NODE_AGENT,
        role="state",
        order=OrderRules(gates=False),
        proofs=StateProofs((Proof("rollout", {}),), timeout=300),
    )
    others = {
        name: replace(
            state, order=replace(state.order, requires=(*state.order.requires, NODE_AGENT))
        )
        for name, state in recipe.states.items()
        if state.order.requires
    }
    return replace(recipe, states={**first, NODE_AGENT: agent, **others})


def gate_proof(recipe: str, state: str) -> Proof:
    """That a node's label says that it has proven a state."""
    return Proof("node_labels", {"equal": {gate_label(recipe, state): READY}})


def runs_pod(proof: Proof) -> bool:
    """Whether a proof is a pod that runs on the node."""
    return KINDS[proof.kind].pod is not None


def validator(pod: Obj, name: str, image: str, context: Context) -> Obj:
    """A DaemonSet whose pods prove a state and leave: it wants nodes without the label that says so.

    pod: as a run would start it. Its containers come first, one after the other; what runs then
    waits for the node agent to have seen it. Nobody's pods make way for it.
    """
    spec = copy_of(pod["spec"])
    spec.pop("restartPolicy", None)
    node_name = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    proving = [*spec.get("initContainers", ()), *spec["containers"]]
    for container in proving:
        container["env"] = [node_name, *elements(container, "env")]
    unproven = {
        "key": gate_label(context.owner.recipe, context.owner.state),
        "operator": "NotIn",
        "values": [READY],
    }
    spec["initContainers"], spec["containers"] = proving, [_waiting(image)]
    spec["terminationGracePeriodSeconds"] = 1
    affinity.require(spec, [{"matchExpressions": [unproven]}])
    own = {"app.kubernetes.io/name": name, VALIDATOR_LABEL: context.owner.state}
    found = pod["metadata"]["labels"]
    labels = {key: value for key, value in found.items() if key != VALIDATION_LABEL} | own
    metadata = {key: value for key, value in pod["metadata"].items() if key == "annotations"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name,
            "namespace": context.namespace,
            "labels": {**context.owner.ownership, **own},
        },
        "spec": {
            "selector": {"matchLabels": own},
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "100%"},
            },
            "template": {"metadata": {**metadata, "labels": labels}, "spec": spec},
        },
    }


def _waiting(image: str) -> Obj:
    return {
        "name": "proven",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "1m", "memory": "8Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def refuse_unseen(source: RecipeSource, state: str, manifests: Sequence[Obj]) -> None:
    """Raise ReadinessError where others' pods wait for a state of which a node sees nothing."""
    if not any(manifest["kind"] == "DaemonSet" for manifest in manifests):
        raise ReadinessError(
            f"recipe {source.name} cannot have readiness {NFD}",
            where=source.folder,
            why=f"pods of other states wait for state {state}, which runs none on the nodes",
            todo="leave readiness as it is for this recipe",
        )
