# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured. Each case takes a cluster of its own up and down and gives tables."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import contenders
from tests.benchmarks.bed import Bed
from tests.benchmarks.contenders import Contender
from tests.benchmarks.measure import RunError, Sample, Series
from tests.benchmarks.rendering import Manifests, render, ungated, write
from tests.benchmarks.tables import Table, seconds
from tests.cluster import Cluster
from tests.integration.plays import REPO, Played
from tests.integration.rmd import resctrl_bed
from tests.integration.rmd.workload_bed import make_bed
from tests.scenes.fleet import add_fleet
from tests.scenes.numa_fleet import publish_topologies

RECIPES = Path(__file__).parent / "recipes"
NVIDIA = REPO / "recipes" / "nvidia-gpu"
OTHER_DRIVER = {"driver_version": "600"}
_COMPARED = (
    "",
    "first run s",
    "(min)",
    "second run s",
    "(min)",
    "CPU s first",
    "second",
    "requests first",
    "second",
    "of these writes",
    "peak MiB",
)
# As the recipe has it.
_LOOK_S = 5.0
# For a state of thousands of nodes, all on two processors.
_FLEET_S = 3600
_MOST_RUNS = 10
# A cluster, its nodes, and what their daemons were asked for since the last time.
_CacheBed = tuple[Bed, Sequence[str], Callable[[], list[str]]]
_CacheNodes = Callable[[int], AbstractContextManager[_CacheBed]]
_COMPARED_NOTE = (
    "Seconds are medians with the minimum beside them. CPU s is user and system time of all processes of "
    "a run, which other load on the machine disturbs less. Requests are counted in the API server's audit log; writes "
    "(no dry runs) are those of the second run. Memory is the peak of all processes of a run together."
)


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of first runs, second runs after each, and the numbers of nodes,
    also of the largest fleet."""

    rounds: int
    seconds_per_round: int
    sizes: Sequence[int]
    fleet: int


FULL = Effort(rounds=3, seconds_per_round=2, sizes=(10, 100, 1000), fleet=5000)
QUICK = Effort(rounds=1, seconds_per_round=2, sizes=(10, 100), fleet=500)


def floor(effort: Effort) -> Table:
    """What any run costs."""
    with _bed(0) as bed:
        contender = contenders.nothing(bed)
        series = Series([bed.measure(contender.command) for _round in range(effort.rounds * 3)])
    row = [
        contender.name,
        seconds(series.median),
        seconds(series.minimum),
        seconds(series.cpu),
        f"{series.memory:.0f}",
    ]
    return Table("The floor", ("", "median s", "(min)", "CPU s", "peak MiB"), [row])


def state(effort: Effort) -> Table:
    """One state of 15 objects."""
    recipe = RECIPES / "fifteen-objects"
    with _bed(4) as bed:
        states = render(recipe, bed.cluster.kubeconfig)
        manifests = write(states, bed.folder / "manifests")
        compared = [
            contenders.ours(bed, recipe, list(states)),
            contenders.ours_as_modules(bed, recipe, list(states)),
            contenders.per_object(bed, manifests),
            contenders.per_state(bed, manifests),
            contenders.kubectl(bed, manifests),
        ]
        rows = _compare(bed, manifests, compared, effort)
    title = f"One state of {len(manifests.by_object)} objects"
    return Table(title, _COMPARED, rows, [_runs(effort), _COMPARED_NOTE])


def machine(effort: Effort) -> Table:
    """The state machine of nvidia-gpu."""
    with _bed(4) as bed:
        states = render(NVIDIA, bed.cluster.kubeconfig)
        manifests = write(states, bed.folder / "manifests")
        compared = [
            contenders.enable(bed, NVIDIA.name),
            contenders.ours(bed, NVIDIA, list(states)),
            contenders.per_object(bed, manifests),
            contenders.per_state(bed, manifests),
            contenders.kubectl(bed, manifests),
        ]
        rows = _compare(bed, manifests, compared, effort)
    title = f"The machine of nvidia-gpu on 4 nodes: {len(manifests.by_object)} objects in {len(states)} states"
    note = (
        "Only the first row is the whole job: it finds the nodes, applies, waits for the simulated operands, proves "
        "each state on each node and labels the nodes. All others just apply the objects."
    )
    return Table(title, _COMPARED, rows, [_runs(effort), _COMPARED_NOTE, note])


def scale(effort: Effort) -> Table:
    """enable_gpu by number of nodes."""
    columns = (
        "nodes",
        "floor s",
        "in order s",
        "first run s",
        "times the floor",
        "times in order",
        "CPU s per node",
        "requests",
        "per node",
        "writes per node",
        "second run s",
        "(min)",
        "CPU s",
        "requests",
        "per node",
        "writes",
        "peak MiB",
    )
    rows = []
    notes = [
        f"The first run was made once at each size, the second run {max(2, effort.rounds)} times (median).",
        "The floor: kubectl applies the same objects without gates, and waits until all pods run.",
        "In order: it does so state by state, each with its pods. It proves nothing, and writes nothing to nodes.",
        "CPU s: of the run, without those of the API server.",
    ]
    for size in effort.sizes:
        lowest = _rolled_out(size, contenders.until_pods_run)
        in_order = _rolled_out(size, contenders.state_after_state)
        first, second = _at_size(size, effort)
        asked, again = first.requests, second.requests
        rows.append(
            [
                str(size),
                seconds(lowest.seconds),
                seconds(in_order.seconds),
                seconds(first.seconds),
                f"{first.seconds / lowest.seconds:.1f}",
                f"{first.seconds / in_order.seconds:.1f}",
                f"{first.cpu_s / size:.3f}",
                str(asked.total),
                f"{asked.total / size:.2f}",
                f"{asked.writes / size:.2f}",
                seconds(second.median),
                seconds(second.minimum),
                seconds(second.cpu),
                str(again.total),
                f"{again.total / size:.2f}",
                str(again.writes),
                f"{second.memory:.0f}",
            ]
        )
        kinds = sorted(asked.by_kind.items(), key=lambda item: -item[1])[:8]
        told = ", ".join(f"{count} {kind}" for kind, count in kinds)
        notes.append(
            f"First run at {size} nodes: peak {first.memory_mib:.0f} MiB; most requests: {told}."
        )
    return Table("enable_gpu by number of nodes (3 kernels)", columns, rows, notes)


def fleet(effort: Effort) -> Table:
    """What a person waits for where there are thousands of nodes."""
    columns = ("", "s", "(min)", "CPU s", "times the floor", "requests", "writes", "peak MiB")
    with _bed(effort.fleet) as bed:
        enable = contenders.enable(bed, NVIDIA.name)
        first = Series(
            [bed.measure([*enable.command, "-e", f"hardware_enablement_timeout={_FLEET_S}"])]
        )
        looks = {
            "nothing": contenders.nothing(bed),
            "enable": enable,
            "status": contenders.status(bed, NVIDIA.name),
            "status with a page": contenders.status(bed, NVIDIA.name, page=True),
        }
        runs = {
            name: Series([_unchanged(bed.measure(look.command)) for _round in range(effort.rounds)])
            for name, look in looks.items()
        }
        bed.unlabel(NVIDIA.name)
        labelled = Series([bed.measure(enable.command)])
    floor_s = runs.pop("nothing").median
    rows = [
        [
            name,
            seconds(series.median),
            seconds(series.minimum),
            seconds(series.cpu),
            f"{series.median / floor_s:.1f}",
            str(series.requests.total),
            str(series.requests.writes),
            f"{series.memory:.0f}",
        ]
        for name, series in {"the first run": first, **runs, "enable, labels": labelled}.items()
    ]
    note = (
        f"After the first run, which was made once, nothing is left to do. Medians of {effort.rounds}. "
        "Labels: one that says how the recipe stands was taken from all nodes, and the run puts it back. "
        f"The floor is ansible-playbook without tasks, measured beside them: {seconds(floor_s)} s."
    )
    return Table(f"nvidia-gpu on {effort.fleet:,} nodes (3 kernels)", columns, rows, [note])


def rmd(effort: Effort) -> Table:
    """rmd_workload by back end and number of nodes."""
    columns = (
        "back end, nodes",
        "first run s",
        "runs until in force",
        "their requests to RMD",
        "to the API server",
        "second run s",
        "(min)",
        "CPU s",
        "requests to RMD",
        "to the API server",
        "of these writes",
        "peak MiB",
    )
    beds = {"resctrl": _agents, "rmd": _daemons}
    rows = [
        [f"{back_end}, {size}", *_cache_row(effort, opened, size)]
        for back_end, opened in beds.items()
        for size in (1, 10, 100)
    ]
    note = (
        "One task; with RMD, TLS with client certificates. The first run was made once at each size, the second run "
        f"{effort.rounds} times (median). With resctrl the node's agent divides the cache, and is told by the API "
        "server. All servers of RMD are in one Python process on the same machine, each agent is one of its own, "
        f"which looks each {_LOOK_S:.0f} s. The servers of RMD are simulated, v0.3, and divide the wrong socket of a "
        "third of all workloads; a run posts them again, ends with an error where that did not help after three "
        "times, and was made again then (on_partial_failure: keep)."
    )
    return Table("rmd_workload: 4 workloads on each node", columns, rows, [note])


def _cache_row(effort: Effort, opened: _CacheNodes, size: int) -> list[str]:
    with opened(size) as (bed, nodes, asked):
        command = contenders.cache(bed, nodes).command
        first = _until_in_force(bed, command)
        posted = asked()
        again = Series([_unchanged(bed.measure(command)) for _round in range(effort.rounds)])
        looks = asked()
    if set(looks) - {"GET"}:
        raise RunError(f"a run that should only look did more: {sorted(set(looks))}")
    return [
        seconds(first[0].seconds),
        str(len(first)),
        str(len(posted)),
        str(sum(run.requests.total for run in first)),
        seconds(again.median),
        seconds(again.minimum),
        seconds(again.cpu),
        str(len(looks) // effort.rounds),
        str(again.requests.total),
        str(again.requests.writes),
        f"{again.memory:.0f}",
    ]


def _until_in_force(bed: Bed, command: Sequence[str]) -> list[Sample]:
    """All runs, of which the last one ended well."""
    runs: list[Sample] = []
    while not runs or not runs[-1].is_good:
        runs.append(bed.measure(command, may_fail=len(runs) < _MOST_RUNS))
    return runs


@contextmanager
def _daemons(size: int) -> Iterator[_CacheBed]:
    """Nodes with RMD's daemons."""
    with (
        _bed(size) as bed,
        make_bed(bed.cluster, bed.runner, bed.folder, _names(size)) as daemons,
    ):
        mark: dict[str, int] = {}

        def asked() -> list[str]:
            found = daemons.fleet.requests(mark)
            mark.update(daemons.fleet.mark())
            return [seen.method for entries in found.values() for seen in entries]

        yield bed, daemons.nodes, asked


