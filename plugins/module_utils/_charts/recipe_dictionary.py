# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the templates of the operator's recipes from before Helm see as their dot. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .go_templates import actions_in
from .sro_types import NUMBERED_SPEC, filled

# A field of the dot, not of a variable or of what a function gives.
_FIELD = re.compile(r"(?<![\w.)\]])\$?((?:\.[A-Za-z_]\w*)+)")
_CAPITAL = re.compile(r"(?<![\w.)\]])\$?\.[A-Z]\w*")
_OPENS_ANOTHER = re.compile(r"^(?:range|with)\b")
_OPENS = re.compile(r"^(?:if|block|define)\b")

# Fields that JSON calls by another name.
_NAMES = {"csiDriver": "CSIDriver", "pullsecret": "PullSecret", "path": "Paths"}
_STATES = ("driverContainer", "runtimeEnablement", "devicePlugin", "deviceMonitoring")


def has_placeholders(text: str) -> bool:
    """Whether a file is a template of that kind: braces of alert rules and dashboards are none."""
    return any(_CAPITAL.search(action.code) for action in actions_in(text))


def recipe_dictionary(runtime: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The dot. runtime: as runtime_values() gives it. given: the spec of the custom resource."""
    resource = runtime["specialresource"]
    name, namespace = resource["metadata"]["name"], resource["spec"]["namespace"]
    selector = next(iter(resource["spec"]["nodeSelector"]), "")
    spec = {"node": {"selector": selector}, **given, "namespace": namespace}
    fields = {
        "OperatingSystemMajor": runtime["operatingSystemMajor"],
        "OperatingSystemMajorMinor": runtime["operatingSystemMajorMinor"],
        "OperatingSystemDecimal": runtime["operatingSystemDecimal"],
        "KernelVersion": runtime["kernelFullVersion"],
        "KernelFullVersion": runtime["kernelFullVersion"],
        "KernelPatchVersion": runtime["kernelPatchVersion"],
        "DriverToolkitImage": runtime["driverToolkitImage"],
        "ClusterVersion": runtime["clusterVersion"],
        "ClusterVersionMajorMinor": runtime["clusterVersionMajorMinor"],
        "UpdateVendor": runtime["updateVendor"],
        "PushSecretName": runtime["pushSecretName"],
        "OSImageURL": runtime["osImageURL"],
        "Proxy": {_capital(key): value for key, value in runtime["proxy"].items()},
        "GroupName": {_capital(key): value for key, value in runtime["groupName"].items()},
        "StateName": {
            _capital(key): f"specialresource.openshift.io/{runtime['groupName'][key]}-{name}"
            for key in _STATES
        },
    }
    own = {"Name": name, "Namespace": namespace}
    return {
        **fields,
        "SpecialResource": {
            **own,
            "ObjectMeta": own,
            "Spec": _capitals({**spec, **filled(NUMBERED_SPEC, spec, lists=True)}),
        },
    }


def unknown_fields(text: str, dot: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The fields, each with its line, that a template reads and that the dictionary does not have;
    the operator's rendering ended with an error there. Fields inside of range and with are left
    out, since they belong to another value."""
    inside: list[bool] = []
    for action in actions_in(text):
        code = action.code
        if code == "end":
            inside = inside[:-1]
            continue
        for found in _FIELD.finditer(code):
            if (not any(inside) or found[0].startswith("$")) and not _has(dot, found[1]):
                yield found[1], action.line
        if _OPENS_ANOTHER.match(code) or _OPENS.match(code):
            inside.append(bool(_OPENS_ANOTHER.match(code)))


def _has(dot: Any, path: str) -> bool:
    for step in path.split(".")[1:]:
        if not isinstance(dot, Mapping):
            return True
        if step not in dot:
            return False
        dot = dot[step]
    return True


def _capitals(value: Any) -> Any:
    """As the fields of Go's structures are called."""
    if isinstance(value, Mapping):
        return {_capital(key): _capitals(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_capitals(each) for each in value]
    return value


def _capital(key: str) -> str:
    return _NAMES.get(key, f"{key[:1].upper()}{key[1:]}")
