# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read an RmdWorkload of any version of the operator. Pure.

Precedence of fields is the operator's: a policy wins over everything else that is asked for, rdt
and plugins over the older cache and pstate, allCores over coreIds, nodeSelector over nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

from ..._errors import InvalidInput
from ..._json import Obj, elements, part
from ..._nodes.cpuset import parse_cores
from ..._nodes.selectors import matches
from ..workloads import TEXTS, Cache, Mba, Pstate, Workload
from .operator_names import FINALIZER, HOME_NAMESPACE

_NOTHING = Workload("", ())


@dataclass(frozen=True, order=True)
class Name:
    """Names an RmdWorkload. str() reads "team/web"."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def uuid(self) -> str:
        """The uuid by which RMD knows the workload."""
        return self.name if self.namespace == HOME_NAMESPACE else f"{self.namespace}.{self.name}"


@dataclass(frozen=True)
class Declared:
    """An RmdWorkload, read. problem says why it cannot be sent, "" if it can.

    cores: of coreIds, or with all_cores those that are left out. asked: what it asks for, but for
    the CPUs. rival: the older object that has the same uuid.
    """

    name: Name
    object: Obj
    cores: tuple[int, ...] = ()
    all_cores: bool = False
    asked: Workload = _NOTHING
    problem: str = ""
    rival: Optional[Name] = None

    @property
    def uuid(self) -> str:
        """The uuid by which RMD knows the workload."""
        return self.name.uuid

    @property
    def age(self) -> tuple[str, Name]:
        """Sorts the oldest first."""
        return str(self.object["metadata"].get("creationTimestamp") or ""), self.name

    @property
    def is_deleted(self) -> bool:
        """Whether somebody has deleted it."""
        return "deletionTimestamp" in self.object["metadata"]

    @property
    def is_held(self) -> bool:
        """Whether our finalizer is on it."""
        return FINALIZER in elements(self.object["metadata"], "finalizers")

    @property
    def pod(self) -> Optional[Obj]:
        """The owner reference to the pod that it is for."""
        owners = elements(self.object["metadata"], "ownerReferences")
        return next(
            (owner for owner in owners if owner.get("kind") == "Pod" and owner.get("controller")),
            None,
        )

    @property
    def recorded_ids(self) -> dict[str, str]:
        """Node -> the workload's id there, by the object's status."""
        states = part(self.object, "status", "workloadStates")
        return {node: state["id"] for node, state in states.items() if (state or {}).get("id")}

    def workload(self, all_cores: Iterable[int]) -> Workload:
        """What it asks for on a node that has all_cores."""
        cores = tuple(set(all_cores) - set(self.cores)) if self.all_cores else self.cores
        pod = str((self.pod or {}).get("uid") or "")
        return replace(self.asked, uuid=self.uuid, cores=cores, pod=pod).effective()

    def nodes(
        self, labels: Mapping[str, Mapping[str, str]], selector: Mapping[str, str]
    ) -> tuple[str, ...]:
        """The nodes that it is for, sorted.

        labels: of all nodes, by name. selector: RmdConfig's, which narrows a nodeSelector down. A
        name in spec.nodes counts whether there is such a node or not.
        """
        spec = part(self.object, "spec")
        wanted = part(spec, "nodeSelector")
        if wanted:
            both = {**selector, **wanted}
            return tuple(sorted(name for name, has in labels.items() if matches(has, [both])))
        return tuple(sorted({name for name in elements(spec, "nodes") if name}))


def read(obj: Obj) -> Declared:
    """An RmdWorkload as what it means; never raises."""
    metadata, spec = obj["metadata"], part(obj, "spec")
    name = Name(metadata.get("namespace") or HOME_NAMESPACE, metadata["name"])
    all_cores = bool(spec.get("allCores"))
    field = "reservedCoreIds" if all_cores else "coreIds"
    try:
        cores = parse_cores(spec.get(field) or [])
    except InvalidInput as error:
        return Declared(name, obj, problem=f"spec.{field}: {error}".rstrip("."))
    try:
        pstate = Pstate.read(part(spec, "plugins", "pstate") or part(spec, "pstate"), _READERS)
    except ValueError as error:
        return Declared(name, obj, problem=str(error))
    asked = Workload(
        uuid="",
        cores=(),
        cache=_cache(part(spec, "rdt").get("cache"), spec.get("cache")),
        mba=Mba.read(part(spec, "rdt", "mba"), _READERS),
        pstate=pstate,
        **{text: spec.get(text) or "" for text in TEXTS},
    )
    declared = Declared(name, obj, cores, all_cores, asked)
    return replace(declared, problem=_shape_problem(declared))


def _cache(*candidates: Optional[Mapping[str, Any]]) -> Optional[Cache]:
    """The first that is there; a number that is left out is 0, as in the operator's Go."""
    given = next((found for found in candidates if found is not None), None)
    return None if given is None else Cache(int(given.get("max") or 0), int(given.get("min") or 0))


def _ratio(value: Any) -> Optional[float]:
    text = str(value or "").strip()
    if not text:
        return None
    try:
        ratio = float(text)
    except ValueError:
        ratio = math.nan
    if not math.isfinite(ratio):
        raise ValueError(f'the P-state ratio "{text}" is no number; write for example "3.0"')
    return ratio


# Nothing and 0 are the same in the operator's Go.
_READERS = {"int": lambda value: value or None, "float": _ratio, "str": lambda value: value or None}


def _shape_problem(declared: Declared) -> str:
    """What is missing in any case, whatever the node is like."""
    if not declared.all_cores and not declared.cores:
        return "it names no CPUs; set spec.coreIds, or spec.allCores for all of a node"
    if not (declared.asked.policy or declared.asked.parts()):
        return (
            "it asks for nothing; set spec.rdt.cache (max and min 0 are the shared group),"
            " spec.policy or spec.plugins"
        )
    return ""
