# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of recipe.yml, in tables. What it refers to is checked in references.py, recipes are
built in load.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..._nodes.groups import FACETS
from ..._proofs.catalog import PROOF
from ..._schema.problems import Problems, describe, suggest
from ..._schema.shapes import (
    Anything,
    Either,
    Flag,
    Items,
    Key,
    MapOf,
    OneOf,
    Optional,
    Record,
    Shape,
    Text,
)
from ..._schema.terms import GROUP_VERSION, KIND_NAME, SECONDS
from .recipe import ALL_NODES, CLUSTER, FIRST_NODE
from .state_roles import ROLES
from .values import CONVERTERS

API_VERSION = "hardware-enablement.io/v1"
DNS_LABEL = r"[a-z]([a-z0-9-]*[a-z0-9])?"

_FULL_NAME = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){2}"

# Our own labels are hardware-enablement.io/<one of these>, so no recipe's summary label may be
# called the same.
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
    "image_name",
    "node",
    "instance",
    "runtime",
    "pool",
    "preinstalled_driver",
    "allocation",
    "driver_toolkit",
)

_TYPES = OneOf(tuple(CONVERTERS))
_LABEL_VALUE = Optional(
    Text(
        "a label's value in quotes, or null for any",
        r"[A-Za-z0-9]?|[A-Za-z0-9][A-Za-z0-9_.-]{0,61}[A-Za-z0-9]",
    )
)
_LABEL_NAME = Text(
    "the name of a label", r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
)
_FILE_PATTERN = Text("a path inside the recipe's folder", r"(?!/)(?!.*\.\.)\S+")
_API = Text("group/version/Kind", r"([a-z0-9.-]+/)?v[0-9][a-z0-9]*/[A-Z][A-Za-z0-9]*")


@dataclass(frozen=True)
class _Per(Shape):
    """cluster, or one or several of FACETS."""

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down the first entry that is none of these; a close name is suggested."""
        named = value if isinstance(value, list) else [value]
        known = (CLUSTER, *FACETS) if named == [CLUSTER] else FACETS
        wrong = [entry for entry in named if entry not in known]
        if wrong or not named:
            expected = f"cluster, or one or several of {', '.join(FACETS)}"
            hint = (
                suggest(wrong[0], FACETS, listed=0) if wrong and isinstance(wrong[0], str) else ""
            )
            problems.add(path, expected, (describe(wrong[0]) if wrong else describe(value)) + hint)

    def json_schema(self) -> dict[str, Any]:
        """One name, or a list of facets."""
        facets = {"enum": list(FACETS)}
        return {
            "anyOf": [
                {"enum": [CLUSTER, *FACETS]},
                {"type": "array", "items": facets, "minItems": 1},
            ]
        }


@dataclass(frozen=True)
class _Role(Shape):
    """A role of ours, or one of somebody else's by its full name, which their own playbook then has
    to run."""

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down what is neither; a close name is suggested."""
        if isinstance(value, str) and (value in ROLES or re.fullmatch(_FULL_NAME, value)):
            return
        hint = suggest(value, ROLES) if isinstance(value, str) else ""
        problems.add(
            path, "a role of this collection, or another one's full name", describe(value) + hint
        )

    def json_schema(self) -> dict[str, Any]:
        """anyOf the names and the pattern."""
        return {"anyOf": [{"enum": list(ROLES)}, {"type": "string", "pattern": f"^{_FULL_NAME}$"}]}


