# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gates about what leaves this repository: documentation, tarball, execution environment, a
release of all."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.gates import collection_copy
from tests.gates.place import REPO, Place
from tests.gates.runner import Command, StepError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Those that AWX runs playbooks and rulebooks in, as docs/admin describes each.
IMAGES = ("execution-environment", "decision-environment")
# As galaxy-importer does (loaders/collection.py, _lint_collection): our own gates do what of it matters.
NOT_LINTED = (
    *("yaml", "var-naming", "avoid-dot-notation", "import-task-no-when", "single-entry-point"),
    "use-loop",
)
# As meta/ee-requirements.txt and bindep.txt have them; PyYAML ansible-builder leaves to
# ansible-core.
IMAGE_PACKAGES = {"kubernetes", "jinja2", "cryptography", "xxhash", "git", "buildah"}


def copy_first(place: Place) -> dict[str, str]:
    """An environment in which the collection is its copy."""
    return {"ANSIBLE_COLLECTIONS_PATH": f"{place.scratch}:{place.collections}"}


def docs_lint(place: Place) -> Iterator[Command]:
    """Documentation of modules and roles is complete, and its references lead somewhere."""
    collection_copy.refresh(place)
    command = ["antsibull-docs", "lint-collection-docs", "--plugin-docs", "--skip-rstcheck", "."]
    references = ["--validate-collection-refs", "dependent"]
    yield from _with_tools(
        place, Command([*command, *references], cwd=place.copy, env=copy_first(place))
    )


def docs_site(place: Place) -> Iterator[Command]:
    """Guides and reference as HTML, of the repository and of a fresh copy."""
    collection_copy.refresh(place)
    yield from site(place)
    pictures = place.site.with_name("pictures")
    yield Command([sys.executable, "-m", "tests.gates.browser", str(place.site), str(pictures)])


def build(place: Place) -> Iterator[Command]:
    """The tarball, and the tarball installed."""
    yield from install(place, place.installed)


def install(place: Place, target: Path) -> Iterator[Command]:
    """The tarball, installed as a user does into a new collections path with kubernetes.core."""
    collection_copy.refresh(place)
    yield from pack(place)
    shutil.rmtree(target, ignore_errors=True)
    slice_ = Path("ansible_collections", "kubernetes")
    shutil.copytree(place.collections / slice_, target / slice_)
    yield Command(
        [
            "ansible-galaxy",
            "collection",
            "install",
            str(tarball(place)),
            "--offline",
            "-p",
            str(target),
        ],
        env={"ANSIBLE_COLLECTIONS_PATH": str(target)},
    )


def galaxy_importer(place: Place) -> Iterator[Command]:
    """The tarball as Galaxy imports it."""
    collection_copy.refresh(place)
    yield from pack(place)
    yield from import_(place)


def ansible_lint(place: Place) -> Iterator[Command]:
    """The tarball as Galaxy lints it."""
    collection_copy.refresh(place)
    yield from pack(place)
    yield from lint(place)


def execution_environment(place: Place) -> Iterator[Command]:
    """The contexts of images, and what the collection says that an image needs."""
    collection_copy.refresh(place)
    yield from pack(place)
    yield from contexts(place)


def tarball(place: Place) -> Path:
    """The packed collection."""
    (packed,) = place.dist.glob("*.tar.gz")
    return packed


def _with_tools(place: Place, *commands: Command) -> Iterator[Command]:
    """The same commands in the environment for publishing, which is made where it is missing."""
    yield Command([sys.executable, "tests/bootstrap.py", "publish"])
    for command in commands:
        yield replace(command, env={**place.publishing.environment(), **command.env})


def pack(place: Place) -> Iterator[Command]:
    """The tarball of the copy as it is."""
    shutil.rmtree(place.dist, ignore_errors=True)
    yield Command(
        ["ansible-galaxy", "collection", "build", "--output-path", str(place.dist)], cwd=place.copy
    )


def import_(place: Place) -> Iterator[Command]:
    """Import the tarball, but for ansible-lint, which the importer gives 180 s."""
    importer = ["python", "-m", "tests.gates.galaxy", str(tarball(place))]
    yield from _with_tools(
        place, Command(importer, env={"GALAXY_IMPORTER_RUN_ANSIBLE_LINT": "false"})
    )


def lint(place: Place) -> Iterator[Command]:
    """ansible-lint of what the tarball holds, with the rules that galaxy-importer 0.4.44 leaves
    out."""
    root = place.scratch / "packed"
    folder = root / "ansible_collections" / "hardware" / "enablement"
    shutil.rmtree(root, ignore_errors=True)
    shutil.unpack_archive(tarball(place), folder, filter="data")
    linter = ["ansible-lint", "--offline", "--nocolor", "--format=pep8", "--profile=production"]
    env = {"ANSIBLE_COLLECTIONS_PATH": str(root), "XDG_CACHE_HOME": str(place.scratch / "cache")}
    yield from _with_tools(
        place, Command([*linter, "--skip-list", ",".join(NOT_LINTED)], cwd=folder, env=env)
    )


def site(place: Place) -> Iterator[Command]:
    """The site, with the reference of the copy as it is."""
    source = place.site.with_name("source")
    shutil.rmtree(place.site, ignore_errors=True)
    options = [
        "--use-current",
        "--squash-hierarchy",
        "--fail-on-error",
        "--no-add-antsibull-docs-version",
    ]
    reference = ["--dest-dir", str(source / "reference"), "hardware.enablement"]
    yield from _with_tools(
        place,
        Command(["python", "-m", "docs.docsite", str(source)]),
        Command(["antsibull-docs", "collection", *options, *reference], env=copy_first(place)),
        # Warnings are errors.
        Command(
            [
                "sphinx-build",
                "-q",
                "-W",
                "--keep-going",
                "-c",
                "docs/docsite",
                str(source),
                str(place.site),
            ]
        ),
    )


def contexts(place: Place) -> Iterator[Command]:
    """What the images are built from, and that they would not lack what the collection needs."""
    for name in IMAGES:
        yield from _with_tools(place, _context(place, name))
    needed = [place.images / "pip.txt", place.images / "bindep.txt"]
    introspect = ["ansible-builder", "introspect", str(place.scratch)]
    yield from _with_tools(
        place,
        Command([*introspect, "--write-pip", str(needed[0]), "--write-bindep", str(needed[1])]),
    )
    said = "\n".join(file.read_text().lower() for file in needed)
    if missing := sorted(name for name in IMAGE_PACKAGES if f"\n{name}" not in f"\n{said}"):
        raise StepError(
            f"An execution environment would lack {', '.join(missing)}: see meta/execution-environment.yml"
        )


def _context(place: Place, name: str) -> Command:
    """As docs/admin/NAME.yml says, but with the tarball in place of what Galaxy has."""
    definition: dict[str, Any] = yaml.safe_load((REPO / f"docs/admin/{name}.yml").read_text())
    packed = tarball(place)
    definition["dependencies"]["galaxy"]["collections"] = [
        {"name": f"collections/{packed.name}", "type": "file"}
    ]
    definition["additional_build_files"] = [{"src": str(packed), "dest": "collections"}]
    place.images.mkdir(parents=True, exist_ok=True)
    file = place.images / f"{name}.yml"
    file.write_text(yaml.safe_dump(definition, sort_keys=False))
    options = ["-f", str(file), "-c", str(place.images / name)]
    return Command(["ansible-builder", "create", *options, "--output-filename", "Containerfile"])
