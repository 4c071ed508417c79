# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a workload must be before anything is set: the daemons' checks, in their order and words
(facts 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.rmd.answers import CrashError, RefusedError, with_details
from tests.rmd.bits import ExpressionError, parse_list, to_mask, words
from tests.rmd.faults import Dialect
from tests.rmd.machine import MBPS_MAX
from tests.rmd.node import Node, Settings
from tests.rmd.workload import Workload


def check(workload: Workload, node: Node, settings: Settings, *, itself: bool = True) -> None:
    """RefusedError or CrashError for what cannot be; fills in a policy's values. itself: its own
    record counts, too."""
    if not workload.task_ids and not workload.core_ids:
        raise RefusedError("No task or core id specified")
    for task in workload.task_ids:
        if task not in node.tasks:
            raise RefusedError(f"The task: {task} does not exist")
    if workload.policy:
        fill_by_policy(workload, node, settings)
    elif settings.dialect is Dialect.V03:
        _check_nested(workload, node, settings)
    else:
        _check_flat(workload, settings)
    others = [record for record in node.database.all() if itself or record.id != workload.id]
    try:
        check_against(workload, others, hex_cpus=node.faults.hex_cpus)
    except RefusedError as error:
        raise RefusedError(
            with_details("Workload validation in database failed", error.text)
        ) from error


def fill_by_policy(workload: Workload, node: Node, settings: Settings) -> None:
    """Overwrite the workload's values with its policy's; RefusedError when there is none of that
    name."""
    try:
        tier = settings.policies.find(workload.policy)
    except LookupError as error:
        raise RefusedError(f"Could not find the Policy. {error}") from error
    if settings.policies.yaml and node.faults.yaml_policy:
        # Its numbers are of a type that 0.3 does not look for, but the bandwidth's, which it then
        # does not set.
        workload.percentage = tier.get("mba", {}).get("percentage", workload.percentage)
    else:
        cache = tier.get("cache", {})
        workload.max, workload.min = cache.get("max", workload.max), cache.get("min", workload.min)
    if settings.dialect is Dialect.V03:
        for module, values in tier.items():
            if module not in ("cache", "mba"):
                workload.plugins[module] = dict(values)
    elif "pstate" in settings.plugins:
        if "ratio" not in tier.get("pstate", {}):
            raise RefusedError("Error while getting Ratio from P-State policy. <nil>")
        workload.pstate = {"ratio": float(tier["pstate"]["ratio"]), "monitoring": "on"}


def check_against(workload: Workload, others: Sequence[Workload], *, hex_cpus: bool) -> None:
    """RefusedError when its id, uuid, a task or a core is another's already; CrashError for cores
    without a number."""
    if workload.id and any(other.id == workload.id for other in others):
        raise RefusedError(f"Workload with id {workload.id} already exists")
    for other in others:
        if workload.uuid and other.uuid == workload.uuid:
            raise RefusedError(f"UUID {workload.uuid} already exists in workload {other.id}")
    for task in workload.task_ids:
        for other in others:
            if task in other.task_ids:
                raise RefusedError(f"TaskID {task} already exists in workload {other.id}")
    if not workload.core_ids:
        return
    if not any(char.isdigit() for item in workload.core_ids for char in item):
        raise CrashError("no number in core_ids")
    try:
        cores = parse_list(workload.core_ids)
    except ExpressionError as error:
        raise RefusedError(str(error)) from error
    taken: set[int] = set()
    for other in others:
        taken |= parse_list(other.core_ids)
    if both := cores & taken:
        # 0.3 lists those of the mask's first word only.
        listed = (
            words(to_mask(both))
            if hex_cpus
            else f"[{' '.join(str(core) for core in sorted(both) if core < 32)}]"
        )
        raise RefusedError(f"CPU list {listed} has been assigned")


def _check_nested(workload: Workload, node: Node, settings: Settings) -> None:
    """0.3: rdt and plugins."""
    machine = node.machine
    most, least = workload.max, workload.min
    if (most is None) != (least is None):
        raise RefusedError("Need to provide both cache.* or none of them")
    if machine.mba_closids and machine.mba_mbps and workload.percentage is not None:
        raise RefusedError("Please provide MBA in Mbps")
    if machine.mba_closids and not machine.mba_mbps and workload.mbps is not None:
        raise RefusedError("Please provide MBA in Percentage")
    limit = MBPS_MAX if machine.mba_mbps else 100
    if workload.mba is not None:
        if most is not None and (most != least or most == 0) and workload.mba != limit:
            raise RefusedError(
                "MBA only supported for Guaranteed Request and not for BestEffort and Shared"
            )
        if not 0 < workload.mba <= limit:
            raise RefusedError(f"MBA values in should range from 1 to {limit}")
        if not machine.mba_closids:
            raise RefusedError("This machine supports only cache and not MBA")
        if most is None:
            raise RefusedError("Need to provide both cache and mba for better performance")
    for plugin, values in workload.plugins.items():
        check_plugin(plugin, values, workload, settings)
    if most is None and workload.percentage is None and not workload.plugins:
        raise RefusedError("No RDT/Plugins params in workload")


def check_plugin(
    plugin: str, values: dict[str, object], workload: Workload, settings: Settings
) -> None:
    """0.3: the plugin is there and takes the values. What the P-state plugin itself checks is our
    guess."""
    if plugin not in settings.plugins:
        raise RefusedError("Trying to use module that is not loaded", to_blame=True)
    try:
        parse_list([*workload.core_ids, *workload.task_ids])
    except ExpressionError as error:
        raise RefusedError("Invalid params (core ids) received", to_blame=True) from error
    if plugin == "pstate":
        ratio, monitoring = values.get("ratio"), values.get("monitoring", "on")
        if ratio is not None and (not isinstance(ratio, (int, float)) or ratio <= 0):
            raise RefusedError(
                with_details("Invalid params received", "Invalid P-State Branch Ratio given"),
                to_blame=True,
            )
        if str(monitoring).lower() not in ("on", "off"):
            raise RefusedError(
                with_details("Invalid params received", "Invalid P-State Monitoring value"),
                to_blame=True,
            )


def _check_flat(workload: Workload, settings: Settings) -> None:
    """0.2: cache and pstate."""
    if (workload.max is None) != (workload.min is None):
        raise RefusedError("Need to provide both *_cache or none of them")
    pstate = workload.pstate
    if pstate and "pstate" not in settings.plugins:
        raise RefusedError("P-State configuration given while plugin not enabled")
    if pstate.get("ratio", 1) <= 0:
        raise RefusedError("Invalid P-State Branch Ratio given")
    if "ratio" in pstate:
        pstate.setdefault("monitoring", "on")
    if "monitoring" in pstate:
        if pstate["monitoring"] not in ("on", "off", "ON", "OFF"):
            raise RefusedError("Invalid P-State Monitoring value")
        pstate["monitoring"] = pstate["monitoring"].lower()
    if workload.max is None and not pstate:
        raise RefusedError("No Cache neither PState params in workload")
