# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the quotas of a namespace have room for the pods of all nodes. A dry run asks them about one
pod only. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from .._json import Obj, part
from .._nodes.container_requests import amounts, asked_by_pod
from .kernel_answers import PreflightFinding


def short_quotas(
    quotas: Sequence[Obj], pods: Sequence[tuple[Obj, int]]
) -> Iterator[PreflightFinding]:
    """The quotas that these pods exceed together. pods: each as it is admitted, and how many more of
    it there will be. Quotas for some pods only (scopes) are left to the dry run."""
    wanted: dict[str, float] = defaultdict(float)
    for pod, more in pods:
        for name, amount in _asked(pod).items():
            wanted[name] += amount * more
    for quota in quotas:
        if part(quota, "spec").get("scopes") or part(quota, "spec").get("scopeSelector"):
            continue
        for name, free in sorted(_free(quota).items()):
            if wanted[name] > free:
                metadata = quota["metadata"]
                yield PreflightFinding(
                    "pods",
                    f"quota {metadata['namespace']}/{metadata['name']} has room for {_shown(free)} of {name},"
                    f" and pods for all nodes take {_shown(wanted[name])} more; raise it",
                )


def _free(quota: Obj) -> dict[str, float]:
    """What may still be used, by the quota's names of resources."""
    used = amounts(part(quota, "status", "used"))
    hard = amounts(part(quota, "spec", "hard"))
    return {name: max(0, amount - used.get(name, 0)) for name, amount in hard.items()}


def _asked(pod: Obj) -> Mapping[str, float]:
    """What a pod counts for, by the names that quotas have for it."""
    found: dict[str, float] = defaultdict(float, {"pods": 1, "count/pods": 1})
    for kind in ("requests", "limits"):
        for name, amount in asked_by_pod(part(pod, "spec"), kind).items():
            found[f"{kind}.{name}"] += amount
            if kind == "requests":
                found[name] += amount
    return found


def _shown(amount: float) -> str:
    return f"{amount:g}" if amount < 10**6 else f"{amount / 2**20:.0f}Mi"
