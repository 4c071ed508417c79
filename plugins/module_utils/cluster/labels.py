# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that this collection writes into a cluster. Whoever owns, gates or proves something uses these."""

from __future__ import annotations

DOMAIN = "hardware-enablement.io"
FIELD_MANAGER = "hardware-enablement"

RECIPE_LABEL = f"{DOMAIN}/recipe"
STATE_LABEL = f"{DOMAIN}/state"
GROUP_LABEL = f"{DOMAIN}/kernel-group"
# On validation pods; its value is the state that the pod proves.
# On the Jobs, ConfigMaps and pods of a build; its value is the state whose image is built.
BUILD_LABEL = f"{DOMAIN}/build"
VALIDATION_LABEL = f"{DOMAIN}/validation"

# ApplySet names: https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
PART_OF_LABEL = "applyset.kubernetes.io/part-of"
APPLYSET_ID_LABEL = "applyset.kubernetes.io/id"
APPLYSET_TOOLING_ANNOTATION = "applyset.kubernetes.io/tooling"
APPLYSET_GROUP_KINDS_ANNOTATION = "applyset.kubernetes.io/contains-group-kinds"
APPLYSET_NAMESPACES_ANNOTATION = "applyset.kubernetes.io/additional-namespaces"

RUNTIME = "container-runtime"

LOCK_NAMESPACE = "hardware-enablement"
HOLDER_INFO_ANNOTATION = f"{DOMAIN}/holder-info"


def gate_label(recipe: str, state: str) -> str:
    """The node label that says how a state stands on a node: ready, stale or degraded."""
    return f"{DOMAIN}/{recipe}.{state}"


def summary_label(recipe: str) -> str:
    """The node label for users' own pods: ready, or what the node waits for."""
    return f"{DOMAIN}/{recipe}"


def runtime_label(recipe: str) -> str:
    """The node label that says which container runtime a node has, for the pods of states that are made per runtime.

    No state can be called the same, since names of states have no hyphen.
    """
    return f"{DOMAIN}/{recipe}.{RUNTIME}"


def proofs_annotation(recipe: str) -> str:
    """The node annotation that keeps a recipe's proofs."""
    return f"{DOMAIN}/{recipe}.proofs"
