# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenarios of the collection as users start them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml

from tests.gates.place import Place
from tests.integration.plays import BIN

SCENARIOS = (
    Place().tested / "ansible_collections" / "hardware" / "enablement" / "extensions" / "molecule"
)
# A cluster that somebody has, and means for something else.
ANOTHER = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "another", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "another", "context": {"cluster": "another", "user": "another"}}],
    "users": [{"name": "another", "user": {}}],
    "current-context": "another",
}


def test_molecule_lists_and_reads_the_scenarios(tmp_path: Path) -> None:
    """As users do, in the folder `extensions`: without a galaxy.yml and the settings of this repository."""
    for name in ("default", "kind"):
        done = molecule(tmp_path, "syntax", "--scenario-name", name)
        assert done.returncode == 0, done.stdout + done.stderr
    listed = molecule(tmp_path, "list", "--format", "yaml")
    assert {item["Scenario Name"] for item in yaml.safe_load(listed.stdout)} == {"default", "kind"}


def test_no_cluster_is_taken_that_was_not_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(ANOTHER))
    done = molecule(tmp_path, "test", KUBECONFIG=str(tmp_path / "config"))
    assert done.returncode != 0
    assert (
        "kubeconfig /HE_TEST_KUBECONFIG-names-no-kubeconfig): there is no such file"
        in done.stdout + done.stderr
    )


def molecule(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    place = Place()
    env = {
        **place.environment(),
        "ANSIBLE_COLLECTIONS_PATH": str(place.tested),
        "MOLECULE_EPHEMERAL_DIRECTORY": str(folder / "ephemeral"),
        "NO_COLOR": "1",
        "COLUMNS": "200",
        **settings,
    }
    env.pop("HE_TEST_KUBECONFIG", None)
    command = [str(BIN / "molecule"), *arguments]
    return subprocess.run(
        command, cwd=SCENARIOS.parent, env=env, capture_output=True, text=True, check=False
    )
