# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster with a virtual machine and a real node that builds, for all stories of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.kernel.machine import Machine, Transcript
from tests.integration.kubelet.kmod_site import Site, make_registry_site
from tests.integration.plays import REPO


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """See above."""
    with Cluster.up("test-kernel", kubelets=1, vms=1, say=print) as started:
        (vm,) = started.vms
        started.kubectl("label", "node", vm, "kmod=wanted")
        yield started


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A registry, and a user who may play simple-kmod for the virtual machine."""
    with make_registry_site(cluster, "test-kernel", tmp_path_factory.mktemp("site")) as made:
        yield made


@pytest.fixture(scope="module")
def machine(cluster: Cluster) -> Iterator[Machine]:
    """The virtual machine; what was seen is in .build/reports."""
    transcript = Transcript(REPO / ".build" / "reports" / "real-kernels.txt")
    made = Machine(cluster.vm(cluster.vms[0]), transcript)
    made.boots()
    yield made
    transcript.write()
