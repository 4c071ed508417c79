# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do what proofs ask for: the only place where validation starts pods or reads logs, and always in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import (
    AlreadyExists,
    ApiError,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.rights import Right
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import (
    Answer,
    Ask,
    ReadLogs,
    ReadMetrics,
    ReadRevision,
    RemovePod,
    StartPod,
)

WORKERS = 8
# On a DaemonSet's revisions and pods (kubernetes/staging/src/k8s.io/api/apps/v1/types.go).
REVISION_LABEL = "controller-revision-hash"


# Validation pods, the reason why a pod does not come, the last log lines, and what pods say of themselves.
RIGHTS = (
    Right("", ("pods",), ("create", "delete", "deletecollection")),
    Right("", ("events",), ("get", "list"), look=("get", "list")),
    Right("", ("pods/log", "pods/proxy"), ("get",), look=("get",)),
    Right("apps", ("controllerrevisions",), ("list",), look=("list",)),
)


class Answers:
    """Turns questions into requests. make_pod renders the validation pod of a StartPod."""

    def __init__(self, client: Client, make_pod: Callable[[StartPod], dict[str, Any]]) -> None:
        self._client = client
        self._make_pod = make_pod
        self._silent: set[ReadMetrics] = set()

    def fetch(self, asks: Sequence[Ask], clock: Callable[[], float]) -> dict[Ask, Answer]:
        """The answers to all questions; an error of the API server is an answer too."""
        metrics = [ask for ask in asks if isinstance(ask, ReadMetrics)]
        answers = self._ask([ask for ask in asks if not isinstance(ask, ReadMetrics)], clock)
        # What did not answer before comes last.
        waiting = sorted(metrics, key=self._silent.__contains__)
        while waiting:
            asked, waiting = waiting[:WORKERS], waiting[WORKERS:]
            answers |= self._ask(asked, clock)
            if waiting and self._silent.issuperset(asked):
                # The API server does not reach pods: waiting for each of them would hold up everything else.
                error = f"not asked, since {len(asked)} others did not answer"
                answers |= dict.fromkeys(waiting, Answer(None, clock(), error))
                break
        return answers

    def _ask(self, asks: Sequence[Ask], clock: Callable[[], float]) -> dict[Ask, Answer]:
        calls = [self._call(ask) for ask in asks]
        answers = {}
        for ask, value in zip(asks, self._client.parallel(calls, workers=WORKERS), strict=True):
            if isinstance(ask, ReadMetrics):
                (self._silent.add if isinstance(value, Unreachable) else self._silent.discard)(ask)
            answers[ask] = Answer(None, clock(), str(value)) if isinstance(value, ApiError) else Answer(value, clock())
        return answers

    def _call(self, ask: Ask) -> Callable[[], Any]:
        client = self._client
        if isinstance(ask, StartPod):
            return lambda: self._start(ask)
        if isinstance(ask, RemovePod):
            kind = client.kind("v1", "Pod")
            return lambda: client.delete(kind, ask.name, ask.namespace, uid=ask.uid)
        if isinstance(ask, ReadLogs):
            return lambda: client.logs(
                ask.namespace, ask.pod, container=ask.container, tail=ask.tail, previous=ask.previous
            )
        if isinstance(ask, ReadMetrics):
            return lambda: client.pod_proxy(ask.namespace, ask.pod, ask.port, ask.path)
        if isinstance(ask, ReadRevision):
            return lambda: self._revision(ask)
        return lambda: client.newest_warning(ask.namespace, ask.kind, ask.name)

    def _start(self, ask: StartPod) -> bool:
        try:
            self._client.create(self._make_pod(ask))
        except AlreadyExists:
            return False
        return True

    def _revision(self, ask: ReadRevision) -> str:
        kind = self._client.kind("apps/v1", "ControllerRevision")
        own = [
            revision
            for revision in self._client.list(kind, namespace=ask.namespace).items
            if any(owner.get("uid") == ask.uid for owner in revision["metadata"].get("ownerReferences") or [])
        ]
        newest = max(own, key=lambda revision: int(revision.get("revision", 0)), default=None)
        return str((newest["metadata"].get("labels") or {}).get(REVISION_LABEL, "")) if newest else ""
