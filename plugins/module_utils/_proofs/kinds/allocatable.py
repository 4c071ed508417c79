# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""allocatable: the kubelet offers the extended resource on the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from ..._nodes.facts import NodeFacts, quantity
from ..._schema.shapes import Integer, Optional, Text
from ..._schema.terms import RESOURCE_NAME
from ..._verdicts.reasons import Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation

_AMOUNT = Integer(0, 1_000_000, template=True)
_LABEL = Text("the name of a label, or nothing", r"\S*|.*\{\{.*\}\}.*")


@dataclass(frozen=True)
class AllocatableSettings:
    """How many devices a node has to offer."""

    resource: Annotated[
        str,
        Setting(
            RESOURCE_NAME,
            "the extended resource; `*` may stand in its name, and then the sum counts",
        ),
    ]
    at_least: Annotated[
        int | None,
        Setting(_AMOUNT, "that many or more, or a template of the number; 1 where nothing is said"),
    ] = None
    unhealthy_allowed: Annotated[
        int,
        Setting(_AMOUNT, "how many of the node's devices may be unhealthy, or a template of it"),
    ] = 0
    counted_by: Annotated[
        str,
        Setting(
            _LABEL,
            "a label of nodes with the number of devices that they have, or a template of it; a node without it is"
            " not asked",
        ),
    ] = ""
    equals: Annotated[
        int | None,
        Setting(Optional(_AMOUNT), "exactly that many, or a template of it, instead of `at_least`"),
    ] = None


REASONS = {
    "NotAdvertised": Reason(
        "the kubelet offers fewer devices than the recipe wants",
        "read the device plugin's log on this node",
    ),
    "NotAllocatable": Reason(
        "the node has devices but offers fewer: the plugin is gone or finds them unhealthy",
        "read the device plugin's log on this node, and look at the devices' health",
    ),
    "DevicesUnhealthy": Reason(
        "the device plugin finds more of the node's devices unhealthy than may be",
        "read the device plugin's log on this node and the kernel's; mend the device (playbook remedy), or allow more",
    ),
    "DevicesMissing": Reason(
        "the device plugin knows fewer devices than the node has by its label, and more are missing than may be",
        "look at the kernel's log on this node (a device may have fallen off the bus); mend the device (playbook"
        " remedy), or allow more",
    ),
    "MoreAdvertised": Reason(
        "the kubelet offers more devices than the recipe wants",
        "look at the device plugin's configuration (sharing, partitions), or correct the number that is wanted",
    ),
}


def _wanted(settings: AllocatableSettings) -> int:
    """The number that is asked for, exactly or at least."""
    if settings.equals is not None:
        return settings.equals
    return 1 if settings.at_least is None else settings.at_least


def _names(amounts: Mapping[str, str], resource: str) -> list[str]:
    """The resources that match the name."""
    if "*" not in resource:
        return [resource]
    return [name for name in amounts if fnmatchcase(name, resource)]


def _sum(amounts: Mapping[str, str], names: Sequence[str]) -> float:
    return sum(quantity(amounts.get(name)) for name in names)


def evaluate(observation: Observation[AllocatableSettings]) -> Verdict:
    """The verdict for one node: the sum over the resources that match the name (which may hold *)."""
    node, settings = observation.node, observation.settings
    resource, exact, wanted = settings.resource, settings.equals, _wanted(settings)
    offered = _sum(node.allocatable, _names(node.allocatable, resource))
    known = _sum(node.capacity, _names(node.capacity, resource))
    if offered == wanted or (offered > wanted and exact is None):
        return _healthy(node, settings)
    if offered > wanted:
        return Verdict(
            Outcome.TROUBLE,
            "MoreAdvertised",
            f"the node offers {offered} {resource}, wanted exactly {wanted}",
        )
    if known > offered:
        text = f"of {known} {resource} the node offers {offered}: its device plugin is gone or finds them unhealthy"
        return Verdict(Outcome.TROUBLE, "NotAllocatable", text)
    limit = "at least" if exact is None else "exactly"
    return Verdict(
        Outcome.TROUBLE,
        "NotAdvertised",
        f"the node offers {offered} {resource}, wanted {limit} {wanted}",
    )


def _healthy(node: NodeFacts, settings: AllocatableSettings) -> Verdict:
    """Whether what the node offers is, but for those that may be unhealthy, all that it has.

    A resource of which nothing is offered any more has lost its plugin, as one has after a change of
    partitions: the number that is wanted says whether that counts.
    """
    resource = settings.resource
    allocatable = node.allocatable
    offered = [
        name for name in _names(allocatable, resource) if quantity(allocatable.get(name)) > 0
    ]
    known = _sum(node.capacity, offered)
    unhealthy = known - _sum(allocatable, offered)
    label = node.labels.get(settings.counted_by, "")
    there = int(label) if label.isdecimal() else 0
    if there > known and there - known + unhealthy > settings.unhealthy_allowed:
        text = (
            f"the node offers {known - unhealthy:.0f} {resource}, and has {there} by its label {settings.counted_by};"
            f" {settings.unhealthy_allowed} may miss"
        )
        return Verdict(Outcome.TROUBLE, "DevicesMissing", text)
    if unhealthy <= settings.unhealthy_allowed:
        return PASSED
    text = (
        f"{unhealthy:.0f} of the node's {known:.0f} {resource} {'is' if unhealthy == 1 else 'are'} unhealthy,"
        f" {settings.unhealthy_allowed} may be"
    )
    return Verdict(Outcome.TROUBLE, "DevicesUnhealthy", text)


KIND = ProofKind(
    name="allocatable",
    holds_when=(
        "the kubelet offers the extended resource on the node, in the wanted number, and no more devices than"
        " `unhealthy_allowed` are unhealthy"
    ),
    settings=AllocatableSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=True,
    by_node=True,
    scope=lambda _settings: Scope.NODE,
    apart=(("at_least", "equals"),),
)
