# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""logs: the last lines of pods match a regular expression: the state's pods on the node, or those
of a named object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Union

from ..._json import Obj, part
from ..._schema.shapes import Integer, OneOf, Optional, Regex, Text
from ..._schema.terms import GROUP_VERSION, KIND_NAME
from ..._verdicts.pod_status import NO_POD, last_line, name
from ..._verdicts.reasons import UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation
from ..feeds import Watched
from ..queries import ReadLogs
from ..snapshot import node_of
from ..watching import FIND_REASONS, find, find_all, pods_of

READ_EVERY_S = 5.0


@dataclass(frozen=True)
class LogsSettings:
    """Whose log, and what has to be in it."""

    match: Annotated[
        str,
        Setting(
            Regex(),
            "regular expression that a part of the log has to match; `^` and `$` are a line's",
        ),
    ]
    container: Annotated[
        str | None, Setting(Optional(Text()), "the container, where a pod has several")
    ] = None
    tail: Annotated[int, Setting(Integer(1, 10_000), "how many of the last lines are read")] = 50
    api_version: Annotated[
        str | None, Setting(Optional(GROUP_VERSION), "with `kind`: its `apiVersion`")
    ] = None
    kind: Annotated[
        str | None,
        Setting(
            Optional(KIND_NAME),
            "a kind that has pods (Deployment, StatefulSet, Job, Pod, a custom one); its pods count instead of the"
            " state's own on the node",
        ),
    ] = None
    name: Annotated[str | None, Setting(Optional(Text()), "with `kind`: the object's name")] = None
    namespace: Annotated[
        str | None,
        Setting(Optional(Text()), "with `kind`: its namespace; the recipe's where nothing is said"),
    ] = None
    scope: Annotated[
        str | None,
        Setting(
            Optional(OneOf(("cluster", "node"))),
            "with `kind`: `node` where each node's own pods count; so it is anyway where a text uses `{{ node }}` or"
            " facts of its group",
        ),
    ] = None


def evaluate(observation: Observation[LogsSettings]) -> Verdict:
    """The verdict for one node, or for the cluster: every pod has to match."""
    pods = _pods(observation)
    if isinstance(pods, Verdict):
        return pods
    if not pods:
        return Verdict(Outcome.PENDING, "NoPod", "there is no pod whose log could be read")
    settings = observation.settings
    for pod in pods:
        if part(pod, "status").get("phase") == "Pending":
            # A kubelet refuses it, which is no fault of anybody's.
            text = f"{name(pod)} has not started, so that it has no log yet"
            return Verdict(Outcome.PENDING, "ReadingLogs", text)
        metadata = pod["metadata"]
        answer = observation.query(
            ReadLogs(
                metadata["namespace"],
                metadata["name"],
                metadata["uid"],
                settings.container,
                settings.tail,
            ),
            READ_EVERY_S,
        )
        if answer is None:
            return Verdict(Outcome.PENDING, "ReadingLogs", f"the log of {name(pod)} is being read")
        if answer.error:
            return Verdict(
                Outcome.BLOCKED,
                "LogsUnreadable",
                f"the log of {name(pod)} cannot be read: {answer.error}",
            )
        if not re.search(settings.match, str(answer.value), re.MULTILINE):
            line = last_line(str(answer.value)) or "it is empty"
            text = f"the log of {name(pod)} does not match {settings.match!r} yet; its last line: {line}"
            return Verdict(Outcome.PENDING, "LogMismatch", text)
    return PASSED


def watched(settings: LogsSettings, namespace: str) -> tuple[Watched, ...]:
    """The object that is named, and all pods beside it."""
    if settings.kind is None or settings.name is None or settings.api_version is None:
        return ()
    place = settings.namespace or namespace
    owner = Watched(settings.api_version, settings.kind, place, settings.name)
    return (owner,) if settings.kind == "Pod" else (owner, Watched("v1", "Pod", place))


def _pods(observation: Observation[LogsSettings]) -> Union[list[Obj], Verdict]:
    """The pods whose logs count: those that run or have done their work. Only where none does, the
    failed ones."""
    targets = watched(observation.settings, observation.view.namespace)
    if not targets:
        return list(observation.snapshot.pods_of(observation.node.name, observation.plan.name))
    found = _pods_of_object(observation, *targets)
    if isinstance(found, Verdict):
        return found
    if observation.settings.scope == Scope.NODE.value:
        found = [pod for pod in found if node_of(pod) == observation.node.name]
    return [pod for pod in found if not _over(pod)] or found


def _pods_of_object(
    observation: Observation[LogsSettings], named: Watched, beside: Watched | None = None
) -> Union[list[Obj], Verdict]:
    """The pods of the named object among those beside it; without these, it is a pod itself."""
    owner = find(observation, named)
    if isinstance(owner, Verdict):
        return owner
    if beside is None:
        return [owner]
    pods = find_all(observation, beside, f"the pods in {beside.namespace}")
    return pods if isinstance(pods, Verdict) else pods_of(owner, pods.values())


def _over(pod: Obj) -> bool:
    return bool(
        pod["metadata"].get("deletionTimestamp") or part(pod, "status").get("phase") == "Failed"
    )


def _scope(settings: LogsSettings) -> Scope:
    return Scope(settings.scope or (Scope.CLUSTER if settings.kind else Scope.NODE))


KIND = ProofKind(
    name="logs",
    holds_when="the last lines of the state's pods on the node, or of a named object's pods, match a regular"
    " expression",
    settings=LogsSettings,
    evaluate=evaluate,
    reasons={
        **FIND_REASONS,
        "LogMismatch": Reason(
            "the log does not show what the recipe looks for", "read the pod's log"
        ),
        "LogsUnreadable": Reason(
            "the API server could not deliver the log; `unknown`",
            "look whether the API server reaches the node's kubelet",
        ),
        "ReadingLogs": UNDER_WAY,
        "NoPod": NO_POD,
    },
    observed=False,
    by_node=False,
    scope=_scope,
    watches=watched,
    together={
        "kind": ("api_version", "name"),
        "name": ("kind",),
        "api_version": ("kind",),
        "namespace": ("kind",),
        "scope": ("kind",),
    },
)
