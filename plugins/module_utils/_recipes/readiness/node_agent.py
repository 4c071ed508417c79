# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node agent: a program of its own, which runs on every node of a recipe with `readiness: nfd`.

It looks at the recipe's pods on its node and writes what they prove into a file that Node Feature
Discovery makes labels of. Standard library alone; it imports nothing of the collection. What it
has to remember is in a comment of that file."""

from __future__ import annotations

import http.client
import json
import os
import queue
import random
import signal
import ssl
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

Obj = dict[str, Any]

DOMAIN = "hardware-enablement.io"
READY, STALE, DEGRADED = "ready", "stale", "degraded"
# So long a state that was ready may fail before its label says so.
GRACE_S = 30.0
# NFD drops the labels when nobody has renewed the file for so long.
EXPIRY_S = 3600
RENEWAL_S = EXPIRY_S / 6
AGAIN_S = 5.0
# NFD's worker misses what follows a change of the folder within a second.
PAUSE_S = 2.0
# A watch is made anew after so long, or up to twice as long.
WATCH_S = 300

# Nodes that began together do not ask together for ever.
JITTER = random.SystemRandom()

CONFIGURATION = Path("/configuration/configuration.json")
WROTE = Path("/run/node-agent/wrote")
FEATURES = Path("/features")
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class StateDaemonSet:
    """A DaemonSet of a state. terms: the nodes that it is for, as nodeSelectorTerms without our
    gates. validator: whether its pods prove the state and leave. hash: of its pods' template."""

    name: str
    terms: Sequence[Obj]
    validator: bool
    hash: str


@dataclass(frozen=True)
class AgentState:
    """requires: the names of states. gate: whether the node is to have a label for it."""

    name: str
    requires: Sequence[str]
    gate: bool
    daemonsets: Sequence[StateDaemonSet]


@dataclass(frozen=True)
class NodeCondition:
    """A proof that the node itself shows: its kind, a key of CONDITIONS, and that kind's settings."""

    kind: str
    settings: Obj


@dataclass(frozen=True)
class AgentGroup:
    """Nodes that a run has rendered for. terms: as nodeSelectorTerms. conditions: by state."""

    terms: Sequence[Obj]
    conditions: Mapping[str, Sequence[NodeCondition]]


@dataclass(frozen=True)
class AgentConfiguration:
    """What a run has written. hash: of all of it. states: each after those that it requires. pods:
    labels of the recipe's pods, as a selector. daemonset: the agent's own."""

    instance: str
    namespace: str
    daemonset: str
    pods: str
    hash: str
    states: Sequence[AgentState]
    groups: Sequence[AgentGroup]

    @classmethod
    def from_text(cls, text: str) -> AgentConfiguration:
        """Of the file's text; raises ValueError, KeyError or TypeError where it is none."""
        found = json.loads(text)
        states = [
            AgentState(
                **{**state, "daemonsets": [StateDaemonSet(**each) for each in state["daemonsets"]]}
            )
            for state in found.pop("states")
        ]
        groups = [
            AgentGroup(
                group["terms"],
                {
                    state: [NodeCondition(**each) for each in conditions]
                    for state, conditions in group["conditions"].items()
                },
            )
            for group in found.pop("groups")
        ]
        return cls(**found, states=states, groups=groups)

    def label(self, name: str = "") -> str:
        """The name of a label of ours; without a name, of the one that sums up."""
        return f"{DOMAIN}/{self.instance}.{name}" if name else f"{DOMAIN}/{self.instance}"


@dataclass
class AgentMemory:
    """What was seen since a boot. published: the states that were ready. failing: since when they
    are not, in seconds since the epoch. proven: validator -> what it proved the state on; used: the
    uid of the pod that did."""

    boot: str = ""
    published: list[str] = field(default_factory=list)
    failing: dict[str, float] = field(default_factory=dict)
    proven: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> AgentMemory:
        """Of a comment in the file of features; of any other text, none."""
        empty = cls()
        try:
            found = cls(**json.loads(text))
        except (ValueError, TypeError):
            return empty
        fits = all(type(value) is type(getattr(empty, name)) for name, value in vars(found).items())
        return found if fits else empty


