# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RmdWorkloads for pods that ask for a share: which pods, which CPUs, which settings. Pure.

A container asks by a limit of intel.com/l3_cache_ways, and says more in annotations of its pod that
begin with its name, such as CONTAINER_cache_min, CONTAINER_policy or CONTAINER_mba_mbps. Where no
RMD is, those of memory bandwidth are enough."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Optional

from ..._errors import EnablementError, InvalidInput
from ..._json import Obj, elements, part
from ..._nodes.cpuset import parse_cores, to_ranges, to_strings
from ..objects.operator_names import L3_CACHE_WAYS, WORKLOAD
from ..objects.workload_spec import Declared, Name, read
from ..workloads import PARTS, TEXTS, in_groups

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


def exclusive_cores(
    report: Mapping[str, Any], pod: Mapping[str, Any], container: str, count: int
) -> tuple[int, ...]:
    """The CPUs that only this container has; count: how many it was given. Raises EnablementError,
    which says why not.

    The CPU manager's state is what the kubelet decided. Where it cannot be read, the container's
    cgroup is what the kernel does, but looks the same for one that shares its CPUs with others.

    report: the agent's. pod: a Pod that runs on its node.
    """
    node, uid = report.get("node", ""), pod["metadata"]["uid"]
    manager = report.get("cpu_manager")
    if manager is not None:
        if manager.get("policy") != "static":
            raise _none(
                container,
                node,
                f"its CPU manager's policy is {manager.get('policy')}",
                "set policy static",
            )
        text = part(manager, "entries", uid).get(container)
        if text is None:
            raise _none(
                container,
                node,
                "its CPU manager has given it none of its own",
                "start the pod anew",
            )
        return parse_cores([text])
    text = part(report, "cgroups", uid).get(_container_id(pod, container))
    if text is None:
        todo = "see the problems that the agent reports"
        raise _none(
            container,
            node,
            "neither the CPU manager's state nor its cgroup can be read there",
            todo,
        )
    cores = parse_cores([text])
    if len(cores) != count:
        why = f"its cgroup allows {to_ranges(cores)}, which are {len(cores)} and not {count} CPUs"
        raise _none(container, node, why, "set the CPU manager's policy static")
    return cores


def _container_id(pod: Mapping[str, Any], container: str) -> str:
    """Without its scheme, whatever the runtime ("containerd://", "cri-o://")."""
    status = part(pod, "status")
    entries = [
        entry
        for field in _STATUSES
        for entry in status.get(field) or []
        if entry.get("name") == container
    ]
    return str(entries[0].get("containerID") or "").rpartition("://")[2] if entries else ""


def _none(container: str, node: str, why: str, todo: str) -> EnablementError:
    what = f"Container {container} has no CPUs of its own that could be given cache"
    return EnablementError(what, where=f"node {node}" if node else "", why=why, todo=todo)


Form = Literal["v0.1", "v0.3"]

_LONGEST_NAME = 253
# Of the cache a limit says what matters.
_PARTS = {name: kind for name, kind in PARTS.items() if name != "cache"}
_KINDS = {
    f"{plugin}_{name}": each["kind"]
    for plugin, of in _PARTS.items()
    for name, each in of.parameters().items()
}
_MBA = [f"mba_{name}" for name in PARTS["mba"].parameters()]
# Of a pod's annotations, behind the container's name.
SUFFIXES = ("cache_min", *TEXTS, *_KINDS)
_NUMBERS = ("cache_min", *(name for name, kind in _KINDS.items() if kind == "int"))


@dataclass(frozen=True)
class Claim:
    """A container that asks for a share. problem: why it gets no workload, "" if it does.

    names: by which the operator's versions call its RmdWorkload, the one to use for a new one
    first.
    """

    pod: Obj
    container: str
    names: tuple[str, ...]
    spec: Obj
    problem: str = ""


def claims_share(pod: Mapping[str, Any], without_rmd: Collection[str]) -> bool:
    """Whether a pod runs, and one of its containers asks for a share. without_rmd: the nodes whose
    cache and bandwidth no RMD divides."""
    alive = (
        part(pod, "status").get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    )
    return alive and any(True for _container in _asking(pod, without_rmd))


