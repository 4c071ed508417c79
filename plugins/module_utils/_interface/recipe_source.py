# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where recipes may be: a folder, a ConfigMap (cm://namespace/name), an artifact in a registry
(oci://registry/repository:tag), a Helm repository (https://host/path)."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import Union

from .._cluster.client import Client
from .._errors import InvalidInput
from .._recipes.recipe_archive import MOST_BYTES, unpack
from .._registry.image_client import Registries
from .._registry.image_names import parse
from .chart_repository import ChartRepository
from .recipe_store import FileStore
from .text_store import TextStore

CONFIGMAP, ARTIFACT, REPOSITORY, FOLDER = "cm://", "oci://", "https://", "file://"
# What stands for a slash in a ConfigMap's key.
_SLASH = "__"
_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"

RecipeStore = Union[FileStore, TextStore, ChartRepository]


def open_store(
    place: str, client: Callable[[], Client], registries: Callable[[], Registries]
) -> RecipeStore:
    """What recipe_dir names. client, registries: made where they are needed. Raises
    EnablementError."""
    if place.startswith(CONFIGMAP):
        return _configmap(place, client)
    if place.startswith(ARTIFACT):
        return _artifact(place, registries)
    if place.startswith(REPOSITORY):
        return ChartRepository.at(place, lambda url, most: registries().file(url, most))
    folder = FileStore(Path(place.removeprefix(FOLDER)).expanduser())
    folder.refuse_missing()
    return folder


def _configmap(place: str, client: Callable[[], Client]) -> TextStore:
    place, _hash, version = place.partition("#")
    namespace, slash, name = place.removeprefix(CONFIGMAP).partition("/")
    if not slash or not all(re.fullmatch(_NAME, part) for part in (namespace, name)):
        raise InvalidInput(
            f"{place} names no ConfigMap",
            why="it is written cm://namespace/name",
            todo="correct it",
        )
    api = client()
    found = api.get(api.kind("v1", "ConfigMap"), name, namespace)
    if found is None:
        raise InvalidInput(
            f"there are no recipes at {place}",
            why=f"ConfigMap {namespace}/{name} does not exist",
            todo="make it of the recipe's files, or correct recipe_dir",
        )
    texts = {key: text.encode() for key, text in (found.get("data") or {}).items()}
    others = {key: base64.b64decode(text) for key, text in (found.get("binaryData") or {}).items()}
    paths = {key.replace(_SLASH, "/"): content for key, content in {**texts, **others}.items()}
    for path in paths:
        if ".." in path.split("/"):
            raise InvalidInput(
                f"a file of {place} is refused", why=f"{path} leads out of it", todo="rename it"
            )
    return TextStore.of(place, name, paths, version)


def _artifact(place: str, registries: Callable[[], Registries]) -> TextStore:
    reference = parse(place.removeprefix(ARTIFACT))
    layers = registries().layers(reference, MOST_BYTES)
    if layers is None:
        raise InvalidInput(
            f"there are no recipes at {place}",
            why="the registry has no such artifact",
            todo="push it, or correct recipe_dir",
        )
    files: dict[str, bytes] = {}
    for layer in layers:
        files |= unpack(layer, place)
    return TextStore.of(place, reference.repository.rpartition("/")[2], files)
