# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection says of itself and of what it needs is said alike everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kubernetes.core.plugins.doc_fragments import k8s_auth_options

from ansible_collections.hardware.enablement.plugins.doc_fragments.common import ModuleDocFragment

REPO = Path(__file__).resolve().parents[3]
GALAXY = yaml.safe_load((REPO / "galaxy.yml").read_text())


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What Ansible acts on of documented options: all but the texts."""
    return {
        name: {
            key: value
            for key, value in option.items()
            if key not in ("description", "version_added")
        }
        | ({"suboptions": arguments(option["suboptions"])} if "suboptions" in option else {})
        for name, option in options.items()
    }


def test_options_of_a_connection_are_those_of_kubernetes_core() -> None:
    theirs = yaml.safe_load(k8s_auth_options.ModuleDocFragment.DOCUMENTATION)["options"]
    ours = yaml.safe_load(ModuleDocFragment.CONNECTION)["options"]
    assert arguments(ours) == arguments(theirs) | {"cluster_uid": {"type": "str"}}
    named = [set(re.findall(r"K8S_AUTH_\w+", str(options))) for options in (theirs, ours)]
    assert named[0] == named[1]


def test_modules_need_what_is_installed_for_them() -> None:
    wanted = [
        line
        for line in (REPO / "requirements.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    named = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["requirements"]
    assert [line.replace(" ", "") for line in named] == ["python>=3.10", *wanted]


def test_an_execution_environment_has_them_and_what_a_part_needs() -> None:
    files = [REPO / name for name in ("requirements.txt", "meta/ee-requirements.txt")]
    here, there = (
        [line for line in file.read_text().splitlines() if line[0] != "#"] for file in files
    )
    assert there == [*here, "cryptography>=42.0.0", "xxhash>=3.0.0"]


def test_kubernetes_core_is_needed_in_one_range() -> None:
    (needed,) = yaml.safe_load((REPO / "requirements.yml").read_text())["collections"]
    assert GALAXY["dependencies"] == {needed["name"]: needed["version"]}


def test_the_oldest_ansible_core_is_the_one_that_is_tested() -> None:
    oldest = (REPO / "requirements" / "ansible-2.16.txt").read_text().split("==")[1]
    runtime = yaml.safe_load((REPO / "meta" / "runtime.yml").read_text())
    assert runtime["requires_ansible"] == f">={oldest.rsplit('.', 1)[0]}.0"
