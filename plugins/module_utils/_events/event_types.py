# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of event that the event source has. Pure."""

from __future__ import annotations

from .._products import PRODUCTS

NODE_JOINED = "node_joined"
NODE_LEFT = "node_left"
NODE_REBOOTED = "node_rebooted"
KERNEL_CHANGED = "kernel_changed"
GATE_DEGRADED = "gate_degraded"
POD_CRASHED = "pod_crashed"
RESTART_PENDING = "restart_pending"
NODE_READY = "node_ready"
RESOURCE_CHANGED = "resource_changed"

# When each is told, for the documentation.
MEANINGS = {
    NODE_JOINED: "a node has the hardware of an enabled recipe, and no run has seen it since it has",
    NODE_LEFT: "a node of a recipe was deleted, or lost the labels of the hardware",
    NODE_REBOOTED: "a node has booted since its states were proven",
    KERNEL_CHANGED: "a node has booted another kernel or system than the one that its states were proven on",
    GATE_DEGRADED: "a run found a state broken that was proven before",
    POD_CRASHED: "a pod of ours crashes, of a state that the last run has found ready",
    RESTART_PENDING: "pods of a state run the version before, until somebody restarts them",
    NODE_READY: "all states of a recipe are proven on a node, which they were not before",
    RESOURCE_CHANGED: "a SpecialResource was made, or its spec changed, by somebody else than a run",
    **{each.event: each.meaning for product in PRODUCTS for each in product.watched},
}
# What asks for no run: a source that starts does not tell it of what is so already.
TIDINGS = frozenset((NODE_READY,))
# What comes and goes by itself, such as a pod that is ready between two crashes: not news each time.
RECURRENT = frozenset((POD_CRASHED,))
