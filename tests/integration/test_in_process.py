# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module says the same wherever it runs: in the controller's process, on another connection,
under another Python."""

from __future__ import annotations

import base64
import json
import re
import sys
import sysconfig
import venv
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plays import PLAYBOOKS, Played, Runner

pytestmark = pytest.mark.bed
RECIPES = Path(__file__).parents[1] / "recipes"
SECRETS = {"api_key": "key-4Vq8", "password": "pass-9Xw2", "pin": "pin-7Zt5", "token": "token-3Rk6"}
BUG = "This is a bug in hardware.enablement"
MODULES = set(
    re.findall(
        r"^      hardware\.enablement\.(\w+):", (PLAYBOOKS / "every_module.yml").read_text(), re.M
    )
)

# What differs between two runs in one way, too.
_NOISE = (
    (r"\d{4}-\d\d-\d\dT[\d:]{8}Z", "<time>"),
    (r"pid \d+ started \w+", "<process>"),
    (r"for \d+ s:", "for <age>:"),
    # Where modules run elsewhere nobody knows it.
    (r',\s*"lastRunSeconds": \d+|"lastRunSeconds": \d+,\s*', ""),
)


@dataclass(frozen=True)
class Place:
    """Where modules run: Ansible's connection and Python."""

    how: str
    python: str


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    """The controller's process; a target that is not the controller; another Python on the
    controller."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, with_pip=False, symlinks=True)
    library = Path(
        sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    )
    (library / "same.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return {
        "controller": Place("local", sys.executable),
        "elsewhere": Place("elsewhere", sys.executable),
        "other-python": Place("local", str(folder / "bin" / "python")),
    }


def play(runner: Runner, name: str, place: Place, *arguments: str, **variables: Any) -> Played:
    """Run one of our playbooks at a place."""
    where = {
        "how": place.how,
        "python": place.python,
        "recipes": str(RECIPES),
        "config": str(runner.kubeconfig),
    }
    return runner.play(PLAYBOOKS / name, *arguments, **where, **variables)


def every_module(runner: Runner, place: Place, folder: Path) -> dict[str, Any]:
    """The results of every module in each of its modes."""
    out = folder / "results.json"
    watched = copy(runner)
    watched.settings = {**runner.settings, "ANSIBLE_KEEP_REMOTE_FILES": "1"}
    played = play(
        watched, "every_module.yml", place, out=str(out), ansible_remote_tmp=str(folder)
    ).check()
    text = out.read_text()
    for pattern, instead in _NOISE:
        text = re.sub(pattern, instead, text)
    results: dict[str, Any] = json.loads(text)
    # What is there before differs: nothing, or the lock's namespace and what a test has removed.
    for name in ("predicted", "applied"):
        results[name].pop("requests")
    told = re.findall(
        r"^  .*(?:created|changed|removed|updated|would|stays).*", played.output, re.M
    )
    results["applied"]["told"] = [line for line in told if "would validate" not in line]
    return results


def processes(folder: Path) -> set[str]:
    """Our modules that had a process of their own: Ansible has kept the file that it makes to run
    each."""
    kept = {file.stem.removeprefix("AnsiballZ_") for file in folder.glob("*/AnsiballZ_*.py")}
    return kept & MODULES


@pytest.fixture(scope="module")
def results(
    runner: Runner, places: dict[str, Place], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What the modules say in the controller's process."""
    folder = tmp_path_factory.mktemp("results")
    found = every_module(runner, places["controller"], folder)
    assert processes(folder) == set()
    return found


def test_the_modes(results: dict[str, Any]) -> None:
    changed = {name for name, result in results.items() if result["changed"]}
    assert changed == {
        *("predicted", "look", "applied", "change", "validated", "record_predicted", "record"),
        *("unlock_predicted", "unlock", "removal_predicted", "removal", "record_removal"),
    }
    failed = {name for name, result in results.items() if result["failed"]}
    assert failed == {"bad_option", "bad_recipe", "bad_argument", "no_argument", "no_server", "bug"}
    assert "Traceback" not in json.dumps(results)
    assert "traceback" not in results["bug"]
    assert results["bug"]["msg"].startswith(BUG)
    assert "&id" not in json.dumps(results)


def test_a_module_process_says_the_same(
    runner: Runner, places: dict[str, Place], results: dict[str, Any], tmp_path: Path
) -> None:
    found = every_module(runner, places["elsewhere"], tmp_path)
    assert processes(tmp_path) == MODULES
    assert found == results
    assert any("removed" in line for line in results["applied"]["told"])


@pytest.mark.parametrize("where", ["controller", "elsewhere", "other-python"])
def test_the_tasks_environment_and_the_groups_defaults_count(
    runner: Runner, places: dict[str, Place], tmp_path: Path, where: str
) -> None:
    played = play(
        runner.without_kubeconfig(), "surroundings.yml", places[where], "-vvv", empty=str(tmp_path)
    ).check()
    # The file that Ansible makes to run a module.
    assert ("AnsiballZ_special_resource_info" in played.output) == (where != "controller")


@pytest.mark.parametrize("where", ["controller", "elsewhere"])
def test_secrets_are_shown_nowhere(runner: Runner, places: dict[str, Place], where: str) -> None:
    config = str(runner.kubeconfig)
    played = play(
        runner, "secrets.yml", places[where], "-vvv", "--diff", kubeconfig_file=config, **SECRETS
    ).check()
    user = yaml.safe_load(Path(config).read_text())["users"][0]["user"]
    for secret in (
        *SECRETS.values(),
        base64.b64encode(SECRETS["token"].encode()).decode(),
        user["client-key-data"],
    ):
        assert secret not in played.output
    assert "********" in played.output
    assert BUG in played.output
    assert '"traceback": [' in played.output
    assert "create Secret with-secret/login" in played.output
