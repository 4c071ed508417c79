# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pods on a node prove, and the labels that say so. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from .agent_memory import AgentMemory
from .configuration import AgentConfiguration, AgentState, Obj, StateDaemonSet
from .node_conditions import CONDITIONS, matches

READY, STALE, DEGRADED = "ready", "stale", "degraded"
# So long a state that was ready may fail before its label says so.
GRACE_S = 30.0


def labels_for(
    configuration: AgentConfiguration,
    node: Obj,
    pods: Sequence[Obj],
    memory: AgentMemory,
    now: float,
) -> dict[str, str]:
    """The labels that the node is to have, by what its pods say. Changes the memory. now: seconds
    since the epoch."""
    is_first = not memory.boot
    memory.begin(node["status"]["nodeInfo"]["bootID"])
    exchange = _exchange(configuration, node)
    current = _NodeProof(configuration, node, pods, memory, _withdrawn(exchange))
    if is_first:
        current.take_over(configuration)
    values = {state.name: current.value_of(state, now) for state in configuration.states}
    labels = {
        configuration.label(state.name): values[state.name]
        for state in configuration.states
        if state.gate and values[state.name]
    }
    labels[configuration.label("container-runtime")] = _runtime(node)
    labels[configuration.label("agent-configuration")] = configuration.hash
    waiting = "waiting" if current.is_known else "unknown"
    labels[configuration.label()] = _summary(values, str(exchange.get("phase") or ""), waiting)
    return labels


def _summary(values: Mapping[str, str], phase: str, waiting: str) -> str:
    """ready, or the first state that is not, and its phase: that of an exchange, how it stands, or
    that it waits. At most as long as a label's value."""
    for name, value in values.items():
        if value != READY:
            return f"{name}.{phase or value or waiting}"[:63]
    return READY


def _exchange(configuration: AgentConfiguration, node: Obj) -> Obj:
    """What a run has noted of the exchange of the node's driver, or of a remedy; nothing where there
    is none."""
    found = _annotation(configuration, node, "upgrade")
    return found if found.get("phase") in ("upgrading", "remedy") else {}


def _withdrawn(exchange: Obj) -> frozenset[str]:
    """The states whose labels the exchange takes away; anybody who may patch nodes may have written
    them."""
    names = exchange.get("withdrawn")
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def _runtime(node: Obj) -> str:
    """The node's container runtime with its major version."""
    runtime = str(node["status"]["nodeInfo"]["containerRuntimeVersion"])
    name, _separator, version = runtime.partition("://")
    return f"{name}-{version.partition('.')[0]}"


def _annotation(configuration: AgentConfiguration, node: Obj, name: str) -> Obj:
    """What a run has noted on the node, as JSON; nothing where that cannot be read."""
    text = (node["metadata"].get("annotations") or {}).get(configuration.label(name))
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return cast(Obj, found) if isinstance(found, dict) else {}


