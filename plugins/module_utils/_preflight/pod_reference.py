# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets and ConfigMaps without which pods do not start, and which of them are not there: no dry run
asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_objects.objects import ObjectKey
from .._json import Obj, elements, part
from .kernel_answers import PreflightFinding

# Where pods name an object: the field of a volume or a variable, the kind, and the key of its name.
_VOLUMES = (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name"))
_PROJECTED = (("secret", "Secret", "name"), ("configMap", "ConfigMap", "name"))
_ENV_FROM = (("secretRef", "Secret", "name"), ("configMapRef", "ConfigMap", "name"))
_ENV = (("secretKeyRef", "Secret", "name"), ("configMapKeyRef", "ConfigMap", "name"))


def missing_objects(
    client: Client, pods: Mapping[ObjectKey, Obj], made: Iterable[ObjectKey]
) -> Iterator[PreflightFinding]:
    """Those that neither are there nor are made by an enable. pods: by what makes them. made: all
    objects of the recipe."""
    known = {(key.kind, key.namespace, key.name) for key in made}
    owners: dict[tuple[str, str, str], ObjectKey] = {}
    for owner, pod in pods.items():
        for kind, name in mounted_objects(pod):
            owners.setdefault((kind, owner.namespace, name), owner)
    for (kind, namespace, name), owner in sorted(owners.items()):
        if (kind, namespace, name) not in known and _is_missing(client, kind, namespace, name):
            yield PreflightFinding(
                "secrets" if kind == "Secret" else "objects",
                f"{kind} {namespace}/{name} does not exist, and pods of {owner} do not start without it;"
                " make it, unless something does when they come",
                blocks=False,
            )


def _is_missing(client: Client, kind: str, namespace: str, name: str) -> bool:
    try:
        return client.get(client.kind("v1", kind), name, namespace) is None
    except Forbidden:  # who may not see it does not know
        return False


def mounted_objects(pod: Obj) -> set[tuple[str, str]]:
    """Kind and name of those that a pod cannot do without. Pure."""
    return {(kind, name) for kind, name in _named(part(pod, "spec")) if name}


def _named(spec: Obj) -> Iterator[tuple[str, str]]:
    for volume in elements(spec, "volumes"):
        yield from _of(volume, _VOLUMES)
        for source in elements(volume, "projected", "sources"):
            yield from _of(source, _PROJECTED)
    for container in (*elements(spec, "initContainers"), *elements(spec, "containers")):
        for source in elements(container, "envFrom"):
            yield from _of(source, _ENV_FROM)
        for variable in elements(container, "env"):
            yield from _of(part(variable, "valueFrom"), _ENV)


def _of(
    holder: Mapping[str, Any], places: Iterable[tuple[str, str, str]]
) -> Iterator[tuple[str, str]]:
    for field, kind, key in places:
        found = part(holder, field)
        if found and not found.get("optional"):
            yield kind, str(found.get(key) or "")
