# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes this node's resctrl what its RmdNodeState and its pods ask for, again and again.

Each time the tree is read and compared with what should be there. So a boot, an agent that was
killed, a group that somebody has deleted and CPUs that somebody has moved are all one case. Kept on
the node's disk are who has which ways, since a boot must not give them to others, and what was
declared last, for a start without an API server."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import declared
import in_force
import pod_claims
import resctrl
from allocation import DEFAULT, Machine, Tree, allocate, tree_of
from api_server import ApiServer, Watch
from cpusets import parse
from declared import Entry, is_ours
from pools import Pools
from resctrl import Files, RefusedWriteError
from write_order import Write, steps

_STATES = "/apis/intel.com/v1alpha1/namespaces/default/rmdnodestates"
_PODS = "/api/v1/pods"
_FILE = "declared.json"
# RMD's workloads, in the same folder of the node. Where it is, groups with RMD's names are RMD's;
# they are other people's names as well.
_DATABASE = "rmd.db"
_OF_RMD = re.compile(r"COS\d+|.+-(?:guarantee|besteffort)|shared|infra")
# More than this is no percentage.
_PERCENT = 100
_NO_POD = "its pod is gone"
_RMD_IS_HERE = "RMD runs on this node and divides its cache; this waits until it is gone"

Report = Mapping[str, Any]


class Declarations:
    """What is declared for a node: by the API server, else by what was kept of it on disk, unless
    RMD was there since."""

    def __init__(self, server: ApiServer, node: str, folder: Path) -> None:
        self.changed = threading.Event()
        name = f"metadata.name=rmd-node-state-{node}"
        self._states = Watch(server, _STATES, name, self.changed.set)
        self._pods = Watch(server, _PODS, f"spec.nodeName={node}", self.changed.set)
        self._file = folder / _FILE
        self._kept: dict[str, Any] | None = None
        with contextlib.suppress(OSError, ValueError):
            if (folder / _DATABASE).exists():
                self._file.unlink()
            found = json.loads(self._file.read_text(encoding="utf-8"))
            self._kept = found if isinstance(found, dict) else None
        self._stored = self._kept

    def start(self) -> None:
        """Listen to the API server."""
        self._states.start()
        self._pods.start()

    def stop(self) -> None:
        """Listen no more."""
        self._states.stop()
        self._pods.stop()

    @property
    def problems(self) -> list[str]:
        """Why what is known may be old."""
        return sorted({watch.problem for watch in (self._states, self._pods)} - {""})

    def current(self) -> dict[str, Any] | None:
        """{"workloads": spec.workloads, "pods": those of the node}; None before both
        were ever heard of. Kept where it differs from what is kept."""
        states, pods = self._states.objects, self._pods.objects
        kept = self._kept or {}
        if states is not None:
            workloads = (states[0].get("spec") or {}).get("workloads") if states else None
            kept = {**kept, "workloads": workloads}
        if pods is not None:
            kept = {**kept, "pods": [_essence(pod) for pod in pods]}
        if not {"workloads", "pods"} <= kept.keys():
            return None
        self._kept = kept
        if kept != self._stored:
            with contextlib.suppress(OSError):
                in_force.replace(self._file, json.dumps(kept))
                self._stored = kept
        return kept