_STATE_NAME = Text(
    "lower-case letters, digits and _, a letter first", r"[a-z][a-z0-9_]*", 30, RESERVED_STATES
)
_ASSET = Either(
    "a path, or a mapping with path and needs_api",
    (
        (str, _FILE_PATTERN),
        (dict, Record({"path": Key(_FILE_PATTERN, required=True), "needs_api": Key(_API)})),
    ),
)
_OPTION_NAME = Text("lower-case letters, digits and _", r"[a-z][a-z0-9_]*")
_OPTION = Record(
    {
        "type": Key(_TYPES),
        "default": Key(Anything()),
        "description": Key(Text()),
        "choices": Key(Items(Anything(), minimum=1)),
        "required": Key(Flag()),
        "elements": Key(OneOf(("str", "int", "bool", "dict"))),
        "no_log": Key(Flag()),
        "example": Key(Anything()),
    }
)
_GIT = Record(
    {
        "url": Key(Text(), required=True),
        "ref": Key(Text(), required=True),
        "folder": Key(Text()),
        "containerfile": Key(Text()),
        "secret": Key(Text("the name of a Secret, or a template of it")),
    }
)
_COMPILE = Record(
    {
        # One line, since a Containerfile may refer to it.
        "command": Key(
            Text("a shell command on one line, or a template of it", r"[^\n]+"), required=True
        ),
        "output": Key(
            Text("a folder of the context", r"(?!/)(?!.*\.\.)[A-Za-z0-9._/-]+"), required=True
        ),
        "into": Key(
            Text("an absolute path in the image", r"(?!.*\.\.)/[A-Za-z0-9._/-]+"), required=True
        ),
        "unsupported": Key(Text("the template of a reason")),
    }
)
_REFERENCE = Text("the template of an image reference")
_IMAGE = Either(
    "the template of an image reference, or several that are tried in their order",
    ((str, _REFERENCE), (list, Items(_REFERENCE, minimum=1))),
)
_BUILD = Record(
    {
        "repository": Key(Text("the template of a repository, without tag"), required=True),
        "containerfile": Key(_FILE_PATTERN),
        "base": Key(Text("the template of an image reference")),
        "base_arg": Key(Text("the name of a build argument, or a template of it")),
        "context": Key(_FILE_PATTERN),
        "git": Key(_GIT),
        "args": Key(MapOf(Text(), Text("the name of a build argument", r"[A-Za-z_][A-Za-z0-9_]*"))),
        "args_from": Key(Text("the name of a dict option")),
        "compile": Key(_COMPILE),
        "secrets": Key(
            MapOf(
                Text("the name of a Secret, or a template of it"),
                Text("a DNS label", DNS_LABEL, 40),
            )
        ),
        "enabled": Key(Text("the name of a bool option")),
    }
)
_STATE = Record(
    {
        "role": Key(_Role(), required=True),
        "description": Key(Text()),
        "requires": Key(Items(Text("the name of a state"))),
        "begin": Key(OneOf((FIRST_NODE, ALL_NODES))),
        "per": Key(_Per()),
        "unsupported": Key(Text("the template of a reason, and of what to do")),
        "enabled": Key(Text("the name of a bool option, or a template that gives true or false")),
        "image": Key(_IMAGE),
        "image_labels": Key(MapOf(Text())),
        "image_key": Key(
            Text("public keys in PEM, secret/NAME or configmap/NAME, or a template of that")
        ),
        "lookup": Key(Text("never, controller, imagestream or node, or a template of it")),
        "build": Key(_BUILD),
        "no_image": Key(Text()),
        "assets": Key(Items(_ASSET)),
        "placement": Key(OneOf(("hardware", "anywhere"))),
        "removed_first": Key(Flag()),
        "timeout": Key(SECONDS),
        "validate": Key(Items(PROOF)),
        "disabled_validate": Key(Items(PROOF)),
    }
)
_RIVAL = Record(
    {
        "api_version": Key(GROUP_VERSION, required=True),
        "kind": Key(KIND_NAME, required=True),
        "name": Key(Text()),
        "labels": Key(MapOf(_LABEL_VALUE, _LABEL_NAME, 1)),
        "enabled": Key(Text("the name of a bool option")),
        "host_paths": Key(Items(Text("an absolute path", r"/.*"), minimum=1)),
    }
)
_NODE_OBJECT = Record(
    {"api_version": Key(GROUP_VERSION, required=True), "kind": Key(KIND_NAME, required=True)}
)
_DEVICE_ACCESS = Record(
    {
        "runtime_classes": Key(Items(Text("the name of a RuntimeClass, or a template of it"))),
        "host_paths": Key(
            Items(Text("an absolute path in which * may stand, or a template of it", r"[/{].*"))
        ),
        "dra_drivers": Key(Items(Text("the name of a DRA driver, or a template of it"))),
    }
)
_REMEDIES = Record(
    {
        "states": Key(Items(Text("the name of a state"), minimum=1), required=True),
        "steps": Key(Items(Text("restart, reboot, or the template of a Pod"), minimum=1)),
    }
)
_RECIPE_NAME = Text("the name of a recipe", DNS_LABEL, 30, RESERVED_RECIPES)
_DEPENDENCY = Either(
    "the name of a recipe, or a mapping with name and options",
    (
        (str, _RECIPE_NAME),
        (
            dict,
            Record(
                {
                    "name": Key(_RECIPE_NAME, required=True),
                    "options": Key(MapOf(Anything(), _OPTION_NAME)),
                }
            ),
        ),
    ),
)
_LABEL_SETS = Record(
    {"any_of": Key(Items(MapOf(_LABEL_VALUE, _LABEL_NAME, 1), minimum=1), required=True)}
)
RECIPE = Record(
    {
        "apiVersion": Key(OneOf((API_VERSION,)), required=True),
        "name": Key(Text("a DNS label", DNS_LABEL, 30, RESERVED_RECIPES), required=True),
        "description": Key(Text()),
        "version": Key(Text("a version in quotes", r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")),
        "driver_version": Key(Text("the template of a version")),
        "namespace": Key(Text("a DNS label", DNS_LABEL, 63), required=True),
        "resources": Key(
            Items(Text("example.com/device, in which * may stand", r"[a-z0-9.-]+/[A-Za-z0-9_.*-]+"))
        ),
        "selector": Key(_LABEL_SETS, required=True),
        "preinstalled_driver": Key(_LABEL_SETS),
        "allocation": Key(_OPTION_NAME),
        "rivals": Key(Items(_RIVAL)),
        "node_objects": Key(Items(_NODE_OBJECT)),
        "device_access": Key(_DEVICE_ACCESS),
        "remedies": Key(_REMEDIES),
        "depends": Key(Items(_DEPENDENCY)),
        "release_role": Key(Text("a role's full name", _FULL_NAME)),
        "options": Key(MapOf(_OPTION, _OPTION_NAME)),
        "states": Key(MapOf(_STATE, _STATE_NAME, minimum=1), required=True),
    }
)


def _changeable(record: Record, **own: Key) -> Record:
    """The same keys, none of which has to be there; null takes away what the base has."""
    keys = {name: Key(Optional(key.shape)) for name, key in record.keys.items()}
    return Record({**keys, **own})


# A recipe that extends another one.
CHANGES = _changeable(
    RECIPE,
    apiVersion=RECIPE.keys["apiVersion"],
    name=RECIPE.keys["name"],
    extends=Key(_RECIPE_NAME, required=True),
    options=Key(MapOf(Optional(_changeable(_OPTION)), _OPTION_NAME)),
    states=Key(MapOf(Optional(_changeable(_STATE)), _STATE_NAME)),
)


def json_schema() -> dict[str, Any]:
    """The format as JSON Schema, draft 2020-12. What parts of a recipe say of each other is not in
    it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "recipe.yml of hardware.enablement",
        "if": {"required": ["extends"]},
        "then": CHANGES.json_schema(),
        "else": RECIPE.json_schema(),
    }


def check_shape(raw: Any, problems: Problems) -> None:
    """Take down every key of a recipe.yml that is unknown, missing or of the wrong type."""
    RECIPE.check(raw, "", problems)


def check_changes(raw: Any, problems: Problems) -> None:
    """The same of a recipe.yml that extends another one."""
    CHANGES.check(raw, "", problems)
