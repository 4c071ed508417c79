# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module and its action plugin run one task, and the task's request is the module's argument
specification: name by name, type by type."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    ParameterGroup,
    parts_of,
)

PLUGINS = "ansible_collections.hardware.enablement.plugins"
NAMES = sorted(
    path.stem for path in (Path(__file__).parents[4] / "plugins/action").glob("[a-z]*.py")
)
# A whole number may be given where the core counts in fractions.
PLAIN = {"str": (str,), "path": (str,), "bool": (bool,), "int": (int, float), "float": (float,)}
Spec = Mapping[str, Any]


def plugin(name: str) -> Any:
    """The action plugin of a module."""
    return importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule


def arguments_of(kind: type) -> Iterator[tuple[str, Any, Field[Any]]]:
    """The parameters that a request takes: name, type and field, also those of its groups."""
    hints, parts = get_type_hints(kind), parts_of(kind)
    for field in fields(kind):
        part = parts[field.name]
        if part is not None and issubclass(part, ParameterGroup):
            yield from arguments_of(part)
        else:
            yield field.name, hints[field.name], field


def mismatches(spec: Spec, kind: type) -> list[str]:
    """Where an argument specification and a request differ."""
    found = list(arguments_of(kind))
    names = [name for name, _hint, _field in found]
    wrong = [f"{name} is {names.count(name)} fields" for name in spec if names.count(name) != 1]
    wrong += [f"{name} is no argument" for name in names if name not in spec]
    for name, hint, field in found:
        if name in spec:
            wrong += [f"{name} {what}" for what in mismatches_of(spec[name], hint, field)]
    return wrong


def mismatches_of(argument: Spec, hint: Any, field: Field[Any]) -> Iterator[str]:
    """Where one argument and its field differ."""
    default = argument.get("default")
    optional = default is None and not argument.get("required")
    inner = without_none(hint)
    if argument.get("type") != "raw" and optional != (inner is not hint):
        yield f"is {hint}, and the argument {'may' if optional else 'cannot'} be None"
    if not fits(argument, inner):
        yield f"is {hint}, and the argument {argument}"
    own = list(field.default) if isinstance(field.default, tuple) else field.default
    if own is not MISSING and own != default:
        yield f"has the default {own!r}, and the argument {default!r}"
    if argument.get("no_log") and field.repr:
        yield "is secret, and shown"
    part = parts_of_type(inner)
    if part is not None:
        yield from (f"has {each}" for each in mismatches(argument["options"], part))


def without_none(hint: Any) -> Any:
    """X of Optional[X]; a type that is not optional as it is."""
    arguments = get_args(hint)
    if type(None) not in arguments:
        return hint
    return Union[tuple(each for each in arguments if each is not type(None))]  # noqa: UP007


def parts_of_type(hint: Any) -> type | None:
    """The dataclass of suboptions that a type names."""
    named = [hint, *get_args(hint)]
    return next((each for each in named if hasattr(each, "__dataclass_fields__")), None)


def fits(argument: Spec, hint: Any) -> bool:
    """Whether a value of an argument is one of a type. A list is a Sequence, or a tuple of
    dataclasses where its elements have suboptions."""
    kind = argument.get("type", "str")
    if kind == "raw":
        return True
    if kind == "list":
        own, elements = get_origin(hint), get_args(hint)
        each = {**argument, "type": argument["elements"]}
        wanted = tuple if "options" in argument else Sequence
        return own is wanted and fits(each, elements[0])
    if kind == "dict":
        if "options" in argument:
            return hasattr(hint, "__dataclass_fields__")
        return get_origin(hint) in (Mapping, dict) and get_args(hint)[0] is str
    if get_origin(hint) is Literal:
        return set(get_args(hint)) == set(argument.get("choices", ()))
    return hint in PLAIN[kind]


@pytest.mark.parametrize("name", NAMES)
def test_a_request_is_the_argument_specification(name: str) -> None:
    action = plugin(name)
    assert name == action.MODULE
    assert mismatches(action.SPEC, action.TASK.request) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_module_runs_the_task_of_its_action_plugin(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, ran = importlib.import_module(f"{PLUGINS}.modules.{name}"), []
    if not hasattr(module, "main"):
        # What is about files of the controller has no module.
        return
    monkeypatch.setattr(module, "AnsibleModule", lambda argument_spec, **_modes: argument_spec)
    monkeypatch.setattr(module, "run_module", lambda *given: ran.append(given))
    module.main()
    ((specification, task),) = ran
    assert specification is plugin(name).SPEC
    assert task is plugin(name).TASK
