# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up by pulling them on a node: for registries that only the nodes reach."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.watch import WatchHub
from ..._errors import EnablementError
from ..._json import Obj, elements, part
from ..._registry.image_names import parse
from ..._verdicts.pod_status import IMAGE_REASONS, judge
from ..._verdicts.verdict import Outcome
from ..orders import Found, UnknownImageError
from ..settings import BuildSettings

TICK_S = 1.0
# On a pod: a hash of what it pulls.
_PULLS = "hardware-enablement.io/pulls"
# What registries and container runtimes say of an image that is not there.
# containerd says "does not exist or may require authorization" to whoever may not pull.
_DENIED = re.compile(r"authorization|unauthorized|denied|no basic auth", re.IGNORECASE)
_ABSENT = re.compile(r"not found|manifest unknown|does not exist|name unknown", re.IGNORECASE)


class NodeLookup:
    """find() by a pod that is told to pull the image and nothing else.

    nodes: arch -> a node of that architecture. dry: make no pod, and know nothing. anew: ask the registry
    also where the node has the image, so that a tag that was moved is noticed.
    """

    def __init__(
        self,
        client: Client,
        settings: BuildSettings,
        nodes: Mapping[str, str],
        guard: Callable[[], None],
        clock: Callable[[], float],
        *,
        dry: bool,
        anew: bool = True,
    ) -> None:
        self._client = client
        self._settings = settings
        self._nodes = nodes
        self._guard = guard
        self._clock = clock
        self._dry = dry
        self._policy = "Always" if anew else "IfNotPresent"

    def find(self, reference: str, arch: str) -> Found | None:
        """The image as a node pulls it; its labels stay unknown."""
        if self._dry:
            raise UnknownImageError(
                f"{reference} is not looked up",
                why="only nodes ask its registry (lookup_from), by pods, and a mere look makes none",
                todo="enable asks them",
            )
        self._guard()
        pod = self._pod(reference, arch)
        kind, name = self._client.kind("v1", "Pod"), pod["metadata"]["name"]
        # What a run that was killed has left knows only what the tag was then.
        for left in self._client.list(
            kind, namespace=self._settings.scope.namespace, labels=_selector(pod)
        ).items:
            self._client.delete(kind, left["metadata"]["name"], self._settings.scope.namespace)
        self._client.create(pod)
        try:
            digest = self._pulled(name, reference)
        finally:
            self._client.delete(kind, name, self._settings.scope.namespace)
        return Found(str(parse(reference).pinned(digest)), digest, None) if digest else None

    def _pulled(self, name: str, reference: str) -> str:
        """The digest that was pulled, "" where there is no such image."""
        pace = self._settings.pace
        deadline, trouble_since = self._clock() + pace.timeout, self._clock()
        why = ""
        hub = WatchHub(self._client)
        try:
            hub.subscribe(
                self._client.kind("v1", "Pod"),
                namespace=self._settings.scope.namespace,
                fields=f"metadata.name={name}",
            )
            while self._clock() < deadline:
                for event in hub.next(TICK_S):
                    digest = _pull_result(event.object, reference)
                    if digest is not None:
                        return digest
                    verdict = judge(event.object)
                    why = verdict.message if verdict.outcome is Outcome.TROUBLE else ""
                if not why:
                    trouble_since = self._clock()
                elif self._clock() - trouble_since >= pace.grace:
                    raise EnablementError(
                        f"{reference} cannot be pulled", why=why, todo="mend that, or tolerate it"
                    )
                self._guard()
        finally:
            hub.close()
        raise EnablementError(f"{reference} was not pulled within {pace.timeout} s")

    def _pod(self, reference: str, arch: str) -> Obj:
        node = self._nodes.get(arch)
        if node is None:
            raise EnablementError(
                f"{reference} cannot be pulled", why=f"no node of architecture {arch} is there"
            )
        settings = self._settings
        image = hashlib.sha256(f"{reference}|{arch}".encode()).hexdigest()[:16]
        name = f"pull-{image}-{secrets.token_hex(3)}"
        labels = {**settings.scope.labels, _PULLS: image}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": settings.scope.namespace, "labels": labels},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                "affinity": {"nodeAffinity": required},
                "tolerations": [dict(toleration) for toleration in settings.pods.tolerations],
                "imagePullSecrets": [{"name": name} for name in settings.pods.pull_secrets],
                "containers": [
                    {
                        "name": "pull",
                        "image": reference,
                        "imagePullPolicy": self._policy,
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


def _pull_result(pod: Obj, reference: str) -> str | None:
    """The digest that a pod's node has pulled, "" where it says that there is no such image, None
    while it has not said. Raises EnablementError where it says why it cannot pull."""
    for status in elements(pod, "status", "containerStatuses"):
        digest = str(status.get("imageID", "")).rpartition("@")[2]
        if digest.startswith("sha256:"):
            return digest
        waiting = part(status, "state", "waiting")
        if waiting.get("reason") in IMAGE_REASONS:
            text = str(waiting.get("message") or waiting["reason"])
            if _ABSENT.search(text) and not _DENIED.search(text):
                return ""
            if waiting["reason"] != "ErrImagePull":  # the first try may fail for a moment
                raise EnablementError(f"{reference} cannot be pulled", why=text)
    return None


def _selector(pod: Obj) -> str:
    """What finds the pods that pull the same for the same."""
    return ",".join(f"{name}={value}" for name, value in sorted(pod["metadata"]["labels"].items()))
