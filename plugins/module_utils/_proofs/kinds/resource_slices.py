# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""resource_slices: a DRA driver publishes devices of the node (dynamic resource allocation).

A driver writes its devices into ResourceSlices, in pools. Whatever changes in a pool is published
as a new generation, of which the scheduler uses nothing before all its slices are there (KEP-4381);
nor does this proof."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ..._cluster.api_objects.change_report import name_some
from ..._json import Obj, elements
from ..._schema.shapes import Integer, Text
from ..._verdicts.reasons import UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation
from ..feeds import Watched
from ..watching import FIND_REASONS, find_on_node

RESOURCE_SLICES = Watched("resource.k8s.io/v1", "ResourceSlice", "")
# Effects of a taint that keep pods off a device.
_KEPT_OFF = ("NoSchedule", "NoExecute")
_NAMED = 3


@dataclass(frozen=True)
class ResourceSlicesSettings:
    """Whose devices a node has to have, and how many."""

    driver: Annotated[
        str,
        Setting(Text("the name of a DRA driver"), "the DRA driver, as its ResourceSlices name it"),
    ]
    at_least: Annotated[
        int,
        Setting(
            Integer(1, 1_000_000, template=True), "that many or more, or a template of the number"
        ),
    ] = 1


def evaluate(observation: Observation[ResourceSlicesSettings]) -> Verdict:
    """The verdict for one node."""
    slices = find_on_node(observation, RESOURCE_SLICES, "ResourceSlices")
    if isinstance(slices, Verdict):
        return slices
    driver, wanted = observation.settings.driver, observation.settings.at_least
    pools = newest_slices(each for each in slices if each["spec"]["driver"] == driver)
    if incomplete := _incomplete(driver, pools):
        return incomplete
    devices = _devices(pools)
    usable = [device for device in devices if not _is_tainted(device)]
    if len(usable) >= wanted:
        return PASSED
    found = f"{driver} publishes {len(devices)} devices of the node{_named(pools.values())}"
    if len(devices) >= wanted:
        text = f"{found}, of which taints leave {len(usable)}, wanted at least {wanted}"
        return Verdict(Outcome.TROUBLE, "DevicesTainted", text)
    return Verdict(Outcome.TROUBLE, "NotPublished", f"{found}, wanted at least {wanted}")


def _incomplete(driver: str, pools: Mapping[str, Sequence[Obj]]) -> Verdict | None:
    """A pool whose newest generation is not there as a whole, so that nothing of it counts yet."""
    for name, parts in pools.items():
        expected = parts[0]["spec"]["pool"]["resourceSliceCount"]
        if len(parts) < expected:
            text = f"pool {name} of {driver} has {len(parts)} of {expected} ResourceSlices of its newest generation"
            text += _named([parts])
            return Verdict(Outcome.PENDING, "PoolIncomplete", text)
    return None


def _devices(pools: Mapping[str, Sequence[Obj]]) -> list[Obj]:
    return [
        device
        for parts in pools.values()
        for part in parts
        for device in elements(part["spec"], "devices")
    ]


def _named(pools: Iterable[Sequence[Obj]]) -> str:
    """Which ResourceSlices a message is about, as its end; "" where there is none."""
    names = [part["metadata"]["name"] for parts in pools for part in parts]
    return f" (ResourceSlices: {name_some(names, _NAMED)})" if names else ""


def newest_slices(slices: Iterable[Obj]) -> Mapping[str, Sequence[Obj]]:
    """Name of a pool -> its ResourceSlices of the newest generation."""
    pools: dict[str, list[Obj]] = defaultdict(list)
    for each in slices:
        pools[each["spec"]["pool"]["name"]].append(each)
    newest = {name: max(map(_generation, parts)) for name, parts in pools.items()}
    return {
        name: [part for part in pools[name] if _generation(part) == newest[name]]
        for name in sorted(pools)
    }


def _generation(each: Obj) -> int:
    return int(each["spec"]["pool"]["generation"])


def _is_tainted(device: Obj) -> bool:
    return any(taint.get("effect") in _KEPT_OFF for taint in elements(device, "taints"))


KIND = ProofKind(
    name="resource_slices",
    holds_when="a DRA driver publishes enough devices of the node, in complete pools; it is watched",
    settings=ResourceSlicesSettings,
    evaluate=evaluate,
    reasons={
        **{name: FIND_REASONS[name] for name in ("Reading", "Unreadable")},
        "DevicesTainted": Reason(
            "the DRA driver, or a DeviceTaintRule, taints devices of the node, so that no pod gets them",
            "look at the taints in the node's ResourceSlices, and at the devices' health",
        ),
        "NotPublished": Reason(
            "the DRA driver publishes fewer devices of the node than the recipe wants",
            "read the log of the DRA driver's pod on this node",
        ),
        "PoolIncomplete": UNDER_WAY,
    },
    observed=True,
    by_node=False,
    scope=lambda _settings: Scope.NODE,
    watches=lambda _settings, _namespace: (RESOURCE_SLICES,),
)
