# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hardware a cluster's nodes have by Node Feature Discovery's labels, which recipes take it, and
what would be in their way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from functools import cache, partial

from .._charts.recipe_reading import read_recipe
from .._cluster.api_client.client import Client
from .._cluster.api_objects.change_report import name_some
from .._errors import EnablementError
from .._json import Obj, part
from .._nodes.discovery import discover
from .._nodes.facts import NodeFacts
from .._nodes.selectors import LabelSet, matches, taints_of
from .._nodes.system import FEATURES
from .._recipes.loading.options import resolve
from .._recipes.loading.recipe import Recipe
from .._recipes.requirements import node_label_sets
from .._states.preparation.discover import discover_nothing, list_nodes
from .._states.preparation.foreign import (
    RivalContext,
    foreign_plugins,
    refuse_foreign_plugin,
    refuse_rivals,
)
from .._states.record.crd import RECORD
from .._states.validation.table import aligned

_PCI, _PRESENT = f"{FEATURES}pci-", ".present"
# Of the PCI ID database; what is not here is shown as its number.
_VENDORS = {
    "1002": "AMD",
    "10de": "NVIDIA",
    "10ee": "AMD Xilinx",
    "14e4": "Broadcom",
    "15b3": "NVIDIA Mellanox",
    "177d": "Marvell",
    "1924": "AMD Solarflare",
    "1af4": "Red Hat",
    "1d0f": "Amazon",
    "1da3": "Intel Habana",
    "8086": "Intel",
}
_CLASSES = {
    "0108": "NVMe controller",
    "0200": "Ethernet controller",
    "0207": "InfiniBand controller",
    "0300": "VGA controller",
    "0302": "3D controller",
    "0380": "display controller",
    "0b40": "co-processor",
    "1200": "processing accelerator",
}
_NAMED = 3
_HEAD = ("DEVICE", "VENDOR", "KIND", "NODES", "KERNELS", "RECIPES")


@dataclass(frozen=True)
class HardwareOnNodes:
    """A kind of device. device: as NFD names it ("0302_10de"). kernels: those of its nodes. recipes:
    those that take its nodes."""

    device: str
    vendor: str
    kind: str
    nodes: Sequence[str]
    kernels: Sequence[str]
    recipes: Sequence[str]


def survey(client: Client, bundles: Mapping[str, Mapping[str, str]]) -> Obj:
    """What is there, without any recipe named. bundles: recipe -> its files."""
    nodes, enabled = list_nodes(client, [{}]), _enabled(client)
    choices = {recipe.name: (recipe, labels) for recipe, labels in _choices(bundles)}
    found = hardware_on(nodes, {name: labels for name, (_recipe, labels) in choices.items()})
    takers = takers_of(found, enabled)
    plugins = cache(partial(foreign_plugins, client))
    refused = {name: _in_the_way(client, *choices[name], nodes, plugins) for name in takers}
    ways = {name: why for name, why in refused.items() if why}
    nothing = (
        "" if found else discover_nothing(client, [{f"{_PCI}any{_PRESENT}": "true"}]).nfd["message"]
    )
    return {
        "changed": False,
        "ready": bool(found) and not ways,
        "hardware": [asdict(each) for each in found],
        "findings": [{"check": "rivals", "message": why, "blocks": True} for why in ways.values()],
        "table": survey_table(found, ways, enabled, nothing),
    }


def takers_of(found: Sequence[HardwareOnNodes], enabled: Set[str]) -> list[str]:
    """The recipes that could be enabled next, sorted: those for devices that no enabled one takes."""
    return sorted(
        {name for each in found if enabled.isdisjoint(each.recipes) for name in each.recipes}
    )


def _choices(
    bundles: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[Recipe, Sequence[LabelSet]]]:
    """The recipes that are for devices, each with the label sets by which it finds its nodes."""
    for name, bundle in sorted(bundles.items()):
        recipe = read_recipe(bundle, name)
        labels = node_label_sets(recipe, resolve(recipe, {}, complete=False))
        if any(label.startswith(_PCI) for wanted in labels for label in wanted):
            yield recipe, labels


