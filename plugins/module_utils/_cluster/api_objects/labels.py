# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that this collection writes into a cluster. Whoever owns, gates or proves something
uses these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._json import part

DOMAIN = "hardware-enablement.io"
FIELD_MANAGER = "hardware-enablement"

RECIPE_LABEL = f"{DOMAIN}/recipe"
STATE_LABEL = f"{DOMAIN}/state"
GROUP_LABEL = f"{DOMAIN}/kernel-group"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
# On the Jobs, ConfigMaps and pods of a build; its value is the state whose image is built.
BUILD_LABEL = f"{DOMAIN}/build"
# On validation pods that a run starts; its value is the state that the pod proves.
VALIDATION_LABEL = f"{DOMAIN}/validation"
# The same on DaemonSets whose pods prove a state where nodes say themselves what is proven.
VALIDATOR_LABEL = f"{DOMAIN}/validator"

# On what another operator was asked for, once its nodes are being taken over, and on those of its pods
# that go when it is their node's turn; its value is the recipe.
TAKEN_OVER_LABEL = f"{DOMAIN}/taken-over"

# On the pods of a DaemonSet that are replaced on request only (OnDelete): what their driver is. While a
# pod has that of the template, what else has changed there is no reason to exchange the driver.
DRIVER_ANNOTATION = f"{DOMAIN}/driver"

# On a namespace that enabling had made and that disabling has left, for what others have in it; its
# value is the special resource.
KEPT_ANNOTATION = f"{DOMAIN}/kept"

# ApplySet names:
# https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
PART_OF_LABEL = "applyset.kubernetes.io/part-of"
APPLYSET_ID_LABEL = "applyset.kubernetes.io/id"
APPLYSET_TOOLING_ANNOTATION = "applyset.kubernetes.io/tooling"
APPLYSET_GROUP_KINDS_ANNOTATION = "applyset.kubernetes.io/contains-group-kinds"
APPLYSET_NAMESPACES_ANNOTATION = "applyset.kubernetes.io/additional-namespaces"

# What every object of ours carries, and nothing else does.
OWNERSHIP = frozenset({RECIPE_LABEL, STATE_LABEL, GROUP_LABEL, MANAGED_BY_LABEL, PART_OF_LABEL})

# What a node tells the pods of a recipe about itself; no state can be called so, since their names
# have no hyphen.
RUNTIME, SYSTEM, KERNEL = "container-runtime", "node-os", "node-kernel"
ALLOCATION = "device-allocation"
# The configuration by which the node's agent has written the labels.
AGENT_CONFIGURATION = "agent-configuration"

LOCK_NAMESPACE = "hardware-enablement"
HOLDER_INFO_ANNOTATION = f"{DOMAIN}/holder-info"


def state_of(obj: Mapping[str, Any] | None) -> str:
    """The state that an object says it is of; "" for none, and where there is no object."""
    labels = part(obj or {}, "metadata", "labels")
    return str(labels.get(STATE_LABEL, ""))


def gate_label(recipe: str, state: str) -> str:
    """The node label that says how a state stands on a node: ready, stale or degraded."""
    return f"{DOMAIN}/{recipe}.{state}"


def gated_state(recipe: str, label: str) -> str:
    """The state that a label is the gate of, "" for other labels: names of states have no hyphen."""
    prefix = gate_label(recipe, "")
    name = label[len(prefix) :] if label.startswith(prefix) else ""
    return name if "-" not in name else ""


def summary_label(recipe: str) -> str:
    """The node label for users' own pods: ready, or what the node waits for."""
    return f"{DOMAIN}/{recipe}"


def fact_label(recipe: str, fact: str) -> str:
    """The node label of ours for a fact: RUNTIME, SYSTEM, KERNEL, which is on every node that is
    enabled, ALLOCATION or AGENT_CONFIGURATION."""
    return f"{DOMAIN}/{recipe}.{fact}"


def taints_annotation(recipe: str) -> str:
    """The node annotation that lists the taints that a recipe has put on the node."""
    return f"{DOMAIN}/{recipe}.taints"


def proofs_annotation(recipe: str) -> str:
    """The node annotation that keeps a recipe's proofs."""
    return f"{DOMAIN}/{recipe}.proofs"


def restart_pending_annotation(recipe: str) -> str:
    """The node annotation that names the states whose pods still run the version before, with
    commas between them."""
    return f"{DOMAIN}/{recipe}.restart-pending"


def upgrade_annotation(recipe: str) -> str:
    """The node annotation that says how a node stands in the exchange of its driver, as JSON."""
    return f"{DOMAIN}/{recipe}.upgrade"


def vanished_annotation(recipe: str) -> str:
    """The node annotation that says since when the labels of the hardware are gone, as an API
    timestamp."""
    return f"{DOMAIN}/{recipe}.vanished"


def recipes_of(labels: Iterable[str]) -> list[str]:
    """The recipes that these labels of a node are marks of, by the names of the labels."""
    rests = (name.removeprefix(f"{DOMAIN}/") for name in labels if name.startswith(f"{DOMAIN}/"))
    return sorted({rest.partition(".")[0] for rest in rests})
