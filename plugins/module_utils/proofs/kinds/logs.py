# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""logs: the last lines of pods match a regular expression: the state's pods on the node, or those of a named object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Union

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import ReadLogs
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.declaration import ProofKind, Scope, Setting
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.feeds import Watched
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.pod_status import NO_POD, last_line, name
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.reasons import UNDER_WAY, Reason
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.snapshot import node_of
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.watching import (
    FIND_REASONS,
    find,
    find_all,
    pods_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils.schema.shapes import (
    Integer,
    OneOf,
    Optional,
    Regex,
    Text,
)
from ansible_collections.hardware.enablement.plugins.module_utils.schema.terms import GROUP_VERSION, KIND_NAME

Obj = dict[str, Any]

READ_EVERY_S = 5.0


@dataclass(frozen=True)
class Settings:
    """Whose log, and what has to be in it."""

    match: Annotated[
        str, Setting(Regex(), "regular expression that a part of the log has to match; `^` and `$` are a line's")
    ]
    container: Annotated[str | None, Setting(Optional(Text()), "the container, where a pod has several")] = None
    tail: Annotated[int, Setting(Integer(1, 10_000), "how many of the last lines are read")] = 50
    api_version: Annotated[str | None, Setting(Optional(GROUP_VERSION), "with `kind`: its `apiVersion`")] = None
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
        str | None, Setting(Optional(Text()), "with `kind`: its namespace; the recipe's where nothing is said")
    ] = None
    scope: Annotated[
        str | None,
        Setting(
            Optional(OneOf(("cluster", "node"))),
            "with `kind`: `node` where each node's own pods count; so it is anyway where a text uses `{{ node }}` or"
            " facts of its group",
        ),
    ] = None


def evaluate(look: Look[Settings]) -> Verdict:
    """The verdict for one node, or for the cluster: every pod has to match."""
    pods = _pods(look)
    if isinstance(pods, Verdict):
        return pods
    if not pods:
        return Verdict(Outcome.PENDING, "NoPod", "there is no pod whose log could be read")
    settings = look.settings
    for pod in pods:
        metadata = pod["metadata"]
        answer = look.ask(
            ReadLogs(metadata["namespace"], metadata["name"], metadata["uid"], settings.container, settings.tail),
            READ_EVERY_S,
        )
        if answer is None:
            return Verdict(Outcome.PENDING, "ReadingLogs", f"the log of {name(pod)} is being read")
        if answer.error:
            return Verdict(Outcome.BLOCKED, "LogsUnreadable", f"the log of {name(pod)} cannot be read: {answer.error}")
        if not re.search(settings.match, str(answer.value), re.MULTILINE):
            line = last_line(str(answer.value)) or "it is empty"
            text = f"the log of {name(pod)} does not match {settings.match!r} yet; its last line: {line}"
            return Verdict(Outcome.PENDING, "LogMismatch", text)
    return PASSED


def watched(settings: Settings, namespace: str) -> tuple[Watched, ...]:
    """The object that is named, and all pods beside it."""
    if settings.kind is None or settings.name is None or settings.api_version is None:
        return ()
    place = settings.namespace or namespace
    owner = Watched(settings.api_version, settings.kind, place, settings.name)
    return (owner,) if settings.kind == "Pod" else (owner, Watched("v1", "Pod", place))


def _pods(look: Look[Settings]) -> Union[list[Obj], Verdict]:
    """The pods whose logs count: those that run or have done their work. Only where none does, the failed ones."""
    node = look.node.name if look.node else None
    targets = watched(look.settings, look.namespace)
    if not targets:
        return list(look.snapshot.pods_of(node, look.plan.name)) if node else []
    owner = find(look, targets[0])
    if isinstance(owner, Verdict):
        return owner
    found = [owner]
    if len(targets) > 1:
        pods = find_all(look, targets[1], f"the pods in {targets[1].namespace}")
        if isinstance(pods, Verdict):
            return pods
        found = pods_of(owner, pods.values())
    if node and _per_node(look.settings):
        found = [pod for pod in found if node_of(pod) == node]
    return [pod for pod in found if not _over(pod)] or found


def _over(pod: Obj) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp") or (pod.get("status") or {}).get("phase") == "Failed")


def _per_node(settings: Settings) -> bool:
    return settings.scope == Scope.NODE.value


def _scope(settings: Settings) -> Scope:
    return Scope(settings.scope or (Scope.CLUSTER if settings.kind else Scope.NODE))


KIND = ProofKind(
    name="logs",
    holds_when="the last lines of the state's pods on the node, or of a named object's pods, match a regular"
    " expression",
    settings=Settings,
    evaluate=evaluate,
    reasons={
        **FIND_REASONS,
        "LogMismatch": Reason("the log does not show what the recipe looks for", "read the pod's log"),
        "LogsUnreadable": Reason(
            "the API server could not deliver the log; `unknown`",
            "look whether the API server reaches the node's kubelet",
        ),
        "ReadingLogs": UNDER_WAY,
        "NoPod": NO_POD,
    },
    observed=False,
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
