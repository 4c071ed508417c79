# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gates of `make lint`, `make test` and `make ci`, one generator each: prepare, then yield the
commands."""

from __future__ import annotations

import datetime
import os
import re
import sys
import zlib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tests.gates import ansible_test, collection_copy, machine, measuring, publishing
from tests.gates.dependencies import RESULTS, Repository
from tests.gates.place import REPO, Place
from tests.gates.release import release, release_assets
from tests.gates.results import Results
from tests.gates.runner import Command, Step, StepError, always, known_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# No integration test builds on another one. Any other text gives another order, see decision 0055.
ORDER = "e70469e"
# What a digest cannot see, the machine and what the package index serves, is seen within a week.
TURN_DAYS = range(4, 8)
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _ruff(place: Place) -> Iterator[Command]:
    yield Command(["ruff", "check"])
    yield Command(["ruff", "format", "--check"])


def _mypy(place: Place) -> Iterator[Command]:
    yield Command(["mypy"])


def _complexity(_place: Place) -> Iterator[Command]:
    yield Command(["python", "-m", "tests.gates.complexity", "plugins"])


def _layers(place: Place) -> Iterator[Command]:
    yield Command(
        ["lint-imports", "--no-cache", "--no-logo"], env={"PYTHONPATH": str(place.collections)}
    )


def _yamllint(place: Place) -> Iterator[Command]:
    yield Command(["yamllint", "--strict", "."])


def _changelog(place: Place) -> Iterator[Command]:
    yield Command(["antsibull-changelog", "lint"])


def _antsibull_nox(place: Place) -> Iterator[Command]:
    # --no-venv: in .venv, whose packages are pinned, and without network
    yield Command(["nox", "--no-venv", "--envdir", str(place.build / "nox")])


# tests/unit/conftest.py says what its processes share.
_UNITS = ["pytest", "-q", "-n", "2", "tests/unit"]


def _units(place: Place) -> Iterator[Command]:
    report = place.build / "reports" / "units.xml"
    others = [f"--ignore={folder}" for folder in BED_TESTS]
    yield Command([*_UNITS, *others, f"--junit-xml={report}"], junit=report)


def _bed_units(place: Place) -> Iterator[Command]:
    report = place.build / "reports" / "bed-units.xml"
    files = place.parts or BED_TESTS
    yield Command(["pytest", "-q", *files, f"--junit-xml={report}"], junit=report)


def _coverage(place: Place) -> Iterator[Command]:
    report = place.build / "reports" / "coverage.xml"
    pytest = [*_UNITS, f"--junit-xml={report}"]
    argv, env = measuring.measured(place, measuring.UNITS, pytest, always=True)
    yield Command(argv, env=env, junit=report)
    yield from measuring.reports(place)


def _mutations(place: Place) -> Iterator[Command]:
    report = place.build / "reports" / "mutations.xml"
    yield Command(["python", "-m", "tests.mutations", f"--junit-xml={report}"], junit=report)


def _ansible_units(place: Place) -> Iterator[Command]:
    collection_copy.refresh(place)
    yield Command(
        ["ansible-test", "units", "--local", "--python", PYTHON, "--collect-only"],
        cwd=place.copy,
        env={"HOME": str(ansible_test.home(place))},
    )


def _sanity(place: Place, *options: str) -> Iterator[Command]:
    collection_copy.refresh(place)
    if ignored := sorted((place.copy / "tests" / "sanity").glob("ignore-*")):
        raise StepError(
            f"{ignored[0].name} exists: this collection keeps no list of ignored sanity errors"
        )
    yield Command(
        ["ansible-test", "sanity", "--local", "--python", PYTHON, *options],
        cwd=place.copy,
        env={"HOME": str(ansible_test.home(place))},
    )


# What ruff, mypy and yamllint find as well, and antsibull-changelog.
FOUND_BY_OTHERS = ("changelog", "compile", "pep8", "pylint", "yamllint")


def _without_found_by_others() -> Iterator[str]:
    for name in FOUND_BY_OTHERS:
        yield from ("--skip-test", name)


def _sanity_shipped(place: Place) -> Iterator[Command]:
    yield from _sanity(place, "--exclude", "tests/", *_without_found_by_others())


def _sanity_others(place: Place) -> Iterator[Command]:
    yield from _sanity(place, "tests/", *_without_found_by_others())
    yield from _sanity(place, *(option for name in FOUND_BY_OTHERS for option in ("--test", name)))


# Slow levels of the integration tests, each a marker and a target of its own: e2e-kubelet,
# e2e-faults, ..., scale.
SLOW = ("kubelet", "kernel", "faults", "recipes", "builds", "rmd", "numa", "bed", "scale")


def _integration(place: Place) -> Iterator[Command]:
    # A file has its own cluster; most of the time its tests wait.
    marked = " and ".join(f"not {name}" for name in SLOW)
    yield _pytest(place, "integration", "-n", "2", "--dist", "loadfile", "-m", marked)


def _level(marker: str, processes: int = 2) -> Callable[[Place], Iterator[Command]]:
    """A level that processes share, file by file; those of real nodes share the cluster of their
    process."""

    def commands(place: Place) -> Iterator[Command]:
        # Files come in the order that is given: the longest first.
        count = min(processes, len(place.parts) or processes)
        shared = ["-n", str(count), "--dist", "loadfile", "--no-loadscope-reorder"]
        yield _pytest(place, f"e2e-{marker}", *shared, "-m", marker)

    return commands


# Tests of what tests stand on: they say nothing of the collection.
BED_TESTS = ("tests/unit/cluster", "tests/unit/rmd_server")


def _bed_parts(repository: Repository) -> dict[str, set[str]]:
    return {
        name: repository.closure([name])
        for name in repository.files
        if name.startswith(BED_TESTS) and PurePosixPath(name).name.startswith("test_")
    }


def _folders(*folders: str) -> Callable[[Repository], dict[str, set[str]]]:
    """One part, which depends on these files and folders and what every result does."""

    def parts(repository: Repository) -> dict[str, set[str]]:
        chosen = {name for name in repository.files if name.startswith(folders)}
        return {"all": chosen | repository.always()}

    return parts


def _files_of(marker: str) -> Callable[[Repository], dict[str, set[str]]]:
    """The files with a level's tests, each with all that it depends on."""
    marked = re.compile(rf"^pytestmark = pytest\.mark\.{marker}$", re.MULTILINE)

    def parts(repository: Repository) -> dict[str, set[str]]:
        return {
            name: repository.closure([name])
            for name in repository.files
            if name.startswith("tests/integration/")
            and marked.search((repository.folder / name).read_text())
        }

    return parts


