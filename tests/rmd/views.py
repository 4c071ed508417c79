# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon shows of the machine: caches, policies, MBA, hospitality, plugins (facts 4.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.rmd.answers import Answer, RefusedError, entity, text
from tests.rmd.bits import from_mask, parse_list, runs, write_list
from tests.rmd.faults import Dialect
from tests.rmd.node import Node, Settings, Ways, largest_run, pool_of
from tests.rmd.resctrl import ROOT

Obj = dict[str, Any]
_LINE = 64
_NOT_COUNTED = {"infra", ROOT}
# The daemon's names of the pools here, and their own.
_SHOWN = (
    ("guaranteed", "guarantee"),
    ("besteffort", "besteffort"),
    ("shared", "shared"),
    ("infra", "infra"),
    ("os", "os"),
)


def _sorted(content: Any) -> Any:
    """Maps in the order in which Go writes them."""
    if isinstance(content, Mapping):
        return {key: _sorted(content[key]) for key in sorted(content)}
    return content


class Views:
    """Answers of the parts that change nothing. The caller holds the daemon's lock."""

    def __init__(self, node: Node, settings: Settings) -> None:
        self.node = node
        self.settings = settings
        self.ways = Ways(node, settings.pools)

    def summary(self) -> Answer:
        """GET /cache."""
        machine = self.node.machine
        found = {"number": machine.sockets, "caches_id": [str(cache) for cache in machine.caches]}
        l2 = {"number": machine.cpus, "caches_id": [str(cpu) for cpu in range(machine.cpus)]}
        flags = {
            "rdt": True,
            "cqm": True,
            "cdp": True,
            "cdp_enable": False,
            "cat": True,
            "cat_enable": True,
        }
        return entity({**flags, "caches": {"l2": l2, "l3": found}})

    def level(self, name: str) -> Answer:
        """GET /cache/LEVEL; what is refused has no text."""
        try:
            if name == "l2":
                raise RefusedError("Error to get available cache")
            infos = {str(cache): self._info(cache) for cache in self.node.machine.caches}
        except RefusedError:
            return text(400, "", sniffed=True)
        return entity({"number": len(infos), "Caches": infos})

    def cache(self, name: str, key: str) -> Answer:
        """GET /cache/LEVEL/ID."""
        if not key.isdecimal():
            return text(404, "404: Page Not Found", sniffed=True)
        if self.level(name).status != 200:
            return text(500, "", sniffed=True)
        if int(key) not in self.node.machine.caches:
            return text(404, f"Cache id {int(key)} for level 3 is not found", sniffed=True)
        return entity(self._info(int(key)))

    def policy(self) -> Answer:
        """GET /policy; 0.2 has all numbers as strings."""
        tiers = self.settings.policies.tiers
        if tiers is None:
            return text(404, "Failed to load policy", sniffed=True)
        if self.settings.dialect is Dialect.V02:
            tiers = {
                name: {
                    module: {key: str(value) for key, value in values.items()}
                    for module, values in tier.items()
                }
                for name, tier in tiers.items()
            }
        return entity(_sorted(tiers))

    def mba(self) -> Answer:
        """GET /mba."""
        machine = self.node.machine
        if not machine.mba_closids:
            return entity({"mba": False})
        return entity(
            {
                "mba": True,
                "mba_enable": True,
                "mba_step": machine.mba_step,
                "mba_min": machine.mba_min,
            }
        )

    def plugin(self, name: str) -> Answer:
        """GET /PLUGIN: what a plugin shows is its own affair; this one shows who uses it."""
        users = {
            record.id: {"core_ids": record.core_ids, **(record.plugins.get(name) or record.pstate)}
            for record in self.node.database.all()
            if name in record.plugins or record.pstate
        }
        return entity({name: users})

    def hospitality(self, body: bytes) -> Answer:
        """POST /hospitality."""
        try:
            asked = json.loads(body or b"null") or {}
            most, least = int(asked.get("max_cache", 0)), int(asked.get("min_cache", 0))
        except (ValueError, AttributeError) as error:
            return text(500, f"invalid request: {error}")
        try:
            if asked.get("policy"):
                most, least = self._policy(str(asked["policy"]))
            scores = self._scores(most, least)
        except RefusedError as error:
            return text(500, error.text, sniffed=True)
        if asked.get("cache_id") is not None:
            scores = {key: score for key, score in scores.items() if key == str(asked["cache_id"])}
        return entity({"score": {"l3": scores}})

    def _policy(self, name: str) -> tuple[int, int]:
        policies = self.settings.policies
        try:
            cache = policies.find(name).get("cache", {})
        except LookupError as error:
            raise RefusedError(f"Can not find Policy. Details: {error}\n") from error
        if self.node.faults.hospitality_policy and not policies.yaml:
            raise RefusedError("Unknown AppError type!")
        return cache["max"], cache["min"]

    def _scores(self, most: int, least: int) -> dict[str, int]:
        try:
            pool = pool_of(most, least) if (most, least) == (0, 0) or most else ""
        except RefusedError:
            pool = ""
        if not pool:
            raise RefusedError(f"Bad request, max_cache={most}, min_cache={least}")
        free = self._free(pool) or {}
        if pool == "shared":
            # 0.3 counts workloads of a group called "shared", which it has not any more.
            using = [record for record in self.node.database.all() if record.cos_name == "shared"]
            room = len(using) < self.settings.pools.max_allowed_shared
            return dict.fromkeys(map(str, free), 100 if room else 0)
        return {
            str(cache): min(100, largest_run(mask, least) * 100 // most)
            for cache, mask in free.items()
        }

    def _free(self, pool: str) -> dict[int, int] | None:
        """What is left of a pool, None when there is no such pool."""
        try:
            return self.ways.free(pool, ignore=_NOT_COUNTED)
        except RefusedError as error:
            if "doesn't support pool" in error.text:
                return None
            raise

    def _info(self, cache: int) -> Obj:
        machine, settings = self.node.machine, self.settings
        own = machine.cpus_of(cache)
        pools = {}
        for shown, pool in _SHOWN:
            free = self._free(pool)
            if free is not None and cache in free:
                pools[shown] = write_list(from_mask(free[cache]))
        reserved = parse_list(
            [item for item in (settings.pools.os_cpus, settings.pools.infra_cpus) if item]
        )
        idle = (own - reserved) & self.node.resctrl.groups[ROOT].cpus
        isolated = parse_list([machine.isolated]) if machine.isolated else set()
        sets = machine.way_kib * 1024 // _LINE
        return {
            "cache_id": cache,
            "NumWays": machine.ways,
            "NumSets": sets,
            "NumPartitions": 0,
            "LineSize": _LINE,
            "total_size": machine.ways * machine.way_kib * 1024,
            "WaySize": sets * _LINE,
            "NumClasses": 0,
            "WayContention": 0,
            "CacheLevel": 3,
            "location_on_socket": str(cache),
            "location_on_node": str(cache),
            "share_cpu_list": machine.share_list(cache),
            "available_ways": f"{self.ways.free('none', ignore={'infra'})[cache]:x}",
            "available_cpus": write_list(idle),
            "available_isolated_cpus": write_list(idle & isolated),
            "available_policy": self._policy_counts(cache),
            "available_ways_pool": _sorted(pools),
        }

    def _policy_counts(self, cache: int) -> dict[str, int]:
        """How many workloads of each policy there is still room for."""
        policies = self.settings.policies
        if policies.yaml and self.node.faults.yaml_policy and policies.tiers:
            raise RefusedError("Failed to convert type for max cache")
        counts = {}
        for name, tier in sorted((policies.tiers or {}).items()):
            if not {"max", "min"} <= set(tier.get("cache", {})):
                raise RefusedError("Max cache doesn't exist in policy")
            most, least = tier["cache"]["max"], tier["cache"]["min"]
            pool = pool_of(most, least)
            free = self._free(pool)
            if pool == "shared":
                counts[name] = self.settings.pools.max_allowed_shared if free is not None else 0
            else:
                ways = most if pool == "guarantee" else least
                counts[name] = sum(
                    length // ways for _low, length in runs((free or {}).get(cache, 0))
                )
        return counts