class Writer:
    """Brings the tree to what is declared. root: resctrl; folder: where RMD kept its database, and
    what is remembered is; namespace: where RMD's pods are."""

    def __init__(self, root: Path, files: Files, folder: Path, namespace: str) -> None:
        self._root = root
        self._files = files
        self._namespace = namespace
        self._folder = folder
        self._database = folder / _DATABASE
        self._stored: in_force.Memory = in_force.load(folder)
        self._memory = dict(self._stored)

    def converge(
        self, found: Mapping[str, Any], report: Report, settings: Mapping[str, Any]
    ) -> tuple[dict[str, dict[str, str]], list[str]]:
        """(by uuid the group that it is in or why it is not in force, what else went wrong).

        found: of Declarations. report: what the agent has read, but for resctrl. Raises as
        resctrl.read does."""
        try:
            if pod_claims.has_daemon(found["pods"], self._namespace):
                self._take_away(is_ours)
                self._remember({})
                entries, refused = declared.read(found["workloads"])
                refused.update({entry.uuid: _RMD_IS_HERE for entry in entries})
                return _reported((), refused), []
            if self._database.exists():
                self._take_away(lambda name: bool(_OF_RMD.fullmatch(name)) and not is_ours(name))
                with contextlib.suppress(OSError):
                    self._database.unlink()
        except RefusedWriteError as error:
            return {}, [str(error)]
        entries, refused = wanted_entries(found, report, self._memory)
        while True:
            tree, machine = self._see(report, settings)
            had = {name: group.masks for name, group in tree.items()}
            places = {**had, **in_force.places(self._memory)}
            ordered = in_force.in_order(entries, self._memory, tree)
            wanted, without = allocate(ordered, tree, machine, places)
            failed = self._write(steps(tree, wanted, machine.min_bits))
            if failed is None:
                self._remember(in_force.remember(self._memory, ordered, without, wanted))
                there = [entry for entry in entries if entry.uuid not in without]
                return _reported(there, {**refused, **without}), []
            group, why = failed
            culprits = [entry.uuid for entry in entries if entry.group == group]
            if not culprits:
                return _reported((), {**refused, **{entry.uuid: why for entry in entries}}), [why]
            refused.update(dict.fromkeys(culprits, why))
            entries = [entry for entry in entries if entry.uuid not in culprits]

    def _remember(self, memory: in_force.Memory) -> None:
        """A node whose disk is full still divides its cache."""
        self._memory = dict(memory)
        if list(memory.items()) != list(self._stored.items()):
            with contextlib.suppress(OSError):
                in_force.store(self._folder, memory)
                self._stored = memory

    def _see(self, report: Report, settings: Mapping[str, Any]) -> tuple[Tree, Machine]:
        seen: Report = resctrl.read(self._root)
        return tree_of(seen), machine_of(seen, report, settings)

    def _write(self, writes: Iterable[Write]) -> tuple[str, str] | None:
        """Take the steps; the group of the one that the kernel refuses, and why, or None."""
        for write in writes:
            try:
                write.take(self._files)
            except RefusedWriteError as error:
                return write.group, str(error)
        return None

    def _take_away(self, meant: Callable[[str], bool]) -> None:
        names = resctrl.groups(self._root)
        resctrl.remove_all(self._files, (name for name in names if meant(name)))


def wanted_entries(
    found: Mapping[str, Any], report: Report, memory: in_force.Memory
) -> tuple[list[Entry], dict[str, str]]:
    """(what is declared and claimed, why which uuid is not in force). Pure."""
    entries, refused = declared.read(found["workloads"])
    alive = pod_claims.alive(found["pods"])
    refused.update({entry.uuid: _NO_POD for entry in entries if entry.pod not in ("", *alive)})
    here = [entry for entry in entries if entry.uuid not in refused]
    claimed = pod_claims.claims(found["pods"], entries, report)
    here += [entry for entry in claimed if entry.uuid not in refused]
    return [*here, *in_force.held(memory, here, alive)], refused


def machine_of(seen: Report, report: Report, settings: Mapping[str, Any]) -> Machine:
    """What can be divided. Raises ValueError. Pure."""
    schemata = seen["groups"][DEFAULT]["schemata"]
    if "L3" not in schemata:
        raise ValueError("the kernel shows no L3 in schemata; mount resctrl without cdp")
    bandwidth, pools = schemata.get("MB", {}), report["pools"]
    return Machine(
        caches={
            cache: parse(cpus) for cache, cpus in report["l3"].items() if cache in schemata["L3"]
        },
        ways=int(seen["cbm_mask"], 16).bit_length(),
        min_bits=seen["min_cbm_bits"],
        groups=min(seen["num_closids"].values()),
        pools=Pools(**{field.name: pools[field.name] for field in fields(Pools)}),
        least=seen["bandwidth"].get("least", 0),
        step=seen["bandwidth"].get("step", 0),
        in_mbps=any(value > _PERCENT for value in bandwidth.values()),
        shrink=bool(settings["shrink"]),
    )


def _reported(entries: Sequence[Entry], refused: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {
        **{entry.uuid: {"group": entry.group} for entry in entries},
        **{uuid: {"why": why} for uuid, why in refused.items()},
    }


def _essence(pod: Report) -> dict[str, Any]:
    """What is needed of a pod: no more of it is kept on disk."""
    metadata, spec, status = (pod.get(name) or {} for name in ("metadata", "spec", "status"))
    kept = (
        "name",
        "namespace",
        "uid",
        "ownerReferences",
        "annotations",
        "deletionTimestamp",
        "creationTimestamp",
    )
    containers = {
        field: [
            {"name": entry["name"], "resources": {"limits": _limits(entry)}}
            for entry in spec.get(field) or []
        ]
        for field in ("initContainers", "containers")
    }
    statuses = {
        field: [
            {
                "name": entry.get("name"),
                "containerID": entry.get("containerID"),
                "state": {name: {} for name in entry.get("state") or {}},
            }
            for entry in status.get(field) or []
        ]
        for field in ("initContainerStatuses", "containerStatuses")
    }
    return {
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"serviceAccountName": spec.get("serviceAccountName"), **containers},
        "status": {"phase": status.get("phase"), "qosClass": status.get("qosClass"), **statuses},
    }


def _limits(container: Report) -> dict[str, Any]:
    return dict((container.get("resources") or {}).get("limits") or {})
