# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where pods have to go, each with nodes of its own: the node, or that they wait, and what is said then.

After the cases of the plugin's own tests (TESTS.md in scheduler-plugins v0.34.7) and of the NUMA
Resources Operator's suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.integration.numa.placement_bed import (
    BARE,
    HEAVY,
    TOLERATION,
    Host,
    Obj,
    Want,
    Zone,
    burstable,
    guaranteed,
    only,
)

EVEN = (Zone(16), Zone(16))
UNEVEN = (Zone(8), Zone(24))
# As many CPUs, devices and huge pages at all, but elsewhere.
APART = (Zone(4, nics=2, hugepages=2), Zone(28, hugepages=2))
TOGETHER = (Zone(16, nics=1), Zone(16, nics=1, hugepages=4))
# Devices of one kind on each NUMA node, or some of both.
SORTED = (Zone(16, nics=2), Zone(16, gpus=2))
MIXED = (Zone(16, nics=1, gpus=1), Zone(16, nics=1, gpus=1))
# Of all kinds of huge pages as much, but of the first one elsewhere.
LOPSIDED = (Zone(16, hugepages=1, hugepages_1g=3), Zone(16, hugepages=3, hugepages_1g=1))
LEVEL = (Zone(16, hugepages=2, hugepages_1g=2), Zone(16, hugepages=2, hugepages_1g=2))

POD, CONTAINER, INIT = "cannot align pod", "cannot align container", "cannot align init container"
STALE = "invalid node topology data"
KUBELET = "TopologyAffinityError"

# Profiles of the scheduler beside its own, which compares by LeastAllocated.
PROFILES = {
    "packing": {"strategy": "MostAllocated"},
    "balancing": {"strategy": "BalancedAllocation"},
    "sparing": {"strategy": "LeastNUMANodes"},
}


@dataclass(frozen=True)
class Case:
    """hosts: by short name. goes_to: one of them, "" where it waits. why: what is said then.
    before: pods that are there from the start, as host and resources."""

    name: str
    hosts: Mapping[str, Host]
    want: Want
    goes_to: str = ""
    why: str = POD
    before: Sequence[tuple[str, Obj]] = field(default=())

    def host(self, short: str) -> str:
        """The node's name in the cluster."""
        return f"{self.name}-{short}"

    def bound(self) -> list[tuple[str, str, Obj]]:
        """The pods that are there from the start: name, node and resources."""
        return [
            (f"{self.name}-before-{number}", self.host(short), resources)
            for number, (short, resources) in enumerate(self.before)
        ]


def _hosts(pool: str = "pod", **zones: Sequence[Zone]) -> dict[str, Host]:
    return {name: Host(found, pool) for name, found in zones.items()}


BOTH = _hosts(even=EVEN, uneven=UNEVEN)
_ONE = _hosts(even=EVEN)
_DEVICES = _hosts(apart=APART, together=TOGETHER)
_PER_CONTAINER = _hosts("container", even=EVEN)


def _want(
    *containers: Obj,
    init: Sequence[Obj] = (),
    sidecars: Sequence[Obj] = (),
    prefers: str = "",
    scheduler: str = "",
    **spec: object,
) -> Want:
    named = {"scheduler": scheduler} if scheduler else {}
    return Want(containers, init, sidecars, prefers, spec=spec, **named)


