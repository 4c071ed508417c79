# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where recipes may be: a folder, a ConfigMap (cm://namespace/name), an artifact in a registry
(oci://registry/repository:tag), a Helm repository (https://host/path).

Most runs have theirs in a folder: they need not read this, nor all that asks registries."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .._builds.registry_policy import RegistryAccessRequest, given_policy, read_config
from .._charts.recipe_store import RecipeStore, folder_at
from .._cluster.api_client.client import Client
from .._errors import InvalidInput
from .._recipes.loading.recipe_archive import MOST_BYTES, ArchiveBudget, unpack
from .._registry.image_client import Registries
from .._registry.image_names import parse
from .._schema.requests import make_request
from . import arguments
from .chart_repository import ChartRepository
from .text_store import TextStore

CONFIGMAP, ARTIFACT, REPOSITORY = "cm://", "oci://", "https://"
# What stands for a slash in a ConfigMap's key.
_SLASH = "__"
_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"


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
    return folder_at(place)


def registries_of(given: Mapping[str, Any], auth_file: str, secrets: set[str]) -> Registries:
    """The registries, as the public variables of these names say; secrets: where passwords are put,
    so that nobody sees them."""
    spec = {name: dict(each) for name, each in arguments.REGISTRIES.items()}
    named = {name: value for name, value in given.items() if value not in (None, "")}
    checked = ArgumentSpecValidator(spec).validate(named).validated_parameters
    request = make_request(RegistryAccessRequest, checked)
    keyring = read_config(auth_file, secrets)
    secrets.update(keyring.secrets)
    return Registries(replace(given_policy(request), keyring=keyring))


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
    budget = ArchiveBudget.whole()
    for layer in layers:
        files |= unpack(layer, place, budget)
    return TextStore.of(place, reference.repository.rpartition("/")[2], files)