class _NodeProof:
    """One look at the states of a node, in their order."""

    def __init__(
        self,
        configuration: AgentConfiguration,
        node: Obj,
        pods: Sequence[Obj],
        memory: AgentMemory,
        withdrawn: frozenset[str],
    ) -> None:
        self._states = {state.name: state for state in configuration.states}
        self._node = node
        self._memory = memory
        self._withdrawn = withdrawn
        # For other nodes nothing was rendered, and nothing that is missing there would be missed.
        own = [group for group in configuration.groups if matches(node, group.terms)]
        self.is_known = bool(own)
        self._conditions = own[0].conditions if own else {}
        self._pods: dict[str, list[Obj]] = {}
        for pod in pods:
            self._pods.setdefault(_daemonset_of(pod, configuration.namespace), []).append(pod)
        self._holds: dict[str, bool] = {}

    def take_over(self, configuration: AgentConfiguration) -> None:
        """Go on from the labels of a run. Validation pods come only where no label says ready: what
        the run has proven since the boot, and on older pods, is not proven again; what it has not
        is published as stale, which lets them come."""
        labels = self._node["metadata"].get("labels") or {}
        proofs = _annotation(configuration, self._node, "proofs")
        for state in self._states.values():
            value = labels.get(configuration.label(state.name))
            if not value:
                continue
            self._memory.published.append(state.name)
            proof = proofs.get(state.name)
            if value == READY and isinstance(proof, dict) and self._is_of_now(state, proof):
                for each in state.daemonsets:
                    if each.validator:
                        self._memory.proven[each.name] = self._subject(state, each)

    def _is_of_now(self, state: AgentState, proof: Obj) -> bool:
        """Whether a run's proof is about this boot and the pods that are there."""
        since, stands = str(proof.get("time")), self._foundation(state)
        return proof.get("boot") == self._memory.boot and all(
            pod["metadata"]["creationTimestamp"] < since for pod in stands
        )

    def value_of(self, state: AgentState, now: float) -> str:
        """ready, or how a state stands that once was; "" for one that never was since the boot."""
        memory = self._memory
        here = [each for each in state.daemonsets if matches(self._node, each.terms)]
        if state.name in self._withdrawn:
            self._forget(state, here)
            return ""
        is_served = _is_served(state, here)
        runs = self._runs(state, here) if is_served else self.is_known
        stands = all(self._holds[name] for name in state.requires)
        proven = runs and stands and (not is_served or self._is_proven(state, here))
        self._holds[state.name] = proven
        if not proven:
            return self._unproven(state, now, runs=runs, stands=stands)
        memory.failing.pop(state.name, None)
        if state.name not in memory.published:
            memory.published.append(state.name)
        return READY

    def _unproven(self, state: AgentState, now: float, *, runs: bool, stands: bool) -> str:
        """How a state stands that is not proven now. runs: its own pods serve; stands: so do those
        that it requires."""
        if state.name not in self._memory.published:
            return ""
        since = self._memory.failing.setdefault(state.name, now)
        if runs and stands:
            # It has to be proven anew.
            return STALE
        if now < since + GRACE_S:
            return READY
        return STALE if runs else DEGRADED

    def _forget(self, state: AgentState, here: Sequence[StateDaemonSet]) -> None:
        memory = self._memory
        for each in here:
            memory.proven.pop(each.name, None)
        memory.failing.pop(state.name, None)
        memory.published[:] = [name for name in memory.published if name != state.name]
        self._holds[state.name] = False

    def _runs(self, state: AgentState, here: Sequence[StateDaemonSet]) -> bool:
        """Whether a state's own pods serve, and the node shows what they should bring about."""
        serve = [
            any(map(is_ready, self._pods.get(each.name, ()))) for each in here if not each.validator
        ]
        shown = [
            CONDITIONS[each.kind](self._node, each.settings)
            for each in self._conditions.get(state.name, ())
        ]
        return self.is_known and all(serve) and all(shown)

    def _is_proven(self, state: AgentState, here: Sequence[StateDaemonSet]) -> bool:
        """Whether a pod of each validator has ended well, on what is there now."""
        # All are asked: each remembers.
        proven = [
            self._has_proven(each, self._subject(state, each)) for each in here if each.validator
        ]
        return all(proven)

    def _has_proven(self, validator: StateDaemonSet, subject: str) -> bool:
        memory, pods = self._memory, self._pods.get(validator.name, ())
        uids = [pod["metadata"]["uid"] for pod in pods]
        if validator.name in memory.proven and memory.used.get(validator.name) in uids:
            # It leaves when its node has the label, and only then may another one come.
            return True
        if memory.proven.get(validator.name) == subject:
            return True
        for pod in filter(is_ready, pods):
            uid = pod["metadata"]["uid"]
            if memory.used.get(validator.name) != uid:
                memory.proven[validator.name], memory.used[validator.name] = subject, uid
                return True
        memory.proven.pop(validator.name, None)
        return False

    def _subject(self, state: AgentState, validator: StateDaemonSet) -> str:
        """What a validator proves: another version of what it stands on is another thing to prove. A
        pod that is merely replaced is not, as for a run: there may be no device left to prove it."""
        stands = sorted({_version(pod) for pod in self._foundation(state)})
        return " ".join([validator.hash, *stands])

    def _foundation(self, state: AgentState) -> list[Obj]:
        """The pods that a state stands on."""
        names = list(state.requires)
        for name in names:
            names += [each for each in self._states[name].requires if each not in names]
        return [
            pod
            for name in names
            for each in self._states[name].daemonsets
            if not each.validator
            for pod in self._pods.get(each.name, ())
        ]


def _daemonset_of(pod: Obj, namespace: str) -> str:
    """The DaemonSet that made a pod, "" for none of ours: labels are anybody's. That there is one of
    this name is not asked: what names another owner than there is Kubernetes ends by itself."""
    metadata = pod["metadata"]
    owners = [each for each in metadata.get("ownerReferences") or () if each.get("controller")]
    if not owners or metadata.get("namespace") != namespace:
        return ""
    kind = owners[0].get("apiVersion"), owners[0].get("kind")
    return str(owners[0]["name"]) if kind == ("apps/v1", "DaemonSet") else ""


def _is_served(state: AgentState, here: Sequence[StateDaemonSet]) -> bool:
    """Whether a state has something on the node: all that it runs may be for others. here: its
    DaemonSets that are for the node."""
    return not any(map(_serves, state.daemonsets)) or any(map(_serves, here))


def _serves(daemonset: StateDaemonSet) -> bool:
    return not daemonset.validator


def _version(pod: Obj) -> str:
    """Which version of its DaemonSet a pod is of."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    return str(labels.get("controller-revision-hash", metadata["uid"]))


def is_ready(pod: Obj) -> bool:
    """Whether a pod serves, and is not about to end."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and not pod["metadata"].get("deletionTimestamp")
