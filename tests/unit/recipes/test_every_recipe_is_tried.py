# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each recipe of ours is enabled on nodes that have its hardware, enabled again, which changes nothing,
and disabled: by the tests that are listed here, or by that of all at once."""

from __future__ import annotations

import ast

import pytest

from tests.integration.plays import REPO
from tests.integration.vendors import VENDORS

INTEGRATION = REPO / "tests" / "integration"
AT_ONCE = "test_recipes_at_once.py"
# recipe -> the file and those of its functions that do it.
TESTS: dict[str, tuple[str, ...]] = {
    **{
        vendor.recipe: (
            AT_ONCE,
            "test_each_is_ready_and_a_second_run_changes_nothing",
            "test_each_is_disabled_without_touching_the_others",
        )
        for vendor in VENDORS
    },
    "cert-manager": (
        "test_ping_pong.py",
        "test_what_it_depends_on_comes_first_and_goes_on_where_it_stopped",
    ),
    "cert-manager-ping-pong": (
        "test_ping_pong.py",
        "test_what_it_depends_on_comes_first_and_goes_on_where_it_stopped",
    ),
    "intel-rmd": (
        "rmd/test_role.py",
        "each_daemon_answers_over_tls_for_its_own_node",
        "removed_without_a_trace",
    ),
    "modprobe": (
        "test_driver_container.py",
        "test_files_of_modules_are_of_the_nodes_that_are_chosen_and_gone_when_disabled",
    ),
    "nfd": ("test_nfd.py", "test_what_others_deployed_is_left_alone_and_gets_rules"),
    "numa": ("numa/test_numa.py", "test_from_nothing_to_ready_and_back"),
    "nvidia-gpu-dra": (
        "test_dra.py",
        "test_gpus_are_claimed_where_the_recipe_for_them_is_extended",
    ),
    "nvidia-gpu-passthrough": (
        "test_driver_container.py",
        "test_gpus_of_chosen_nodes_are_for_virtual_machines",
    ),
    "rdt-classes": (
        "kubelet/test_container_classes.py",
        "classes_are_made_true_and_then_left_alone",
        "disabled_it_is_gone",
    ),
    "record-metrics": ("test_caution.py", "test_the_record_is_metrics_of_kube_state_metrics"),
    "runtime-hook": (
        "kubelet/test_cdi_hook.py",
        "a_second_run_changes_nothing",
        "disabled_it_is_gone",
    ),
    "simple-kmod": (
        "test_driver_container.py",
        "test_the_first_run_and_the_second",
        "test_disable_needs_no_options_and_leaves_no_build",
    ),
    "sriov-nic": (
        "test_other_vendors.py",
        "test_adapters_are_divided_and_attached_by_a_recipe_of_ours",
    ),
}


def test_no_recipe_is_forgotten() -> None:
    assert set(TESTS) == {path.name for path in (REPO / "recipes").iterdir()}


@pytest.mark.parametrize("recipe", TESTS)
def test_its_tests_run_it_twice_and_disable_it(recipe: str) -> None:
    file, *names = TESTS[recipe]
    text = (INTEGRATION / file).read_text(encoding="utf-8")
    found = {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }
    source = "\n".join(found[name] for name in names)
    assert "unchanged(" in source
    assert '"disable"' in source or f'"{recipe}_remove"' in source
    assert file == AT_ONCE or f'"{recipe}"' in text
