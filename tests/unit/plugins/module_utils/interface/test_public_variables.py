# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that nobody reads and values that nobody could use are refused before anything is sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.public_variables import (
    PREFIX,
    VARIABLES,
    refuse_unknown,
    refuse_wrong,
)

REPO = Path(__file__).resolve().parents[5]
# A role's default that is a public variable, maybe with a default of its own.
PASSED_ON = re.compile(rf"^\{{\{{ {PREFIX}(?P<name>\w+)( \| default\(.*\))? \}}\}}$")


def passed_on() -> list[tuple[str, str, str]]:
    """role, its variable, the public variable that is its default."""
    found = []
    for file in sorted((REPO / "roles").glob("*/defaults/main.yml")):
        for name, value in (yaml.safe_load(file.read_text()) or {}).items():
            match = PASSED_ON.match(str(value))
            if match:
                found.append((file.parents[1].name, name, match["name"]))
    return found


def test_names_that_are_ours_and_names_of_others() -> None:
    refuse_unknown(
        [
            "hardware_enablement_recipe",
            "hardware_enablement_api_key",
            "inventory_hostname",
            "hardware",
        ]
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hardware_enablement_option", "hardware_enablement_options"),
        ("hardware_enablement_kube_config", "hardware_enablement_kubeconfig"),
        ("hardware_enablement_on_regres", "hardware_enablement_on_regress"),
    ],
)
def test_a_misspelt_name(name: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=rf"There is no variable {name}, did you mean {meant}\?"):
        refuse_unknown([name, "hardware_enablement_recipe"])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("on_regress", "shrug", "must be one of: keep, withdraw, got: shrug"),
        ("failure_grace", "soon", "unable to convert to int"),
        ("builder", "podman", "must be one of: auto,"),
        ("allow_empty", "perhaps", "not a valid boolean"),
        ("registry_mirrors", [{"prefix": "a"}], "missing required arguments: locations"),
    ],
)
def test_a_wrong_value(name: str, value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)) as refused:
        refuse_wrong({f"{PREFIX}{name}": value})
    assert f"{PREFIX}{name}" in str(refused.value)


def test_what_surveys_send() -> None:
    texts = {
        "failure_grace": "10",
        "allow_empty": "no",
        "options": '{"a": 1}',
        "timeout": "",
        "images": None,
    }
    refuse_wrong({f"{PREFIX}{name}": value for name, value in texts.items()})


@pytest.mark.parametrize(("role", "variable", "public"), passed_on(), ids=str)
def test_a_role_takes_what_the_list_says(role: str, variable: str, public: str) -> None:
    specs = yaml.safe_load((REPO / "roles" / role / "meta" / "argument_specs.yml").read_text())
    taken = specs["argument_specs"]["main"]["options"][variable]
    listed = VARIABLES[public]
    # A path is a text that may begin with ~.
    assert taken["type"] == str(listed["type"]).replace("path", "str")
    assert taken.get("choices", listed.get("choices")) == listed.get("choices")
