# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods of drivers run a version that is not the one deployed: those of DaemonSets that restart
nothing by themselves (OnDelete)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .._cluster.api_client.client import Client
from .._cluster.api_objects.controller_references import controller_of, is_made_by
from .._cluster.api_objects.objects import ObjectKey, has_driver_of, updates_on_delete
from .._json import Obj, elements, part
from .._proofs.snapshot import ClusterSnapshot
from .._states.validation.phases import StatePlan
from .._states.validation.revisions import (
    REVISION_LABEL,
    newest_revision,
    revision_hash,
    revisions_of,
)
from .._verdicts.pod_status import crashed_container, is_ready
from .._verdicts.wait_causes import deletion_cause


@dataclass(frozen=True)
class DriverPod:
    """A pod of a driver. why: what differs from the version that is deployed, "" where nothing does.
    fails: it does not come up. made: when, an API timestamp. ends: what
    its end waits for."""

    state: str
    key: ObjectKey
    uid: str
    why: str
    fails: bool = False
    made: str = ""
    ends: str = field(default="", compare=False)


class DriverPods:
    """The drivers' pods of one snapshot, told by the versions that the cluster keeps."""

    def __init__(
        self, client: Client, snapshot: ClusterSnapshot, plans: Sequence[StatePlan], namespace: str
    ) -> None:
        self._client = client
        self._snapshot = snapshot
        self._plans = plans
        self._namespace = namespace
        self._generations: dict[str, int] = {}
        self._newest: dict[str, str] = {}
        self._images: dict[tuple[str, str], list[str]] = {}

    def refresh(self) -> bool:
        """Read the versions where a DaemonSet has changed; False where its controller has yet to
        see that."""
        daemonsets = list(self._all())
        generations = {
            daemonset["metadata"]["uid"]: int(daemonset["metadata"].get("generation", 0))
            for daemonset in daemonsets
        }
        seen = all(
            int(part(daemonset, "status").get("observedGeneration", 0))
            >= generations[daemonset["metadata"]["uid"]]
            for daemonset in daemonsets
        )
        if seen and generations != self._generations:
            self._read(generations)
        return seen and generations == self._generations

    def _read(self, generations: dict[str, int]) -> None:
        revisions = revisions_of(self._client, self._namespace)
        for revision in revisions:
            place = (str(controller_of(revision).get("uid")), revision_hash(revision))
            self._images[place] = _images(revision)
        for uid in generations:
            newest = newest_revision(revisions, uid)
            self._newest[uid] = revision_hash(newest) if newest else ""
        if all(self._newest.values()):
            self._generations = generations

    def _all(self) -> Iterable[Obj]:
        keys = {
            key for plan in self._plans for keys in plan.groups.daemonsets.values() for key in keys
        }
        return filter(
            updates_on_delete,
            (self._snapshot.workloads.get(key, {}) for key in sorted(keys, key=str)),
        )

    def _on(self, node: str) -> Iterable[tuple[str, Obj]]:
        group, facts = self._snapshot.groups[node], self._snapshot.nodes[node]
        for plan in self._plans:
            for key in plan.daemonsets_for(group):
                daemonset = self._snapshot.workloads.get(key, {})
                if updates_on_delete(daemonset) and plan.is_wanted(key, facts):
                    yield plan.name, daemonset

    def target(self, node: str) -> str:
        """The version that a node's drivers are to have, "" for a node without one."""
        found = (self._newest.get(each["metadata"]["uid"], "") for _state, each in self._on(node))
        return "+".join(sorted(filter(None, found)))

    def states(self, node: str) -> list[str]:
        """The states whose drivers a node runs."""
        return [state for state, _daemonset in self._on(node)]

    def pods(self, node: str) -> list[DriverPod]:
        """The drivers' pods on a node, also those on their way out."""
        found = []
        for state, daemonset in self._on(node):
            uid = daemonset["metadata"]["uid"]
            for pod in self._snapshot.pods_of(node, state):
                if is_made_by(pod, daemonset):
                    metadata = pod["metadata"]
                    key = ObjectKey("v1", "Pod", metadata["namespace"], metadata["name"])
                    fails = not is_ready(pod) and crashed_container(pod) is not None
                    # One that does not come up may need what else has changed.
                    same = has_driver_of(pod, daemonset) and not fails
                    why = "" if same else self._why(uid, pod)
                    made = str(metadata.get("creationTimestamp") or "")
                    ends = deletion_cause(pod).why
                    found.append(DriverPod(state, key, metadata["uid"], why, fails, made, ends))
        return found

    def outdated(self, node: str) -> list[DriverPod]:
        """Those of them whose version is not the one that is deployed."""
        return [pod for pod in self.pods(node) if pod.why]

    def _why(self, daemonset: str, pod: Obj) -> str:
        runs = str(part(pod["metadata"], "labels").get(REVISION_LABEL, ""))
        newest = self._newest.get(daemonset, "")
        if not newest or runs == newest:
            return ""
        before, after = (self._images.get((daemonset, each)) for each in (runs, newest))
        changed = [
            _in_words(old, new)
            for old, new in zip(before or (), after or (), strict=False)
            if old != new
        ]
        return changed[0] if changed else "configuration"


def _in_words(old: str, new: str) -> str:
    """What differs between two images: their tags, where these are all."""
    (name, _colon, before), (other, _colon, after) = old.rpartition(":"), new.rpartition(":")
    if name and name == other:
        return f"image {name.rpartition('/')[2]} {before} -> {after}"
    return f"image {old} -> {new}"


def _images(revision: Obj) -> list[str]:
    """The images of the pods of a version, by container."""
    template = part(revision, "data", "spec", "template")
    return [
        str(container.get("image", "")) for container in elements(template, "spec", "containers")
    ]
