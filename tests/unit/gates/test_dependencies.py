# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test's result depends on is found by what refers to what, also where nobody imports it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.gates.dependencies import Repository
from tests.gates.place import REPO
from tests.gates.steps import LEVELS, STEPS, TARBALL

CORES = "plugins/module_utils/"


@pytest.fixture(scope="module")
def repository() -> Repository:
    return Repository(REPO, Path(sys.prefix) / "collections")


@pytest.mark.parametrize(
    ("test", "depends", "not_on"),
    [
        (
            "rmd/test_objects.py",
            ["_rmd/reconcile_run.py", "_states/apply.py", "_cluster/planning.py"],
            "_numa/|_operators/|_upgrades/",
        ),
        (
            "numa/test_placement.py",
            ["_numa/numa_config.py", "_recipes/render.py"],
            "_operators/operator_",
        ),
        (
            "test_upgrade.py",
            ["_upgrades/upgrade_run.py", "_upgrades/fleet_exchange.py"],
            "_numa/|_rmd/",
        ),
        ("test_charts.py", ["_charts/chart_format.py", "_sro/sro_config.py"], "_operators/"),
        ("test_import_operator.py", ["_operators/operator_takeover.py"], "_authoring/nothing"),
    ],
)
def test_a_file_of_tests_depends_on_the_cores_that_its_plays_reach(
    repository: Repository, test: str, depends: list[str], not_on: str
) -> None:
    found = repository.closure([f"tests/integration/{test}"])
    assert {f"{CORES}{name}" for name in depends} <= found
    assert not [name for name in found if re.match(f"{CORES}({not_on})", name)]


def test_what_plays_name_is_followed_from_playbook_to_core(repository: Repository) -> None:
    found = repository.closure(["tests/integration/test_upgrade.py"])
    assert {
        "playbooks/upgrade.yml",
        "playbooks/tasks/upgrade.yml",
        "roles/upgrade/tasks/main.yml",
        "plugins/modules/driver_upgrade.py",
        "plugins/action/driver_upgrade.py",
        "recipes/nvidia-gpu/recipe.yml",
        "tests/integration/conftest.py",
        "tests/scenes/four_nodes.py",
    } <= found


@pytest.mark.parametrize(
    ("test", "not_on"),
    [
        # A docstring of theirs tells of a page that tells of enable_gpu.
        ("test_driver_builds.py", "recipes/nvidia-gpu/recipe.yml"),
        ("kernel/test_real_kernels.py", "playbooks/enable_gpu.yml"),
        # They only look at nodes as others do.
        ("test_nfd.py", "recipes/nvidia-gpu/recipe.yml"),
        # What cards and nodes are called is no inventory and no picture.
        ("test_nfd.py", "plugins/inventory/nodes.py"),
        ("test_upgrade.py", "docs/pictures/node.py"),
        # A part of a package is not the program that it is, too.
        ("numa/test_numa_validate.py", "tests/benchmarks/cases.py"),
    ],
)
def test_what_a_test_does_not_use_does_not_bring_it_back(
    repository: Repository, test: str, not_on: str
) -> None:
    assert not_on in repository.files
    assert not_on not in repository.closure([f"tests/integration/{test}"])


@pytest.mark.parametrize("name", ["tests/integration/test_packaging.py", "docs/admin/inventory.md"])
def test_an_inventory_is_found_by_its_name_in_full(name: str, repository: Repository) -> None:
    assert "plugins/inventory/nodes.py" in repository.closure([name])


def test_what_lies_beside_code_and_all_of_a_recipe_belong_to_it(repository: Repository) -> None:
    found = repository.closure(["tests/integration/rmd/test_role.py"])
    assert f"{CORES}_interface/api_types.json" in repository.closure(
        ["tests/integration/test_dra.py"]
    )
    assert {name for name in repository.files if name.startswith("recipes/intel-rmd/")} <= found
    # It extends intel-rmd, so whoever tests it tests that, too.
    classes = repository.closure(["tests/integration/kubelet/test_container_classes.py"])
    assert {"recipes/rdt-classes/recipe.yml", "recipes/intel-rmd/recipe.yml"} <= classes


def test_pins_gates_and_the_local_cluster_belong_to_everything(repository: Repository) -> None:
    for step in filter(lambda step: step.parts, STEPS.values()):
        for files in step.parts(repository).values():
            assert {
                "requirements/constraints.txt",
                "tests/gates/runner.py",
                "tests/cluster/cluster.py",
                f"{CORES}_cluster/executing.py",
                f"{CORES}_nodes/facts.py",
            } <= set(files)
            assert "tests/gates/passed.json" not in files


def test_every_level_knows_its_files(repository: Repository) -> None:
    for step in LEVELS:
        if step.name == "integration":
            # Runs always.
            assert step.parts is None
            continue
        assert step.parts
        marker = step.name.removeprefix("e2e-")
        marked = {
            name
            for name in repository.files
            if name.startswith("tests/integration/")
            and f"pytest.mark.{marker}\n" in (REPO / name).read_text()
        }
        assert set(step.parts(repository)) == marked != set()


@pytest.mark.parametrize("name", ["ansible-lint", "galaxy-importer"])
def test_everything_that_is_packed_brings_the_import_back(
    name: str, repository: Repository
) -> None:
    parts = STEPS[name].parts
    assert parts
    packed = set(parts(repository)["all"])
    assert {name for name in repository.files if name.startswith(TARBALL)} <= packed