def claims(
    pod: Obj,
    report: Callable[[str], Mapping[str, Any]],
    form: Form,
    without_rmd: Collection[str] = (),
) -> list[Claim]:
    """A pod's containers that ask for a share, in order.

    report: the agent's report for a node; raises EnablementError where there is none. form: which
    version's names and fields a new RmdWorkload has. without_rmd: as asks takes it.
    """
    found = []
    first = next((container["name"] for container in _asking(pod, ())), "")
    for container in _asking(pod, without_rmd):
        if _has_ended(pod, container["name"]):
            continue
        is_first = container["name"] == first
        names = _names(pod["metadata"]["name"], container["name"], form, first=is_first)
        try:
            count = _exclusive_count(pod, container)
            node = pod["spec"]["nodeName"]
            settings = _settings(pod, container["name"])
            cores = exclusive_cores(report(node), pod, container["name"], count)
            spec = {
                "coreIds": to_strings(cores),
                "nodes": [node],
                **_parameters(_ways(container), settings, form),
            }
            found.append(Claim(pod, container["name"], names, spec))
        except EnablementError as error:
            found.append(Claim(pod, container["name"], names, {}, str(error)))
    return found


def workload_of(claim: Claim, name: str) -> Obj:
    """The RmdWorkload; the pod owns it, so that it goes with the pod."""
    metadata = claim.pod["metadata"]
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.kind,
        "metadata": {"name": name, "namespace": metadata["namespace"], "ownerReferences": [owner]},
        "spec": claim.spec,
    }


def _asking(pod: Mapping[str, Any], without_rmd: Collection[str]) -> Iterator[Obj]:
    spec, annotations = part(pod, "spec"), part(pod["metadata"], "annotations")
    # RMD takes no memory bandwidth without cache.
    alone = _MBA if spec.get("nodeName") in without_rmd else ()
    for container in [*elements(spec, "initContainers"), *elements(spec, "containers")]:
        keys = (f"{container['name']}_{suffix}" for suffix in alone)
        if _ways(container) or any(annotations.get(key) for key in keys):
            yield container


def _has_ended(pod: Mapping[str, Any], container: str) -> bool:
    """Whether a container is done, as init containers are soon; its CPUs are others' then."""
    status = part(pod, "status")
    entries = [
        *elements(status, "initContainerStatuses"),
        *elements(status, "containerStatuses"),
    ]
    return any(
        entry.get("name") == container and "terminated" in part(entry, "state") for entry in entries
    )


