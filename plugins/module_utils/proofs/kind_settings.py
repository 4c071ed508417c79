# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of proof that a recipe can name, and the settings of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.schema.problems import Problems, describe
from ansible_collections.hardware.enablement.plugins.module_utils.schema.shapes import (
    Check,
    Key,
    anything,
    integer,
    items,
    mapping,
    one_of,
    optional,
    record,
    text,
)

SECONDS = integer(1, 86_400, "a number of seconds from 1 to 86400")
_RESOURCE_NAME = text("the name of an extended resource (example.com/device)", r"[A-Za-z0-9_.*{}\s/-]*[/}].*")
_LABEL = text("the name of a label", r"\S+|.*\{\{.*\}\}.*")
_TEXT = text()


def is_template(value: str) -> bool:
    """Whether a text of recipe.yml is to be rendered."""
    return "{{" in value or "{%" in value


def _regex(value: Any, path: str, problems: Problems) -> None:
    if not isinstance(value, str) or not value:
        problems.add(path, "a regular expression", describe(value))
    elif not is_template(value):
        try:
            re.compile(value)
        except re.error as error:
            problems.add(path, "a regular expression", f"{describe(value)} ({error})")


def _sampling(value: Any, path: str, problems: Problems) -> None:
    if isinstance(value, bool) or not (value in ("all", "per_group") or (isinstance(value, int) and value > 0)):
        problems.add(path, "all, per_group or a number of nodes", describe(value))


_SHAPES: dict[str, dict[str, Key]] = {
    "image": {},
    "rollout": {},
    "workload": {
        "pod": Key(_TEXT, required=True),
        "resource": Key(optional(_RESOURCE_NAME)),
        "sampling": Key(_sampling),
        "parallel": Key(integer(1, 1000)),
        "timeout": Key(SECONDS),
    },
    "allocatable": {
        "resource": Key(_RESOURCE_NAME, required=True),
        "at_least": Key(integer(0, 1_000_000)),
        "equals": Key(optional(integer(0, 1_000_000))),
    },
    "logs": {
        "match": Key(_regex, required=True),
        "container": Key(optional(_TEXT)),
        "tail": Key(integer(1, 10_000)),
    },
    "node_labels": {
        "present": Key(items(_LABEL)),
        "equal": Key(mapping(text("a label's value in quotes", r".*"), _LABEL)),
    },
    "resource": {
        "api_version": Key(text("group/version, or v1", r"([a-z0-9.-]+/)?v[0-9][a-z0-9]*"), required=True),
        "kind": Key(text("a kind", r"[A-Z][A-Za-z0-9]*"), required=True),
        "name": Key(_TEXT, required=True),
        "namespace": Key(optional(_TEXT)),
        "condition": Key(
            optional(record({"type": Key(_TEXT, required=True), "status": Key(one_of("True", "False", "Unknown"))}))
        ),
        "field": Key(optional(record({"path": Key(_TEXT, required=True), "equals": Key(anything, required=True)}))),
    },
    "metrics": {
        "port": Key(integer(1, 65_535), required=True),
        "path": Key(text("an absolute path", r"/\S*")),
        "series": Key(items(text("the name of a series", r"[A-Za-z_:][A-Za-z0-9_:]*"), minimum=1), required=True),
        "container": Key(optional(_TEXT)),
    },
}

_ENABLED = Key(text("the name of a bool option"))

CHECKS: Mapping[str, Check] = {kind: record({**keys, "enabled": _ENABLED}) for kind, keys in _SHAPES.items()}

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "image": {},
    "rollout": {},
    "workload": {"resource": None, "sampling": "all", "parallel": 20, "timeout": 300},
    "allocatable": {"at_least": 1, "equals": None},
    "logs": {"container": None, "tail": 50},
    "node_labels": {"present": [], "equal": {}},
    "resource": {"namespace": None, "condition": None, "field": None},
    "metrics": {"path": "/metrics", "container": None},
}
