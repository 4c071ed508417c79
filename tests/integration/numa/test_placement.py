# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the scheduler sends pods that fit on some NUMA nodes and not on others: to the expected node,
whose kubelet takes them, or nowhere, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration.numa.conftest import numa_runner
from tests.integration.numa.nodes import configure
from tests.integration.numa.placement_bed import (
    POOLS,
    TOLERATION,
    TYPE_LABEL,
    Bed,
    Host,
    Want,
    guaranteed,
)
from tests.integration.numa.placement_cases import CASES, EVEN, POD, PROFILES, STALE, Case
from tests.integration.plays import Played, Runner

pytestmark = pytest.mark.numa

OPTIONS = {
    "cache_resync_seconds": 1,
    "refresh_seconds": 2,
    "scheduler_profiles": PROFILES,
    "tolerations": [TOLERATION],
}
# Nodes of the stories.
LATE, GONE, MUTED, JOINED, CHANGED = "late", "gone", "muted", "joined", "changed"


def enable(runner: Runner) -> Played:
    """The playbook, with a pool for each kind of kubelet."""
    pools = [{"name": name, "selector": {"matchLabels": {TYPE_LABEL: name}}} for name in POOLS]
    return runner.play("numa", numa_options=OPTIONS, numa_pools=pools).check()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Without nodes."""
    with Cluster.up("test-placement", numa=True, nfd=False) as started:
        yield started


@pytest.fixture(scope="module")
def bed(cluster: Cluster, runner: Runner) -> Bed:
    """The nodes of all cases, with pods that are there before anybody looks at NUMA nodes; then
    exporters and the scheduler, and the pods of all cases."""
    bed = Bed(cluster)
    bed.add({case.host(name): host for case in CASES for name, host in case.hosts.items()})
    bed.add({name: Host(EVEN) for name in (LATE, GONE, MUTED)})
    bed.add({CHANGED: Host(EVEN, "changing")})
    for case in CASES:
        for pod, host, resources in case.bound():
            bed.bind(pod, host, resources)
    enable(runner)
    bed.create({case.name: (case.want, [case.host(name) for name in case.hosts]) for case in CASES})
    return bed


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the documented rights."""
    return numa_runner(cluster, tmp_path_factory.mktemp("runner"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pods_go_where_a_numa_node_has_room(bed: Bed, case: Case) -> None:
    if case.goes_to:
        bed.runs_on(case.name, case.host(case.goes_to))
    else:
        bed.is_refused(case.name, case.why)
    for pod, host, _resources in case.bound():
        bed.runs_on(pod, host)


def test_what_is_published_late_is_waited_for(bed: Bed) -> None:
    """The scheduler counts its own pods on all NUMA nodes until an exporter says where they are."""
    bed.lag(LATE, 8)
    bed.start("late-first", Want([guaranteed(10)]), LATE)
    bed.runs_on("late-first", LATE)
    bed.start("late-second", Want([guaranteed(10)]), LATE)
    bed.is_refused("late-second", POD)
    bed.runs_on("late-second", LATE)


def test_what_is_published_no_more_holds_pods_back_until_it_is(bed: Bed) -> None:
    bed.mute(MUTED)
    # Of a scheduler that nobody here knows, with CPUs of its own: the node has to be looked at anew.
    bed.bind("muted-foreign", MUTED, guaranteed(4))
    bed.start("muted-own", Want([guaranteed(4)]), MUTED)
    bed.is_refused("muted-own", STALE)
    bed.heal(MUTED)
    bed.runs_on("muted-own", MUTED)


def test_a_node_that_joins_counts_after_the_next_run(bed: Bed, runner: Runner) -> None:
    """The scheduler takes no notice of topologies that come after it has started; the run makes it
    start anew."""
    bed.add({JOINED: Host(EVEN)})
    enable(runner)
    bed.start("joined-too-large", Want([guaranteed(20)]), JOINED)
    bed.is_refused("joined-too-large", POD)


def test_another_policy_counts_after_the_next_run(bed: Bed, runner: Runner) -> None:
    bed.start("changed-waits", Want([guaranteed(10), guaranteed(10)]), CHANGED)
    bed.is_refused("changed-waits", POD)
    configure(bed.cluster, CHANGED, topologyManagerScope="container")
    enable(runner)
    bed.runs_on("changed-waits", CHANGED)


def test_while_the_scheduler_is_gone_its_pods_wait(bed: Bed) -> None:
    scale = ("-n", "numa-resources", "scale", "deployment/numa-scheduler")
    bed.cluster.kubectl(*scale, "--replicas=0")
    bed.cluster.kubectl(
        "-n",
        "numa-resources",
        "wait",
        "--for=delete",
        "pod",
        "-l",
        "app.kubernetes.io/component=scheduler",
    )
    bed.start("gone-waits", Want([guaranteed(4)]), GONE)
    with pytest.raises(ClusterError):
        bed.cluster.kubectl(
            "wait", "pod/gone-waits", "--for=condition=PodScheduled", "--timeout=2s"
        )
    bed.cluster.kubectl(*scale, "--replicas=1")
    bed.runs_on("gone-waits", GONE)