@contextmanager
def _agents(size: int) -> Iterator[_CacheBed]:
    """Nodes whose agents divide the cache; nobody is asked but the API server."""
    with (
        _bed(0) as bed,
        resctrl_bed.make_bed(
            bed.cluster, bed.runner, bed.folder, size, interval=_LOOK_S
        ) as divided,
    ):
        yield bed, list(divided.agents), list


def numa(effort: Effort) -> Table:
    """numa_validate by number of nodes."""
    columns = ("nodes", "run s", "(min)", "CPU s", "requests", "peak MiB")
    rows = []
    for size in effort.sizes:
        with _bed(size) as bed:
            publish_topologies(bed.cluster)
            command = contenders.numa_checks(bed).command
            runs = Series([_unchanged(bed.measure(command)) for _round in range(effort.rounds)])
        rows.append(
            [
                str(size),
                seconds(runs.median),
                seconds(runs.minimum),
                seconds(runs.cpu),
                str(runs.requests.total),
                f"{runs.memory:.0f}",
            ]
        )
    note = (
        "One task, all checks but those that ask kubelets; nothing is found. Each node has an exporter's pod and a "
        f"NodeResourceTopology with two zones. {effort.rounds} runs at each size (median)."
    )
    return Table("numa_validate by number of nodes", columns, rows, [note])