_POD_SCOPE = (
    Case("fits-one", BOTH, _want(guaranteed(20)), "uneven"),
    Case("fits-exactly", _ONE, _want(guaranteed(16)), "even"),
    Case("fits-none", _ONE, _want(guaranteed(17))),
    Case("sum-fits-one", BOTH, _want(guaranteed(10), guaranteed(10)), "uneven"),
    Case("sum-fits-none", _ONE, _want(guaranteed(10), guaranteed(10))),
    Case("init-fits-one", BOTH, _want(guaranteed(4), init=[guaranteed(20)]), "uneven"),
    Case("init-fits-none", _ONE, _want(guaranteed(4), init=[guaranteed(20)])),
    Case(
        "inits-one-by-one",
        _ONE,
        _want(guaranteed(4), init=[guaranteed(12), guaranteed(12)]),
        "even",
    ),
    # Not a CPU of its own, but the plugin counts what Guaranteed pods ask for.
    Case("parts-of-cpus", _ONE, _want(guaranteed("16500m"))),
    Case(
        "parts-of-several",
        _hosts(uneven=(Zone(11), Zone(6))),
        _want(guaranteed("4300m"), guaranteed("7500m"), guaranteed("2500m")),
    ),
)
# What the plugin counts otherwise than kubelets do.
_OTHERWISE_COUNTED = (
    Case("sidecar", _ONE, _want(guaranteed(10), sidecars=[guaranteed(10)]), why=KUBELET),
    Case("overhead-fits", _ONE, _want(guaranteed(8), runtimeClassName=HEAVY), "even"),
    Case("overhead-fits-none", _ONE, _want(guaranteed(10), runtimeClassName=HEAVY)),
)
_CONTAINER_SCOPE = (
    Case("c-one-each", _PER_CONTAINER, _want(guaranteed(10), guaranteed(10)), "even"),
    Case("c-third", _PER_CONTAINER, _want(*3 * [guaranteed(10)]), why=CONTAINER),
    Case("c-fits-none", _PER_CONTAINER, _want(guaranteed(1), guaranteed(17)), why=CONTAINER),
    Case(
        "c-init-first", _PER_CONTAINER, _want(*2 * [guaranteed(14)], init=[guaranteed(16)]), "even"
    ),
    Case("c-init-fits-none", _PER_CONTAINER, _want(guaranteed(1), init=[guaranteed(17)]), why=INIT),
    Case(
        "c-memory",
        _PER_CONTAINER,
        _want(guaranteed(1, "50Gi"), guaranteed(1, "50Gi")),
        "even",
    ),
    Case(
        "c-devices",
        _hosts("container", apart=APART, together=TOGETHER),
        _want(guaranteed(10, nic=1), guaranteed(10, nic=1)),
        "together",
    ),
    Case(
        "c-cpus-apart",
        _hosts("container", even=(Zone(4), Zone(4)), uneven=(Zone(1), Zone(7))),
        _want(guaranteed(4), guaranteed(4)),
        "even",
    ),
    Case(
        "c-second-fits-none",
        _hosts("container", uneven=(Zone(1), Zone(9))),
        _want(guaranteed(5), guaranteed(5)),
        why=CONTAINER,
    ),
    Case(
        "c-memory-fits-none",
        _hosts("container", uneven=(Zone(16, 4), Zone(16, 10))),
        _want(guaranteed(4, "7Gi"), guaranteed(4, "7Gi")),
        why=CONTAINER,
    ),
    Case(
        "c-three",
        _hosts("container", even=(Zone(8), Zone(8)), uneven=(Zone(12), Zone(4))),
        _want(guaranteed(4), guaranteed(4), guaranteed(8)),
        "even",
    ),
    Case(
        "c-inits-and-three",
        _hosts("container", even=(Zone(8), Zone(8)), uneven=(Zone(12), Zone(4))),
        _want(guaranteed(4), guaranteed(4), guaranteed(8), init=3 * [guaranteed(8)]),
        "even",
    ),
    *(
        Case(
            f"c-{pages.replace('_', '-')}{suffix}",
            _hosts("container", **hosts),
            _want(*2 * [guaranteed(4, **{pages: "2Gi"})]),
            goes_to,
            CONTAINER,
        )
        for pages in ("hugepages", "hugepages_1g")
        for suffix, hosts, goes_to in (
            ("", {"level": LEVEL, "lopsided": LOPSIDED}, "level"),
            ("-fit-none", {"lopsided": LOPSIDED}, ""),
        )
    ),
    Case(
        "c-device-fits-none",
        _hosts("container", uneven=(Zone(16, nics=1), Zone(16, nics=3))),
        _want(guaranteed(5, nic=2), guaranteed(5, nic=2)),
        why=CONTAINER,
    ),
    *(
        Case(
            f"c-two-kinds-{quality}{suffix}",
            _hosts("container", **hosts),
            _want(*containers),
            goes_to,
            CONTAINER,
        )
        for quality, containers in (
            ("guaranteed", (guaranteed(4, nic=2), guaranteed(4, gpu=2))),
            ("burstable", (burstable(4, nic=2), burstable(4, gpu=2))),
            ("best-effort", (only(nic=2), only(gpu=2))),
        )
        for suffix, hosts, goes_to in (
            ("", {"sorted": SORTED, "mixed": MIXED}, "sorted"),
            ("-fit-none", {"mixed": MIXED}, ""),
        )
    ),
)
_OTHER_QUALITY = (
    Case("burstable", _ONE, _want(burstable(20)), "even"),
    Case("burstable-devices", _DEVICES, _want(burstable(20, nic=2)), "apart"),
    Case("best-effort", _hosts(full=(Zone(1, 1), Zone(1, 1))), _want({}), "full"),
    Case("best-effort-devices", _hosts(together=TOGETHER), _want(only(nic=2))),
    Case(
        "burstable-parts",
        _hosts(small=(Zone(8), Zone(7))),
        _want(burstable("4300m"), burstable(10), burstable("3500m")),
        why="Insufficient cpu",
    ),
)


