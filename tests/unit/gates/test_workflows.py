# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workflows of the forge do what a person does with make, and trust no action that can change."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.gates.place import REPO

FILES = sorted((REPO / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (REPO / "Makefile").read_text(), re.MULTILINE))
# What hands out, for which nobody but the forge has the credentials.
HANDING_OUT = ("gh release create", ".venv/bin/ansible-galaxy collection publish")


def steps_of(text: str) -> list[dict[str, Any]]:
    workflow = yaml.safe_load(text)
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_runs_is_a_target_of_make_or_hands_out(file: Any) -> None:
    for command in (step["run"] for step in steps_of(file.read_text()) if "run" in step):
        made = re.fullmatch(r"make ([a-z-]+)", command)
        assert (
            command == ".ci/run" or (made and made[1] in TARGETS) or command.startswith(HANDING_OUT)
        ), command


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_are_named_by_their_commit(file: Any) -> None:
    used = re.findall(r"uses: (.*)", file.read_text())
    assert used
    assert all(re.fullmatch(r"actions/[a-z]+@[0-9a-f]{40} # v[\d.]+", name) for name in used), used


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_commands_hold_nothing_that_somebody_else_writes(file: Any) -> None:
    """`${{ }}` in a command is templated before the shell sees it: a branch's name would run."""
    assert not [step["run"] for step in steps_of(file.read_text()) if "${{" in step.get("run", "")]


def test_they_are_not_packed() -> None:
    assert ".github" in yaml.safe_load((REPO / "galaxy.yml").read_text())["build_ignore"]