def upgrade(effort: Effort) -> Table:
    """driver_upgrade by number of nodes and how many at a time."""
    columns = (
        "nodes",
        "at a time",
        "operands s",
        "first run s",
        "plan s",
        "exchange s",
        "per node",
        "CPU s",
        "requests",
        "per node",
        "writes per node",
        "peak MiB",
    )
    rows = []
    fleets = ((3, "1"), *((size, _at_once(size)) for size in effort.sizes))
    for instant, (size, at_once) in itertools.product((True, False), fleets):
        with _bed(size, instant=instant) as bed:
            first = bed.measure(contenders.enable(bed, NVIDIA.name).command)
            bed.measure(contenders.enable(bed, NVIDIA.name, OTHER_DRIVER).command)
            waves = contenders.exchange(bed, NVIDIA.name, at_once)
            plan = bed.measure([*waves.command, "--check"])
            done = bed.measure(waves.command)
        rows.append(
            [
                str(size),
                at_once,
                "0" if instant else "3.5",
                seconds(first.seconds),
                seconds(plan.seconds),
                seconds(done.seconds),
                f"{done.seconds / size:.2f}",
                seconds(done.cpu_s),
                str(done.requests.total),
                f"{done.requests.total / size:.2f}",
                f"{done.requests.writes / size:.2f}",
                f"{done.memory_mib:.0f}",
            ]
        )
    note = (
        "Each node is cordoned, its driver and five DaemonSets that stand on it are made anew, all states are proven,"
        " and it is given back. A wave is as many nodes as may be on their way. Nobody uses a device. Operands s: what"
        " the simulated operands of a node take, one after the other; 0 as where the GPU Operator was measured. First"
        " run: enabling the same nodes from nothing."
    )
    return Table("driver_upgrade by number of nodes", columns, rows, [note])