def labels_for(
    configuration: AgentConfiguration,
    node: Obj,
    pods: Sequence[Obj],
    memory: AgentMemory,
    now: float,
) -> dict[str, str]:
    """The labels that the node is to have, by what its pods say. Changes the memory. now: seconds
    since the epoch."""
    boot = node["status"]["nodeInfo"]["bootID"]
    is_first = not memory.boot
    if memory.boot != boot:
        fresh = AgentMemory(boot, used=memory.used)
        memory.__dict__.update(fresh.__dict__)
    exchange = _annotation(configuration, node, "upgrade")
    if exchange.get("phase") not in ("upgrading", "remedy"):
        exchange = {}
    look = _NodeProof(configuration, node, pods, memory, frozenset(exchange.get("withdrawn") or ()))
    if is_first:
        look.take_over(configuration)
    labels, first = {}, ""
    for state in configuration.states:
        value = look.value_of(state, now)
        if state.gate and value:
            labels[configuration.label(state.name)] = value
        if value != READY and not first:
            phase = exchange.get("phase") or value or ("waiting" if look.is_known else "unknown")
            first = f"{state.name}.{phase}"
    runtime = str(node["status"]["nodeInfo"]["containerRuntimeVersion"])
    name, _separator, version = runtime.partition("://")
    labels[configuration.label("container-runtime")] = f"{name}-{version.partition('.')[0]}"
    labels[configuration.label("agent-configuration")] = configuration.hash
    labels[configuration.label()] = (first or READY)[:63]
    return labels


def _annotation(configuration: AgentConfiguration, node: Obj, name: str) -> Obj:
    """What a run has noted on the node, as JSON; nothing where that cannot be read."""
    text = (node["metadata"].get("annotations") or {}).get(configuration.label(name))
    try:
        found = json.loads(text or "{}")
    except ValueError:
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
            for owner in pod["metadata"].get("ownerReferences") or ():
                if owner.get("kind") == "DaemonSet":
                    self._pods.setdefault(owner["name"], []).append(pod)
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
        runs = self._runs(state, here)
        stands = all(self._holds[name] for name in state.requires)
        proven = runs and stands and self._is_proven(state, here)
        self._holds[state.name] = proven
        if proven:
            memory.failing.pop(state.name, None)
            if state.name not in memory.published:
                memory.published.append(state.name)
            return READY
        if state.name not in memory.published:
            return ""
        since = memory.failing.setdefault(state.name, now)
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
        proven = True
        for each in here:
            if each.validator:
                proven = self._has_proven(each, self._subject(state, each)) and proven
        return proven

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


def matches(node: Obj, terms: Sequence[Obj]) -> bool:
    """Whether a node is one that nodeSelectorTerms mean; without terms each is."""
    return not terms or any(_fits(node, term) for term in terms)


def _fits(node: Obj, term: Obj) -> bool:
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    wanted = [(labels, each) for each in term.get("matchExpressions") or ()]
    wanted += [(fields, each) for each in term.get("matchFields") or ()]
    return bool(wanted) and all(_holds(values, each) for values, each in wanted)


def _holds(values: Mapping[str, str], expression: Obj) -> bool:
    operator, value = str(expression["operator"]), values.get(expression["key"])
    listed: Sequence[str] = expression.get("values") or ()
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    if operator in ("In", "NotIn"):
        return (value is not None and value in listed) == (operator == "In")
    try:
        number, limit = int(value or ""), int(listed[0])
    except (ValueError, IndexError):
        return False
    return number > limit if operator == "Gt" else number < limit


def offers(node: Obj, settings: Obj) -> bool:
    """Whether the kubelet offers devices in the wanted number (the proof allocatable)."""
    allocatable: Mapping[str, str] = node["status"].get("allocatable") or {}
    offered = sum(
        amount(text)
        for name, text in allocatable.items()
        if fnmatchcase(name, settings["resource"])
    )
    exact, least = settings["equals"], settings["at_least"]
    return offered == exact if exact is not None else offered >= (1 if least is None else least)


def amount(text: str) -> int:
    """A number of devices as the API server writes it: 1000 of them are "1k"; 0 for anything else."""
    number, factor = (text[:-1], 1000) if text.endswith("k") else (text, 1)
    return int(number) * factor if number.isdigit() else 0


