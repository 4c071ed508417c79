# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates one node: decides for all its pods, then writes what has to be written. One worker at a
time per node."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from . import effects, slices
from .api import MERGE, ApiError, Session
from .decide import NOTHING, Decision, Event, decide
from .device_faults import DeviceFaults
from .gpu_sharing import GpuSharing
from .kernel_modules import KernelModules
from .model import Behaviour, Node, Obj, Pod
from .programs import Programs
from .published import Published
from .status import Place, lost_sight
from .store import Store
from .topologies import Topologies

LOG = logging.getLogger(__name__)
FEATURES = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{effects.NFD_NAMESPACE}/nodefeatures"
DELETE_NOW: Obj = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
PROGRAM_LOOK = 0.5  # seconds between two looks at a real program
RETRY = 2.0  # seconds until a failed write is tried again


@dataclass
class Work:
    """What one look at a node found to be done."""

    pods: list[tuple[Pod, Decision]]
    node: Obj | None
    features: dict[str, Obj]
    due: float | None
    programs: list[Pod] = field(default_factory=list)  # whose process is to be started
    slices: dict[str, Obj] = field(default_factory=dict)

    def ask_again(self, due: float | None) -> None:
        """Look again at that time, at the latest."""
        if due is not None:
            self.due = due if self.due is None else min(self.due, due)


