# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before a release and before Galaxy refuses it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.gates.galaxy import complaints
from tests.gates.release import adopt, tagged_version, version_to_release, write_sums
from tests.gates.runner import StepError


def git(repository: Path, *arguments: str) -> None:
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=repository, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "galaxy.yml").write_text("version: 1.2.3\n")
    git(tmp_path, "init")
    git(tmp_path, "add", "galaxy.yml")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


def test_the_version_is_that_of_galaxy_yml(repository: Path) -> None:
    git(repository, "tag", "1.2.2")
    assert version_to_release(repository, os.environ) == "1.2.3"


def test_a_work_tree_with_changes_is_refused(repository: Path) -> None:
    (repository / "new.txt").touch()
    with pytest.raises(
        StepError, match=r"1\.2\.3 is not released: the work tree has changes \(\?\? new\.txt\)"
    ):
        version_to_release(repository, os.environ)


def test_a_version_with_a_tag_is_refused(repository: Path) -> None:
    git(repository, "tag", "-a", "-m", "again", "1.2.3")
    with pytest.raises(StepError, match="has a tag already"):
        version_to_release(repository, os.environ)


def test_only_the_version_that_is_checked_out_is_packed(repository: Path) -> None:
    with pytest.raises(StepError, match=r"1\.2\.3 is not packed: .* run `git checkout 1\.2\.3`"):
        tagged_version(repository, os.environ)
    git(repository, "tag", "-a", "-m", "first", "1.2.3")
    assert tagged_version(repository, os.environ) == "1.2.3"
    (repository / "new.txt").touch()
    with pytest.raises(StepError, match=r"the work tree has changes \(\?\? new\.txt\)"):
        tagged_version(repository, os.environ)


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    for name in ("CHANGELOG.rst", "a.tar.gz"):
        (tmp_path / name).write_text(name)
    write_sums(tmp_path)
    checked = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    said = subprocess.run(checked, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert said == "CHANGELOG.rst: OK\na.tar.gz: OK\n"
    (tmp_path / "a.tar.gz").write_text("changed")
    assert subprocess.run(checked, cwd=tmp_path, check=False, capture_output=True).returncode == 1


def test_what_was_made_takes_the_place_of_what_was_kept(tmp_path: Path) -> None:
    made, kept = tmp_path / "made", tmp_path / "kept"
    for folder, file in ((made, "changelog.yaml"), (kept, "fragment.yml")):
        folder.mkdir()
        (folder / file).touch()
    adopt(made, kept)
    assert [file.name for file in kept.iterdir()] == ["changelog.yaml"]


def test_warnings_of_the_importer_are_complaints() -> None:
    log = "Loading role state\nWARNING: ERROR    Failed to find a playbook.\nERROR: no\nImporter processing completed\n"
    assert complaints(log) == ["WARNING: ERROR    Failed to find a playbook.", "ERROR: no"]
