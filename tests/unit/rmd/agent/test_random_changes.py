# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node on which everything happens in any order: workloads, pods, boots, killed agents, strays,
groups of others, hands. What never may happen is looked at after each write, and after each look."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from declared import group_of, is_ours

from tests.rmd.kernel_rules import KernelError
from tests.rmd.resctrl import ROOT, Resctrl
from tests.unit.rmd.agent.dividing import GUARANTEED_WAYS, DividedNode, Obj, entry, whys

CHANGES = int(os.environ.get("HE_CACHE_CHANGES", "400"))
SEEDS = [int(text) for text in os.environ.get("HE_CACHE_SEEDS", "1,2").split(",")]
CORES = range(1, 8)
FOREIGN = ("COS2", "pqos", "runtime")


class KilledError(BaseException):
    """The agent ends in the middle of its writes."""


class Chaos:
    """A node, what is asked of it, and what was in force at the last look."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same each time
        self.node = DividedNode(folder, self.watch)
        self.wanted: dict[str, Obj] = {}
        self.pods: dict[str, Obj] = {}
        self.told: dict[str, dict[str, str]] = {}
        self.counts: Counter[str] = Counter()
        # Who asked for something else since the last look.
        self.changed: set[str] = set()
        # Somebody else's hand was in the tree: its traces are ours to mend, not to foresee.
        self.is_disturbed = False
        self.writes_left = -1
        self.shared: list[str] = []
        self.made = 0

    def watch(self, tree: Resctrl) -> None:
        self.counts["writes"] += 1
        if not self.is_disturbed:
            self.shared += ours_shared(self.node, tree)
        self.writes_left -= 1
        if self.writes_left == 0:
            raise KilledError

    def step(self) -> None:
        """One change, and the looks after it."""
        names = ["declare"] * 5 + ["withdraw"] * 3 + ["pod"] * 3 + ["end"] * 2
        names += ["boot", "boot", *["kill"] * 4, "stray", "foreign", "foreign_goes", "hand"]
        name = self.chance.choice(names)
        self.counts[name] += 1
        self.changed.clear()
        self.is_disturbed = False
        before, places = set(self.in_force), self.places()
        getattr(self, f"_{name}")()
        if name == "boot":
            # The containers of pods are not running yet.
            self.look("terminated")
            assert before <= set(self.in_force)
            assert {uuid: self.places()[uuid] for uuid in before} == places
        self.look()
        if name not in ("foreign", "foreign_goes"):
            kept = before - self.changed
            assert kept <= set(self.in_force), (name, whys(self.told))
            assert {uuid: self.places()[uuid] for uuid in kept} == {
                uuid: places[uuid] for uuid in kept
            }
        told = self.told
        self.is_disturbed = False
        self.look()
        assert self.node.files.writes == []
        assert {uuid: why for uuid, why in self.told.items() if told.get(uuid) != why} == {}

    @property
    def in_force(self) -> list[str]:
        return [uuid for uuid, found in self.told.items() if "group" in found]

    def places(self) -> dict[str, dict[int, int]]:
        """Of what has ways for itself, its ways where it has cores."""
        tree, found = self.node.tree, {}
        for uuid in self.in_force:
            group = tree.groups[self.told[uuid]["group"]]
            found[uuid] = {
                cache: mask
                for cache, mask in group.masks.items()
                if group.cpus & self.node.machine.cpus_of(cache) and not mask & ~GUARANTEED_WAYS
            }
        return found

    def look(self, state: str = "running") -> None:
        """One look; all that must be true after each."""
        for pod in self.pods.values():
            pod["status"]["containerStatuses"] = [{"name": "main", "state": {state: {}}}]
        self.node.manager = {
            uid: {"main": pod["cores"]} for uid, pod in self.pods.items() if state == "running"
        }
        self.told = self.node.converge(self.wanted, list(self.pods.values()))
        self.counts["looks"] += 1
        tree, reasons = self.node.tree, whys(self.told)
        self.counts["refused"] += len(reasons)
        assert (self.node.problems, self.shared, ours_shared(self.node, tree)) == ([], [], [])
        assert not [why for why in reasons.values() if "did not take" in why]
        for uuid, why in reasons.items():
            for other in self.told:
                if f" is workload {other}'s" in why:
                    assert other in self.in_force, (uuid, why)
        ours = {name for name in tree.groups if is_ours(name)}
        assert ours == {self.told[uuid]["group"] for uuid in self.in_force}
        for uuid in self.in_force:
            assert set(self.cores(uuid)) <= tree.groups[self.told[uuid]["group"]].cpus

    def cores(self, uuid: str) -> list[int]:
        if uuid in self.wanted:
            return [int(core) for core in self.wanted[uuid]["coreIds"]]
        return [int(self.pods[uid]["cores"]) for uid in self.pods if uuid == self.uuid_of(uid)]

    def uuid_of(self, uid: str) -> str:
        return f"team.{self.pods[uid]['metadata']['name']}-rmd-workload-main"

    def _declare(self) -> None:
        uuid = self.chance.choice("abcdefgh")
        cores = ",".join(map(str, self.chance.sample(CORES, self.chance.randint(1, 2))))
        most = self.chance.choice([0, 1, 1, 2, 2, 3, 5, 99])
        least = most if self.chance.random() < 0.7 else min(most, 1)
        more = {"mba": {"percentage": 50}} if self.chance.random() < 0.1 else {}
        self.wanted[uuid] = entry(cores, most, least, **more)
        self.changed.add(uuid)

    def _withdraw(self) -> None:
        if self.wanted:
            uuid = self.chance.choice(sorted(self.wanted))
            del self.wanted[uuid]
            self.changed.add(uuid)

    def _pod(self) -> None:
        """The CPU manager gives no core twice."""
        free = sorted({str(core) for core in CORES} - {pod["cores"] for pod in self.pods.values()})
        if free:
            self.made += 1
            limits = {"cpu": "1", "memory": "1Gi"}
            limits["intel.com/l3_cache_ways"] = str(self.chance.choice([1, 1, 2, 3]))
            uid = f"uid-{self.made}"
            name = f"{self.chance.choice('az')}{self.made}"
            self.pods[uid] = {
                "metadata": {"name": name, "namespace": "team", "uid": uid},
                "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
                "status": {"phase": "Running", "qosClass": "Guaranteed"},
                "cores": self.chance.choice(free),
            }

    def _end(self) -> None:
        if self.pods:
            uid = self.chance.choice(sorted(self.pods))
            self.changed.add(self.uuid_of(uid))
            del self.pods[uid]

    def _boot(self) -> None:
        self.node.tree.reset()

    def _kill(self) -> None:
        self._declare()
        self.writes_left = self.chance.randint(1, 6)
        try:
            self.look()
        except KilledError:
            self.counts["killed"] += 1
        self.writes_left = -1

    def _stray(self) -> None:
        self.by_hand(lambda tree: tree.make(group_of(self.chance.choice("abcdefgh"))))

    def _foreign(self) -> None:
        """As mkdir leaves it, or with ways, or with a core as well."""
        name, how = self.chance.choice(FOREIGN), self.chance.random()
        self.by_hand(lambda tree: tree.make(name))
        if name not in self.node.tree.groups:
            return
        ways = self.chance.randint(1, 3)
        mask = ((1 << ways) - 1) << self.chance.randint(0, 11 - ways)
        if how > 0.3:
            self.by_hand(lambda tree: tree.set_masks(name, {self.chance.choice([0, 1]): mask}))
        if how > 0.6:
            self.by_hand(lambda tree: tree.assign(name, [self.chance.choice(CORES)]))

    def _foreign_goes(self) -> None:
        for name in set(FOREIGN) & self.node.tree.groups.keys():
            self.by_hand(lambda tree, name=name: tree.remove(name))  # type: ignore[misc]

    def _hand(self) -> None:
        """Somebody writes into one of our groups, or the default one."""
        name = self.chance.choice([name for name in self.node.tree.groups if name not in FOREIGN])
        mask = 0b11 << self.chance.randint(0, 9)
        hands: list[Callable[[Resctrl], object]] = [
            lambda tree: tree.set_masks(name, {0: mask, 1: mask}),
            lambda tree: tree.remove(name) if name != ROOT else None,
            lambda tree: tree.assign(name, [self.chance.choice(CORES)]) if name != ROOT else None,
        ]
        self.by_hand(self.chance.choice(hands))

    def by_hand(self, change: Callable[[Resctrl], object]) -> None:
        """What the kernel refuses it refuses hands as well."""
        self.is_disturbed = True
        try:
            change(self.node.tree)
        except KernelError:
            self.counts["hands refused"] += 1


def ours_shared(node: DividedNode, tree: Resctrl) -> list[str]:
    """Of groups that are ours, and the default one, those with ways that are another one's alone."""
    ours = Resctrl(node.machine)
    ours.groups = {
        name: group for name, group in tree.groups.items() if name == ROOT or is_ours(name)
    }
    return node.exclusive_ways_are_shared(ours)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens(tmp_path: Path, seed: int) -> None:
    chaos = Chaos(tmp_path, seed)
    for _change in range(CHANGES):
        chaos.step()
    print(dict(chaos.counts))
    assert min(chaos.counts[name] for name in ("boot", "killed", "stray", "foreign", "hand")) > 0
    assert chaos.counts["writes"] > CHANGES
    assert chaos.counts["refused"] > CHANGES
