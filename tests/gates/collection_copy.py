# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the repository in the folder layout that ansible-test, ansible-lint and antsibull-docs
insist on."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.gates.place import REPO, Place
from tests.gates.runner import StepError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def refresh(place: Place) -> None:
    """Make the copy anew: all files that git tracks or would track, in a git repository of its own.

    ansible-test asks git which files there are, and the repository itself would list the caches'
    folders as well. kubernetes.core lies beside it, for the doc fragments; antsibull-docs asks git
    about it as well.
    """
    root = place.scratch / "ansible_collections"
    if root.exists():
        shutil.rmtree(root)
    copy_files(place, place.copy)
    env = place.environment()
    shutil.copytree(place.collections / "ansible_collections" / "kubernetes", root / "kubernetes")
    for folder in (place.copy, root / "kubernetes" / "core"):
        git(env, "init", "--quiet", cwd=str(folder))
        git(env, "add", "--all", "--force", cwd=str(folder))


def copy_files(place: Place, folder: Path) -> None:
    """Copy all files that git tracks or would track into a new folder. Raises StepError."""
    folder.mkdir(parents=True)
    for name in git(
        place.environment(), "ls-files", "-coz", "--exclude-standard", cwd=str(REPO)
    ).split("\0"):
        source = REPO / name
        if name and source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def git(env: Mapping[str, str], *arguments: str, cwd: str) -> str:
    """What git prints. Raises StepError with what it complains of."""
    try:
        result = subprocess.run(
            ["git", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        raise StepError(f"git {arguments[0]} failed in {cwd}: {detail.strip()}") from None
    return result.stdout
