# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do next, by reason: the last part of every message about a state that is not ready."""

from __future__ import annotations

from collections.abc import Mapping

from .._verdicts.reasons import UNDER_WAY, WAIT, Reason
from .catalog import KINDS

# What the walk itself says of a state, whatever its proofs.
OF_STATES: Mapping[str, Reason] = {
    "ApplyRefused": Reason(
        "an object that came in its turn was refused by the API server, whose words are in the message",
        "mend what the API server names, and run again",
    ),
    "Applying": UNDER_WAY,
    "HeldBack": Reason(
        "what this state stands on is being replaced by what nodes bring along, which is not proven on all of them yet;"
        " its version before goes on running",
        "mend the nodes where the replacement is not proven, or take the option back",
    ),
    "HardwareVanished": Reason(
        "the labels of the hardware are gone from the node, and nothing of what it had is given up yet; `vanished`",
        "see why Node Feature Discovery does not label it; it leaves by itself once nothing holds a device and the time"
        " vanished_grace is over, or at once where release_nodes (hardware_enablement_release_nodes) names it",
    ),
    "KindNotServed": Reason(
        "a state brings objects of a kind that the API server does not serve, although what it requires is ready",
        "wait, or look at the log of what is to bring this kind",
    ),
    "LabelsRefused": Reason(
        "the API server refused to write the node's labels, so that nothing counts which was found there; `unknown`",
        "mend what the API server names (a right, an admission rule, a quota), and run again",
    ),
    "LeftOut": Reason(
        "another state requires this one, and the cluster serves none of the APIs that its objects need",
        "install what serves that API, or turn the state off",
    ),
    "NewGroup": Reason(
        "a kernel, pool or runtime appeared while the run was under way, and nothing is deployed for it yet; `unknown`",
        "run the playbook again",
    ),
    "NodeAgentLeaves": Reason(
        "the nodes said themselves what is proven (readiness: nfd), and no longer are to; their labels are still there",
        "see whether nfd-worker and nfd-master run, which take the labels off",
    ),
    "NodeLeaves": Reason(
        "an autoscaler, a maintenance controller or the cloud takes the node away, and the message names it; `leaving`",
        WAIT,
    ),
    "NodeNotReady": Reason(
        "the kubelet does not answer; `unknown`", "bring the node back, then run again"
    ),
    "NodeStarts": Reason(
        "the node is still brought up, and the message names what is waited for; `starting`", WAIT
    ),
    "NotLooked": UNDER_WAY,
    "OddNode": Reason(
        "a kernel, operating system, architecture or runtime that cannot be one is told of the node; `unknown`",
        "look at nodeInfo and the NFD labels of the node, and at who writes them",
    ),
    "StillLeaving": Reason(
        "the node was to leave, and is still there after the state's time; `leaving`, which fails no run",
        "see why the one that the message names does not take the node away (a PodDisruptionBudget, a finalizer), or"
        " have it take the mark back",
    ),
    "StillStarting": Reason(
        "the node is not up after the state's time, and nothing is proven there; `starting`",
        "see what the one that the message names waits for, and look at its pod on the node",
    ),
    "Upgrading": Reason(
        "the node's driver is exchanged, and nothing is proven there meanwhile; the sentence says what is waited for",
        WAIT,
    ),
    "Remedied": Reason(
        "a remedy is tried on the node, and nothing is proven there meanwhile; the sentence says what is waited for",
        WAIT,
    ),
    "Timeout": Reason(
        "not ready within the state's time, and nothing else is wrong",
        "read the pod's log, or allow more time with timeout",
    ),
}

# Reasons that end with the name of another state, as in Requires.driver.
OF_OTHER_STATES: Mapping[str, Reason] = {
    "BlockedBy": Reason(
        "STATE, on which this one stands, directly or not, failed on the node",
        "mend STATE; see its own lines below the table",
    ),
    "Requires": Reason(
        "STATE, which this one requires, is not ready on the node", "see that state's own row"
    ),
}

REASONS: Mapping[str, Reason] = {
    **OF_STATES,
    **{name: reason for kind in KINDS.values() for name, reason in kind.reasons.items()},
}


def passes_by_itself(reason: str) -> bool:
    """Whether a reason says no more than that something is under way."""
    return reason in REASONS and REASONS[reason].passing


def advice(reason: str) -> str:
    """One imperative half sentence for a reason."""
    kind, _dot, state = reason.partition(".")
    if state and kind in OF_OTHER_STATES:
        return OF_OTHER_STATES[kind].todo.replace("STATE", state)
    known = REASONS.get(reason)
    return (
        known.todo
        if known
        else "look at the pods and events of this state in the recipe's namespace"
    )
