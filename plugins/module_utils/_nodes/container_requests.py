# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods ask for of a node, by their containers. Pure.

Source of the sums: k8s.io/component-helpers/resource, by which quotas, scheduler and kubelets count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from .._json import elements, part
from .facts import quantity

Amounts = dict[str, float]


def amounts(found: Mapping[str, Any]) -> Amounts:
    """Quantities as numbers, without what is none."""
    numbers: Amounts = {}
    for name, value in found.items():
        with suppress(ValueError):
            numbers[str(name)] = quantity(value)
    return numbers


def asked_by(container: Mapping[str, Any], kind: str = "requests") -> Amounts:
    """What a container requests, or is limited to (kind: limits)."""
    return amounts(part(container, "resources", kind))


def staying(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The containers that run as long as the pod does: also init containers that are sidecars."""
    yield from elements(spec, "containers")
    yield from sidecars(spec)


def sidecars(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The init containers that go on running."""
    yield from filter(_is_sidecar, elements(spec, "initContainers"))


def asked_by_pod(spec: Mapping[str, Any], kind: str = "requests") -> Amounts:
    """What a pod takes at most at one time: all that stay, or one that runs before these with the sidecars
    that have begun before it."""
    most = _sum(asked_by(each, kind) for each in staying(spec))
    begun: Amounts = {}
    for container in elements(spec, "initContainers"):
        running = _sum([begun, asked_by(container, kind)])
        most = {name: max(most.get(name, 0), running.get(name, 0)) for name in {*most, *running}}
        if _is_sidecar(container):
            begun = running
    return most


def _is_sidecar(container: Mapping[str, Any]) -> bool:
    return bool(container.get("restartPolicy") == "Always")


def _sum(parts: Iterable[Amounts]) -> Amounts:
    found: defaultdict[str, float] = defaultdict(float)
    for amounts_of_one in parts:
        for name, amount in amounts_of_one.items():
            found[name] += amount
    return dict(found)
