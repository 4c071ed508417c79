# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection and what it needs, as ansible-builder puts them into an image."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.paths import REPO

_PLACE = "usr/share/ansible/collections/ansible_collections"
# What of a collection is run.
_PARTS = ("plugins", "roles", "playbooks", "recipes", "extensions/eda", "meta", "galaxy.yml")


def collections_hash() -> str:
    """Changes with each file of them."""
    digest = hashlib.sha256()
    for name, file in _files():
        digest.update(f"{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def write_collections(root: Path) -> None:
    """Put them where Ansible looks."""
    for name, file in _files():
        target = root / _PLACE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def _files() -> Iterator[tuple[str, Path]]:
    """(path below ansible_collections, file), sorted; as they were installed for the tests, else from
    here."""
    installed = Path(os.environ.get("HE_TEST_COLLECTIONS") or REPO / ".venv" / "collections")
    for collection in sorted((installed / "ansible_collections").glob("*/*")):
        for part in _PARTS:
            found = collection / part
            for file in [found] if found.is_file() else sorted(found.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    yield f"{file.relative_to(installed / 'ansible_collections')}", file
