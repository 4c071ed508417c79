# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images and root file systems, made once and kept in CACHE/images/NAME-KEY; KEY is a hash of all
that goes into it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.images.archive import (
    Layer,
    architecture,
    read_layers,
    write_archive,
    write_layer,
)
from tests.cluster.images.collections import collections_hash, write_collections
from tests.cluster.images.debian import debootstrap, find_debian
from tests.cluster.images.golang import build_program
from tests.cluster.images.overlay import sources, write_programs
from tests.cluster.images.recipes import (
    OVERLAYS,
    PACKED,
    PAUSE,
    RECIPES,
    RULEBOOK,
    RULEBOOK_BASE,
    Overlay,
    Packed,
    Recipe,
    reference,
)
from tests.cluster.images.wheels import REQUIREMENTS, install_wheels
from tests.cluster.locks import locked
from tests.cluster.paths import HERE, REPO, cache_folder
from tests.cluster.programs import cache_key, ensure_programs

# Raise it when the code in this folder makes something else of the same recipe.
_FORMAT = 1
Say = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """An OCI archive in the cache. `packages`: Debian package -> version. `kernels`: see KMOD_BASE
    in _recipes.py."""

    reference: str
    archive: Path
    packages: Mapping[str, str]
    kernels: tuple[str, ...]


def ensure_image(name: str, say: Say = print) -> Image:
    """The image `pause` or one of _recipes.py; made if it is not in the cache, ClusterError if that
    fails."""
    names = [PAUSE, RULEBOOK, *sorted({**RECIPES, **OVERLAYS, **PACKED})]
    if name not in names:
        raise ClusterError(f"There is no image {name!r}: choose one of {', '.join(names)}.")
    with images_lock(say):
        if name == PAUSE:
            folder = _pause_image(say)
        elif name == RULEBOOK:
            folder = _rulebook_image(say)
        elif name in PACKED:
            folder = _packed_image(PACKED[name], say)
        else:
            folder = (
                _overlay_image(OVERLAYS[name], say)
                if name in OVERLAYS
                else _image(RECIPES[name], say)
            )
    facts = json.loads((folder / "facts.json").read_text())
    return Image(reference(name), folder / "image.tar", facts["packages"], tuple(facts["kernels"]))


def ensure_tree(name: str, say: Say = print) -> list[Path]:
    """Folders that make up the root file system `name` as an overlay's lower layers, the uppermost
    first."""
    recipe = RECIPES[name]
    with images_lock(say):
        base = _base(say)
        tree = make_once(
            name,
            _inputs(recipe, base),
            recipe.about,
            lambda folder: _grow(recipe, base, folder),
            say,
        )
    return [tree / "changes", base / "root"]


def images_lock(say: Say) -> AbstractContextManager[None]:
    """Held while something is made; whoever holds it must not ask for an image."""
    return locked(
        cache_folder() / "images" / ".lock",
        on_wait=lambda: say("waiting for another process that makes images"),
    )


