# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RmdWorkloads of pods: made from the agents' reports, and what happens to a pod whose workload
fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._cluster import batch, events
from ..._cluster.api_client.api_errors import ApiError, Conflict, NotFound
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.api_objects.objects import key_of
from ..._cluster.events import Occurrence
from ..._errors import EnablementError
from ..._json import Obj, part
from ..._runs.context import RunContext
from ..._times import timestamp
from ..nodes.report_fields import Report
from ..objects.object_store import name_of
from ..objects.operator_names import FINALIZER, WORKLOAD
from ..objects.view import View
from ..objects.workload_spec import Declared, Name, read
from ..objects.workload_state import OnNode, WorkloadOutcome
from .pod_requests import Automatic, Form, claims, claims_share, decide

POD = Kind("", "v1", "Pod", "pods", namespaced=True)
# On a pod with the failure policy "annotate"; its value is the reason.
FAILURE_ANNOTATION = f"{DOMAIN}/rmd-failure"
Policy = Literal["keep", "annotate", "evict"]
# How what became of an eviction begins where the API server said no.
REFUSED = "refused"

# RMD, or its rules, have refused what the pod asks for; anything else may pass without the pod's
# help.
_REFUSALS = (WorkloadOutcome.INVALID, WorkloadOutcome.REFUSED)


@dataclass(frozen=True)
class PodFailure:
    """A pod that does not get its cache. workload: its RmdWorkload, "" where there is none.

    is_refused: RMD, or its rules, have refused that.
    """

    pod: Obj
    why: str
    workload: str = ""
    is_refused: bool = False