def _with_storage(storage: str) -> dict[str, list[Obj]]:
    """Quality of service -> resources of two containers."""
    return {
        "guaranteed": [guaranteed(3, storage=storage), guaranteed("1500m", storage=storage)],
        "burstable": 2 * [burstable("1200m", storage=storage)],
        "best-effort": 2 * [only(storage=storage)],
    }


_STORAGE = tuple(
    Case(
        f"storage-{quality}{suffix}",
        _ONE,
        _want(*containers),
        goes_to,
        "Insufficient ephemeral-storage",
    )
    for suffix, storage, goes_to in (("", "1Gi", "even"), ("-fits-none", "6Gi", ""))
    for quality, containers in _with_storage(storage).items()
)
_MEMORY = (
    Case(
        "memory-fits-one",
        _hosts(even=EVEN, wide=(Zone(16, 28), Zone(16, 100))),
        _want(guaranteed(1, "96Gi")),
        "wide",
    ),
    Case("memory-fits-none", _ONE, _want(guaranteed(1, "96Gi"))),
    Case("hugepages-fit-one", _DEVICES, _want(guaranteed(1, hugepages="3Gi")), "together"),
    Case("hugepages-fit-none", _hosts(apart=APART), _want(guaranteed(1, hugepages="3Gi"))),
    Case(
        "memory-elsewhere",
        _hosts(crossed=(Zone(24, 16), Zone(8, 112))),
        _want(guaranteed(20, "64Gi")),
    ),
)
_OF_DEVICES = (
    Case("device-with-cpus", _DEVICES, _want(guaranteed(8, nic=1)), "together"),
    Case("device-elsewhere", _hosts(apart=APART), _want(guaranteed(8, nic=1))),
    Case("devices-together", _DEVICES, _want(guaranteed(2, nic=2)), "apart"),
    Case("devices-apart", _hosts(together=TOGETHER), _want(guaranteed(2, nic=2))),
    Case("device-of-no-zone", BOTH, _want(guaranteed(20, fpga=1)), "uneven"),
    Case(
        "two-kinds-apart", _hosts(sorted=SORTED), _want(guaranteed(2, nic=2), guaranteed(2, gpu=2))
    ),
    *(
        Case(f"two-kinds-{quality}{suffix}", _hosts(**hosts), _want(resources), goes_to)
        for quality, resources in (
            ("burstable", burstable(1, nic=2, gpu=2, storage="32Mi")),
            ("best-effort", only(nic=2, gpu=2)),
        )
        for suffix, hosts, goes_to in (
            ("", {"sorted": SORTED, "both": (Zone(16), Zone(16, nics=2, gpus=2))}, "both"),
            ("-fit-none", {"sorted": SORTED}, ""),
        )
    ),
)
_TAKEN = (
    Case(
        "zone-taken",
        _ONE,
        _want(guaranteed(8)),
        before=[("even", guaranteed(10)), ("even", guaranteed(10))],
    ),
    Case(
        "zone-left",
        BOTH,
        _want(guaranteed(10)),
        "even",
        before=[("even", guaranteed(16)), ("uneven", guaranteed(8)), ("uneven", guaranteed(15))],
    ),
    Case(
        "device-taken",
        _hosts(together=TOGETHER),
        _want(guaranteed(8, nic=1)),
        before=[("together", guaranteed(10)), ("together", guaranteed(12, nic=1))],
    ),
    # Nobody is displaced: the plugin goes on counting those who would have to go (v0.34.7 has no
    # preemption by NUMA node), so there is no more to be had than there is.
    Case(
        "priority",
        _ONE,
        _want(guaranteed(16), priorityClassName="system-cluster-critical"),
        why="Insufficient cpu",
        before=[("even", guaranteed(10)), ("even", guaranteed(10))],
    ),
)
_POLICIES = (
    Case("policy-best-effort", _hosts("best-effort", even=EVEN), _want(guaranteed(20)), "even"),
    Case(
        "pools-of-scopes",
        {"pod": Host(EVEN), "container": Host(EVEN, "container")},
        _want(guaranteed(10), guaranteed(10)),
        "container",
    ),
    Case(
        "pools-of-policies",
        {"aligned": Host(EVEN), "loose": Host(EVEN, "best-effort")},
        _want(guaranteed(20)),
        "loose",
    ),
    # Of this node nothing is published: the scheduler lets it pass, and its kubelet knows better.
    Case("no-topology", {"bare": Host(EVEN, BARE)}, _want(guaranteed(20)), why=KUBELET),
    # The cluster's own scheduler knows no NUMA nodes.
    Case("own-scheduler", _ONE, _want(guaranteed(20), scheduler="default-scheduler"), why=KUBELET),
)
_TAINTS = (
    Case(
        "tainted",
        {"even": Host(EVEN), "uneven": Host(UNEVEN, tainted=True)},
        _want(guaranteed(20)),
        why="untolerated taint",
    ),
    Case(
        "tolerated",
        {"even": Host(EVEN), "uneven": Host(UNEVEN, tainted=True)},
        _want(guaranteed(20), tolerations=[TOLERATION]),
        "uneven",
    ),
)
_AFFINITY = (
    Case(
        "selected",
        _hosts(even=EVEN, other=EVEN),
        _want(guaranteed(10), nodeSelector={"kubernetes.io/hostname": "selected-other"}),
        "other",
    ),
    Case(
        "selected-fits-none",
        BOTH,
        _want(guaranteed(20), nodeSelector={"kubernetes.io/hostname": "selected-fits-none-even"}),
    ),
    Case(
        "preferred",
        _hosts(even=EVEN, other=EVEN),
        _want(guaranteed(10), prefers="preferred-other"),
        "other",
    ),
    # What is preferred has no room on one NUMA node.
    Case(
        "preferred-fits-none",
        BOTH,
        _want(guaranteed(20), prefers="preferred-fits-none-even"),
        "uneven",
    ),
)
# Where more than one node fits. As wholes they are alike, so that the other plugins like them alike.
_BALANCED = _hosts(even=EVEN, crossed=(Zone(8, 96), Zone(24, 32)))
# The pod leaves nothing of the lopsided node's first NUMA node, so that only the other one counts.
_ROOMY = _hosts(even=EVEN, lopsided=(Zone(8, 8), Zone(24, 120)))
_STRATEGIES = (
    Case("least-allocated", _ROOMY, _want(guaranteed(8, "8Gi")), "lopsided"),
    Case("most-allocated", _ROOMY, _want(guaranteed(8, "8Gi"), scheduler="packing"), "even"),
    Case("balanced", _BALANCED, _want(guaranteed(8, "32Gi"), scheduler="balancing"), "even"),
    Case(
        "least-numa-nodes",
        _hosts("best-effort", even=EVEN, uneven=UNEVEN),
        _want(guaranteed(20), scheduler="sparing"),
        "uneven",
    ),
    Case("profile-filters", BOTH, _want(guaranteed(20), scheduler="packing"), "uneven"),
)

CASES = (
    *_POD_SCOPE,
    *_OTHERWISE_COUNTED,
    *_CONTAINER_SCOPE,
    *_OTHER_QUALITY,
    *_STORAGE,
    *_MEMORY,
    *_OF_DEVICES,
    *_TAKEN,
    *_POLICIES,
    *_TAINTS,
    *_AFFINITY,
    *_STRATEGIES,
)