def make_once(name: str, parts: object, about: str, make: Callable[[Path], None], say: Say) -> Path:
    """CACHE/images/NAME-KEY (KEY: of `parts`), made by `make` in a folder beside it which gets that name when it is
    complete."""
    text = json.dumps([_FORMAT, architecture(), parts], sort_keys=True)
    folder = cache_folder() / "images" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    if os.geteuid() != 0:
        raise ClusterError(
            f"The image {name} cannot be made, because its files belong to root: run this as root once."
        )
    say(f"making {name}: {about} (once) ...")
    began = time.monotonic()
    partial = folder.with_name(f".{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    make(partial)
    partial.rename(folder)
    size = sum(file.lstat().st_size for file in folder.rglob("*")) / 1e6
    say(f"made {name} in {time.monotonic() - began:.0f} s, {size:.0f} MB")
    return folder


def _base(say: Say) -> Path:
    debian = find_debian()

    def make(folder: Path) -> None:
        debootstrap(debian, folder / "root", cache_folder() / "images" / "debootstrap")
        layer = write_layer(folder / "root", folder / "layer.tar")
        (folder / "layer.sha256").write_text(layer.digest)

    return make_once("debian", debian.codename, f"a minimal Debian {debian.codename}", make, say)


def _image(recipe: Recipe, say: Say) -> Path:
    base = _base(say)

    def make(folder: Path) -> None:
        _grow(recipe, base, folder)
        layers = [
            Layer(base / "layer.tar", (base / "layer.sha256").read_text()),
            write_layer(folder / "changes", folder / "layer.tar"),
        ]
        write_archive(folder / "image.tar", layers, {reference(recipe.name): recipe.config})
        (folder / "layer.tar").unlink()
        shutil.rmtree(folder / "changes")

    return make_once(
        f"{recipe.name}-image",
        [*_inputs(recipe, base), dict(recipe.config)],
        recipe.about,
        make,
        say,
    )


def _inputs(recipe: Recipe, base: Path) -> list[object]:
    requirements = (REQUIREMENTS / recipe.constraints).read_text() if recipe.wheels else ""
    return [base.name, recipe.script, recipe.wheels, requirements]


def _grow(recipe: Recipe, base: Path, folder: Path) -> None:
    """Make FOLDER/changes, what the recipe's script changes in the minimal Debian, and facts.json
    about it."""
    script, sources = folder / "script", folder / "sources.list"
    script.write_text(recipe.script)
    sources.write_text(find_debian().sources_list)
    module = [sys.executable, "-m", "tests.cluster.images.sandbox"]
    command = [*module, *map(str, (folder, base / "root", script, sources))]
    result = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        last = last_words(result.stderr, result.stdout)
        raise ClusterError(f"The image {recipe.name} cannot be made, its script failed: {last}")
    changes = folder / "changes"
    if recipe.wheels:
        install_wheels(recipe.wheels, recipe.constraints, changes)
    if recipe.beside:
        (changes / recipe.beside).rename(folder / recipe.beside)
    # Places where something was mounted meanwhile, and what was only for this.
    for name in ("dev", "proc", "run", "tmp", "etc/resolv.conf", "etc/apt/sources.list"):
        _forget(changes / name)
    for path in (folder / "work", folder / "root", script, sources):
        _forget(path)
    facts = {"packages": _packages(changes), "kernels": _kernels(changes)}
    (folder / "facts.json").write_text(json.dumps(facts, indent=2))


def _overlay_image(overlay: Overlay, say: Say) -> Path:
    base = _image(RECIPES[overlay.base], say)

    config = RECIPES[overlay.base].config
    images = {
        reference(name): {**config, "Entrypoint": list(run)} for name, run in overlay.names.items()
    }

    def make(folder: Path) -> None:
        write_programs(overlay, folder / "root", say)
        _write_packed(overlay.packed, folder / "root", say)
        _add_layer(base, folder, images)

    parts = [base.name, sources(overlay), *_packed_inputs(overlay.packed)]
    return make_once(f"{overlay.name}-image", parts, overlay.about, make, say)


def _rulebook_image(say: Say) -> Path:
    base = _image(RULEBOOK_BASE, say)

    def make(folder: Path) -> None:
        write_collections(folder / "root")
        _add_layer(base, folder, {reference(RULEBOOK): RULEBOOK_BASE.config})

    parts = [base.name, collections_hash()]
    return make_once(f"{RULEBOOK}-image", parts, "the same with collections", make, say)


def _packed_image(packed: Packed, say: Say) -> Path:
    base = _image(RECIPES[packed.base], say)
    images = {reference(packed.name): RECIPES[packed.base].config}

    def make(folder: Path) -> None:
        _write_packed(packed, folder / "root", say)
        _add_layer(base, folder, images)

    parts = [base.name, *_packed_inputs(packed)]
    return make_once(f"{packed.name}-image", parts, packed.about, make, say)


def _packed_inputs(packed: Packed) -> list[object]:
    return [dict(packed.programs), [cache_key(module) for module in packed.modules]]


def _write_packed(packed: Packed, root: Path, say: Say) -> None:
    """Its programs into a root file system; they are built where the cache has none."""
    built = ensure_programs(say, packed.modules)
    for path, program in packed.programs.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built[program], target)


def _add_layer(base: Path, folder: Path, images: Mapping[str, Mapping[str, object]]) -> None:
    """FOLDER/root on top of an image, as images (reference -> config) of their own."""
    layers = [
        *read_layers(base / "image.tar", folder),
        write_layer(folder / "root", folder / "own.tar"),
    ]
    write_archive(folder / "image.tar", layers, images)
    for layer in layers:
        layer.file.unlink()
    shutil.rmtree(folder / "root")
    shutil.copy(base / "facts.json", folder / "facts.json")


def _pause_image(say: Say) -> Path:
    source = HERE / "images" / "pause.go"

    def make(folder: Path) -> None:
        build_program(source, folder / "root" / "pause", say)
        layer = write_layer(folder / "root", folder / "layer.tar")
        write_archive(folder / "image.tar", [layer], {reference(PAUSE): {"Entrypoint": ["/pause"]}})
        (folder / "layer.tar").unlink()
        shutil.rmtree(folder / "root")
        (folder / "facts.json").write_text(json.dumps({"packages": {}, "kernels": []}))

    return make_once(
        f"{PAUSE}-image", source.read_text(), "what holds a pod's namespaces", make, say
    )


def _forget(path: Path) -> None:
    """Take a file or folder away, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _packages(root: Path) -> dict[str, str]:
    """Installed Debian packages and their versions."""
    paragraphs = (root / "var/lib/dpkg/status").read_text().split("\n\n")
    found = {}
    for paragraph in paragraphs:
        fields = dict(
            line.split(": ", 1)
            for line in paragraph.splitlines()
            if ": " in line and line[0] != " "
        )
        if fields.get("Status") == "install ok installed":
            found[fields["Package"]] = fields["Version"]
    return found


def _kernels(root: Path) -> list[str]:
    """Kernels whose headers are there, oldest first."""
    # A symbolic link that is right only where this is the root.
    found = [
        folder.name
        for folder in (root / "usr/lib/modules").glob("*")
        if (folder / "build").is_symlink()
    ]
    return sorted(found, key=lambda kernel: [int(number) for number in re.findall(r"\d+", kernel)])
