# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of recipe.yml, in tables. What it refers to is checked in references.py, recipes are built in load.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.kind_settings import CHECKS, SECONDS
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.values import CONVERTERS
from ansible_collections.hardware.enablement.plugins.module_utils.schema.problems import Problems, describe, suggest
from ansible_collections.hardware.enablement.plugins.module_utils.schema.shapes import (
    Check,
    Key,
    anything,
    flag,
    items,
    mapping,
    one_of,
    optional,
    record,
    text,
)

API_VERSION = "hardware-enablement.io/v1"
DNS_LABEL = r"[a-z]([a-z0-9-]*[a-z0-9])?"

# The roles that enable.yml plays; "state" is for steps that the others have no name for.
ROLES = (
    "state_driver_container",
    "state_driver",
    "state_runtime_hook",
    "state_driver_validation",
    "state_device_plugin",
    "state_device_plugin_validation",
    "state_monitoring",
    "state_feature_discovery",
    "state_grafana",
    "state",
)
_FOREIGN_ROLE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){2}")

# Our own labels are hardware-enablement.io/<one of these>, so no recipe's summary label may be called the same.
RESERVED_RECIPES = ("recipe", "state", "kernel-group", "validation")
# A state's image is seen in templates under the state's name.
RESERVED_STATES = (
    "options",
    "namespace",
    "recipe",
    "state",
    "cluster",
    "kernel",
    "os",
    "arch",
    "group",
    "image",
    "node",
)

