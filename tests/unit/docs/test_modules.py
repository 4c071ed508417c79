# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module has all that belongs to one, and its documentation what users look for in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._interface import (
    arguments,
    workload_arguments,
)
from tests.unit.docs.task_arguments import COLLECTION, Obj, answer_of

REPO = Path(__file__).resolve().parents[3]
GROUP = set(yaml.safe_load((REPO / "meta/runtime.yml").read_text())["action_groups"]["k8s"])
SPECIFICATIONS = {
    name.lower(): spec
    for name, spec in {**vars(arguments), **vars(workload_arguments)}.items()
    if name.isupper()
}
# What is said of each module, and, of those that reach a cluster, that they are in the group.
ATTRIBUTES = {"action", "async", "check_mode", "diff_mode", "idempotent", "platform"}
RETURNED = {"description", "returned", "type"}


def stems(folder: str) -> set[str]:
    """The names of the plugins in a folder."""
    return {path.stem for path in (REPO / "plugins" / folder).glob("[a-z]*.py")}


MODULES = stems("modules")


def missing_parts(
    modules: set[str], actions: set[str], specifications: Mapping[str, Obj], group: set[str]
) -> Iterator[str]:
    """What to add where, so that each module has all its parts, and each part its module."""
    for name in sorted(modules - actions):
        yield f"add plugins/action/{name}.py, which runs {name} in the controller's process"
    for name in sorted(modules - specifications.keys()):
        yield f"add {name.upper()}, its argument specification, to _interface/arguments.py"
    for name in sorted(actions - modules):
        yield f"add plugins/modules/{name}.py, or remove plugins/action/{name}.py"
    for name in sorted(group - modules):
        yield f"add plugins/modules/{name}.py, or take {name} out of meta/runtime.yml"
    connected = {name for name, spec in specifications.items() if "kubeconfig" in spec} & modules
    for name in sorted(connected - group):
        yield f"add {name} to the group k8s in meta/runtime.yml: its arguments have CONNECTION"
    for name in sorted((group & modules & specifications.keys()) - connected):
        yield f"take {name} out of meta/runtime.yml: its arguments have no CONNECTION"


def test_each_module_has_all_its_parts() -> None:
    found = list(missing_parts(MODULES, stems("action"), SPECIFICATIONS, GROUP))
    assert not found, "; ".join(found)


def test_a_part_that_is_missing_is_found() -> None:
    cluster = {"kubeconfig": {"type": "raw"}}
    specifications = {"bare": {}, "lonely": cluster, "whole": cluster, "recipe": cluster}
    modules, group = {"bare", "lonely", "whole", "unspecified"}, {"bare", "whole", "gone"}
    actions = {"bare", "whole", "unspecified", "orphan"}
    assert list(missing_parts(modules, actions, specifications, group)) == [
        "add plugins/action/lonely.py, which runs lonely in the controller's process",
        "add UNSPECIFIED, its argument specification, to _interface/arguments.py",
        "add plugins/modules/orphan.py, or remove plugins/action/orphan.py",
        "add plugins/modules/gone.py, or take gone out of meta/runtime.yml",
        "add lonely to the group k8s in meta/runtime.yml: its arguments have CONNECTION",
        "take bare out of meta/runtime.yml: its arguments have no CONNECTION",
    ]


@pytest.fixture(scope="module")
def documented() -> Mapping[str, Obj]:
    """By module, its documentation as ansible-doc shows it, with that of its fragments."""
    names = [f"{COLLECTION}{name}" for name in sorted(MODULES)]
    found = answer_of("ansible.cli.doc", "--json", "--type", "module", *names)
    return {name: found[f"{COLLECTION}{name}"] for name in sorted(MODULES)}


def test_each_module_says_how_it_runs(documented: Mapping[str, Obj]) -> None:
    lacking = {}
    for name, each in documented.items():
        wanted = {*ATTRIBUTES, "action_group"} if name in GROUP else ATTRIBUTES
        lacking[name] = sorted(wanted - (each["doc"].get("attributes") or {}).keys())
    assert {name: found for name, found in lacking.items() if found} == {}, (
        "add these attributes to the module's DOCUMENTATION, by extends_documentation_fragment: "
        "hardware.enablement.common (where it reaches no cluster common.target or "
        "common.controller), and common.reads or common.writes"
    )


def test_what_a_module_returns_has_a_description_a_type_and_when(
    documented: Mapping[str, Obj],
) -> None:
    lacking = {
        f"{module}.{name}": sorted(RETURNED - value.keys())
        for module, each in documented.items()
        for name, value in (each["return"] or {}).items()
    }
    assert {name: found for name, found in lacking.items() if found} == {}, (
        "add these to the module's RETURN"
    )


def tasks_in(value: Any) -> Iterator[tuple[str, Obj]]:
    """The modules of ours that examples run, each with its arguments."""
    if isinstance(value, list):
        for each in value:
            yield from tasks_in(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name.startswith(COLLECTION):
                yield name.removeprefix(COLLECTION), each or {}
            else:
                yield from tasks_in(each)


def refused(examples: str) -> list[str]:
    """What modules would refuse in examples; of values that only a run knows no more than the name."""
    found = []
    for module, given in tasks_in(yaml.safe_load(examples)):
        spec = {
            name: {"type": "raw"} if "{{" in str(given.get(name)) else argument
            for name, argument in SPECIFICATIONS.get(module, {}).items()
        }
        errors = ArgumentSpecValidator(spec).validate(given).error_messages
        found += [f"{module}: {error}" for error in errors]
    return found


def test_examples_use_options_that_there_are(documented: Mapping[str, Obj]) -> None:
    wrong = {name: refused(each["examples"]) for name, each in documented.items()}
    assert {name: found for name, found in wrong.items() if found} == {}, (
        "correct the module's EXAMPLES, or add the option to its argument specification"
    )


def test_an_option_that_there_is_not_is_found() -> None:
    task = "- block: [{hardware.enablement.run_lock: {%s}}]"
    assert refused(task % "recipe: '{{ name }}', state: present") == []
    assert len(refused(task % "recipe: toy, sate: '{{ state }}'")) == 1
    assert len(refused(task % "recipe: toy, state: there")) == 1
    assert len(refused(task % "state: present")) == 1
