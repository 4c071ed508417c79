# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the standard options change in a pod: pull secrets, priority, proxy, environment, resources,
tolerations.

Each function changes the pod spec that it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._errors import InvalidInput
from ..._json import Obj, elements, part
from .filters import string

_PROXY = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY", "no": "NO_PROXY"}


def containers(pod_spec: Obj, *, init: bool) -> Iterator[Obj]:
    """The containers, first of all the init containers where asked for."""
    for key in ("initContainers", "containers") if init else ("containers",):
        entries = pod_spec.get(key) or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise InvalidInput(
                "a pod template is not valid", why=f"spec.{key} is no list of containers"
            )
        yield from entries


def add_pull_secrets(pod_spec: Obj, names: Sequence[str]) -> None:
    """Add the names that are not there yet."""
    secrets = list(elements(pod_spec, "imagePullSecrets"))
    secrets += [{"name": name} for name in names if {"name": name} not in secrets]
    if secrets:
        pod_spec["imagePullSecrets"] = secrets


def add_tolerations(pod_spec: Obj, tolerations: Sequence[Obj]) -> None:
    """Add the tolerations that are not there yet."""
    present = list(elements(pod_spec, "tolerations"))
    present += [toleration for toleration in tolerations if toleration not in present]
    if present:
        pod_spec["tolerations"] = present


def add_proxy(pod_spec: Obj, proxy: Mapping[str, Any]) -> None:
    """Tell every container of the proxy, in upper and lower case since programs differ; keep what
    is set."""
    values = {}
    for key, name in _PROXY.items():
        if proxy.get(key):
            values[name] = values[name.lower()] = string(proxy[key])
    for container in containers(pod_spec, init=True):
        present = {entry.get("name") for entry in elements(container, "env")}
        missing = [
            {"name": name, "value": value} for name, value in values.items() if name not in present
        ]
        if missing:
            container["env"] = [*elements(container, "env"), *missing]


def set_environment(pod_spec: Obj, values: Mapping[str, Any]) -> None:
    """Set variables in the containers that are no init containers; the user's value wins over the
    template's."""
    if not values:
        return
    wanted = {name: {"name": name, "value": string(value)} for name, value in values.items()}
    for container in containers(pod_spec, init=False):
        entries = [wanted.get(entry.get("name"), entry) for entry in elements(container, "env")]
        present = {entry.get("name") for entry in entries}
        container["env"] = entries + [
            entry for name, entry in wanted.items() if name not in present
        ]


def set_resources(pod_spec: Obj, wanted: Mapping[str, Any]) -> None:
    """Set requests and limits of the first container; what the user does not name stays as the
    template has it."""
    container = next(containers(pod_spec, init=False), None)
    if container is None or not wanted:
        return
    resources = dict(part(container, "resources"))
    for key, value in wanted.items():
        resources[key] = (
            {**(resources.get(key) or {}), **value} if isinstance(value, dict) else value
        )
    container["resources"] = resources


def add_request(pod_spec: Obj, resource: str) -> None:
    """Let the first container ask for one of an extended resource, unless a container asks for it
    already."""
    found = list(containers(pod_spec, init=True))
    if any(resource in part(entry, "resources", "limits") for entry in found):
        return
    for container in containers(pod_spec, init=False):
        resources = part(container, "resources")
        container["resources"] = {
            **resources,
            "limits": {**part(resources, "limits"), resource: 1},
        }
        return
