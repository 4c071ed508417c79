# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of NVIDIA's GPU Operator, all together, as what the recipe nvidia-gpu is to be
enabled with. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import InvalidInput
from .._json import Obj
from .cluster_policy import policy_options
from .field_mapping import ImportedOptions, joined_rows
from .nvidia_driver import driver_pool

GROUP = "nvidia.com"
POLICY, DRIVER = "ClusterPolicy", "NVIDIADriver"
# kind -> its API version, in the order in which they are deleted: the policy says what the rest is for.
KINDS: Mapping[str, str] = {DRIVER: f"{GROUP}/v1alpha1", POLICY: f"{GROUP}/v1"}


def gpu_settings(resources: Sequence[Any], where: str) -> ImportedOptions:
    """Of one ClusterPolicy and any number of NVIDIADrivers; lists (kind List) are opened. Raises
    InvalidInput for what is not the operator's."""
    found = open_lists(resources, KINDS, where)
    if len(found[POLICY]) != 1:
        raise _wrong(
            where, f"it has {len(found[POLICY])} objects of kind {POLICY}, and not one", KINDS
        )
    policy = policy_options(found[POLICY][0].get("spec") or {})
    parts, pools = [policy], []
    for resource in sorted(found[DRIVER], key=lambda each: str(each["metadata"]["name"])):
        mapped, pool = driver_pool(resource)
        parts.append(mapped)
        if pool:
            pools.append(pool)
        else:
            policy.options.update(mapped.options)
    return ImportedOptions("nvidia-gpu", policy.options, pools, *joined_rows(parts))


def open_lists(
    resources: Sequence[Any], kinds: Mapping[str, str], where: str
) -> dict[str, list[Obj]]:
    """Objects by their kinds, of which kinds has the API versions; lists (kind List) are opened. Raises
    InvalidInput for what is of none of them."""
    found: dict[str, list[Obj]] = {kind: [] for kind in kinds}
    for resource in resources:
        if not isinstance(resource, Mapping):
            raise _wrong(where, "one of its documents is no object", kinds)
        kind = str(resource.get("kind"))
        if kind.endswith("List"):
            for name, items in open_lists(resource.get("items") or [], kinds, where).items():
                found[name] += items
        elif resource.get("apiVersion") != kinds.get(kind):
            known = " and no ".join(sorted(kinds))
            raise _wrong(where, f"{kind[:60]} is no {known} that is known", kinds)
        else:
            found[kind].append(dict(resource))
    return found


def _wrong(where: str, why: str, kinds: Mapping[str, str]) -> InvalidInput:
    plurals = ",".join(sorted(f"{kind.lower()}s" for kind in kinds)).replace("policys", "policies")
    return InvalidInput(
        "the operator's custom resources cannot be taken over",
        where=where,
        why=why,
        todo=f"give what kubectl get {plurals} -o yaml writes",
    )
