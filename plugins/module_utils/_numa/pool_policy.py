# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What exporters have to publish of the kubelets of a pool, and which options contradict each
other. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import EnablementError, InvalidInput
from .._json import elements, part
from .kubelet_pools import pool_report

POLICIES = ("topology_manager_policy", "topology_manager_scope")
# Without these no CPU, or no memory, is published of a node.
_MANAGERS = {"cpu_manager_policy": "static", "memory_manager_policy": "Static"}
_SHOWN = 3


def policies_of(
    pool: str, nodes: Sequence[str], running: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """The policies that a pool's kubelets run, by the recipe's names; {} where none of them was
    read.

    running: node -> settings. Raises EnablementError where they do not agree: what an exporter
    publishes is said once for each pool.
    """
    read = {
        node: {name: running[node][name] for name in (*POLICIES, *_MANAGERS)}
        for node in nodes
        if node in running
    }
    report = pool_report(pool, sorted(read), read, ())
    whose = f"pool {pool}" if pool else "these nodes"
    if report["differs"]:
        found = report["differs"][0]
        values = "; ".join(
            f"{entry['value']} on {_names(entry['nodes'])}" for entry in found["values"]
        )
        raise EnablementError(
            f"the kubelets of {whose} do not agree",
            why=f"{found['setting']} is {values}",
            todo="configure them alike, or give a pool to each (hardware_enablement_pools)",
        )
    found = report["settings"]
    if found.get("topology_manager_policy") == "single-numa-node":
        _refuse_half_aligned(whose, found)
    return {name: found[name] for name in POLICIES if name in found}


def recorded_policies(
    pool: str, record: Mapping[str, Any] | None, defaults: Mapping[str, str]
) -> dict[str, str]:
    """The policies that are published of a pool by now; {} where the record does not know the pool.

    record: the SpecialResource. defaults: of the recipe, which the record leaves out.
    """
    spec = part(record or {}, "spec")
    pools = {each["name"]: part(each, "options") for each in elements(spec, "pools")}
    if not spec or (pool and pools and pool not in pools):
        return {}
    known = {**defaults, **part(spec, "options"), **pools.get(pool, {})}
    return {name: str(known[name]) for name in POLICIES}


def unread(problems: Mapping[str, str]) -> str:
    """What a person has to know of kubelets that were not read. problems: node -> why, at least one."""
    nodes = sorted(problems)
    return (
        "kubelets that do not say what they run, and are taken to run what is known of their pools:"
        f" {_names(nodes)} ({nodes[0]}: {problems[nodes[0]]})"
    )


def nothing_said(pool: str, node: str, why: str) -> EnablementError:
    """The refusal where no kubelet of a pool, "" for all nodes, was read and none is known from before.
    why: of one of its nodes, which may end with what to do."""
    return EnablementError(
        f"no kubelet of pool {pool} says what it runs" if pool else "no kubelet says what it runs",
        where=f"node {node}",
        why=why,
        todo="until one does, give topology_manager_policy and topology_manager_scope among the options"
        f"{' of the pool' if pool else ''}",
    )


def _refuse_half_aligned(whose: str, settings: Mapping[str, Any]) -> None:
    """What a manager does not give away is not published, and the scheduler takes it for something
    that no NUMA node has."""
    missing = [name for name, wanted in _MANAGERS.items() if settings[name] != wanted]
    if missing:
        found = ", ".join(f"{name} is {settings[name]}" for name in missing)
        wanted = ", ".join(f"{name} {_MANAGERS[name]}" for name in missing)
        raise EnablementError(
            f"no Guaranteed pod would find a place on {whose}",
            why=f"their kubelets align pods (single-numa-node), but {found}",
            todo=f"configure them with {wanted}, or leave these nodes out",
        )


def digest_of(
    members: Mapping[str, Sequence[str]], policies: Mapping[str, Mapping[str, str]]
) -> str:
    """16 hex digits over which nodes there are, and what is published of them. members: pool ->
    nodes."""
    entries = sorted(
        f"{node} {sorted((policies.get(pool) or {}).items())}"
        for pool, nodes in members.items()
        for node in nodes
    )
    return hashlib.sha256("\n".join(entries).encode()).hexdigest()[:16]


def refuse_contradictions(options: Mapping[str, Any], where: str) -> None:
    """Raise InvalidInput for options of which one would do nothing, or worse, beside another."""
    for wrong, why, todo in (
        (
            options["exporter"] == "nfd" and options["fingerprint"] == "exclusive",
            "NFD's topology-updater makes a fingerprint of all pods",
            "set fingerprint to auto, or exporter to rte",
        ),
        (
            options["exporter"] == "nfd" and options["pod_excludes"],
            "NFD's topology-updater leaves no pods out",
            "leave pod_excludes out, or set exporter to rte",
        ),
        (
            options["exporter"] == "nfd" and options["metrics"] == "https",
            "NFD's topology-updater serves metrics without TLS only",
            "set metrics to http or none, or exporter to rte",
        ),
        (
            options["exporter"] == "rte"
            and options["refresh_mode"] != "periodic"
            and not options["notify_file"],
            f"refresh_mode is {options['refresh_mode']}, and there is no file to wait for",
            "set notify_file to a file that a hook of the container runtime touches, or refresh_mode to periodic",
        ),
        (
            options["cache_resync_seconds"] < 0 or options["refresh_seconds"] < 1,
            "cache_resync_seconds is below 0, or refresh_seconds below 1",
            "correct them",
        ),
        (
            options["fingerprint"] == "none"
            and options["scheduler_enabled"]
            and options["cache_resync_seconds"] > 0
            and not options["discard_reserved_nodes"],
            "fingerprint is none, without which the scheduler's cache never takes what exporters publish",
            "set cache_resync_seconds to 0, or publish fingerprints",
        ),
    ):
        if wrong:
            raise InvalidInput(
                "the options of recipe numa contradict each other", where=where, why=why, todo=todo
            )


def _names(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return f"{', '.join(nodes[:_SHOWN])}{more}"
