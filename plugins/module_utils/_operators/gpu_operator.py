# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of NVIDIA's GPU Operator, all together, as what the recipe nvidia-gpu is to be
enabled with. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._errors import InvalidInput
from .._json import Obj
from .cluster_policy import policy_options
from .field_mapping import MappedOptions
from .nvidia_driver import driver_pool

GROUP = "nvidia.com"
POLICY, DRIVER = "ClusterPolicy", "NVIDIADriver"
# kind -> its API version, in the order in which they are deleted: the policy says what the rest is for.
KINDS: Mapping[str, str] = {DRIVER: f"{GROUP}/v1alpha1", POLICY: f"{GROUP}/v1"}


@dataclass(frozen=True)
class ImportedOptions:
    """What a recipe is to be enabled with: options, pools as parse_pools() takes them, and of each field
    what became of it."""

    recipe: str
    options: Obj = field(default_factory=dict)
    pools: Sequence[Obj] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)

    def table(self) -> list[str]:
        """The lines that a person reads: what is lost first."""
        counts = f"{len(self.taken)} fields are taken, {len(self.dropped)} have no counterpart"
        lines = [f"{self.recipe}: {counts}, {len(self.differs)} are done otherwise"]
        lines += [
            f"- {path} has no counterpart: {why}" for path, why in sorted(self.dropped.items())
        ]
        lines += [f"~ {path}: {why}" for path, why in sorted(self.differs.items())]
        return lines + [f"  {path} -> {option}" for path, option in sorted(self.taken.items())]


def gpu_settings(resources: Sequence[Any], where: str) -> ImportedOptions:
    """Of one ClusterPolicy and any number of NVIDIADrivers; lists (kind List) are opened. Raises
    InvalidInput for what is not the operator's."""
    found = _by_kind(resources, where)
    if len(found[POLICY]) != 1:
        raise _wrong(where, f"it has {len(found[POLICY])} objects of kind {POLICY}, and not one")
    policy = policy_options(found[POLICY][0].get("spec") or {})
    parts, pools = [policy], []
    for resource in sorted(found[DRIVER], key=lambda each: str(each["metadata"]["name"])):
        part, pool = driver_pool(resource)
        parts.append(part)
        if pool:
            pools.append(pool)
        else:
            policy.options.update(part.options)
    return ImportedOptions("nvidia-gpu", policy.options, pools, *_rows(parts))


def _rows(parts: Sequence[MappedOptions]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    taken: dict[str, str] = {}
    dropped: dict[str, str] = {}
    differs: dict[str, str] = {}
    for part in parts:
        taken |= part.taken
        dropped |= part.dropped
        differs |= part.differs
    return taken, dropped, differs


def _by_kind(resources: Sequence[Any], where: str) -> dict[str, list[Obj]]:
    found: dict[str, list[Obj]] = {kind: [] for kind in KINDS}
    for resource in resources:
        if not isinstance(resource, Mapping):
            raise _wrong(where, "one of its documents is no object")
        kind = str(resource.get("kind"))
        if kind.endswith("List"):
            for name, items in _by_kind(resource.get("items") or [], where).items():
                found[name] += items
        elif resource.get("apiVersion") != KINDS.get(kind):
            raise _wrong(where, f"{kind[:60]} is no {POLICY} and no {DRIVER} that is known")
        else:
            found[kind].append(dict(resource))
    return found


def _wrong(where: str, why: str) -> InvalidInput:
    return InvalidInput(
        "the operator's custom resources cannot be taken over",
        where=where,
        why=why,
        todo="give what kubectl get clusterpolicies,nvidiadrivers -o yaml writes",
    )
