# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in objects that the API server would refuse: characters, lengths, label values, images
without a tag. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..._cluster.api_objects.object_fields import Path, dotted
from ..._json import part
from ..templates.manifests import pod_template
from .fields import FieldProblem
from .variants import SAMPLE

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_LABEL_KEY = re.compile(r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_TAGGED = re.compile(r".+(@sha256:[0-9a-f]{64}|:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})")

_RBAC = "rbac.authorization.k8s.io/"
# Kinds whose name is a label, or becomes the value of one: pods carry the name of their Job, and a
# CronJob appends eleven characters to its own, a StatefulSet those of its revision.
_LONGEST = {"Namespace": 63, "Service": 63, "Job": 63, "CronJob": 52, "StatefulSet": 52}
_DNS_LABELS = ("Namespace", "Service")


def check_names(manifest: Mapping[str, Any]) -> Iterator[FieldProblem]:
    """What is wrong with the names in an object."""
    metadata = manifest["metadata"]
    yield from _object_name(str(manifest["apiVersion"]), manifest["kind"], metadata.get("name"))
    yield from _labels(metadata.get("labels"), ("metadata", "labels"))
    template = pod_template(dict(manifest))
    if template is not None:
        prefix = pod_path(manifest["kind"])
        if prefix:
            yield from _labels(
                part(template, "metadata").get("labels"), (*prefix, "metadata", "labels")
            )
        yield from _pod(template["spec"], (*prefix, "spec"))


def images_of(manifest: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """(path, image) of every container that an object runs."""
    template = pod_template(dict(manifest))
    if template is None:
        return
    path = (*pod_path(manifest["kind"]), "spec")
    for where, container in containers_in(template["spec"], path):
        if isinstance(container.get("image"), str):
            yield (*where, "image"), container["image"]


def check_images(manifest: Mapping[str, Any]) -> Iterator[FieldProblem]:
    """Images that would be another one tomorrow; what a user has to fill in does not count."""
    for path, image in images_of(manifest):
        if SAMPLE not in image and not _TAGGED.fullmatch(image.rpartition("/")[2]):
            text = f"the image {image} has neither tag nor digest"
            yield FieldProblem(path, text, taken=True)


def _object_name(api_version: str, kind: str, name: Any) -> Iterator[FieldProblem]:
    path: Path = ("metadata", "name")
    if not isinstance(name, str) or not name:  # validation pods are given theirs
        return
    longest = _LONGEST.get(kind, 253)
    if len(name) > longest:
        yield FieldProblem(
            path,
            f"the name {name} has {len(name)} characters, of which a {kind} may have {longest}",
        )
    pattern, what = (_LABEL, "DNS label") if kind in _DNS_LABELS else (_SUBDOMAIN, "DNS name")
    if not api_version.startswith(_RBAC) and not pattern.fullmatch(name):
        yield FieldProblem(
            path, f"the name {name} is no {what}: lower-case letters, digits and - only"
        )


def _labels(labels: Any, path: Path) -> Iterator[FieldProblem]:
    for key, value in (labels if isinstance(labels, dict) else {}).items():
        if not _LABEL_KEY.fullmatch(key):
            yield FieldProblem((*path, key), f"{key} is no name of a label")
        if isinstance(value, str) and not _LABEL_VALUE.fullmatch(value):
            yield FieldProblem(
                (*path, key),
                f"{value!r} is no value of a label: at most 63 of A-Z, a-z, 0-9, -, _ and .",
            )


def _pod(spec: Mapping[str, Any], path: Path) -> Iterator[FieldProblem]:
    for index, volume in enumerate(dicts_in(spec.get("volumes"))):
        yield from _short_name(
            volume.get("name"), (*path, "volumes", index, "name"), _LABEL.fullmatch, 63, "volume"
        )
    for where, container in containers_in(spec, path):
        yield from _short_name(
            container.get("name"), (*where, "name"), _LABEL.fullmatch, 63, "container"
        )
        for index, port in enumerate(dicts_in(container.get("ports"))):
            yield from _short_name(
                port.get("name"), (*where, "ports", index, "name"), _PORT_NAME.fullmatch, 15, "port"
            )
    yield from _mounts(spec, path)


def _mounts(spec: Mapping[str, Any], path: Path) -> Iterator[FieldProblem]:
    """A volume that is mounted has to be there."""
    volumes = {volume.get("name") for volume in dicts_in(spec.get("volumes"))}
    for where, container in containers_in(spec, path):
        for index, mount in enumerate(dicts_in(container.get("volumeMounts"))):
            if mount.get("name") not in volumes:
                place = (*where, "volumeMounts", index)
                yield FieldProblem(
                    place,
                    f"{dotted(place)} names the volume {mount.get('name')}, which is not there",
                )


def _short_name(
    name: Any, path: Path, fits: Callable[[str], Any], longest: int, what: str
) -> Iterator[FieldProblem]:
    if isinstance(name, str) and (len(name) > longest or not fits(name)):
        text = f"{name} is no name of a {what}: at most {longest} lower-case letters, digits and -"
        yield FieldProblem(path, text)


def containers_in(spec: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """(path, container) of each container of a pod, whose spec is at a path."""
    for key in ("initContainers", "containers"):
        for index, container in enumerate(dicts_in(spec.get(key))):
            yield (*path, key, index), container


def pod_path(kind: str) -> Path:
    """Where an object of a kind keeps its pod template."""
    if kind == "Pod":
        return ()
    return (
        ("spec", "jobTemplate", "spec", "template") if kind == "CronJob" else ("spec", "template")
    )


def dicts_in(value: Any) -> list[Mapping[str, Any]]:
    """The mappings in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
