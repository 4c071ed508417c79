# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the API server in front stores what is served here: as custom resources of groups of its
own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

Obj = dict[str, Any]

VERSION = "v1"
BUILD_GROUP, IMAGE_GROUP = "build.openshift.io", "image.openshift.io"
GROUPS = (BUILD_GROUP, IMAGE_GROUP)
# build.openshift.io is stored as build.openshift.stored.
_SERVED, _STORED = b".openshift.io", b".openshift.stored"


@dataclass(frozen=True)
class Kind:
    """A kind that is stored. short_names: as it is served; columns: (name, JSON path) of what
    kubectl shows."""

    group: str
    name: str
    short_names: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def plural(self) -> str:
        """As in paths."""
        return f"{self.name.lower()}s"


_BUILD_COLUMNS = (
    ("TYPE", ".spec.strategy.type"),
    ("FROM", ".spec.source.type"),
    ("STATUS", ".status.phase"),
)
KINDS = (
    Kind(
        BUILD_GROUP,
        "BuildConfig",
        ("bc",),
        (*_BUILD_COLUMNS[:2], ("LATEST", ".status.lastVersion")),
    ),
    Kind(BUILD_GROUP, "Build", (), _BUILD_COLUMNS),
    Kind(
        IMAGE_GROUP,
        "ImageStream",
        ("is",),
        (("IMAGE REPOSITORY", ".status.dockerImageRepository"),),
    ),
)


def to_stored(text: bytes) -> bytes:
    """A path or body for the API server in front."""
    for group in GROUPS:
        served = group.encode()
        text = text.replace(served, served.replace(_SERVED, _STORED))
    return text


def to_served(text: bytes) -> bytes:
    """What it answers, as it is served here."""
    for group in GROUPS:
        served = group.encode()
        text = text.replace(served.replace(_SERVED, _STORED), served)
    return text


def path_of(kind: str, namespace: str = "", name: str = "") -> str:
    """Where an object is stored, or all of a namespace, or all."""
    found = next(item for item in KINDS if item.name == kind)
    group = to_stored(found.group.encode()).decode()
    within = f"namespaces/{namespace}/" if namespace else ""
    return f"/apis/{group}/{VERSION}/{within}{found.plural}" + (f"/{name}" if name else "")


def short_names(plural: str) -> list[str]:
    """What kubectl's users may write in place of a plural."""
    return [short for kind in KINDS for short in kind.short_names if kind.plural == plural]


def stamp() -> str:
    """Now, as API objects carry times."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def definitions() -> list[Obj]:
    """The CustomResourceDefinitions, by types.yaml."""
    types = yaml.safe_load(Path(__file__).with_name("types.yaml").read_text())
    return [_definition(kind, types[kind.name]) for kind in KINDS]


def _definition(kind: Kind, fields: Obj) -> Obj:
    group = to_stored(kind.group.encode()).decode()
    names = {
        "plural": kind.plural,
        "singular": kind.name.lower(),
        "kind": kind.name,
        "listKind": f"{kind.name}List",
    }
    columns = [{"name": name, "type": "string", "jsonPath": path} for name, path in kind.columns]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": fields}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
