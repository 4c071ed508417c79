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
from .cluster_policy import policy_options, reads_drivers
from .field_mapping import ImportedOptions, MappedOptions, UnmappedField, spec_of
from .nvidia_driver import UNSET, DriverResource

GROUP = "nvidia.com"
POLICY, DRIVER = "ClusterPolicy", "NVIDIADriver"
# kind -> its API version, in the order in which they are deleted: the policy says what the rest is for.
KINDS: Mapping[str, str] = {DRIVER: f"{GROUP}/v1alpha1", POLICY: f"{GROUP}/v1"}

_BY_DRIVERS = "driver.useNvidiaDriverCRD"
_UNREAD = f"the operator reads no {DRIVER} without {_BY_DRIVERS}"
_NODES_WITHOUT = UnmappedField(
    f"nodes that no {DRIVER} selects get no driver, and a driver of their own is proven; the others are pools"
    " with driver_enabled",
    differs=True,
)


def gpu_settings(resources: Sequence[Any], where: str) -> ImportedOptions:
    """Of one ClusterPolicy and any number of NVIDIADrivers; lists (kind List) are opened. Raises
    InvalidInput for what is not the operator's, and for what it refuses itself."""
    found = open_lists(resources, KINDS, where)
    if len(found[POLICY]) != 1:
        raise _wrong(
            where, f"it has {len(found[POLICY])} objects of kind {POLICY}, and not one", KINDS
        )
    spec = spec_of(found[POLICY][0])
    policy = policy_options(spec)
    drivers = [
        DriverResource(each)
        for each in sorted(found[DRIVER], key=lambda each: each["metadata"]["name"])
    ]
    if not reads_drivers(spec):
        unread = [each.unread(_UNREAD) for each in drivers]
        return ImportedOptions.of("nvidia-gpu", [policy, *unread], policy.options)
    return _with_drivers(policy, drivers, where)


def _with_drivers(
    policy: MappedOptions, drivers: Sequence[DriverResource], where: str
) -> ImportedOptions:
    """Which nodes have a driver, and which one, say the NVIDIADrivers; a node that none of them
    selects gets none, as with the operator."""
    left_out = [each.left_out(each.why_not) for each in drivers if each.why_not]
    usable = [each for each in drivers if not each.why_not]
    before = dict(policy.options)
    _read_driver_of_the_rest(policy, [each for each in usable if each.selector is None], where)
    read = [each.read_pool(before) for each in usable if each.selector is not None]
    reset = _reset(policy.options, before)
    pools = [{**pool, "options": {**reset, **pool["options"]}} for _mapped, pool in read]
    parts = [policy, *left_out, *(mapped for mapped, _pool in read)]
    return ImportedOptions.of("nvidia-gpu", parts, policy.options, pools)


def _read_driver_of_the_rest(
    policy: MappedOptions, rest: Sequence[DriverResource], where: str
) -> None:
    """The driver of the nodes that no selector names, into the options of all nodes."""
    if len(rest) > 1:
        names = " and ".join(each.name for each in rest)
        raise _wrong(where, f"{names} of kind {DRIVER} are both for the nodes of no other", KINDS)
    if rest:
        policy.take(_BY_DRIVERS, "driver_enabled", value=True)
        rest[0].read_into(policy)
    else:
        policy.options |= {"driver_enabled": False}
        policy.drop(_BY_DRIVERS, _NODES_WITHOUT)


def _reset(options: Mapping[str, Any], before: Mapping[str, Any]) -> Obj:
    """What makes a pool have nothing of the driver of the other nodes. before: the options of all
    nodes without that driver."""
    return {
        name: before.get(name, UNSET[name])
        for name, value in options.items()
        if name in UNSET and value != before.get(name, UNSET[name])
    }


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
