# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server refuses although every field has its type: what fields say of each other, and
ranges. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from ..._cluster.api_objects.object_fields import Path, dotted
from ..._json import part
from ..templates.manifests import pod_template
from .fields import FieldProblem
from .object_names import containers_in, dicts_in, pod_path

_LAST_PORT = 65535
_FOREVER, _TO_THE_END = ("Always",), ("OnFailure", "Never")
_RESTARTS = {
    **dict.fromkeys(("DaemonSet", "Deployment", "StatefulSet", "ReplicaSet"), _FOREVER),
    **dict.fromkeys(("Job", "CronJob"), _TO_THE_END),
}


def check_rules(manifest: Mapping[str, Any]) -> Iterator[FieldProblem]:
    """What is wrong with an object as a whole."""
    kind = manifest["kind"]
    if kind == "Secret":
        yield from _secret(manifest.get("data"))
    if kind == "Service":
        yield from _ports(manifest.get("spec"), ("spec",), "port")
    template = pod_template(dict(manifest))
    if template is None:
        return
    path = (*pod_path(kind), "spec")
    if _RESTARTS.get(kind) == _FOREVER:
        yield from _selector(
            manifest["spec"].get("selector"), part(template, "metadata").get("labels")
        )
    yield from _restarts(template["spec"], path, kind)
    yield from _twice(template["spec"], path)
    for where, container in containers_in(template["spec"], path):
        yield from _ports(container, where, "containerPort")


def _selector(selector: Any, labels: Any) -> Iterator[FieldProblem]:
    """A workload that does not select its own pods is refused."""
    wanted = selector.get("matchLabels") if isinstance(selector, dict) else None
    for name, value in (wanted if isinstance(wanted, dict) else {}).items():
        if (labels if isinstance(labels, dict) else {}).get(name) != value:
            text = f"spec.selector wants {name}={value}, and the pods of spec.template have no such label"
            yield FieldProblem(("spec", "selector", "matchLabels", name), text)


def _restarts(spec: Mapping[str, Any], path: Path, kind: str) -> Iterator[FieldProblem]:
    allowed, found = _RESTARTS.get(kind), spec.get("restartPolicy") or "Always"
    if allowed and found not in allowed:
        place = (*path, "restartPolicy")
        yield FieldProblem(
            place, f"{dotted(place)} of a {kind} has to be {' or '.join(allowed)}, and is {found}"
        )


def _twice(spec: Mapping[str, Any], path: Path) -> Iterator[FieldProblem]:
    volumes = [
        ((*path, "volumes", index), each)
        for index, each in enumerate(dicts_in(spec.get("volumes")))
    ]
    for found in (list(containers_in(spec, path)), volumes):
        seen: set[Any] = set()
        for where, each in found:
            name = each.get("name")
            if name in seen:
                yield FieldProblem(
                    (*where, "name"), f"{dotted(where)} has the name {name}, which is there already"
                )
            seen.add(name if isinstance(name, str) else None)


def _ports(owner: Any, path: Path, field: str) -> Iterator[FieldProblem]:
    for index, port in enumerate(dicts_in(owner.get("ports") if isinstance(owner, dict) else None)):
        number = port.get(field)
        if isinstance(number, int) and not 0 < number <= _LAST_PORT:
            place = (*path, "ports", index, field)
            yield FieldProblem(
                place, f"{dotted(place)} has to be a number from 1 to {_LAST_PORT}, and is {number}"
            )


def _secret(data: Any) -> Iterator[FieldProblem]:
    for name, value in (data if isinstance(data, dict) else {}).items():
        try:
            base64.b64decode(str(value), validate=True)
        except binascii.Error:
            yield FieldProblem(
                ("data", name),
                f"data.{name} has to be base64 (| b64encode), or stand under stringData",
            )
