# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lay out the guides for Sphinx, in the folders that they have in the repository.

Usage: python -m docs.docsite FOLDER. The reference is written beside them by antsibull-docs: see
`make docs-site`."""

from __future__ import annotations

import re
import shutil
import sys
import zlib
from pathlib import Path

import yaml

REPO = Path(__file__).resolve().parents[2]
# Relative links, without those to a place in the same page.
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s:]+)(?=[)#])")

# What pages of modules refer to in Ansible's own documentation. Sphinx would fetch the list of its
# places to know them.
ANSIBLE = {
    "action_plugins": "plugins/action.html#action-plugins Action plugins",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values Return values",
}
# A page of pages, which no other list of contents names.
DECISIONS = Path("docs/decisions/README.md")
CONTENTS = "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"


def pages() -> list[Path]:
    """Every guide, relative to the repository; docs/README.md is the first page's elder sister."""
    found = [*REPO.glob("docs/*/*.md"), *REPO.glob("recipes/*/README.md")]
    found += [REPO / "docs" / "benchmarks.md", REPO / "CONTRIBUTING.md"]
    return sorted(page.relative_to(REPO) for page in found if page.parent.name != "docsite")


def with_addresses(text: str, page: Path, shown: set[Path], repository: str) -> str:
    """The page with links to what is not on the site as addresses in the repository."""

    def address(found: re.Match[str]) -> str:
        target = (REPO / page.parent / found["target"]).resolve()
        if target.is_dir() and (target / "README.md").is_file():
            return f"{found['target'].rstrip('/')}/README.md"
        if not target.exists() or target.relative_to(REPO) in shown:
            return found["target"]
        return f"{repository}/blob/main/{target.relative_to(REPO)}"

    return LINK.sub(address, text)


def lay_out(folder: Path) -> None:
    """Make the folder anew, with the guides, their pictures, the first page, and room for the
    reference."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "reference").mkdir(parents=True)
    repository: str = yaml.safe_load((REPO / "galaxy.yml").read_text(encoding="utf-8"))[
        "repository"
    ]
    pictures = [
        picture.relative_to(REPO)
        for ending in ("svg", "png")
        for picture in REPO.glob(f"docs/pictures/*.{ending}")
    ]
    shown = {*pages(), *pictures}
    for page in pages():
        copy = folder / page
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = (REPO / page).read_text(encoding="utf-8")
        text = with_addresses(text, page, shown, repository)
        copy.write_text(text + CONTENTS if page == DECISIONS else text, encoding="utf-8")
    for picture in pictures:
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / picture, folder / picture)
    shutil.copy(REPO / "docs" / "docsite" / "index.md", folder)
    (folder / "ansible.inv").write_bytes(inventory())


def inventory() -> bytes:
    """ANSIBLE in the format of Sphinx's objects.inv: four lines of text, then compressed ones."""
    head = "# Sphinx inventory version 2\n# Project: Ansible\n# Version: \n# The remainder is compressed using zlib.\n"
    places = "".join(f"{label} std:label -1 {place}\n" for label, place in ANSIBLE.items())
    return head.encode() + zlib.compress(places.encode())


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
