# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""allocatable: the kubelet offers the extended resource on the node."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import quantity
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict


def evaluate(look: Look) -> Verdict:
    """The verdict for one node: the sum over the resources that match the name (which may hold *)."""
    node = look.node
    if node is None:
        return PASSED
    resource, wanted = str(look.spec["resource"]), int(look.spec.get("at_least", 1))
    offered = sum(quantity(amount) for name, amount in node.allocatable.items() if fnmatchcase(name, resource))
    known = sum(quantity(amount) for name, amount in node.capacity.items() if fnmatchcase(name, resource))
    if offered >= wanted:
        return PASSED
    if known > offered:
        text = f"of {known} {resource} the node offers {offered}: its device plugin is gone or finds them unhealthy"
        return Verdict(Outcome.TROUBLE, "NotAllocatable", text)
    return Verdict(Outcome.TROUBLE, "NotAdvertised", f"the node offers {offered} {resource}, wanted at least {wanted}")
