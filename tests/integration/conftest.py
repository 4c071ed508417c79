# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What integration tests run against: a cluster with the four nodes of the demo, and registries,
one for each file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.cluster.pki import Authority
from tests.integration.plays import REPO, Runner, close_play_server
from tests.integration.registry_bed import Bed, make_bed
from tests.scenes.four_nodes import set_scene


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shuffle SEED`, as the gates give it."""
    parser.addoption("--shuffle", metavar="SEED", help="order of the tests in each file")


# First: what shares a parametrized fixture is brought together after that.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests of each file, but for those that need its cluster as it was made. The files
    stay where they are, as some levels begin with the longest, and two tests come in the same order
    however many others are chosen."""
    if seed := config.getoption("shuffle"):
        items[:] = [
            item
            for _file, tests in groupby(items, key=lambda item: item.path)
            for item in sorted(
                tests,
                key=lambda item: (
                    item.get_closest_marker("first") is None,
                    hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest(),
                ),
            )
        ]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how to repeat the order."""
    if seed := config.getoption("shuffle"):
        terminalreporter.write_line(f"tests in the order of --shuffle={seed}")


def pytest_sessionfinish() -> None:
    """The gates count what plays have cost as soon as their server has ended."""
    close_play_server()


def grant(cluster: Cluster, user: str, role: str) -> None:
    """Bind a user to a ClusterRole."""
    cluster.kubectl(
        "create", "clusterrolebinding", f"{user}-{role}", f"--clusterrole={role}", f"--user={user}"
    )


def documented(cluster: Cluster, folder: Path) -> Runner:
    """Plays as a user who has the rights that the documentation says a run needs, and no more."""
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, "runner", "hardware-enablement-runner")
    return Runner(cluster, "runner", folder)


def name_of(request: pytest.FixtureRequest) -> str:
    """A name for what belongs to one file of tests."""
    return f"test-{Path(str(request.module.__file__)).stem.removeprefix('test_').replace('_', '-')}"


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster with 3 GPU nodes on two kernels and 1 node without a GPU."""
    with Cluster.up(name_of(request)) as started:
        set_scene(started)
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the documented rights."""
    return documented(cluster, tmp_path_factory.mktemp("runner"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Signs the certificates of the registries."""
    return Authority(tmp_path_factory.mktemp("pki"), "registries")


@pytest.fixture(scope="module", params=["htpasswd", "token"])
def any_bed(request: pytest.FixtureRequest, authority: Authority) -> Iterator[Bed]:
    """A registry with passwords in a file, then one with a token server."""
    with make_bed(f"{name_of(request)}-{request.param}", request.param, authority) as made:
        yield made


@pytest.fixture(scope="module")
def bed(request: pytest.FixtureRequest, authority: Authority) -> Iterator[Bed]:
    """A registry with a token server."""
    with make_bed(name_of(request), "token", authority) as made:
        yield made
