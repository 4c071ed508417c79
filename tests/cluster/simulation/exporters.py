# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated exporters: they read their ConfigMap once, and write topologies and their own pod's conditions with
the rights of their pod's service account."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace

import yaml

from . import numa
from .api import MERGE, ApiError, Session
from .model import Obj, Pod, condition
from .numa import ExporterSettings

LOG = logging.getLogger(__name__)
GATES = ("PodresourcesFetched", "NodeTopologyUpdated")


@dataclass(frozen=True)
class Exporter:
    """One pod: whose rights it has, and how it was configured."""

    account: str
    settings: ExporterSettings
    gates: bool


class Exporters:
    """The exporters of all nodes. Only the worker of a node touches what is kept of it."""

    def __init__(self) -> None:
        self._known: dict[str, Exporter] = {}
        self._written: dict[str, Obj] = {}

    def configured(self, pod: Pod, session: Session) -> Exporter:
        """The exporter that a pod is; read from its spec and its ConfigMap when it starts."""
        if pod.uid not in self._known:
            self._known[pod.uid] = _read(pod, session)
        return self._known[pod.uid]

    def publish(self, pod: Pod, topology: Obj, exporter: Exporter, session: Session) -> None:
        """Write the topology where it is another one than before, then say so in the pod's
        conditions."""
        try:
            if self._written.get(pod.node) != topology:
                _write(session, exporter.account, topology)
                self._written[pod.node] = topology
            state = "True"
        except ApiError as error:
            LOG.warning("exporter %s: %s", pod.name, error)
            state = "False"
        if exporter.gates and any(condition(pod.status, kind) != state for kind in GATES):
            _say(session, exporter.account, pod, state)

    def forget(self, node: str) -> None:
        """Whoever comes next writes anew."""
        self._written.pop(node, None)


def _read(pod: Pod, session: Session) -> Exporter:
    obj = session.request("GET", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}")
    spec = obj["spec"]
    account = f"system:serviceaccount:{pod.namespace}:{spec.get('serviceAccountName', 'default')}"
    command = pod.containers[0].command
    flags = dict(re.findall(r"--?([a-z-]+)=(\S+)", command))
    settings = _settings(_config(pod, spec, session), nfd="nfd-topology-updater" in command)
    if flags.get("pods-fingerprint") == "false":
        settings = replace(settings, method="")
    elif "pods-fingerprint-method" in flags:
        settings = replace(settings, method=flags["pods-fingerprint-method"])
    every = float(flags.get("sleep-interval", "0").rstrip("s"))
    return Exporter(
        account,
        replace(settings, paused=flags.get("no-publish") == "true", interval=every),
        bool(spec.get("readinessGates")),
    )


def _config(pod: Pod, spec: Obj, session: Session) -> Obj:
    names = [
        volume["configMap"]["name"] for volume in spec.get("volumes") or () if "configMap" in volume
    ]
    found: Obj = {}
    for name in names:
        if name != "kube-root-ca.crt":
            path = f"/api/v1/namespaces/{pod.namespace}/configmaps/{name}"
            data = session.request("GET", path).get("data") or {}
            found.update(yaml.safe_load(data.get("config.yaml") or "{}") or {})
    return found


def _settings(config: Obj, *, nfd: bool) -> ExporterSettings:
    if nfd:
        return ExporterSettings(
            config.get("topologyManagerPolicy", "none"),
            config.get("topologyManagerScope", "container"),
            "all",
        )
    kubelet = config.get("kubelet") or {}
    return ExporterSettings(
        kubelet.get("topologyManagerPolicy", "none"),
        kubelet.get("topologyManagerScope", "container"),
    )


def _write(session: Session, account: str, topology: Obj) -> None:
    name = topology["metadata"]["name"]
    try:
        session.request("PATCH", f"{numa.PATH}/{name}", topology, MERGE, acts_as=account)
    except ApiError as error:
        if error.status != 404:
            raise
        session.request("POST", numa.PATH, topology, acts_as=account)


def _say(session: Session, account: str, pod: Pod, state: str) -> None:
    kept = [item for item in pod.status.get("conditions") or () if item["type"] not in GATES]
    said = [{"type": kind, "status": state} for kind in GATES]
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": pod.metadata,
        "status": {**pod.status, "conditions": [*kept, *said]},
    }
    try:
        session.request("PUT", f"{path}/status", body, acts_as=account)
    except ApiError as error:
        # Somebody else has written its status meanwhile: it is looked at again for that.
        if error.status != 409:
            LOG.warning("exporter %s: %s", pod.name, error)
