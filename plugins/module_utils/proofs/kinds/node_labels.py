# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_labels: the node carries labels that the state's pods bring about."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict


def evaluate(look: Look) -> Verdict:
    """The verdict for one node."""
    if look.node is None:
        return PASSED
    labels = look.node.labels
    missing = [label for label in look.spec.get("present") or [] if label not in labels]
    wrong = [
        f"{label} is {labels.get(label)!r}, wanted {value!r}"
        for label, value in (look.spec.get("equal") or {}).items()
        if labels.get(label) != str(value)
    ]
    if not missing and not wrong:
        return PASSED
    text = "; ".join(([f"no label {', '.join(missing)}"] if missing else []) + wrong)
    return Verdict(Outcome.PENDING, "LabelsMissing", f"the node has {text}")