def _scale(place: Place) -> Iterator[Command]:
    yield _pytest(place, "scale", "-m", "scale")


def _pytest(place: Place, name: str, *chosen: str) -> Command:
    report = place.build / "reports" / f"{name}.xml"
    options = ["-o", f"pythonpath={place.tested} .", f"--shuffle={ORDER}"]
    files = place.parts or ["tests/integration"]
    pytest = ["pytest", "-q", *options, *chosen, *files, f"--junit-xml={report}"]
    argv, env = measuring.measured(place, name, pytest)
    return Command(argv, env=env, junit=report)


def _molecule(place: Place) -> Iterator[Command]:
    """The default scenario on the cluster that HE_TEST_KUBECONFIG names, else on a local one."""
    if os.environ.get("HE_TEST_KUBECONFIG"):
        yield _scenario(place, "default", place.tested)
    else:
        yield _scenario(place, "local", place.tested, folder=REPO / "tests" / "molecule")


def _molecule_kind(place: Place) -> Iterator[Command]:
    """As a user: the tarball built, installed, and the scenario in it played."""
    collections = place.scratch / "installed"
    yield from publishing.install(place, collections)
    played = _scenario(place, "kind", collections)
    yield replace(played, argv=["python", "-m", "tests.cluster.kind", *played.argv])


def _scenario_kind(repository: Repository) -> dict[str, set[str]]:
    """One part: the scenarios, with all that they depend on."""
    folder = "extensions/molecule/"
    chosen = {name for name in repository.files if name.startswith(folder) and "README" not in name}
    return {"kind": repository.closure(chosen)}


