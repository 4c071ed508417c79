# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""image: there is an image for the node's kernel; what was looked up or built says so before
anything is deployed."""

from __future__ import annotations

from dataclasses import dataclass

from ..._verdicts.reasons import Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope
from ..evaluation import Observation


@dataclass(frozen=True)
class ImageSettings:
    """None."""


REASONS = {
    "NoImage": Reason(
        "neither was an image found for the node's kernel, nor could one be built; the message lists what was tried",
        "make an image for that kernel available, or one that can be built, and run again",
    ),
}


def evaluate(observation: Observation[ImageSettings]) -> Verdict:
    """Trouble that no patience heals: another run has to find or build the image."""
    problem = observation.plan.why_no_image(observation.target.group)
    if problem is None:
        return PASSED
    return Verdict(Outcome.TROUBLE, "NoImage", problem, ran=False, heals=False)


KIND = ProofKind(
    name="image",
    holds_when="there is an image for the node's kernel. For the state that looks it up or builds it; where images are"
    " merely named, it does not count. It costs no gate: where there is no image, nothing is deployed",
    settings=ImageSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=True,
    by_node=False,
    scope=lambda _settings: Scope.NODE,
    gates=False,
)
