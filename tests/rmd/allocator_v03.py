# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How RMD 0.3 allocates: numbered classes that libpqos makes at the start, COS0 (".") and COS1
reserved."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from tests.rmd.allocator import Allocator, Request
from tests.rmd.answers import RefusedError, StartError
from tests.rmd.bits import ExpressionError, lowest, parse_list
from tests.rmd.kernel_rules import KernelError
from tests.rmd.node import cores_of
from tests.rmd.resctrl import ROOT
from tests.rmd.workload import Workload

INFRA = "COS1"
RESERVED = {INFRA, ROOT}


class Allocator03(Allocator):
    """available, used: classes by name, first in, first out. shared: the one for all shared
    workloads, "" for none."""

    available: list[str]
    used: list[str]
    shared = ""

    def boot(self) -> None:
        """The checks of the root process, of the boot and of the workload module, in their order."""
        node, machine, faults = self.node, self.node.machine, self.node.faults
        self._check_mba_mode()
        for number in range(1, machine.groups):
            node.resctrl.make(f"COS{number}")
        if (
            machine.mba_closids
            and len(node.resctrl.groups) >= machine.closids
            and faults.equal_closids
        ):
            used = len(node.resctrl.groups)
            raise StartError(
                f"Error, create OS groups failed! Reason: error, not enough CLOS on host, {used} used"
            )
        for record in node.database.all():
            if record.cos_name not in node.resctrl.groups or not (
                faults.ghosts or self._holds(record)
            ):
                node.database.delete(record)
        # The OS group is set before it is known which classes are in use: whatever has less than
        # all ways counts.
        self.used, self.available = (
            [],
            [name for name in node.resctrl.groups if self._is_default(name)],
        )
        self._set_os()
        self._set_infra()
        self.available = [f"COS{number}" for number in range(2, machine.groups)]
        if not machine.mba_closids and faults.needs_mba:
            raise StartError(
                "Failed to initialize workload module: CLOS pool initialization failure"
            )
        for record in node.database.all():
            self._check_record(record)

    def enforce(self, workload: Workload) -> None:
        workload.status = "Failed"
        request = self.request(workload)
        if workload.mba is not None and not workload.policy:
            if not self.node.machine.mba_closids:
                raise RefusedError("MBA is not supported in this machine")
            request.mba = workload.mba
        masks = {}
        if request.pool is not None:
            masks = self.masks(request, self._free(request.pool))
        if request.pool is not None or request.mba is not None:
            self._commit(workload, request, masks)
        for plugin in workload.plugins:
            if plugin not in self.settings.plugins:
                raise RefusedError("Trying to use module that is not loaded")
        workload.status = "Successful"

    def release(self, workload: Workload) -> None:
        name = workload.cos_name
        if not name:
            return
        resctrl = self.node.resctrl
        if self.libpqos():
            resctrl.move_tasks(ROOT, workload.task_ids)
            resctrl.assign(ROOT, self._cores_as_numbers(workload.core_ids))
        if name == self.shared:
            group = resctrl.groups[name]
            if group.tasks or group.cpus:
                self._set_os()
                return
        machine = self.node.machine
        if name in resctrl.groups and self.libpqos():
            resctrl.set_masks(name, dict.fromkeys(machine.caches, machine.full))
            resctrl.set_mba(name, dict.fromkeys(machine.caches, machine.mba_default))
        self._give_back(name)
        self._set_os()

    def snapshot(self) -> Any:
        return self.node.resctrl.snapshot(), copy.deepcopy((self.available, self.used, self.shared))

    def restore(self, kept: Any) -> None:
        groups, (self.available, self.used, self.shared) = kept
        self.node.resctrl.restore(groups)

    def policy_ways(self, name: str) -> tuple[int | None, int | None]:
        policies = self.settings.policies
        if policies.yaml and self.node.faults.yaml_policy:
            return None, None
        try:
            cache = policies.find(name).get("cache", {})
        except LookupError as error:
            raise RefusedError(f"Could not find the Policy.. Details: {error}\n") from error
        return cache.get("max"), cache.get("min")

    def check_order(self, most: int, least: int) -> None:
        if least > most:
            raise RefusedError(
                "Min cache value cannot be greater than max cache value", to_blame=True
            )

    def shrink(self, request: Request, cache: int) -> int:
        # It looks for groups whose names end in -besteffort, which 0.3 has none of: others' ways
        # are given again.
        return lowest(self.ways.layout["besteffort"][cache], request.least)

    def _free(self, pool: str) -> dict[int, int]:
        try:
            return self.ways.free(pool, ignore=RESERVED, unused=set(self.available))
        except RefusedError as error:
            raise RefusedError(f"Unable to read cache schemata; {error.text}") from error

    def _commit(self, workload: Workload, request: Request, masks: dict[int, int]) -> None:
        node = self.node
        name = self._shared_class() if request.pool == "shared" else self._take()
        if request.mba is not None and request.pool == "shared":
            raise RefusedError("MBA forbidden for shared group", to_blame=True)
        cores = cores_of(workload, node.machine.cpus, node.faults)
        if self.libpqos():
            # What libpqos cannot set is in the log only, and ends what was to be set after it.
            with contextlib.suppress(KernelError):
                self._set(name, workload, request, masks, cores)
        self._set_os()
        workload.cos_name = name

    def _set(
        self,
        name: str,
        workload: Workload,
        request: Request,
        masks: dict[int, int],
        cores: set[int],
    ) -> None:
        node = self.node
        if masks:
            node.resctrl.set_masks(name, self._on_sockets(masks))
        if workload.task_ids:
            node.resctrl.move_tasks(name, workload.task_ids)
        else:
            node.resctrl.assign(name, cores)
        if request.mba is not None:
            default = node.machine.mba_default
            values = {
                cache: request.mba if cache in request.caches else default
                for cache in node.machine.caches
            }
            node.resctrl.set_mba(name, values)

    def _on_sockets(self, masks: dict[int, int]) -> dict[int, int]:
        if not self.node.faults.mistakes_sockets():
            return masks
        caches = sorted(masks)
        return {cache: masks[caches[index - 1]] for index, cache in enumerate(caches)}

    def _cores_as_numbers(self, items: list[str]) -> set[int]:
        """0.3 reads each item as one number, and what is none as 0."""
        if not self.node.faults.range_delete:
            return parse_list(items)
        return {int(item) if item.strip().isdecimal() else 0 for item in items}

    def _take(self) -> str:
        if not self.available:
            raise RefusedError("No free CLOS available", to_blame=True)
        self.used.append(self.available.pop(0))
        return self.used[-1]

    def _shared_class(self) -> str:
        if not self.shared:
            if not self.available:
                raise RefusedError("No free CLOS left to create shared group", to_blame=True)
            self.shared = self._take()
        return self.shared

    def _give_back(self, name: str) -> None:
        if name == self.shared:
            self.shared = ""
            self.available.append(name)
        elif name in self.used:
            self.used.remove(name)
            self.available.append(name)

    def _set_os(self) -> None:
        free = self.ways.free("none", ignore=RESERVED, unused=set(self.available))
        if self.libpqos():
            self.node.resctrl.set_masks(ROOT, self.ways.os_masks(free))

    def _set_infra(self) -> None:
        pools, machine = self.settings.pools, self.node.machine
        if pools.infra:
            masks = {
                cache: mask or machine.full for cache, mask in self.ways.layout["infra"].items()
            }
            self.node.resctrl.set_masks(INFRA, masks)
            self.node.resctrl.assign(INFRA, parse_list([pools.infra_cpus]))

    def _is_default(self, name: str) -> bool:
        return set(self.node.resctrl.groups[name].masks.values()) == {self.node.machine.full}

    def _holds(self, record: Workload) -> bool:
        try:
            cores = parse_list(record.core_ids)
        except ExpressionError:
            return False
        return cores <= self.node.resctrl.groups[record.cos_name].cpus

    def _check_mba_mode(self) -> None:
        machine, mode = self.node.machine, self.settings.mba_mode
        if mode not in ("none", "percentage", "mbps"):
            raise StartError("Invalid MBA mode in rmd.toml")
        platform = (
            "none" if not machine.mba_closids else "mbps" if machine.mba_mbps else "percentage"
        )
        if mode in ("none", platform) or not self.node.faults.needs_mba:
            return
        if self.settings.force and platform != "none":
            raise StartError(
                "Failed to reset PQOS with correct MBA mode: the simulated machine cannot be remounted"
            )
        raise StartError(
            "Requested and currently set MBA mode differ.Change settings in rmd.toml, re-mount resctrl filesystem or "
            "use '--force-config' flag to force platform settings"
        )

    def _check_record(self, record: Workload) -> None:
        mode = self.settings.mba_mode
        if (record.percentage is not None and mode != "percentage") or (
            record.mbps is not None and mode != "mbps"
        ):
            raise StartError(
                "Failed to initialize workload module: Workload in database contains MBA setting (percentage) not "
                f"compatible with current configuration ({mode})"
            )
        name = record.cos_name
        if name in self.available:
            self.available.remove(name)
            self.used.append(name)
        elif self.node.faults.shared_restart:
            raise StartError(
                "Failed to initialize workload module: Problem with CLOS of workload from database: "
                f"CLOS {name} not found on available list"
            )