def hardware_on(
    nodes: Sequence[Obj], recipes: Mapping[str, Sequence[LabelSet]]
) -> list[HardwareOnNodes]:
    """The kinds of devices that the nodes' labels tell, those that a recipe takes first. recipes: the
    label sets of each."""
    by_device: dict[str, list[NodeFacts]] = defaultdict(list)
    for node in nodes:
        facts = NodeFacts.from_object(node)
        for label in facts.labels:
            if label.startswith(_PCI) and label.endswith(_PRESENT):
                by_device[label[len(_PCI) : -len(_PRESENT)]].append(facts)
    found = [
        HardwareOnNodes(
            device,
            *_vendor_and_kind(device),
            nodes=sorted(node.name for node in having),
            kernels=sorted({node.system.kernel for node in having}),
            recipes=sorted(
                name for name, labels in recipes.items() if _takes(labels, device, having)
            ),
        )
        for device, having in by_device.items()
    ]
    return sorted(found, key=lambda each: (not each.recipes, each.device))


def _takes(labels: Sequence[LabelSet], device: str, nodes: Iterable[NodeFacts]) -> bool:
    """Whether a recipe takes nodes for this device: by a label set that names it, and holds there."""
    own = [wanted for wanted in labels if f"{_PCI}{device}{_PRESENT}" in wanted]
    return any(matches(node.labels, own, node.taints) for node in nodes)


def _vendor_and_kind(device: str) -> tuple[str, str]:
    """Of a device as NFD names it: class and vendor, or either of them, and more."""
    parts = device.split("_")
    vendor = next((part for part in parts if part in _VENDORS), parts[min(1, len(parts) - 1)])
    kind = next((part for part in parts if part in _CLASSES and part != vendor), "")
    return _VENDORS.get(vendor, vendor), _CLASSES.get(kind, "-")


def _enabled(client: Client) -> set[str]:
    """The recipes that have a record."""
    if not client.serves(RECORD.api_version, RECORD.kind):
        return set()
    return {str(part(each, "spec").get("recipe")) for each in client.list(RECORD).items}


def _in_the_way(
    client: Client,
    recipe: Recipe,
    labels: Sequence[LabelSet],
    nodes: Sequence[Obj],
    plugins: Callable[[], Sequence[Obj]],
) -> str:
    """Why a recipe would be refused by what else serves its devices; "" for nothing. plugins: gives the
    device plugins of others."""
    own = [
        node for node in nodes if matches(part(node["metadata"], "labels"), labels, taints_of(node))
    ]
    options = resolve(recipe, {}, complete=False)
    facts = [NodeFacts.from_object(node) for node in own]
    beside = RivalContext(own=lambda: (), nodes=lambda: facts, adopt=False)
    resources = recipe.devices.resources
    try:
        refuse_rivals(client, recipe, options, beside)
        refuse_foreign_plugin(resources, discover(own, labels, resources), plugins)
    except EnablementError as error:
        return f"{recipe.name}: {str(error).rstrip('.')}"
    return ""


def survey_table(
    found: Sequence[HardwareOnNodes], ways: Mapping[str, str], enabled: Set[str], nothing: str
) -> list[str]:
    """The lines that a person is shown. ways: what is in the way of a recipe. nothing: why no hardware
    was found."""
    if not found:
        return ["no devices were found", f"! {nothing}"]
    takers = takers_of(found, enabled)
    return [
        _headline(found, ways, takers),
        *aligned([_HEAD, *map(_row, found)]),
        *([f"  enabled: {', '.join(sorted(enabled))}"] if enabled else []),
        *(f"! {why}" for why in ways.values()),
        f"-> {_next(takers, [name for name in takers if name not in ways])}",
    ]


def _headline(
    found: Sequence[HardwareOnNodes], ways: Mapping[str, str], takers: Sequence[str]
) -> str:
    count = len({name for each in found for name in each.nodes})
    head = f"devices of {count} node{'' if count == 1 else 's'}"
    if not takers:
        return head
    what = "something is" if ways else "nothing is"
    return f"{head}: {what} in the way of {', '.join(ways or takers)}"


def _row(each: HardwareOnNodes) -> tuple[str, ...]:
    return (
        each.device,
        each.vendor,
        each.kind,
        name_some(each.nodes, _NAMED),
        name_some(each.kernels, _NAMED),
        ", ".join(each.recipes) or "-",
    )


def _next(takers: Sequence[str], free: Sequence[str]) -> str:
    if free:
        return (
            f"name one (-e hardware_enablement_recipe={free[0]}) to see what its enable would meet"
        )
    if takers:
        return "see to what is in the way first"
    return "no recipe of the collection is for what else is there"
