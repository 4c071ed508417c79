# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release: everything is made in .build first; only then the repository gets one commit and a
tag."""

from __future__ import annotations

import hashlib
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
    """All that is handed out in .build/release; a commit with the CHANGELOG, and a tag."""
    version = version_to_release(REPO, place.environment())
    collection_copy.refresh(place)
    # A run that was killed between commit and tag has released this version in the changelog
    # already.
    changelog = ["antsibull-changelog", "release", "--update-existing"]
    yield Command(changelog, cwd=place.copy, env=publishing.copy_first(place))
    yield from _assets(place, version)
    for name in CHANGELOG:
        adopt(place.copy / name, REPO / name)
    yield Command(["git", "add", "--all", *CHANGELOG])
    yield Command(["git", "commit", "--quiet", "--allow-empty", "-m", f"Release {version}"])
    yield Command(["git", "tag", "--annotate", "-m", f"hardware.enablement {version}", version])
    yield Command(["git", "show", "--stat", "--oneline", version])


def release_assets(place: Place) -> Iterator[Command]:
    """All that is handed out of the version whose tag is checked out."""
    version = tagged_version(REPO, place.environment())
    collection_copy.refresh(place)
    yield from _assets(place, version)


def _assets(place: Place, version: str) -> Iterator[Command]:
    """.build/release, made anew of the copy as it is."""
    yield from publishing.pack(place)
    yield from publishing.import_(place)
    yield from publishing.lint(place)
    yield from publishing.site(place)
    yield from publishing.contexts(place)
    folder = place.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    notes = ["antsibull-changelog", "generate", "--only-latest", "--output-format", "md"]
    yield Command(
        [*notes, "--output", str(folder / "RELEASE_NOTES.md"), version],
        cwd=place.copy,
        env=publishing.copy_first(place),
    )
    gather(place, folder)


def gather(place: Place, folder: Path) -> None:
    """Everything else that is handed out, and SHA-256 sums of all of it."""
    packed = publishing.tarball(place)
    for file in (packed, place.copy / "CHANGELOG.rst"):
        shutil.copy(file, folder)
    made = {"docs-site": place.site, **{name: place.images / name for name in publishing.IMAGES}}
    for name, source in made.items():
        archive = folder / packed.name.replace(".tar.gz", f"-{name}")
        shutil.make_archive(str(archive), "gztar", source)
    write_sums(folder)


def write_sums(folder: Path) -> None:
    """SHA256SUMS as sha256sum writes and checks it."""
    sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
    lines = (f"{sums[name]}  {name}\n" for name in sorted(sums))
    (folder / "SHA256SUMS").write_text("".join(lines))


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
    version = _version(repository)
    _refuse_changes(repository, env, version)
    if collection_copy.git(env, "tag", "--list", version, cwd=str(repository)).strip():
        raise StepError(
            f"{version} is not released: it has a tag already; raise the version in galaxy.yml and commit"
        )
    return version


def tagged_version(repository: Path, env: Mapping[str, str]) -> str:
    """That of galaxy.yml. Raises StepError for a work tree with changes and for a commit that is
    not the version's."""
    version = _version(repository)
    _refuse_changes(repository, env, version)
    tags = collection_copy.git(env, "tag", "--points-at", "HEAD", cwd=str(repository)).split()
    if version not in tags:
        raise StepError(
            f"{version} is not packed: the commit that is checked out does not have its tag; "
            f"run `git checkout {version}`, or `make release` for a new version"
        )
    return version


def _version(repository: Path) -> str:
    version: str = yaml.safe_load((repository / "galaxy.yml").read_text(encoding="utf-8"))[
        "version"
    ]
    return version


def _refuse_changes(repository: Path, env: Mapping[str, str], version: str) -> None:
    if changed := collection_copy.git(env, "status", "--porcelain", cwd=str(repository)):
        first = changed.splitlines()[0].strip()
        raise StepError(
            f"{version} is not released: the work tree has changes ({first}); commit or discard them"
        )
