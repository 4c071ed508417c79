# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the scheduler sends pods that fit on some NUMA nodes and not on others: to the expected node,
whose kubelet takes them, or nowhere, with the reason."""

from __future__ import annotations

import json
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
    Zone,
    burstable,
    guaranteed,
)
from tests.integration.numa.placement_cases import CASES, EVEN, POD, PROFILES, STALE, Case
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.numa

OPTIONS = {
    "cache_resync_seconds": 1,
    # Each of its ninety nodes is written that often, which is most of what the file costs.
    "refresh_seconds": 5,
    "scheduler_profiles": PROFILES,
    "tolerations": [TOLERATION],
}
# Nodes of the stories.
LATE, GONE, MUTED, JOINED, CHANGED = "late", "gone", "muted", "joined", "changed"
BURST_ONE, BURST_ALL = ["alone"], ["burst-1", "burst-2", "burst-3"]
RESERVED, ENDED, GROWN = ["reserved-1", "reserved-2"], "ended", ["grown-1", "grown-2"]
ROOMY, TIGHT = "roomy", "tight"
RESOURCES = "/spec/template/spec/containers/0/resources"


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
    stories = (LATE, GONE, MUTED, ENDED, ROOMY, *BURST_ONE, *BURST_ALL, *RESERVED, *GROWN)
    bed.add({name: Host(EVEN) for name in stories} | {TIGHT: Host((Zone(6), Zone(6)))})
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


@pytest.mark.parametrize("nodes", [BURST_ONE, BURST_ALL], ids=["one-node", "all-nodes"])
def test_of_a_burst_of_pods_all_find_room(bed: Bed, nodes: list[str]) -> None:
    """Guaranteed pods fill each NUMA node but for one pod; the others take what is left."""
    count = len(nodes)
    wants = {
        "guaranteed": (6 * count, Want([guaranteed(4)])),
        "burstable": (2 * count, Want([burstable(4)])),
        "best-effort": (8 * count, Want([{}])),
    }
    names = {
        f"burst-of-{count}-{quality}-{number}": want
        for quality, (several, want) in wants.items()
        for number in range(several)
    }
    bed.create({name: (want, nodes) for name, want in names.items()})
    assert {bed.runs(name) for name in names} == set(nodes)


def test_what_was_reserved_too_much_is_corrected(bed: Bed) -> None:
    """Each pod is counted on both NUMA nodes of its node until the exporter says where it is; others'
    pods come meanwhile. What is too large for a NUMA node waits all the time, what finds none that is
    free until one of the pods has gone."""
    fitting = [f"reserved-{number}" for number in range(4)]
    wants = {name: (Want([guaranteed(10)]), RESERVED) for name in fitting}
    bed.create(wants | {"reserved-never": (Want([guaranteed(17)]), RESERVED)})
    for node in RESERVED:
        bed.bind(f"{node}-foreign", node, guaranteed(1))
        bed.bind(f"{node}-foreign-burstable", node, burstable(1))
    places = [bed.runs(name) for name in fitting]
    assert sorted(places) == sorted(2 * RESERVED)
    bed.is_refused("reserved-never", "nodes are available")
    bed.start("reserved-later", Want([guaranteed(10)]), *RESERVED)
    bed.is_refused("reserved-later", POD)
    bed.delete(fitting[0])
    bed.runs_on("reserved-later", places[0])


def test_pods_that_have_ended_hold_nobody_up(bed: Bed) -> None:
    """They stay in the cluster, with what they asked for in their specs. Each needs all CPUs of a NUMA
    node, so that the last ones get what the first ones had."""
    once = {"restartPolicy": "Never"}
    wants = {
        "ended-first": Want([guaranteed(16)], [guaranteed(8)], spec=once),
        "ended-second": Want([guaranteed(16)], spec=once),
        "ended-third": Want([guaranteed(16)], spec=once),
        "ended-burstable": Want([burstable(1)], spec=once),
        "ended-best-effort": Want([{}], spec=once),
    }
    bed.create({name: (want, [ENDED]) for name, want in wants.items()})
    for name in wants:
        bed.ends(name)
    bed.create({f"after-{number}": (Want([guaranteed(16)]), [ENDED]) for number in range(2)})
    for number in range(2):
        bed.runs_on(f"after-{number}", ENDED)


def test_a_deployment_grows_into_all_numa_nodes(bed: Bed) -> None:
    bed.deploy("grown", Want([guaranteed(10)]), GROWN, replicas=2)
    wait_until(lambda: sum(bed.places("grown").values()) == 2, "two pods run")
    full = dict.fromkeys(GROWN, 2)
    bed.cluster.kubectl("scale", "deployment/grown", "--replicas=5")
    # Two on each node, and a fifth that finds no room.
    wait_until(lambda: bed.places("grown") == {**full, "": 1}, "two pods run on each node")
    # A NUMA node has room for two of these, once the others have gone.
    patch = [{"op": "replace", "path": RESOURCES, "value": guaranteed(6)}]
    bed.cluster.kubectl("patch", "deployment/grown", "--type=json", f"--patch={json.dumps(patch)}")
    bed.cluster.kubectl("rollout", "status", "deployment/grown", PATIENTLY)


def test_pods_of_a_daemon_set_wait_where_no_numa_node_has_room(bed: Bed) -> None:
    bed.deploy("everywhere", Want([guaranteed(10)]), [ROOMY, TIGHT])
    wait_until(
        lambda: bed.places("everywhere") == {ROOMY: 1, "": 1}, "one runs and one finds no room"
    )
    waiting = [name for name, found in bed.verdicts("everywhere").items() if found and found.why]
    bed.is_refused(*waiting, POD)


def test_what_is_published_no_more_holds_pods_back_until_it_is(bed: Bed) -> None:
    bed.mute(MUTED)
    for name, resources in {"guaranteed": guaranteed(2), "burstable": burstable(2)}.items():
        bed.start(f"muted-{name}", Want([resources]), MUTED)
        bed.runs_on(f"muted-{name}", MUTED)
    # Of a scheduler that nobody here knows, with CPUs of its own: the node has to be looked at anew.
    bed.bind("muted-foreign", MUTED, guaranteed(4))
    bed.start("muted-own", Want([guaranteed(4)]), MUTED)
    bed.is_refused("muted-own", STALE)
    # What asks for nothing does not wait.
    bed.start("muted-free", Want([{}]), MUTED)
    bed.runs_on("muted-free", MUTED)
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
    bed.start("gone-runs", Want([guaranteed(4)]), GONE)
    bed.runs_on("gone-runs", GONE)
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
    bed.runs_on("gone-runs", GONE)
    bed.cluster.kubectl(*scale, "--replicas=1")
    bed.runs_on("gone-waits", GONE)