_TYPES = one_of(*CONVERTERS)
_LABEL_VALUE = optional(
    text("a label's value in quotes, or null for any", r"[A-Za-z0-9]?|[A-Za-z0-9][A-Za-z0-9_.-]{0,61}[A-Za-z0-9]")
)
_LABEL_NAME = text("the name of a label", r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_FILE_PATTERN = text("a path inside the recipe's folder", r"(?!/)(?!.*\.\.)\S+")
_API = text("group/version/Kind", r"([a-z0-9.-]+/)?v[0-9][a-z0-9]*/[A-Z][A-Za-z0-9]*")


def _name(what: str, pattern: str, longest: int, reserved: Sequence[str]) -> Check:
    matches = text(what, pattern)

    def check(value: Any, path: str, problems: Problems) -> None:
        matches(value, path, problems)
        if isinstance(value, str) and len(value) > longest:
            problems.add(path, f"at most {longest} characters", f"{len(value)} in {describe(value)}")
        if value in reserved:
            problems.add(path, "a name that is not taken", describe(value))

    return check


def _asset(value: Any, path: str, problems: Problems) -> None:
    if isinstance(value, str):
        _FILE_PATTERN(value, path, problems)
    elif isinstance(value, dict):
        _ASSET(value, path, problems)
    else:
        problems.add(path, "a path, or a mapping with path and needs_api", describe(value))


def _proof(value: Any, path: str, problems: Problems) -> None:
    if not isinstance(value, dict) or len(value) != 1:
        problems.add(path, "a mapping with one key, the kind of proof", describe(value))
        return
    ((kind, spec),) = value.items()
    if kind in CHECKS:
        CHECKS[kind]({} if spec is None else spec, f"{path}.{kind}", problems)
    else:
        problems.add(path, "a kind of proof", f"{kind}{suggest(kind, CHECKS)}")


def _role(value: Any, path: str, problems: Problems) -> None:
    """A role of ours, or one of somebody else's by its full name, which their own playbook then has to play."""
    if value in ROLES or (isinstance(value, str) and _FOREIGN_ROLE.fullmatch(value)):
        return
    hint = suggest(value, ROLES) if isinstance(value, str) else ""
    problems.add(path, "a role of this collection, or another one's full name", describe(value) + hint)


_STATE_NAME = _name("lower-case letters, digits and _, a letter first", r"[a-z][a-z0-9_]*", 30, RESERVED_STATES)
_ASSET = record({"path": Key(_FILE_PATTERN, required=True), "needs_api": Key(_API)})
_OPTION = record(
    {
        "type": Key(_TYPES),
        "default": Key(anything),
        "description": Key(text()),
        "choices": Key(items(anything, minimum=1)),
        "required": Key(flag),
        "elements": Key(one_of("str", "int", "bool", "dict")),
        "no_log": Key(flag),
    }
)
_GIT = record(
    {
        "url": Key(text(), required=True),
        "ref": Key(text(), required=True),
        "folder": Key(text()),
        "containerfile": Key(text()),
    }
)
_COMPILE = record(
    {
        # One line, since a Containerfile may refer to it.
        "command": Key(text("a shell command on one line, or a template of it", r"[^\n]+"), required=True),
        "output": Key(text("a folder of the context", r"(?!/)(?!.*\.\.)[A-Za-z0-9._/-]+"), required=True),
        "into": Key(text("an absolute path in the image", r"(?!.*\.\.)/[A-Za-z0-9._/-]+"), required=True),
        "unsupported": Key(text("the template of a reason")),
    }
)
_BUILD = record(
    {
        "repository": Key(text("the template of a repository, without tag"), required=True),
        "containerfile": Key(_FILE_PATTERN),
        "base": Key(text("the template of an image reference")),
        "base_arg": Key(text("the name of a build argument, or a template of it")),
        "context": Key(_FILE_PATTERN),
        "git": Key(_GIT),
        "args": Key(mapping(text(), text("the name of a build argument", r"[A-Za-z_][A-Za-z0-9_]*"))),
        "compile": Key(_COMPILE),
        "enabled": Key(text("the name of a bool option")),
    }
)
_STATE = record(
    {
        "role": Key(_role, required=True),
        "description": Key(text()),
        "requires": Key(items(text("the name of a state"))),
        "per": Key(one_of("cluster", "kernel")),
        "enabled": Key(text("the name of a bool option")),
        "image": Key(text("the template of an image reference")),
        "image_labels": Key(mapping(text())),
        "lookup": Key(text("never, controller, imagestream or node, or a template of it")),
        "build": Key(_BUILD),
        "no_image": Key(text()),
        "assets": Key(items(_asset)),
        "timeout": Key(SECONDS),
        "validate": Key(items(_proof)),
        "disabled_validate": Key(items(_proof)),
    }
)
_RIVAL = record(
    {
        "api_version": Key(text("group/version, or v1", r"([a-z0-9.-]+/)?v[0-9][a-z0-9]*"), required=True),
        "kind": Key(text("a kind", r"[A-Z][A-Za-z0-9]*"), required=True),
        "name": Key(text()),
        "labels": Key(mapping(_LABEL_VALUE, _LABEL_NAME, 1)),
    }
)
_RECIPE = record(
    {
        "apiVersion": Key(one_of(API_VERSION), required=True),
        "name": Key(_name("a DNS label", DNS_LABEL, 30, RESERVED_RECIPES), required=True),
        "description": Key(text()),
        "version": Key(text("a version in quotes", r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")),
        "driver_version": Key(text("the template of a version")),
        "namespace": Key(_name("a DNS label", DNS_LABEL, 63, ()), required=True),
        "resources": Key(items(text("example.com/device, in which * may stand", r"[a-z0-9.-]+/[A-Za-z0-9_.*-]+"))),
        "selector": Key(
            record({"any_of": Key(items(mapping(_LABEL_VALUE, _LABEL_NAME, 1), minimum=1), required=True)}),
            required=True,
        ),
        "rivals": Key(items(_RIVAL)),
        "options": Key(mapping(_OPTION, text("lower-case letters, digits and _", r"[a-z][a-z0-9_]*"))),
        "states": Key(mapping(_STATE, _STATE_NAME, minimum=1), required=True),
    }
)


def check_shape(raw: Any, problems: Problems) -> None:
    """Take down every key of a recipe.yml that is unknown, missing or of the wrong type."""
    _RECIPE(raw, "", problems)