def _at_once(size: int) -> str:
    """All of some, a tenth of many."""
    return "100%" if size < 1000 else "10%"


CASES: dict[str, Callable[[Effort], Table]] = {
    "floor": floor,
    "state": state,
    "machine": machine,
    "scale": scale,
    "fleet": fleet,
    "rmd": rmd,
    "numa": numa,
    "upgrade": upgrade,
}


def _names(size: int) -> list[str]:
    return [f"gpu-{number}" for number in range(1, size + 1)]


def _runs(effort: Effort) -> str:
    first, second = effort.rounds, effort.rounds * effort.seconds_per_round
    return f"{first} first runs and {second} second runs of each, in turns."


def _rolled_out(size: int, contender: Callable[[Bed, str, Manifests], Contender]) -> Sample:
    with _bed(size) as bed:
        states = ungated(render(NVIDIA, bed.cluster.kubeconfig))
        manifests = write(states, bed.folder / "manifests")
        return bed.measure(contender(bed, NVIDIA.name, manifests).command)


def _at_size(size: int, effort: Effort) -> tuple[Sample, Series]:
    with _bed(size) as bed:
        command = contenders.enable(bed, NVIDIA.name).command
        first = bed.measure(command)
        second = [_unchanged(bed.measure(command)) for _round in range(max(2, effort.rounds))]
    return first, Series(second)


def _compare(
    bed: Bed, manifests: Manifests, compared: Sequence[Contender], effort: Effort
) -> list[list[str]]:
    """Round after round instead of contender after contender, so that other load on the machine
    meets all alike."""
    firsts: dict[str, list[Sample]] = {contender.name: [] for contender in compared}
    seconds_: dict[str, list[Sample]] = {contender.name: [] for contender in compared}
    for number in range(effort.rounds):
        for contender in compared:
            print(f"  round {number + 1} of {effort.rounds}: {contender.name}", flush=True)
            firsts[contender.name].append(bed.measure(contender.command))
            for _round in range(effort.seconds_per_round):
                sample = bed.measure(contender.command)
                seconds_[contender.name].append(
                    _unchanged(sample) if contender.converges else sample
                )
            bed.reset(manifests)
    return [_row(name, Series(firsts[name]), Series(seconds_[name])) for name in firsts]


def _row(name: str, first: Series, second: Series) -> list[str]:
    return [
        name,
        seconds(first.median),
        seconds(first.minimum),
        seconds(second.median),
        seconds(second.minimum),
        seconds(first.cpu),
        seconds(second.cpu),
        str(first.requests.total),
        str(second.requests.total),
        str(second.requests.writes),
        f"{max(first.memory, second.memory):.0f}",
    ]


def _unchanged(sample: Sample) -> Sample:
    """The same; RunError if the run has changed something, since then it was no second run."""
    if Played(0, sample.output).changed or sample.requests.writes:
        raise RunError(
            f"a run that should change nothing did: {sample.requests.by_kind}\n{sample.output}"
        )
    return sample


@contextmanager
def _bed(nodes: int, *, instant: bool = False) -> Iterator[Bed]:
    with (
        Cluster.up(f"bench-{os.getpid()}", instant=instant, say=print) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        bed = Bed(cluster, Path(folder))
        if nodes:
            add_fleet(cluster, nodes, say=print, timeout=_FLEET_S)
        yield bed
