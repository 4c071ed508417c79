# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up by pulling them on a node: for registries that only the nodes reach."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Found
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import AlreadyExists
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.watch import WatchHub
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.registry.references import parse
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.pods import IMAGE_REASONS

Obj = dict[str, Any]

TICK_S = 1.0
# What registries and container runtimes say of an image that is not there.
_ABSENT = re.compile(r"not found|manifest unknown|does not exist|name unknown", re.IGNORECASE)


class NodeLookup:
    """find() by a pod that is told to pull the image and nothing else. nodes: arch -> a node of that architecture."""

    def __init__(
        self,
        client: Client,
        settings: BuildSettings,
        nodes: Mapping[str, str],
        guard: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._settings = settings
        self._nodes = nodes
        self._guard = guard
        self._clock = clock

    def find(self, reference: str, arch: str) -> Found | None:
        """The image as a node pulls it; its labels stay unknown."""
        self._guard()
        pod = self._pod(reference, arch)
        kind, name = self._client.kind("v1", "Pod"), pod["metadata"]["name"]
        with suppress(AlreadyExists):  # of a run that was killed
            self._client.create(pod)
        try:
            digest = self._pulled(name, reference)
        finally:
            self._client.delete(kind, name, self._settings.namespace)
        return Found(str(parse(reference).pinned(digest)), digest, None) if digest else None

    def _pulled(self, name: str, reference: str) -> str:
        """The digest that was pulled, "" where there is no such image."""
        deadline = self._clock() + self._settings.timeout
        hub = WatchHub(self._client)
        try:
            hub.subscribe(
                self._client.kind("v1", "Pod"),
                namespace=self._settings.namespace,
                fields=f"metadata.name={name}",
            )
            while self._clock() < deadline:
                for event in hub.next(TICK_S):
                    for status in (event.object.get("status") or {}).get("containerStatuses") or []:
                        digest = str(status.get("imageID", "")).rpartition("@")[2]
                        if digest.startswith("sha256:"):
                            return digest
                        waiting = (status.get("state") or {}).get("waiting") or {}
                        if waiting.get("reason") in IMAGE_REASONS:
                            text = str(waiting.get("message") or waiting["reason"])
                            if _ABSENT.search(text):
                                return ""
                            if waiting["reason"] != "ErrImagePull":  # the first try may fail for a moment
                                raise EnablementError(f"{reference} cannot be pulled", why=text)
                self._guard()
        finally:
            hub.close()
        raise EnablementError(f"{reference} was not pulled within {self._settings.timeout} s")

    def _pod(self, reference: str, arch: str) -> Obj:
        node = self._nodes.get(arch)
        if node is None:
            raise EnablementError(f"{reference} cannot be pulled", why=f"no node of architecture {arch} is there")
        settings = self._settings
        name = f"pull-{hashlib.sha256(f'{reference}|{arch}'.encode()).hexdigest()[:16]}"
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": settings.namespace, "labels": settings.labels},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                "affinity": {"nodeAffinity": required},
                "tolerations": [dict(toleration) for toleration in settings.tolerations],
                "imagePullSecrets": [{"name": name} for name in settings.pull_secrets],
                "containers": [
                    {
                        "name": "pull",
                        "image": reference,
                        # So that a tag that was moved is noticed.
                        "imagePullPolicy": "Always",
                        "command": ["true"],
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                            "runAsNonRoot": True,
                            "runAsUser": 65534,
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                    }
                ],
            },
        }
