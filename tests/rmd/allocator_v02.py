# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How RMD 0.2 allocates: a group in resctrl for each workload, named by its cores, and one for all
shared ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.rmd.allocator import Allocator, Request
from tests.rmd.answers import RefusedError, StartError, with_details
from tests.rmd.bits import ExpressionError, highest, lowest, parse_list
from tests.rmd.kernel_rules import KernelError
from tests.rmd.node import cores_of
from tests.rmd.resctrl import ROOT
from tests.rmd.workload import Workload

INFRA = "infra"
RESERVED = {INFRA, ROOT}
SHARED = "shared"
_NEVER_CHECKED = ("os", "OS", ROOT, INFRA, "default")


class Allocator02(Allocator):
    """Keeps nothing beside the groups."""

    def boot(self) -> None:
        node = self.node
        for record in node.database.all():
            name = record.cos_name
            known = name in node.resctrl.groups or name in _NEVER_CHECKED
            if not name or not known or not (node.faults.ghosts or self._holds(record)):
                node.database.delete(record)
        try:
            self._set_os()
        except RefusedError as error:
            raise StartError(f"Error, create OS groups failed! Reason: {error.text}") from error
        pools = self.settings.pools
        if pools.infra:
            node.resctrl.make(INFRA)
            masks = {
                cache: mask or node.machine.full
                for cache, mask in self.ways.layout["infra"].items()
            }
            node.resctrl.set_masks(INFRA, masks)
            node.resctrl.assign(INFRA, parse_list([pools.infra_cpus]))

    def enforce(self, workload: Workload) -> None:
        workload.status = "Failed"
        request = self.request(workload)
        if request.pool is not None:
            try:
                free = self.ways.free(request.pool, ignore=RESERVED)
            except RefusedError as error:
                raise RefusedError(f"Unable to read cache schemata; {error.text}") from error
            self._commit(workload, request, self.masks(request, free))
        workload.status = "Successful"

    def release(self, workload: Workload) -> None:
        resctrl, name = self.node.resctrl, workload.cos_name
        if name not in resctrl.groups:
            return
        group = resctrl.groups[name]
        left = group.cpus - parse_list(workload.core_ids)
        tasks = [task for task in group.tasks if task not in workload.task_ids]
        if not self.libpqos():
            return
        if not left and not tasks:
            resctrl.remove(name)
            self._set_os()
            return
        resctrl.move_tasks(ROOT, workload.task_ids)
        resctrl.take_back(name, left)

    def snapshot(self) -> Any:
        return self.node.resctrl.snapshot()

    def restore(self, kept: Any) -> None:
        self.node.resctrl.restore(kept)

    def policy_ways(self, name: str) -> tuple[int | None, int | None]:
        try:
            cache = self.settings.policies.find(name).get("cache", {})
        except LookupError as error:
            raise RefusedError(f"Could not find the Policy.. Details: {error}\n") from error
        return cache.get("max"), cache.get("min")

    def check_order(self, most: int, least: int) -> None:
        """0.2 leaves it to the pools."""

    def shrink(self, request: Request, cache: int) -> int:
        """The groups of the pool keep their minimum, at the high end of what they have; the rest is
        to be had."""
        free = self.ways.layout["besteffort"][cache]
        groups = {
            name: group
            for name, group in self.node.resctrl.groups.items()
            if name.endswith("-besteffort")
        }
        least = {record.cos_name: record.min or 0 for record in self.node.database.all()}
        for name, group in groups.items():
            if name not in least:
                raise RefusedError(f"Errors while try to shrink cache ways on cache_id {cache}")
            free &= ~highest(group.masks[cache], least[name])
        chosen = lowest(free, request.least)
        for name, group in groups.items():
            if group.masks[cache] & chosen and group.masks[cache] != self.node.machine.full:
                self.node.resctrl.set_masks(name, {cache: group.masks[cache] & ~chosen})
        return chosen

    def _commit(self, workload: Workload, request: Request, masks: dict[int, int]) -> None:
        node = self.node
        owners = workload.task_ids or workload.core_ids
        name = SHARED if request.pool == "shared" else f"{'_'.join(owners)}-{request.pool}"
        cores = cores_of(workload, node.machine.cpus, node.faults)
        if self.libpqos():
            is_new = name not in node.resctrl.groups
            try:
                self._set(name, workload, masks, cores)
            except KernelError as error:
                if is_new and name in node.resctrl.groups:
                    node.resctrl.remove(name)
                told = "Error to commit resource group for workload."
                raise RefusedError(with_details(told, str(error))) from error
            try:
                self._set_os()
            except RefusedError as error:
                node.resctrl.remove(name)
                told = "Error while try to commit resource group for default group."
                raise RefusedError(with_details(told, error.text)) from error
        workload.cos_name = name

    def _set(self, name: str, workload: Workload, masks: dict[int, int], cores: set[int]) -> None:
        node = self.node
        node.resctrl.make(name)
        swapped = (
            dict(zip(masks, reversed(masks.values()), strict=True))
            if node.faults.mistakes_sockets()
            else masks
        )
        place = f"write /sys/fs/resctrl/{name}"
        with _at(f"{place}/schemata"):
            node.resctrl.set_masks(name, swapped)
        node.resctrl.move_tasks(name, workload.task_ids)
        with _at(f"{place}/cpus"):
            node.resctrl.assign(name, cores)

    def _set_os(self) -> None:
        """The OS group takes its CPUs back from whoever has them."""
        node = self.node
        os_cpus = (
            parse_list([self.settings.pools.os_cpus]) if self.settings.pools.os_cpus else set()
        )
        masks = self.ways.os_masks(self.ways.free("none", ignore=RESERVED))
        for cache in node.machine.caches:
            if not node.machine.cpus_of(cache) & os_cpus:
                masks[cache] = node.machine.full
        node.resctrl.set_masks(ROOT, masks)
        node.resctrl.assign(ROOT, os_cpus)

    def _holds(self, record: Workload) -> bool:
        try:
            return parse_list(record.core_ids) <= self.node.resctrl.groups[record.cos_name].cpus
        except ExpressionError:
            return False


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where the kernel has refused something, as Go's os package does."""
    try:
        yield
    except KernelError as error:
        raise KernelError(error.errno or 0, error.status, f"{place}: invalid argument") from error
