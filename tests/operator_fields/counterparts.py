# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of each field of the GPU operators' custom resources that is set alone, where the parts
that it is in are on: for the test of the tables, and for the page about taking over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._operators import (
    cluster_policy,
    device_config,
    nvidia_driver,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.device_config import (
    device_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    Fields,
    ImportedOptions,
    Switches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.gpu_operator import (
    gpu_settings,
)
from tests.operator_fields import FieldCase, FieldTypes, at_path, cases, fields_of

Obj = dict[str, Any]
Import = Callable[[Obj], ImportedOptions]

POLICY, DRIVER = "nvidia.com/v1/ClusterPolicy", "nvidia.com/v1alpha1/NVIDIADriver"
CONFIG = "amd.com/v1alpha1/DeviceConfig"
TYPES: FieldTypes = {**fields_of("nvidia"), **fields_of("amd")}


# An image is one thing in three fields.
_IMAGE = ("repository", "image", "version")


def resource(kind: str, spec: Obj) -> Obj:
    """A custom resource; kind: with its API version."""
    version, _slash, name = kind.rpartition("/")
    return {"apiVersion": version, "kind": name, "metadata": {"name": "one"}, "spec": spec}


def of_driver(spec: Obj) -> ImportedOptions:
    """An NVIDIADriver of a cluster whose policy goes by them."""
    policy = resource(POLICY, {"driver": {"useNvidiaDriverCRD": True}})
    return gpu_settings([policy, resource(DRIVER, spec)], "x")


IMPORTS: dict[str, Import] = {
    POLICY: lambda spec: gpu_settings([resource(POLICY, spec)], "x"),
    DRIVER: of_driver,
    CONFIG: lambda spec: device_settings([resource(CONFIG, spec)]),
}
TABLES: dict[str, tuple[Fields, Switches]] = {
    POLICY: (cluster_policy.FIELDS, cluster_policy.SWITCHES),
    DRIVER: (nvidia_driver.FIELDS, nvidia_driver.SWITCHES),
    CONFIG: (device_config.FIELDS, device_config.SWITCHES),
}
CASES = [(kind, case) for kind in IMPORTS for case in cases(TYPES[kind])]


def named(kind: str, lists: Obj) -> dict[str, dict[str, str]]:
    """List -> the fields in it that are this resource's -> what is said of each."""
    prefix = "NVIDIADriver one: " if kind == DRIVER else ""
    return {
        name: {
            path.removeprefix(prefix): said
            for path, said in found.items()
            if path.startswith(prefix)
        }
        for name, found in lists.items()
    }


def holding(case: FieldCase, lists: dict[str, dict[str, str]]) -> list[str]:
    """The lists that have a field, what it is part of, or its entries."""
    return [
        name for name, paths in lists.items() if any(_is_part(case.path, path) for path in paths)
    ]


def switched_on(kind: str, case: FieldCase) -> Obj:
    """A spec with the field, where the parts that it is in are on."""
    spec: Obj = {}
    for name, switch in TABLES[kind][1].items():
        if case.path.startswith(f"{name}.") and case.path != f"{name}.{switch.name}":
            spec = merged(spec, at_path(f"{name}.{switch.name}", True))
    return spec


def merged(one: Obj, other: Obj) -> Obj:
    """Both, one in the other."""
    both = {key: merged(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


def in_context(kind: str, case: FieldCase) -> Obj:
    """A spec with the field, where the parts that it is in are on, and an image is whole."""
    spec = merged(switched_on(kind, case), case.spec)
    part, _dot, name = case.path.rpartition(".")
    others = [f"{part}.{other}" for other in _IMAGE if name in _IMAGE]
    for other in others:
        if other in TYPES[kind] and other != case.path:
            spec = merged(at_path(other, "sample"), spec)
    return spec


def count_of(kind: str) -> int:
    """How many fields there are that can be set alone."""
    return len({case.path for each, case in CASES if each == kind})


def without_counterpart(kind: str) -> dict[str, str]:
    """The fields that are no option, nor done otherwise -> the sentence why."""
    found: dict[str, str] = {}
    for each, case in CASES:
        if each == kind:
            lists = named(kind, IMPORTS[kind](in_context(kind, case)).lists)
            if holding(case, lists) == ["dropped"]:
                found[case.path] = _why(case, lists["dropped"])
    return found


def _why(case: FieldCase, dropped: dict[str, str]) -> str:
    (why,) = {why for path, why in dropped.items() if _is_part(case.path, path)}
    return why


def _is_part(one: str, other: str) -> bool:
    """Whether one of two fields is the other, or a part of it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