class Simulator:
    """Simulates nodes from the store; `port` is where this process serves the nodes' logs."""

    def __init__(
        self,
        store: Store,
        lock: threading.Condition,
        port: int,
        clock: Callable[[], float],
        programs: Programs,
    ) -> None:
        self.store = store
        self.lock = lock
        self.port = port
        self.clock = clock
        self.features = Published(FEATURES)
        self.slices = Published(slices.PATH)
        self.events: dict[tuple[str, str], int] = {}  # (pod uid, reason) -> count
        self.writes = 0
        self.programs = programs
        self.topologies = Topologies(store, clock)
        self.modules = KernelModules(store.operands)
        self.device_faults = DeviceFaults()
        self.sharing = GpuSharing()

    def simulate(self, name: str, session: Session) -> float | None:
        """Do what is due on the node; the time when it must be looked at again, None = after a
        change."""
        with self.lock:
            served = list(self.store.pods.get(name, {}).values())
        self.sharing.read(served, lambda *key: _config(session, *key))
        with self.lock:
            node = self.store.nodes.get(name)
            labels = node and effects.label_patch(node, self.store.features.get(name, {}))
            pods = list(self.store.pods.get(name, {}).values())
            if node is None:
                gone = name in self.store.removed
                self.features.forget(name)
                self.slices.forget(name)
                work = Work([(pod, Decision(delete=True)) for pod in pods if gone], None, {}, None)
            elif not node.ready:
                # Its kubelet is silent: nothing is simulated. What the pods lose, the node lifecycle
                # controller takes.
                place = Place(_now(), node.ip, "")
                lost = [pod for pod in pods if pod.ready]
                work = Work(
                    [(pod, Decision(status=lost_sight(pod, place))) for pod in lost], None, {}, None
                )
                node = None
            else:
                work = self._look(node, pods)
            if self.programs.running:
                # As with a kubelet, what a pod runs ends before the pod is gone.
                going = {pod.uid for pod, decision in work.pods if decision.delete}
                self.programs.stop_all_but({pod.uid for pod in self.store.names.values()} - going)
        try:
            changed = [self._write_pod(pod, decision, session) for pod, decision in work.pods]
            if labels:
                self._write_node(name, labels, session)
            if node is not None:
                if work.node:
                    self._write_node(f"{name}/status", work.node, session)
                self.writes += self.features.write(node.name, work.features, session)
                self.writes += self.slices.write(node.name, work.slices, session)
                for pod in work.programs:
                    self.programs.ensure(pod, session)
                if node.numa:
                    with self.lock:
                        pods = list(self.store.pods.get(name, {}).values())
                    work.ask_again(self.topologies.publish(node, pods, session))
        except ApiError as error:
            LOG.warning("node %s: %s", name, error)
            return self.clock() + RETRY
        # What has just become ready may be what another pod waits for.
        return self.clock() if any(changed) else work.due

    def _look(self, node: Node, pods: list[Pod]) -> Work:
        store, now = self.store, self.clock()
        alive = self._alive(pods)
        serving = effects.served(node, alive, store.operands.stacks)
        text = _now()
        self.sharing.observe(node, alive)
        advertised = replace(node, devices=self.sharing.devices(node, alive))
        self.device_faults.observe(node, pods)
        plugins = [pod for pod in serving.values() if pod and pod.operand.role == "device-plugin"]
        behaviours = [self.device_faults.behaviour_for(node, pod) for pod in plugins]
        unhealthy = max((behaviour.devices for behaviour in behaviours), default=0)
        work = Work([], effects.node_patch(advertised, serving, self.port, unhealthy), {}, None)
        work.features = self._features(node, serving, pods)
        work.slices = slices.wanted_slices(node, pods, store.operands, self.slices.of(node.name))
        taken: list[Pod] = []
        self.modules.observe(node, alive)
        for pod in pods:
            if pod.finished and not pod.deleting:
                continue
            missing = effects.missing(
                pod, serving, store.operands.stacks.get(pod.operand.stack), node.name
            )
            place = Place(
                text,
                node.ip,
                "" if pod.status.get("podIP") else effects.pod_ip(node, pod, [*pods, *taken]),
            )
            short = effects.shortage(pod, node, pods) if pod.extended else ""
            if not pod.deleting:
                short = short or self.topologies.refusal(node, pod, pods)
            behaviour = self.device_faults.behaviour_for(node, pod)
            refusal = self.modules.refusal(node, pod, alive)
            if refusal := refusal or self.sharing.refusal(node, pod, alive):
                behaviour = replace(behaviour, name="crash", message=refusal)
            memory = store.remember(pod.uid)
            if self.programs.serves(pod) and not pod.deleting:
                behaviour, missing = self._of_program(pod, behaviour, missing, work)
            decision = decide(pod, behaviour, missing, short, node.kernel, memory, place, now)
            if decision is not NOTHING and (decision.status is not None or decision.delete):
                work.pods.append((pod, decision))
                if decision.status is not None and not pod.status.get("podIP"):
                    # The next pod of this look must not get the same address.
                    taken.append(_with_status(pod, decision.status))
            else:
                work.ask_again(decision.due)
        return work

    def _of_program(
        self, pod: Pod, behaviour: Behaviour, missing: list[str], work: Work
    ) -> tuple[Behaviour, list[str]]:
        """What a real program says of its pod: it is not ready before it answers, and crashes where
        it ends."""
        program = self.programs.of(pod)
        work.ask_again(self.clock() + PROGRAM_LOOK)
        if program is None:
            work.programs.append(pod)
            return behaviour, [*missing, "the program starts"]
        if program.problem:
            return replace(behaviour, name="crash", message=program.problem), missing
        return behaviour, missing if program.healthy else [*missing, "it does not answer yet"]

    def _features(self, node: Node, serving: effects.Served, pods: list[Pod]) -> dict[str, Obj]:
        """What ready pods report, and what a pod that is not ready now has reported: it stays, as
        its file would."""
        known = self.features.of(node.name)
        present = [
            pod for pod in pods if pod.operand.role == "feature-discovery" and not pod.deleting
        ]
        names = {effects.feature_name(pod.operand.stack, node.name) for pod in present}
        kept = {name: obj for name, obj in known.items() if name in names}
        return {**kept, **effects.node_features(node, serving, self.store.operands)}

    def missing(self, pod: Pod) -> list[str]:
        """What the pod's node lacks for it, now. The caller holds the lock."""
        node = self.store.nodes.get(pod.node)
        if node is None:
            return []
        stacks = self.store.operands.stacks
        serving = effects.served(node, self._alive(self.store.pods[pod.node].values()), stacks)
        return effects.missing(pod, serving, stacks.get(pod.operand.stack), node.name)

    def _alive(self, pods: Iterable[Pod]) -> list[Pod]:
        """Of a pod that ran before its node's boot nothing is left but what its status still says."""
        return [pod for pod in pods if not self.store.remember(pod.uid).rebooted]

    def _write_pod(self, pod: Pod, decision: Decision, session: Session) -> bool:
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
        self.writes += 1
        try:
            if decision.delete:
                answer = session.request(
                    "DELETE", path, {**DELETE_NOW, "preconditions": {"uid": pod.uid}}
                )
                with self.lock:
                    if answer.get("kind") == "Pod" and not answer["metadata"].get("finalizers"):
                        self.store.remove_pod(pod.uid, pod.node)
                return False
            # Whole instead of patched: a merge patch costs the API server twice the time.
            status = {**pod.status, **(decision.status or {})}
            body: Obj = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": pod.metadata,
                "status": status,
            }
            answer = session.request("PUT", f"{path}/status", body)
        except ApiError as error:
            if error.status in (
                404,
                409,
            ):  # gone, or another pod of this name: the watch will say so
                return False
            raise
        with self.lock:
            self.store.put_pod(answer)
        if decision.event:
            self._write_event(pod, decision.event, session)
        return True

    def _write_node(self, path: str, patch: Obj, session: Session) -> None:
        self.writes += 1
        try:
            answer = session.request("PATCH", f"/api/v1/nodes/{path}", patch, MERGE)
        except ApiError as error:
            if error.status != 404:
                raise
            return
        with self.lock:
            self.store.put_node(answer)

    def _write_event(self, pod: Pod, event: Event, session: Session) -> None:
        """One Event object per pod and reason, counted up, as kubelets do."""
        now = _now()
        count = self.events[pod.uid, event.reason] = self.events.get((pod.uid, event.reason), 0) + 1
        path = f"/api/v1/namespaces/{pod.namespace}/events"
        name = f"{pod.name}.{hashlib.sha256(f'{pod.uid}{event.reason}'.encode()).hexdigest()[:16]}"
        change = {"count": count, "lastTimestamp": now, "message": event.message}
        reference = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
        }
        created: Obj = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": pod.namespace},
            "type": event.type,
            "reason": event.reason,
            "involvedObject": {
                **reference,
                "fieldPath": f"spec.containers{{{pod.containers[0].name}}}",
            },
            "source": {"component": "kubelet", "host": pod.node},
            "reportingComponent": "kubelet",
            "reportingInstance": pod.node,
            "firstTimestamp": now,
            **change,
        }
        self.writes += 1
        try:
            if count == 1:
                session.request("POST", path, created)
            else:
                session.request("PATCH", f"{path}/{name}", change, MERGE)
        except ApiError as error:  # a namespace that is going away takes no events
            LOG.info("event of pod %s/%s: %s", pod.namespace, pod.name, error)


def _config(session: Session, namespace: str, name: str) -> dict[str, str] | None:
    """The data of a ConfigMap, None where there is none."""
    try:
        found = session.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    except ApiError as error:
        if error.status != 404:
            raise
        return None
    return dict(found.get("data") or {})


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _with_status(pod: Pod, status: Obj) -> Pod:
    return Pod(**{**pod.__dict__, "status": status})