def _scenario(place: Place, name: str, collections: Path, folder: Path | None = None) -> Command:
    """A scenario of the collection in a collections path, or one that uses its playbooks."""
    packed = (
        collections / "ansible_collections" / "hardware" / "enablement" / "extensions" / "molecule"
    )
    env = {
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "HE_SCENARIOS": str(packed),
        "MOLECULE_GLOB": f"{folder or packed}/*/molecule.yml",
        "MOLECULE_EPHEMERAL_DIRECTORY": str(place.build / "molecule" / name),
        "COLUMNS": "160",
    }
    return Command(["molecule", "test", "--scenario-name", name], env=env)


LINT = (
    Step("mypy", "Python types, strict", _mypy, computes=True),
    Step("ruff", "Python style and likely bugs", _ruff, computes=True),
    Step(
        "complexity",
        "functions that can be read: complexity of at most 12",
        _complexity,
        computes=True,
    ),
    Step("layers", "which layer may import which", _layers, computes=True),
    Step("yamllint", "YAML style", _yamllint, computes=True),
    Step("changelog", "changelog fragments", _changelog, computes=True),
)
# What is packed, and what of it holds documentation.
TARBALL = (
    *("LICENSES/", "README.md", "changelogs/", "docs/", "extensions/", "meta/", "playbooks/"),
    *("plugins/", "recipes/", "roles/"),
)
DOCUMENTED = ("meta/", "plugins/modules/", "plugins/doc_fragments/", "plugins/inventory/", "roles/")
SHORT = (
    Step(
        "molecule",
        "scenario default on a local cluster: create, converge, idempotence, verify, destroy",
        _molecule,
    ),
    Step(
        "docs-lint",
        "documentation of modules and roles",
        publishing.docs_lint,
        parts=_folders("docs/docsite/", "galaxy.yml", *DOCUMENTED),
        computes=True,
    ),
    Step(
        "ansible-lint",
        "playbooks and roles of the tarball, by the rules of Galaxy",
        publishing.ansible_lint,
        parts=_folders(*TARBALL),
        computes=True,
    ),
    Step(
        "galaxy-importer",
        "the tarball as Galaxy imports it: metadata, ansible-doc",
        publishing.galaxy_importer,
        parts=_folders(*TARBALL),
        computes=True,
    ),
    Step(
        "execution-environment",
        "context of an image, and what the collection says that one needs",
        publishing.execution_environment,
        parts=_folders("meta/", "docs/admin/execution-environment.yml"),
        computes=True,
    ),
    Step(
        "ansible-units",
        "ansible-test finds all unit tests and imports them as it does",
        _ansible_units,
        computes=True,
    ),
    Step(
        "antsibull-nox",
        "licences, action groups, files that do not belong in plugins",
        _antsibull_nox,
        computes=True,
    ),
)
# What `make test` is spared, since something faster in it finds as a rule what they find: sanity of the
# tests (ruff and mypy), the site (docs-lint and the unit tests of docs).
THOROUGH = (
    Step(
        "sanity-others",
        "ansible-test sanity of tests, and what ruff and mypy find as well; nothing ignored",
        _sanity_others,
        # Every week: what is shipped is looked at in every run, and all else by ruff and mypy.
        parts=_folders("tests/config.yml"),
        computes=True,
    ),
    Step(
        "docs-site",
        "guides and reference as a site, in .build/docs-site/html",
        publishing.docs_site,
        parts=_folders("docs/", "README.md", "changelogs/", *DOCUMENTED),
        computes=True,
    ),
)
SANITY_SHIPPED = Step(
    "sanity-shipped",
    "ansible-test sanity of all but tests, without what ruff and mypy find; nothing ignored",
    _sanity_shipped,
    parts=_folders(*TARBALL),
    computes=True,
)
INTEGRATION = Step("integration", "the collection against the local cluster", _integration, slots=2)
MOLECULE_KIND = Step(
    "molecule-kind",
    "scenario kind from the tarball: simulated nodes on a cluster that kind makes",
    _molecule_kind,
    parts=_scenario_kind,
    slots=2,
    lacking=machine.without_kind,
)
UNITS = Step("units", "unit tests", _units, computes=True)
BED_UNITS = Step(
    "bed-units",
    "unit tests of the local cluster and of our RMD server",
    _bed_units,
    parts=_bed_parts,
    computes=True,
)
# The longest come first: what is short fills up.
LEVELS = (
    # Its clusters take most of the inotify instances, so that beside them there is room for one
    # other.
    Step(
        "e2e-kubelet",
        "real nodes: kubelet and containerd",
        _level("kubelet"),
        parts=_files_of("kubelet"),
        slots=4,
        lacking=machine.without_root,
    ),
    # One process, whose virtual machine has two processors.
    Step(
        "e2e-kernel",
        "real kernels in virtual machines: modules built, loaded, exchanged, refused",
        _level("kernel", processes=1),
        parts=_files_of("kernel"),
        slots=2,
        lacking=machine.without_virtual_machines,
    ),
    Step(
        "e2e-recipes",
        "recipes of other shapes and formats, charts, vendors; OpenShift; many clusters",
        _level("recipes"),
        parts=_files_of("recipes"),
        slots=2,
    ),
    Step(
        "e2e-faults",
        "what goes wrong: crashes, lies, silence, killed runs, two at once",
        _level("faults"),
        parts=_files_of("faults"),
        slots=2,
    ),
    INTEGRATION,
    # One process each: so they fit beside the others, one after the other, also beside real nodes.
    Step(
        "e2e-rmd",
        "RMD deployed, workloads, objects, pods; daemons are ours",
        _level("rmd", processes=1),
        parts=_files_of("rmd"),
    ),
    Step(
        "e2e-builds",
        "driver images: registries, Jobs, BuildConfigs",
        _level("builds", processes=1),
        parts=_files_of("builds"),
    ),
    Step(
        "e2e-numa",
        "pods placed by NUMA node: exporters, the real scheduler, what is wrong with either",
        _level("numa", processes=1),
        parts=_files_of("numa"),
    ),
    Step(
        "e2e-bed",
        "what tests stand on: the simulation, the local cluster's commands, plays that are forked",
        _level("bed", processes=1),
        parts=_files_of("bed"),
    ),
)