def _limits(container: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = part(container, "resources", "limits")
    return found


def _ways(container: Mapping[str, Any]) -> int:
    return int(_whole(_limits(container).get(L3_CACHE_WAYS)) or 0)


def _exclusive_count(pod: Mapping[str, Any], container: Mapping[str, Any]) -> int:
    """How many CPUs of its own the kubelet's static CPU manager gives to the container."""
    quality = part(pod, "status").get("qosClass")
    count = _whole(_limits(container).get("cpu"))
    if quality == "Guaranteed" and count:
        return count
    share = "cache ways" if _ways(container) else "memory bandwidth"
    what = f"Container {container['name']} asks for {share} but for no CPUs of its own"
    if quality != "Guaranteed":
        why, todo = (
            f"the pod's quality of service is {quality}",
            "make requests equal to limits for all containers",
        )
    else:
        why, todo = (
            f"its limit of cpu is {_limits(container).get('cpu')}",
            "ask for a whole number of CPUs",
        )
    raise EnablementError(what, why=why, todo=todo)


def _whole(quantity: Any) -> Optional[int]:
    """A quantity that is a whole number ("3", "3000m"), else None."""
    text = str(quantity or "")
    number, unit = (text[:-1], 1000) if text.endswith("m") else (text, 1)
    if not number.isascii() or not number.isdigit() or int(number) % unit:
        return None
    return int(number) // unit


def _settings(pod: Mapping[str, Any], container: str) -> Obj:
    """The annotations of this very container by their suffix, numbers as such. Raises InvalidInput."""
    found: Obj = {}
    annotations = part(pod["metadata"], "annotations")
    for suffix in SUFFIXES:
        text = annotations.get(f"{container}_{suffix}")
        if text in (None, ""):
            continue
        number = _whole(text) if suffix in _NUMBERS else None
        if suffix in _NUMBERS and number is None:
            raise InvalidInput(
                f"Annotation {container}_{suffix} cannot be used",
                why=f'"{text}" is no whole number',
                todo="correct it, or remove it",
            )
        found[suffix] = text if number is None else number
    return found


def _parameters(ways: int, settings: Mapping[str, Any], form: Form) -> Obj:
    """The fields of spec that ask for something, in the words of one of the operator's versions."""
    parts: dict[str, Obj] = {}
    if ways:
        parts["cache"] = {"max": ways, "min": settings.get("cache_min", ways)}
    for plugin, of in _PARTS.items():
        said = {
            name: settings[f"{plugin}_{name}"]
            for name in of.parameters()
            if f"{plugin}_{name}" in settings
        }
        if said:
            parts[plugin] = said
    texts = {name: settings[name] for name in TEXTS if name in settings}
    if form == "v0.1":
        rdt = {"rdt": {"mba": parts.pop("mba")}} if "mba" in parts else {}
        return {**parts, **rdt, **texts}
    return {**in_groups(parts), **texts}


def _names(pod: str, container: str, form: Form, *, first: bool) -> tuple[str, ...]:
    """The operator's v0.1 knew one container for each pod, the first that asks for cache."""
    long = f"{pod}-rmd-workload-{container}"
    if len(long) > _LONGEST_NAME:
        digest = hashlib.sha256(long.encode()).hexdigest()[:8]
        long = f"{long[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
    short = f"rmd-workload-{pod}"
    if not first or len(short) > _LONGEST_NAME:
        return (long,)
    return (short, long) if form == "v0.1" else (long, short)


@dataclass(frozen=True)
class Automatic:
    """create: new objects. change: an object, and the same with the spec to have. remove: objects
    without a claim.

    failed: (pod, why) of claims that get no object.
    """

    create: list[Obj] = field(default_factory=list)
    change: list[tuple[Obj, Obj]] = field(default_factory=list)
    remove: list[Obj] = field(default_factory=list)
    failed: list[tuple[Obj, str]] = field(default_factory=list)


def decide(claims: Sequence[Claim], declared: Iterable[Declared], gone: Iterable[str]) -> Automatic:
    """What the claims of all pods that run ask for.

    declared: the RmdWorkloads that there are. gone: uids of pods that have ended and whose objects
    go; what a deleted pod owns goes by itself.
    """
    there = {entry.name: entry for entry in declared}
    found = Automatic()
    claimed: set[Name] = set()
    for claim in claims:
        name = _name_of(claim, there)
        claimed.add(name)
        _decide_claim(claim, name, there.get(name), found)
    owners = {claim.pod["metadata"]["uid"] for claim in claims} | set(gone)
    for name, entry in there.items():
        if (
            name not in claimed
            and not entry.is_deleted
            and entry.pod
            and entry.pod["uid"] in owners
        ):
            found.remove.append(entry.object)
    return found


def _name_of(claim: Claim, there: Mapping[Name, Declared]) -> Name:
    """By which the pod has the claim's RmdWorkload; the name of a new one where it has none."""
    names = [Name(claim.pod["metadata"]["namespace"], name) for name in claim.names]
    return next((name for name in names if _is_owned(there.get(name), claim.pod)), names[0])


def _decide_claim(claim: Claim, name: Name, entry: Declared | None, found: Automatic) -> None:
    """Add what one claim asks for. entry: the RmdWorkload of that name."""
    if claim.problem:
        # What runs for it stays: the reason may pass.
        found.failed.append((claim.pod, claim.problem))
    elif entry is None:
        found.create.append(workload_of(claim, name.name))
    elif not _is_owned(entry, claim.pod):
        why = f"RmdWorkload {name} exists and is not this pod's: rename one of the two."
        found.failed.append((claim.pod, why))
    elif not _means_the_same(entry, claim.spec):
        found.change.append((entry.object, {**entry.object, "spec": claim.spec}))


def _is_owned(entry: Declared | None, pod: Mapping[str, Any]) -> bool:
    owner = entry.pod if entry else None
    return owner is not None and owner["uid"] == pod["metadata"]["uid"]


def _means_the_same(entry: Declared, spec: Obj) -> bool:
    """Whether an object asks for this already, in whichever version's words."""
    wanted = read({"metadata": entry.object["metadata"], "spec": spec})
    here = replace(entry, object=wanted.object, problem=wanted.problem, rival=None)
    return here == wanted and entry.nodes({}, {}) == wanted.nodes({}, {})
