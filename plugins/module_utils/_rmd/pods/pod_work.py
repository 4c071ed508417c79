# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RmdWorkloads of pods: made from the agents' reports, and what happens to a pod whose workload
fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._cluster.api_errors import ApiError
from ..._cluster.client import Client
from ..._errors import EnablementError
from ..._json import Obj
from ..._runs.context import RunContext
from ..._times import timestamp
from ..nodes.agents import Report
from ..objects.object_store import name_of
from ..objects.operator_names import FINALIZER, WORKLOAD
from ..objects.view import View
from ..objects.workload_spec import Declared, read
from ..objects.workload_state import OnNode, WorkloadOutcome
from . import pod_store
from .automatic import Automatic, decide
from .pod_requests import Form, asks, claims

Policy = Literal["keep", "annotate", "evict"]

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
        running = pod_store.running_pods(self._client)
        self._pods = [pod for pod in running if asks(pod)]

        def report(node: str) -> Report:
            view = views.get(node)
            if view is None or view.look is None or view.look.report is None:
                why = view.why if view is not None else "it is not known"
                raise EnablementError("The node cannot be looked at", where=f"node {node}", why=why)
            return view.look.report

        found = [claim for pod in self._pods for claim in claims(pod, report, self._form)]
        declared = [read(obj) for obj in workloads]
        self.decided = decide(found, declared, self._finished(declared, running))
        self.changed = bool(self.decided.create or self.decided.change or self.decided.remove)
        return self._predict(workloads) if dry else self._write(workloads)

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
        events = [pod_store.event(failure.pod, failure.why, now) for failure in failures]
        missing = pod_store.missing_events(self._client, events)
        annotations = self._annotations(failures)
        if not dry:
            pod_store.write_events(self._client, missing)
            pod_store.annotate_pods(self._client, annotations)
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
            pod = pod_store.read_pod(self._client, entry.name.namespace, owner["name"])
            phase = ((pod or {}).get("status") or {}).get("phase")
            if (
                pod is not None
                and pod["metadata"]["uid"] == owner["uid"]
                and phase in ("Succeeded", "Failed")
            ):
                found.append(owner["uid"])
        return found

    def _write(self, workloads: Sequence[Obj]) -> list[Obj]:
        by_name = {name_of(obj): obj for obj in workloads}
        for obj in self.decided.create:
            metadata = {**obj["metadata"], "finalizers": [FINALIZER]}
            made = self._client.create({**obj, "metadata": metadata})
            by_name[name_of(made)] = made
        for old, new in self.decided.change:
            metadata = old["metadata"]
            body = [
                {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
                {"op": "replace", "path": "/spec", "value": new["spec"]},
            ]
            by_name[name_of(old)] = self._client.patch(
                WORKLOAD, metadata["name"], metadata["namespace"], body
            )
        for obj in self.decided.remove:
            metadata = obj["metadata"]
            self._client.delete(
                WORKLOAD, metadata["name"], metadata["namespace"], uid=metadata["uid"]
            )
            left = self._client.get(WORKLOAD, metadata["name"], metadata["namespace"])
            by_name.pop(name_of(obj))
            if left is not None:
                by_name[name_of(obj)] = left
        return list(by_name.values())

    def _predict(self, workloads: Sequence[Obj]) -> list[Obj]:
        moment = timestamp(self._context.clock())
        by_name = {name_of(obj): obj for obj in workloads}
        for obj in self.decided.create:
            by_name[name_of(obj)] = {
                **obj,
                "metadata": {**obj["metadata"], "creationTimestamp": moment},
            }
        for old, new in self.decided.change:
            by_name[name_of(old)] = new
        for obj in self.decided.remove:
            by_name[name_of(obj)] = {
                **obj,
                "metadata": {**obj["metadata"], "deletionTimestamp": moment},
            }
        return list(by_name.values())

    def _annotations(self, failures: Sequence[PodFailure]) -> list[tuple[Obj, str | None]]:
        """The pods whose annotation has to change, and its value."""
        reasons: dict[str, str] = {}
        if self._policy == "annotate":
            for failure in failures:
                reasons.setdefault(failure.pod["metadata"]["uid"], failure.why)
        wanted = [(pod, reasons.get(pod["metadata"]["uid"])) for pod in self._pods]
        return [(pod, why) for pod, why in wanted if _annotated(pod) != why]

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
                found[uid] = (
                    "asked for" if pod_store.evict(self._client, pod) else "the pod is gone"
                )
            except ApiError as error:
                # A disruption budget has the last word.
                found[uid] = f"refused: {error.why}"
        return found


def _annotated(pod: Mapping[str, Any]) -> str | None:
    found: str | None = (pod["metadata"].get("annotations") or {}).get(pod_store.FAILURE_ANNOTATION)
    return found