def _release(place: Place) -> Iterator[Command]:
    """A release of what has passed as it is, in all levels."""
    results = Results(Repository(REPO, place.collections))
    if unproven := [
        step.name
        for step in (*LEVELS, MOLECULE_KIND)
        if step.parts and known_of(step, results, always).left
    ]:
        raise StepError(
            f"{', '.join(unproven)} changed since it passed: run CI_ALL=1 make ci, and commit {RESULTS}"
        )
    yield from release(place)


EXTRA = (
    Step("mutations", "what is promised, broken rule by rule: a unit test notices", _mutations),
    Step(
        "coverage",
        "what the tests run of the code: units, and what HE_COVERAGE=1 measured",
        _coverage,
    ),
    Step(
        "release", "everything that is handed out in .build/release, a commit and a tag", _release
    ),
    Step("release-assets", "what the tag that is checked out hands out", release_assets),
    Step("build", "pack the collection and install it into .build/installed", publishing.build),
    Step("scale", "1000 simulated nodes", _scale),
)

GROUPS = {
    "lint": LINT,
    "test": (INTEGRATION, UNITS, BED_UNITS, SANITY_SHIPPED, *SHORT),
    # What computes comes in an order of its own: what fails most often first.
    "ci": (*LEVELS, MOLECULE_KIND, *LINT, UNITS, BED_UNITS, SANITY_SHIPPED, *SHORT, *THOROUGH),
}
STEPS = {step.name: step for step in (*GROUPS["ci"], *EXTRA)}


def in_turn(step: Step, part: str, last: datetime.date, day: datetime.date) -> bool:
    """Whether a part that ran last on one day runs on another, changed or not: after so many days,
    by its name, so that what ran on one day does not come back on one.

    By parts and not by levels, of which the longest takes six times as long as the shortest.
    """
    days = TURN_DAYS[zlib.crc32(f"{step.name} {part}".encode()) % len(TURN_DAYS)]
    return (day - last).days >= days