class PodWork:
    """One run's share of the pods. First declare(), then, when all is done, report()."""

    def __init__(self, client: Client, form: Form, policy: Policy, context: RunContext) -> None:
        self.changed = False
        self.decided = Automatic()
        self._client = client
        self._form = form
        self._policy = policy
        self._context = context
        self._pods: list[Obj] = []

    def declare(
        self, workloads: Sequence[Obj], views: Mapping[str, View], *, dry: bool
    ) -> list[Obj]:
        """Create, change and remove RmdWorkloads of pods; returns all that there are then, or (dry)
        would be. views: the nodes, looked at."""
        # The API server cannot select by what pods ask for.
        running = self._client.list(POD, fields="status.phase=Running").items
        without_rmd = [node for node, view in views.items() if view.is_without_rmd]
        self._pods = [pod for pod in running if claims_share(pod, without_rmd)]

        def report(node: str) -> Report:
            view = views.get(node)
            if view is None or view.snapshot is None or view.snapshot.report is None:
                why = view.why if view is not None else "it is not known"
                raise EnablementError("The node cannot be looked at", where=f"node {node}", why=why)
            return view.snapshot.report

        found = [
            claim for pod in self._pods for claim in claims(pod, report, self._form, without_rmd)
        ]
        declared = [read(obj) for obj in workloads]
        self.decided = decide(found, declared, self._finished(declared, running))
        self.changed = bool(self.decided.create or self.decided.change or self.decided.remove)
        return self._written(workloads, dry=dry)

    def failures(
        self, declared: Sequence[Declared], states: Mapping[Any, Mapping[str, OnNode]]
    ) -> list[PodFailure]:
        """The pods that do not get what they ask for. states: of each workload by name, as outcomes
        gives them."""
        found = [PodFailure(pod, why) for pod, why in self.decided.failed]
        owners = {pod["metadata"]["uid"]: pod for pod in self._pods}
        for entry in declared:
            pod = owners.get(entry.pod["uid"]) if entry.pod else None
            bad = next(
                (state for state in states[entry.name].values() if not state.outcome.is_good), None
            )
            if pod is not None and bad is not None:
                why = f"RmdWorkload {entry.name}: {bad.why}"
                found.append(PodFailure(pod, why, str(entry.name), bad.outcome in _REFUSALS))
        return found

    def report(self, failures: Sequence[PodFailure]) -> list[Obj]:
        """Tell pods why they do not get what they ask for, and do what the policy says; returns
        rows for a result."""
        now, dry = self._context.clock(), self._context.check_mode
        missing = events.unsaid(self._client, [_occurrence(failure) for failure in failures])
        annotations = self._annotations(failures)
        if not dry:
            events.write(self._client, missing, now, self._context.run_id)
            batch.annotate(self._client, POD, annotations)
        evicted = self._evict(failures)
        self.changed = self.changed or bool(missing or annotations or evicted)
        return [
            {
                "pod": f"{failure.pod['metadata']['namespace']}/{failure.pod['metadata']['name']}",
                "workload": failure.workload,
                "node": failure.pod["spec"]["nodeName"],
                "why": failure.why,
                "eviction": evicted.get(failure.pod["metadata"]["uid"], ""),
            }
            for failure in failures
        ]

    def _finished(self, declared: Sequence[Declared], running: Sequence[Obj]) -> list[str]:
        """The uids of pods that have ended and still own a workload."""
        alive = {pod["metadata"]["uid"] for pod in running}
        found = []
        for entry in declared:
            owner = entry.pod
            if owner is None or owner["uid"] in alive or entry.is_deleted:
                continue
            pod = self._client.get(POD, owner["name"], entry.name.namespace)
            if pod is not None and pod["metadata"]["uid"] == owner["uid"] and _has_ended(pod):
                found.append(owner["uid"])
        return found

    def _written(self, workloads: Sequence[Obj], *, dry: bool) -> list[Obj]:
        """The RmdWorkloads after what was decided; dry: as they would be."""
        moment = timestamp(self._context.clock())
        by_name: dict[Name, Obj | None] = {name_of(obj): obj for obj in workloads}
        for obj in self.decided.create:
            made = _with(obj, creationTimestamp=moment)
            by_name[name_of(obj)] = (
                made if dry else self._client.create(_with(obj, finalizers=[FINALIZER]))
            )
        for old, new in self.decided.change:
            by_name[name_of(old)] = new if dry else self._change(old, new)
        for obj in self.decided.remove:
            gone = _with(obj, deletionTimestamp=moment)
            by_name[name_of(obj)] = gone if dry else self._remove(obj)
        return [obj for obj in by_name.values() if obj is not None]

    def _change(self, old: Obj, new: Obj) -> Obj:
        metadata = old["metadata"]
        body = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "replace", "path": "/spec", "value": new["spec"]},
        ]
        return self._client.patch(WORKLOAD, metadata["name"], metadata["namespace"], body)

    def _remove(self, obj: Obj) -> Obj | None:
        """What is left of it: its finalizer goes when its workload has gone."""
        name, namespace = obj["metadata"]["name"], obj["metadata"]["namespace"]
        self._client.delete(WORKLOAD, name, namespace, uid=obj["metadata"]["uid"])
        return self._client.get(WORKLOAD, name, namespace)

    def _annotations(
        self, failures: Sequence[PodFailure]
    ) -> list[tuple[Obj, dict[str, str | None]]]:
        """The pods whose annotation has to change, and its value."""
        reasons: dict[str, str] = {}
        if self._policy == "annotate":
            for failure in failures:
                reasons.setdefault(failure.pod["metadata"]["uid"], failure.why)
        wanted = [(pod, reasons.get(pod["metadata"]["uid"])) for pod in self._pods]
        return [(pod, {FAILURE_ANNOTATION: why}) for pod, why in wanted if _annotated(pod) != why]

    def _evict(self, failures: Sequence[PodFailure]) -> dict[str, str]:
        """What became of the evictions, by the pod's uid."""
        pods = {
            failure.pod["metadata"]["uid"]: failure.pod
            for failure in failures
            if failure.is_refused
        }
        if self._policy != "evict":
            return {}
        if self._context.check_mode:
            return dict.fromkeys(pods, "would be asked for")
        found = {}
        for uid, pod in pods.items():
            try:
                self._client.evict(key_of(pod), uid)
                found[uid] = "asked for"
            except (NotFound, Conflict):
                found[uid] = "the pod is gone"
            except ApiError as error:
                # A disruption budget has the last word.
                found[uid] = f"{REFUSED}: {error.why}"
        return found


def _has_ended(pod: Mapping[str, Any]) -> bool:
    return part(pod, "status").get("phase") in ("Succeeded", "Failed")


def _with(obj: Obj, **metadata: Any) -> Obj:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


def _occurrence(failure: PodFailure) -> Occurrence:
    """Tells why a pod gets no cache; the same reason is said once."""
    metadata = failure.pod["metadata"]
    regarding = {name: metadata[name] for name in ("name", "namespace", "uid")}
    return Occurrence(
        {"apiVersion": "v1", "kind": "Pod", **regarding},
        "CacheWorkloadFailed",
        failure.why,
        same=failure.why,
        warning=True,
        action="DivideCache",
    )


def _annotated(pod: Mapping[str, Any]) -> str | None:
    found: str | None = part(pod["metadata"], "annotations").get(FAILURE_ANNOTATION)
    return found
