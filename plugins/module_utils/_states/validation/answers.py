# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do what proofs ask for: the only place where validation starts pods or reads logs, and always in
parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._cluster.api_client.api_errors import AlreadyExists, ApiError, Unreachable
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import Right
from ..._proofs.queries import (
    Query,
    QueryResult,
    ReadLogs,
    ReadMetrics,
    ReadRevision,
    RemovePod,
    StartPod,
)
from .revisions import newest_revision, revision_hash, revisions_of

WORKERS = 8


# Validation pods, the reason why a pod does not come, the last log lines, and what pods say of
# themselves.
RIGHTS = (
    Right("", ("pods",), ("create", "delete", "deletecollection")),
    Right("", ("events",), ("get", "list"), read_only=("get", "list")),
    Right("", ("pods/log", "pods/proxy"), ("get",), read_only=("get",)),
    Right("apps", ("controllerrevisions",), ("list",), read_only=("list",)),
)


class Answers:
    """Turns questions into requests. make_pod renders the validation pod of a StartPod."""

    def __init__(self, client: Client, make_pod: Callable[[StartPod], dict[str, Any]]) -> None:
        self._client = client
        self._make_pod = make_pod
        self._silent: set[ReadMetrics] = set()

    def fetch(
        self, queries: Sequence[Query], clock: Callable[[], float]
    ) -> dict[Query, QueryResult]:
        """The answers to all questions; an error of the API server is an answer too."""
        metrics = [query for query in queries if isinstance(query, ReadMetrics)]
        answers = self._run_queries(
            [query for query in queries if not isinstance(query, ReadMetrics)], clock
        )
        # What did not answer before comes last.
        waiting = sorted(metrics, key=self._silent.__contains__)
        while waiting:
            asked, waiting = waiting[:WORKERS], waiting[WORKERS:]
            answers |= self._run_queries(asked, clock)
            if waiting and self._silent.issuperset(asked):
                # The API server does not reach pods: waiting for each of them would hold up
                # everything else.
                error = f"not asked, since {len(asked)} others did not answer"
                answers |= dict.fromkeys(waiting, QueryResult(None, clock(), error))
                break
        return answers

    def _run_queries(
        self, queries: Sequence[Query], clock: Callable[[], float]
    ) -> dict[Query, QueryResult]:
        calls = [self._call(query) for query in queries]
        answers = {}
        for query, value in zip(
            queries, self._client.parallel(calls, workers=WORKERS), strict=True
        ):
            if isinstance(query, ReadMetrics):
                (self._silent.add if isinstance(value, Unreachable) else self._silent.discard)(
                    query
                )
            answers[query] = (
                QueryResult(None, clock(), str(value))
                if isinstance(value, ApiError)
                else QueryResult(value, clock())
            )
        return answers

    def _call(self, query: Query) -> Callable[[], Any]:
        client = self._client
        if isinstance(query, StartPod):
            return lambda: self._start(query)
        if isinstance(query, RemovePod):
            kind = client.kind("v1", "Pod")
            return lambda: client.delete(kind, query.name, query.namespace, uid=query.uid)
        if isinstance(query, ReadLogs):
            return lambda: client.logs(
                query.namespace,
                query.pod,
                container=query.container,
                tail=query.tail,
                previous=query.previous,
            )
        if isinstance(query, ReadMetrics):
            return lambda: client.pod_proxy(
                query.namespace, query.pod, query.port, query.path, scheme=query.scheme
            )
        if isinstance(query, ReadRevision):
            return lambda: self._revision(query)
        return lambda: client.newest_warning(query.namespace, query.kind, query.name)

    def _start(self, query: StartPod) -> bool:
        try:
            self._client.create(self._make_pod(query))
        except AlreadyExists:
            return False
        return True

    def _revision(self, query: ReadRevision) -> str:
        newest = newest_revision(revisions_of(self._client, query.namespace), query.uid)
        return revision_hash(newest) if newest else ""
