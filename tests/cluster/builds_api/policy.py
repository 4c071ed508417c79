# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which builds may start, which are in the way, and which are too old to keep. Pure.

Facts: openshift-controller-manager, pkg/build/controller/policy and HandleBuildPruning of
pkg/build/controller/common.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.cluster.builds_api.instantiate import NUMBER_ANNOTATION, POLICY_LABEL
from tests.cluster.builds_api.kinds import Obj

_SNIPPET_LINES = 5
_LINE_LENGTH = 120
_ACTIVE = ("Pending", "Running")


def may_start(build: Obj, others: Sequence[Obj]) -> bool:
    """Whether a new build may start. others: the builds of the same BuildConfig, this one among
    them."""
    policy = (build["metadata"].get("labels") or {}).get(POLICY_LABEL, "Parallel")
    if policy == "Parallel":
        return True
    if any(other["status"]["phase"] in _ACTIVE for other in others):
        return False
    waiting = sorted((other for other in others if other["status"]["phase"] == "New"), key=_number)
    first = waiting[-1] if policy == "SerialLatestOnly" else waiting[0]
    return bool(first["metadata"]["name"] == build["metadata"]["name"])


def superseded(others: Sequence[Obj]) -> list[Obj]:
    """Builds of one BuildConfig that will never start, since a newer one came
    (SerialLatestOnly)."""
    waiting = sorted(
        (
            other
            for other in others
            if other["status"]["phase"] == "New"
            and (other["metadata"].get("labels") or {}).get(POLICY_LABEL) == "SerialLatestOnly"
        ),
        key=_number,
    )
    return waiting[:-1]


def outdated(config: Obj, builds: Sequence[Obj]) -> list[Obj]:
    """The builds of a BuildConfig beyond its history limits, oldest first."""
    spec = config["spec"]
    limits = {
        ("Complete",): spec.get("successfulBuildsHistoryLimit"),
        ("Failed", "Cancelled", "Error"): spec.get("failedBuildsHistoryLimit"),
    }
    found = []
    for phases, limit in limits.items():
        ended = sorted(
            (build for build in builds if build["status"]["phase"] in phases), key=_number
        )
        if limit is not None and len(ended) > limit:
            found += ended[: len(ended) - limit]
    return found


def snippet(lines: Sequence[str]) -> str:
    """status.logSnippet: the last five lines, long ones without their middle."""
    shown = (
        line if len(line) <= _LINE_LENGTH else f"{line[:58]}...{line[-59:]}"
        for line in lines[-_SNIPPET_LINES:]
    )
    return "\n".join(shown)


def _number(build: Obj) -> int:
    return int((build["metadata"].get("annotations") or {}).get(NUMBER_ANNOTATION, 0))
