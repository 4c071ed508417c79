# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""resource: an object exists, and where asked for, has a condition or a field with a value."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any

from ..._schema.shapes import Anything, OneOf, Optional, Text
from ..._schema.terms import GROUP_VERSION, KIND_NAME
from ..._verdicts.conditions import condition
from ..._verdicts.reasons import Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting, SettingsRecord
from ..evaluation import Observation
from ..feeds import Watched
from ..watching import FIND_REASONS, find

SHOWN = 100

# [name=policy], or what is between dots.
_STEP = re.compile(r"\[[^\[\]=]+=[^\[\]]*\]|[^.\[\]]+")


@dataclass(frozen=True)
class Condition:
    """A condition in the object's status."""

    type: Annotated[str, Setting(Text(), "its type")]
    status: Annotated[str, Setting(OneOf(("True", "False", "Unknown")), "its status")] = "True"


@dataclass(frozen=True)
class FieldValue:
    """A field of the object and its value."""

    path: Annotated[
        str,
        Setting(
            Text(),
            "dotted path, items of lists by number or by a key's value: `status.phase`,"
            " `attributes[name=policy].value`",
        ),
    ]
    equals: Annotated[
        Any,
        Setting(
            Anything(), "its value; a text also stands for the number or boolean that it writes"
        ),
    ]


@dataclass(frozen=True)
class ResourceSettings:
    """The object, and what it has to say."""

    api_version: Annotated[str, Setting(GROUP_VERSION, "the object's `apiVersion`")]
    kind: Annotated[str, Setting(KIND_NAME, "its kind")]
    name: Annotated[str, Setting(Text(), "its name")]
    namespace: Annotated[
        str | None, Setting(Optional(Text()), "its namespace; the recipe's where nothing is said")
    ] = None
    condition: Annotated[
        Condition | None, SettingsRecord(Condition, "a condition that it has to have")
    ] = None
    field: Annotated[
        FieldValue | None, SettingsRecord(FieldValue, "a field that it has to have")
    ] = None
    scope: Annotated[
        str | None,
        Setting(
            Optional(OneOf(("cluster", "node"))),
            "`node` where the proof is about each node; so it is anyway where a text uses `{{ node }}` or facts of its"
            " group",
        ),
    ] = None


def value_at(obj: dict[str, Any], path: str) -> Any:
    """The value at a dotted path ("status.phase", list items by number or as
    attributes[name=policy]), or None."""
    value: Any = obj
    for step in _STEP.findall(path):
        value = _item(value, step)
    return value


def _item(value: Any, step: str) -> Any:
    key, equals, wanted = step.strip("[]").partition("=")
    if isinstance(value, list) and equals:
        found = (item for item in value if isinstance(item, dict) and item.get(key) == wanted)
        return next(found, None)
    if isinstance(value, list):
        return value[int(step)] if step.isdigit() and int(step) < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _is(value: Any, wanted: Any) -> bool:
    """Whether a field has the value. What comes of a template is text, and options are numbers and
    booleans too."""
    if isinstance(wanted, str) and isinstance(value, (bool, int, float)):
        return wanted.strip().lower() == json.dumps(value)
    return bool(value == wanted)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def watched(settings: ResourceSettings, namespace: str) -> Watched:
    """The object that the proof is about."""
    return Watched(
        settings.api_version, settings.kind, settings.namespace or namespace, settings.name
    )


def evaluate(observation: Observation[ResourceSettings]) -> Verdict:
    """The verdict for the cluster, or for one node."""
    settings = observation.settings
    found = find(observation, watched(settings, observation.view.namespace))
    if isinstance(found, Verdict):
        return found
    title = f"{settings.kind} {settings.name}"
    wanted = settings.condition
    if wanted:
        it = condition(found, wanted.type) or {}
        if it.get("status") != wanted.status:
            why = it.get("message") or it.get("reason") or "it has no such condition"
            return Verdict(
                Outcome.PENDING, "ConditionNotMet", f"{title} is not {wanted.type}: {why}"
            )
    if settings.field:
        path, equals = settings.field.path, settings.field.equals
        value = value_at(found, path)
        if not _is(value, equals):
            text = f"{title} has {path} = {_shown(value)}, wanted {_shown(equals)}"
            if settings.kind == "Secret":
                text = f"{title} has another {path} (its values are not shown)"
            return Verdict(Outcome.PENDING, "FieldDiffers", text)
    return PASSED


KIND = ProofKind(
    name="resource",
    holds_when="an object exists and, where asked for, has a condition or a field with a value; it is watched",
    settings=ResourceSettings,
    evaluate=evaluate,
    reasons={
        **FIND_REASONS,
        "ConditionNotMet": Reason(
            "an object that the recipe names does not have the condition that it should",
            "look at the object that the message names, and at its events",
        ),
        "FieldDiffers": Reason(
            "an object that the recipe names has another value than it should",
            "look at the object that the message names, and at its events",
        ),
    },
    observed=True,
    by_node=False,
    scope=lambda settings: Scope(settings.scope or Scope.CLUSTER),
    watches=lambda settings, namespace: (watched(settings, namespace),),
)
