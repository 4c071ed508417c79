# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""image: there is an image for the node's kernel; what was looked up or built says so before anything is deployed."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict


def evaluate(look: Look) -> Verdict:
    """Trouble that no patience heals: another run has to find or build the image."""
    problem = look.plan.without_image.get(look.group)
    if problem is None:
        return PASSED
    return Verdict(Outcome.TROUBLE, "NoImage", problem, ran=False, heals=False)