def is_labelled(node: Obj, settings: Obj) -> bool:
    """Whether the node has labels that others bring about (the proof node_labels)."""
    labels = node["metadata"].get("labels") or {}
    equal = settings["equal"] or {}
    return all(name in labels for name in settings["present"]) and all(
        labels.get(name) == str(value) for name, value in equal.items()
    )


# Kind of a proof -> whether it holds, by the node's object alone. Others are left to runs.
CONDITIONS: Mapping[str, Callable[[Obj, Obj], bool]] = {
    "allocatable": offers,
    "node_labels": is_labelled,
}


class FeatureFile:
    """The file that NFD's worker reads."""

    def __init__(self, folder: Path, instance: str) -> None:
        """folder: NFD's own, in which the folder features.d is."""
        self._path = folder / "features.d" / f"{DOMAIN}-{instance}"
        # Beside features.d: NFD's worker would take it for another change.
        self._draft = folder / f".{DOMAIN}-{instance}"

    def memory(self) -> AgentMemory:
        """What was written last; none where there is no such file."""
        try:
            first = self._path.read_text("utf-8").partition("\n")[0]
        except (OSError, ValueError):
            return AgentMemory()
        return AgentMemory.from_text(first.lstrip("# "))

    def write(self, labels: Mapping[str, str], memory: AgentMemory, now: float) -> None:
        """Replace the file at once. now: seconds since the epoch."""
        expiry = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + EXPIRY_S))
        lines = [f"# {json.dumps(asdict(memory))}", f"# +expiry-time={expiry}"]
        lines += [f"{name}={value}" for name, value in sorted(labels.items())]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._draft.write_text("\n".join(lines) + "\n", "utf-8")
        self._draft.replace(self._path)

    def remove(self) -> None:
        """Leave nothing behind."""
        for path in (self._path, self._draft):
            path.unlink(missing_ok=True)


