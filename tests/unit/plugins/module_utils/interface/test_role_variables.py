# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A role's variable that is misspelt is found; names of others, and our own inner ones, are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.role_variables import (
    ROLE_VARIABLES,
    refuse_misspelt,
)

REPO = Path(__file__).resolve().parents[5]
NAME = re.compile(r"\b[a-z]+_\w+\b")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("upgrade_wave", "upgrade_waves"),
        ("upgrade_max_unavailble", "upgrade_max_unavailable"),
        ("remedy_cool_down", "remedy_cooldown"),
        ("numa_read_kubelet", "numa_read_kubelets"),
        ("nfd_option", "nfd_options"),
        ("partitioning_taint", "partitioning_taints"),
        ("operator_import_at_time", "operator_import_at_a_time"),
        ("import_kmm_modul", "import_kmm_module"),
    ],
)
def test_a_misspelt_name(name: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=rf"variable {name} \(did you mean {meant}\?\)"):
        refuse_misspelt([name, "upgrade_nodes"])


def test_names_of_others() -> None:
    refuse_misspelt(["upgrade_window", "upgrade_team", "numa_node", "nfd_version", "maves"])


def test_no_name_that_playbooks_and_roles_use_themselves() -> None:
    files = [*(REPO / "playbooks").rglob("*.yml"), *(REPO / "roles").rglob("*.yml")]
    used = {name for file in files for name in NAME.findall(file.read_text())}
    assert {"upgrade_result", "upgrade_waves"} <= used
    refuse_misspelt(used)


def test_the_list_is_what_roles_take() -> None:
    for prefix, listed in ROLE_VARIABLES.items():
        specs = REPO / "roles" / prefix.removesuffix("_") / "meta" / "argument_specs.yml"
        if not specs.is_file():
            # A playbook's own.
            text = (REPO / "playbooks" / f"{prefix.removesuffix('_')}.yml").read_text()
            assert {*listed} == {*re.findall(rf"\b{prefix}(\w+)", text)}
            continue
        taken = yaml.safe_load(specs.read_text())["argument_specs"]["main"]["options"]
        own = {name.removeprefix(prefix) for name in taken if name.startswith(prefix)}
        assert {*listed} == own
