# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every page says only what is there: links, make targets, files, and pictures that are up to date."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from docs.pictures import report

REPO = Path(__file__).resolve().parents[3]
FOLDERS = ("docs", "recipes", "roles", "extensions", "tests")
# The first page of the site stands above all folders there; the site's own build looks at its
# links.
HOME = REPO / "docs" / "docsite" / "index.md"
PAGES = sorted(
    {*REPO.glob("*.md"), *(page for folder in FOLDERS for page in (REPO / folder).rglob("*.md"))}
    - {HOME}
)
GALAXY = yaml.safe_load((REPO / "galaxy.yml").read_text())
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MAKE = re.compile(r"(?:^|`)(?:\$ )?make(?P<targets>(?: [a-z][a-z0-9-]*)+)", re.MULTILINE)
MODULE = re.compile(r"`([\w-]+\.py)`")
FOLDER = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/)`")
FILE = re.compile(r"`(?P<path>[\w.-]+/[\w./-]+\.(?:py|yml|yaml|md|toml))`")

DECISIONS = REPO / "docs" / "decisions"
BY = r"uperseded(?P<part> in part)? by \[\d{4}\]\((?P<by>[\w-]+\.md)\)"
# A decision in the index, and the head of one that no longer holds.
ROW = re.compile(
    rf"^\| \[(?P<number>\d{{4}})\]\((?P<page>[\w-]+\.md)\) \| (?P<title>.+?)(?: \(s{BY}\))? \|$",
    re.MULTILINE,
)
SUPERSEDED = re.compile(rf"# .*\n\nS{BY}")
# Files, folders and roles in a picture.
PICTURED = re.compile(r"\b(?:roles/\w+|(?:[\w.-]+/)*\w+\.(?:py|yml)|_\w+/(?=[\s,;<]))")


def name_of(page: Path) -> str:
    return str(page.relative_to(REPO))


def links(page: Path) -> list[str]:
    return [found["target"] for found in LINK.finditer(CODE.sub("", page.read_text()))]


def modules_in(folder: str) -> list[Path]:
    return sorted((REPO / folder).rglob("*.py"))


def in_tarball(place: Path) -> bool:
    """Whether a file or folder is packed: ansible-galaxy matches it and the folders above with
    build_ignore."""
    path = place.resolve().relative_to(REPO)
    ways = [str(way) for way in (path, *path.parents)]
    return not any(fnmatch(way, pattern) for way in ways for pattern in GALAXY["build_ignore"])


def make_targets() -> set[str]:
    text = (REPO / "Makefile").read_text()
    lists = re.findall(r"^(?:LINT|TEST)_STEPS := (.*)$", text, re.MULTILINE)
    return {*re.findall(r"^([a-z0-9-]+):", text, re.MULTILINE), *" ".join(lists).split()}


def test_there_are_pages() -> None:
    assert len(PAGES) > 20
    assert {"lint", "units", "demo"} <= make_targets()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    here = f"{GALAXY['repository']}/blob/main"
    places = [
        REPO / target.removeprefix(f"{here}/") if target.startswith(here) else page.parent / target
        for target in links(page)
        if target.startswith(here) or "://" not in target
    ]
    assert [place for place in places if not place.exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if in_tarball(page)], ids=name_of)
def test_links_of_the_tarball_lead_into_it(page: Path) -> None:
    relative = [page.parent / target for target in links(page) if "://" not in target]
    assert [place for place in relative if not in_tarball(place)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    named = {
        target for found in MAKE.finditer(page.read_text()) for target in found["targets"].split()
    }
    assert named - make_targets() == set()


@pytest.mark.parametrize(
    "page", ["docs/contributing/architecture.md", "docs/contributing/testing.md"]
)
def test_files_exist(page: str) -> None:
    roots = (REPO, REPO / "plugins", REPO / "plugins" / "module_utils")
    named = {found["path"] for found in FILE.finditer((REPO / page).read_text())}
    assert named
    assert {path for path in named if not any((root / path).is_file() for root in roots)} == set()


@pytest.mark.parametrize(
    "page", ["docs/contributing/architecture.md", "docs/contributing/testing.md"]
)
def test_modules_and_folders_exist(page: str) -> None:
    text = (REPO / page).read_text()
    roots = (REPO, REPO / "plugins", REPO / "plugins" / "module_utils")
    modules = {
        path.name for folder in ("plugins", "tests", "recipes") for path in modules_in(folder)
    }
    assert set(MODULE.findall(text)) - modules == set()
    folders = set(FOLDER.findall(text))
    assert {path for path in folders if not any((root / path).is_dir() for root in roots)} == set()


def test_the_architecture_shows_every_package() -> None:
    text = (REPO / "docs" / "contributing" / "architecture.md").read_text()
    packages = {path.parent.name for path in (REPO / "plugins" / "module_utils").glob("_*/*.py")}
    assert {name for name in packages if f"    {name}/" not in text} == set()
    (layers,) = re.findall(r"## Layers\n\n```text\n(.*?)```", text, re.DOTALL)
    assert {name for name in packages if name.strip("_") not in re.findall(r"\w+", layers)} == set()


def test_every_decision_is_in_the_index() -> None:
    index = (DECISIONS / "README.md").read_text()
    for page in DECISIONS.glob("0*.md"):
        title = page.read_text().splitlines()[0].removeprefix("# ")
        assert f"({page.name}) | {title}" in index


def test_each_decision_stands_in_one_subject() -> None:
    index = (DECISIONS / "README.md").read_text()
    subjects = index.split("\n## ")[1:]
    rows = [row for subject in subjects for row in ROW.finditer(subject)]
    assert len(rows) == len(re.findall(r"^\| \[", index, re.MULTILINE))
    assert sorted(row["page"] for row in rows) == sorted(
        page.name for page in DECISIONS.glob("0*.md")
    )
    for row in rows:
        assert row["page"].startswith(f"{row['number']}-")
        page = (DECISIONS / row["page"]).read_text()
        assert row["title"] == page.splitlines()[0].removeprefix("# ")
    assert all(ROW.search(subject) for subject in subjects)


def test_what_is_superseded_says_so_in_the_index_and_at_its_head() -> None:
    rows = ROW.finditer((DECISIONS / "README.md").read_text())
    marks = {row["page"]: (row["part"] or "", row["by"]) for row in rows if row["by"]}
    heads = {
        page.name: (found["part"] or "", found["by"]) if found else "says not by what"
        for page in DECISIONS.glob("0*.md")
        if "\n\nSuperseded" in (text := page.read_text())
        for found in [SUPERSEDED.match(text)]
    }
    assert marks
    assert marks == heads


def test_the_picture_of_a_run_names_what_is_there() -> None:
    text = (REPO / "docs" / "pictures" / "run.svg").read_text()
    roots = [REPO, *(REPO / folder for folder in ("playbooks", "plugins", "plugins/module_utils"))]
    named = set(PICTURED.findall(text))
    assert {"_states/apply.py", "walk.py", "_proofs/", "roles/enable"} <= named
    modules = {path.name for path in modules_in("plugins")}
    assert {
        path for path in named - modules if not any((root / path).exists() for root in roots)
    } == set()


def test_pictures_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "docs.pictures", "--check"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_enlarged_report_counts_the_nodes_that_it_shows() -> None:
    text = " ".join(report.enlarged(50).split())
    assert "42 of 50 nodes are ready" in text
    assert text.count('<i title="') == 42
    assert "<strong>6 nodes (gpu-new-1-0, gpu-new-1-23, gpu-new-1-46, ...)</strong>" in text
    assert "device_plugin_validation on 6 nodes" in text
    assert "6.8.0-60-generic 26/28, 6.8.0-71-generic 22/22" in text
    assert not re.search(r"(/|of )23\b", text)


@pytest.mark.parametrize(
    ("given", "said"), [({}, "make demo\n"), ({"CLUSTER": "a"}, "make demo CLUSTER=a\n")]
)
def test_the_demo_says_how_it_is_run_again(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "ansible-playbook"):
        (programs / name).write_text("#!/bin/sh\necho /bin/true\n")
        (programs / name).chmod(0o755)
    (tmp_path / "tests").mkdir()
    demo = shutil.copy(REPO / "tests" / "demo.sh", tmp_path / "tests")
    environment = {name: value for name, value in os.environ.items() if name != "CLUSTER"}
    found = subprocess.run(
        ["bash", demo], env={**environment, **given}, capture_output=True, text=True, check=True
    )
    assert f"Run it again, nothing changes:  {said}" in found.stdout
