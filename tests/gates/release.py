# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release: everything is made in .build first; only then the repository gets one commit and a
tag."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import yaml

from tests.gates import collection_copy, publishing
from tests.gates.place import REPO, Place
from tests.gates.runner import Command, StepError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CHANGELOG = ("CHANGELOG.rst", "changelogs")


def release(place: Place) -> Iterator[Command]:
    """Tarball, CHANGELOG, site and context of an execution environment in .build/release; a commit
    and a tag."""
    version = version_to_release(REPO, place.environment())
    collection_copy.refresh(place)
    # A run that was killed between commit and tag has released this version in the changelog
    # already.
    changelog = ["antsibull-changelog", "release", "--update-existing"]
    yield Command(changelog, cwd=place.copy, env=publishing.copy_first(place))
    yield from publishing.pack(place)
    yield from publishing.import_(place)
    yield from publishing.site(place)
    yield from publishing.context(place)
    gather(place)
    for name in CHANGELOG:
        adopt(place.copy / name, REPO / name)
    yield Command(["git", "add", "--all", *CHANGELOG])
    yield Command(["git", "commit", "--quiet", "--allow-empty", "-m", f"Release {version}"])
    yield Command(["git", "tag", "--annotate", "-m", f"hardware.enablement {version}", version])
    yield Command(["git", "show", "--stat", "--oneline", version])


def gather(place: Place) -> None:
    """Everything that is handed out, in one folder made anew."""
    folder = place.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place.site, folder / "docs-site")
    shutil.copytree(place.image / "context", folder / "execution-environment")
    for file in (publishing.tarball(place), place.copy / "CHANGELOG.rst"):
        shutil.copy(file, folder)


def adopt(made: Path, kept: Path) -> None:
    """Put a file or folder in the place of the one that is kept in the repository."""
    if made.is_file():
        shutil.copy(made, kept)
        return
    shutil.rmtree(kept)
    shutil.copytree(made, kept)


def version_to_release(repository: Path, env: Mapping[str, str]) -> str:
    """That of galaxy.yml. Raises StepError for a work tree with changes and for a version that has
    a tag."""
    version: str = yaml.safe_load((repository / "galaxy.yml").read_text(encoding="utf-8"))[
        "version"
    ]
    if changed := collection_copy.git(env, "status", "--porcelain", cwd=str(repository)):
        first = changed.splitlines()[0].strip()
        raise StepError(
            f"{version} is not released: the work tree has changes ({first}); commit or discard them"
        )
    if collection_copy.git(env, "tag", "--list", version, cwd=str(repository)).strip():
        raise StepError(
            f"{version} is not released: it has a tag already; raise the version in galaxy.yml and commit"
        )
    return version
