# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the quotas of a namespace have room for the pods of all nodes. A dry run asks them about one
pod only. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from .._json import Obj, elements, part
from .._nodes.facts import quantity
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
    used, found = part(quota, "status", "used"), {}
    for name, hard in part(quota, "spec", "hard").items():
        with suppress(ValueError):
            found[str(name)] = max(0, quantity(hard) - quantity(used.get(name)))
    return found


def _asked(pod: Obj) -> Mapping[str, float]:
    """What a pod counts for, by the names that quotas have for it."""
    found: dict[str, float] = defaultdict(float, {"pods": 1, "count/pods": 1})
    for kind in ("requests", "limits"):
        for name, amount in _resources(pod, kind).items():
            found[f"{kind}.{name}"] += amount
            if kind == "requests":
                found[name] += amount
    return found


def _resources(pod: Obj, kind: str) -> Mapping[str, float]:
    """What a pod requests, or is limited to: of its containers together, or of the largest that runs
    before them."""
    found: dict[str, float] = defaultdict(float)
    for container in elements(pod, "spec", "containers"):
        for name, amount in _amounts(container, kind).items():
            found[name] += amount
    for container in elements(pod, "spec", "initContainers"):
        for name, amount in _amounts(container, kind).items():
            found[name] = max(found[name], amount)
    return found


def _amounts(container: Obj, kind: str) -> dict[str, float]:
    found = {}
    for name, value in part(container, "resources", kind).items():
        with suppress(ValueError):
            found[str(name)] = quantity(value)
    return found


def _shown(amount: float) -> str:
    return f"{amount:g}" if amount < 10**6 else f"{amount / 2**20:.0f}Mi"