class ApiServerError(Exception):
    """The API server's answer is an error. status: of HTTP."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the API server answers with {status}")
        self.status = status


# What may come instead of objects.
NO_ANSWER = (
    ApiServerError,
    OSError,
    http.client.HTTPException,
    ValueError,
    KeyError,
    TypeError,
)


class Api:
    """The API server, as the pod's service account."""

    def __init__(self) -> None:
        self._tls = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def get(
        self, path: str, query: Mapping[str, str] | None = None, timeout: float = 10.0
    ) -> Iterator[Obj]:
        """The answer, line by line: one object, or the events of a watch as they come. Raises
        ApiServerError, OSError, HTTPException or ValueError."""
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        connection = http.client.HTTPSConnection(
            host, int(port), timeout=timeout, context=self._tls
        )
        token = (ACCOUNT / "token").read_text("utf-8")
        address = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        try:
            connection.request("GET", address, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise ApiServerError(answer.status)
            for line in answer:
                yield json.loads(line)
        finally:
            connection.close()


class WatchedObjects(threading.Thread):
    """Some objects of a kind, as they are. is_read: whether they can be read."""

    def __init__(
        self, api: Api, path: str, query: Mapping[str, str], changed: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)
        self._api = api
        self._path = path
        self._query = query
        self._changed = changed
        self.objects: dict[str, Obj] = {}
        self.is_read = False

    def run(self) -> None:
        """List, then watch, and again."""
        while True:
            try:
                # From the API server's memory, as kubelets do: thousands of nodes may ask at once.
                (found,) = self._api.get(self._path, {**self._query, "resourceVersion": "0"})
                self.objects = {item["metadata"]["uid"]: item for item in found["items"]}
                version = str(found["metadata"]["resourceVersion"])
            except NO_ANSWER as error:
                say(f"{self._path} cannot be read: {error or type(error).__name__}")
                self.is_read = False
                self._changed()
                time.sleep(JITTER.uniform(AGAIN_S, 2 * AGAIN_S))
                continue
            self.is_read = True
            self._changed()
            try:
                self._follow(version)
            except NO_ANSWER as error:
                say(f"{self._path} cannot be watched: {error or type(error).__name__}")
                time.sleep(JITTER.uniform(0, AGAIN_S))

    def _follow(self, version: str) -> None:
        seconds = JITTER.randint(WATCH_S, 2 * WATCH_S)
        query = {**self._query, "watch": "true", "resourceVersion": version}
        query["timeoutSeconds"] = str(seconds)
        for event in self._api.get(self._path, query, seconds + 30):
            if event["type"] == "ERROR":
                return
            objects, uid = dict(self.objects), event["object"]["metadata"]["uid"]
            if event["type"] == "DELETED":
                objects.pop(uid, None)
            else:
                objects[uid] = event["object"]
            self.objects = objects
            self._changed()


class NodeAgent:
    """The agent of one node."""

    def __init__(self, configuration: AgentConfiguration, node: str) -> None:
        self._configuration = configuration
        self._api = Api()
        self._file = FeatureFile(FEATURES, configuration.instance)
        self._memory = self._file.memory()
        # This queue alone may be put into by a signal's handler while its owner takes from it.
        self._events: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_ended = False
        self._wrote: tuple[dict[str, str], str] | None = None
        self._wrote_at = 0.0
        this, here = f"metadata.name={node}", f"spec.nodeName={node}"
        self._nodes = WatchedObjects(
            self._api, "/api/v1/nodes", {"fieldSelector": this}, self._wake
        )
        self._pods = WatchedObjects(
            self._api,
            f"/api/v1/namespaces/{configuration.namespace}/pods",
            {"fieldSelector": here, "labelSelector": configuration.pods},
            self._wake,
        )

    def run(self) -> None:
        """Until the pod is told to end."""
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._end())
        self._nodes.start()
        self._pods.start()
        while not self._is_ended:
            self._look()
            self._rest()
        if self._has_left():
            self._file.remove()
            say("the node is none of the recipe's any more, and its labels go")

    def _wake(self) -> None:
        self._events.put(None)

    def _end(self) -> None:
        self._is_ended = True
        self._wake()

    def _rest(self) -> None:
        """Until something has changed, or a while has passed."""
        time.sleep(min(PAUSE_S, max(0.0, self._wrote_at + PAUSE_S - time.time())))
        try:
            self._events.get(timeout=AGAIN_S)
            while True:
                self._events.get_nowait()
        except queue.Empty:
            return

    def _look(self) -> None:
        nodes, pods = list(self._nodes.objects.values()), list(self._pods.objects.values())
        if not (nodes and self._nodes.is_read and self._pods.is_read):
            # Nothing is renewed that nobody has seen: the labels are to expire.
            WROTE.unlink(missing_ok=True)
            return
        now = time.time()
        labels = labels_for(self._configuration, nodes[0], pods, self._memory, now)
        content = labels, json.dumps(asdict(self._memory), sort_keys=True)
        if content == self._wrote and now < self._wrote_at + RENEWAL_S:
            WROTE.touch()
            return
        self._file.write(labels, self._memory, now)
        if self._wrote is None or self._wrote[0] != labels:
            states = [each.name for each in self._configuration.states]
            ready = [
                name for name in states if labels.get(self._configuration.label(name)) == READY
            ]
            say(f"{labels[self._configuration.label()]}; ready: {', '.join(ready) or 'none'}")
        self._wrote, self._wrote_at = content, now
        WROTE.touch()

    def _has_left(self) -> bool:
        """Whether the agent ends for good on this node, and not because it is replaced. Where nobody
        can tell, the labels stay until they expire."""
        own = self._configuration
        path = f"/apis/apps/v1/namespaces/{own.namespace}/daemonsets/{own.daemonset}"
        try:
            (daemonset,) = self._api.get(path, timeout=3.0)
        except ApiServerError as error:
            # Its rights are taken away with it.
            return error.status in (401, 403, 404)
        except NO_ANSWER:
            return False
        affinity = daemonset["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        nodes = list(self._nodes.objects.values())
        left = bool(daemonset["metadata"].get("deletionTimestamp"))
        return left or not all(matches(node, terms) for node in nodes)


def say(text: str) -> None:
    """One line of the log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run on the node that the environment names."""
    try:
        configuration = AgentConfiguration.from_text(CONFIGURATION.read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"{CONFIGURATION} cannot be used: {error}")
        return 1
    NodeAgent(configuration, os.environ["NODE_NAME"]).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
