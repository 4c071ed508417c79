# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rollout: the state's workloads run, in their current version; on a node: the pod of each of its
DaemonSets is ready that is wanted there.

Where only the DaemonSets' own counts are known (the quick look of an unchanged run), counts that
agree with the nodes that should be served are enough; any difference makes the loop read the pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._cluster.api_objects.controller_references import is_made_by
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.api_objects.objects import ObjectKey, has_driver_of, updates_on_delete
from ..._json import Obj, part
from ..._nodes.facts import NodeFacts
from ..._nodes.node_affinity import NodeAffinity
from ..._nodes.taints import Taint
from ..._times import seconds
from ..._verdicts.conditions import condition
from ..._verdicts.pod_status import (
    NO_POD,
    POD_REASONS,
    PULLING,
    is_ready,
    judge,
    newest,
)
from ..._verdicts.reasons import NEEDS_RUN, UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..container_logs import with_last_line
from ..declaration import ProofKind, Scope
from ..evaluation import Observation
from ..queries import ReadEvents, ReadRevision
from ..taint_reasons import TAINT_REASONS, untolerated, why_kept_off
from ..watching import pods_of


@dataclass(frozen=True)
class RolloutSettings:
    """None."""


REASONS = {
    **POD_REASONS,
    "KernelLabelStale": Reason(
        "the node was rebooted into another kernel, and NFD's label still names the one before; `unknown`",
        "wait for NFD's next pass, or look whether nfd-worker runs on the node",
    ),
    "JobFailed": Reason(
        "a Job of the state has given up; its reason and the last log line are in the message",
        "read the log of the Job's pods, mend the cause, delete the Job, run again",
    ),
    "NeedsRun": NEEDS_RUN,
    "NotApplied": Reason(
        "an object of the state is not in the cluster",
        "run the playbook that enables it, without --check and without limiting its tags",
    ),
    "NotRead": UNDER_WAY,
    "Progressing": UNDER_WAY,
    "Updating": UNDER_WAY,
    "NoPod": NO_POD,
    "QuotaExceeded": Reason(
        "a ResourceQuota has no room for a pod of a DaemonSet; an event that names the quota is in the message",
        "raise the ResourceQuota that the message names, or delete what uses it up; the DaemonSet's controller tries"
        " again by itself, after minutes where it was refused often",
    ),
    **TAINT_REASONS,
}

EVENTS_MAX_AGE_S = 5.0
REVISION_MAX_AGE_S = 60.0
NO_POD_PATIENCE_S = 10.0
# What admission says of a quota that is used up (apiserver/pkg/admission/plugin/resourcequota).
_QUOTA_EXCEEDED = "exceeded quota: "
RESTART_PENDING = "RestartPending"
# A state that holds on a node, since none of its DaemonSets is for it.
NOT_WANTED = "NotWanted"


def evaluate(observation: Observation[RolloutSettings]) -> Verdict:
    """The verdict for one node, or for a state of the cluster, which has no DaemonSets."""
    for key in observation.plan.workloads:
        verdict = _workload(observation, key)
        if not verdict.passed:
            return verdict
    found = []
    for key in observation.plan.daemonsets_for(observation.target.group):
        verdict = _daemonset_on_node(observation, key)
        if not verdict.passed:
            return verdict
        found.append(verdict)
    return _together(found)


def _together(found: Sequence[Verdict]) -> Verdict:
    """What DaemonSets say together that are all as they should be on a node."""
    if all(verdict is PASSED for verdict in found):
        return PASSED
    if any(verdict.reason == RESTART_PENDING for verdict in found):
        return Verdict(Outcome.PASS, RESTART_PENDING)
    unwanted = [verdict for verdict in found if verdict.reason == NOT_WANTED]
    reason = NOT_WANTED if unwanted and len(unwanted) == len(found) else PASSED.reason
    return Verdict(Outcome.PASS, reason, "; ".join(verdict.message for verdict in unwanted))


def _missing(key: ObjectKey) -> Verdict:
    return Verdict(
        Outcome.TROUBLE,
        "NotApplied",
        f"{key} is not in the cluster; run the playbook that applies it",
        ran=True,
    )


def _workload(observation: Observation[RolloutSettings], key: ObjectKey) -> Verdict:
    workload = observation.snapshot.workloads.get(key)
    if workload is None:
        return _missing(key)
    if key.kind == "Job":
        return _job(observation, key, workload)
    spec, status = part(workload, "spec"), part(workload, "status")
    wanted = int(spec.get("replicas", 1))
    current = int(status.get("observedGeneration", 0)) >= int(
        workload["metadata"].get("generation", 0)
    )
    updated, available = (
        int(status.get("updatedReplicas", 0)),
        int(status.get("availableReplicas", 0)),
    )
    if current and min(updated, available) >= wanted:
        return PASSED
    obstacle = _obstacle(observation, _newest(observation, workload)) if current else None
    return obstacle or Verdict(
        Outcome.PENDING, "Progressing", f"{key} has {available} of {wanted} replicas available"
    )


def _newest(observation: Observation[RolloutSettings], workload: Obj) -> Obj | None:
    """The newest pod of a workload: what is wrong with older ones may be over with the version that
    they are of."""
    return newest(pods_of(workload, observation.snapshot.pods_of_state(observation.plan.name)))


def _obstacle(observation: Observation[RolloutSettings], pod: Obj | None) -> Verdict | None:
    """What keeps a pod from running, be it the pull of its image. One that failed is followed by
    another, until its controller gives up."""
    if pod is None or is_ready(pod) or part(pod, "status").get("phase") == "Failed":
        return None
    verdict = judge(pod)
    if verdict.reason == PULLING:
        return verdict
    return with_last_line(observation, pod, verdict) if verdict.outcome is Outcome.TROUBLE else None


def _job(observation: Observation[RolloutSettings], key: ObjectKey, job: Obj) -> Verdict:
    """A Job is ready when it is complete. One that has failed stays so: no patience helps."""
    if (condition(job, "Complete") or {}).get("status") == "True":
        return PASSED
    pod = _newest(observation, job)
    failed = condition(job, "Failed") or {}
    if failed.get("status") == "True":
        why = (
            ": ".join(filter(None, (failed.get("reason"), failed.get("message"))))
            or "no reason given"
        )
        verdict = Verdict(
            Outcome.TROUBLE,
            "JobFailed",
            f"{key} failed: {why}",
            seconds(failed.get("lastTransitionTime")),
            heals=False,
        )
        return with_last_line(observation, pod, verdict) if pod else verdict
    if obstacle := _obstacle(observation, pod):
        return obstacle
    tries = int(part(job, "status").get("failed", 0))
    text = f"{key} is not complete yet" + (f", {tries} of its pods failed" if tries else "")
    return Verdict(Outcome.PENDING, "Progressing", text)


def counts_agree(daemonset: Obj, nodes: int) -> bool:
    """Whether a DaemonSet says of itself that each of so many nodes runs an available pod of its
    newest version."""
    status, generation = part(daemonset, "status"), daemonset["metadata"].get("generation", 0)
    counts = {
        int(status.get(field, 0))
        for field in (
            "desiredNumberScheduled",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberReady",
        )
    }
    return (
        counts == {nodes}
        and nodes > 0
        and int(status.get("observedGeneration", 0)) >= int(generation)
    )


def _daemonset_on_node(observation: Observation[RolloutSettings], key: ObjectKey) -> Verdict:
    daemonset = observation.snapshot.workloads.get(key)
    if daemonset is None:
        return _missing(key)
    if why := observation.plan.why_unwanted(key, observation.node):
        return _unwanted(observation, key, daemonset, why)
    if not observation.snapshot.pods_known:
        return _by_counts(observation, key, daemonset)
    pods = [
        pod
        for pod in observation.snapshot.pods_of(observation.node.name, observation.plan.name)
        if is_made_by(pod, daemonset)
    ]
    pod = newest(pods)
    if pod is None:
        return _no_pod(observation, key, daemonset)
    for each in pods:
        if is_ready(each):
            return _ready(observation, each, daemonset, key)
    if _is_being_replaced(observation, pod, daemonset):
        text = f"{key} is being updated; the pod of the version before was not ready"
        return Verdict(Outcome.PENDING, "Updating", text)
    return with_last_line(observation, pod, judge(pod))


def _unwanted(
    observation: Observation[RolloutSettings], key: ObjectKey, daemonset: Obj, why: str
) -> Verdict:
    """The node is one that the DaemonSet's author does not want. What was made just now may bring the
    label that is missing."""
    made = seconds(daemonset["metadata"].get("creationTimestamp")) or 0.0
    if observation.now < made + NO_POD_PATIENCE_S:
        observation.wake_at(made + NO_POD_PATIENCE_S)
        return Verdict(Outcome.PENDING, "NoPod", f"{key} has no pod on the node yet: {why}")
    return Verdict(Outcome.PASS, NOT_WANTED, f"{key} is not for the node: {why}")


def _by_counts(
    observation: Observation[RolloutSettings], key: ObjectKey, daemonset: Obj
) -> Verdict:
    """What a DaemonSet's own counts say as long as no pod has been read."""
    place, settled = (observation.plan.name, key), observation.snapshot.settled
    if place not in settled:
        # Once, as each node asks.
        settled[place] = counts_agree(daemonset, _served(observation, key))
    if settled[place]:
        return PASSED
    return Verdict(Outcome.PENDING, "NotRead", f"{key} has not settled")


def _served(observation: Observation[RolloutSettings], key: ObjectKey) -> int:
    """On how many nodes a DaemonSet is to have a pod."""
    plan, snapshot = observation.plan, observation.snapshot
    return sum(
        key in plan.daemonsets_for(group)
        and (name not in snapshot.nodes or plan.is_wanted(key, snapshot.nodes[name]))
        for name, group in snapshot.groups.items()
    )


def _ready(
    observation: Observation[RolloutSettings], pod: Obj, daemonset: Obj, key: ObjectKey
) -> Verdict:
    """Ready, but of which version?"""
    status, generation = (
        part(daemonset, "status"),
        int(daemonset["metadata"].get("generation", 0)),
    )
    if int(status.get("observedGeneration", 0)) < generation:
        return Verdict(
            Outcome.PENDING,
            "Progressing",
            f"{key} has a change that its controller has not seen yet",
        )
    current = _is_current(observation, pod, daemonset)
    if current is None:
        return Verdict(
            Outcome.PENDING, "Progressing", f"the newest revision of {key} is being read"
        )
    if current:
        return PASSED
    if updates_on_delete(daemonset):
        return Verdict(
            Outcome.PASS, RESTART_PENDING, f"{key} changed; the pod still runs the version before"
        )
    return Verdict(
        Outcome.PENDING,
        "Updating",
        f"{key} is being updated; the pod still runs the version before",
    )


def _is_being_replaced(observation: Observation[RolloutSettings], pod: Obj, daemonset: Obj) -> bool:
    """Whether a pod is of a version that is gone: what is wrong with it says nothing of the new
    one."""
    if updates_on_delete(daemonset):
        return False
    seen = int(part(daemonset, "status").get("observedGeneration", 0))
    return seen < int(daemonset["metadata"].get("generation", 0)) or not _is_current(
        observation, pod, daemonset
    )


def _is_current(observation: Observation[RolloutSettings], pod: Obj, daemonset: Obj) -> bool | None:
    """Whether a pod runs its DaemonSet's newest template, or the same driver where that is what it
    is replaced for; None until that has been found out.

    The number of the template says so at once. After a change back to an earlier template the
    numbers differ, and the hash of the newest revision has to be compared
    (kubernetes/pkg/controller/daemon/util, IsPodUpdated). That all pods are of it, as the DaemonSet
    says, does not help: it may have been told of later than this pod, which is gone then.
    """
    metadata, labels = daemonset["metadata"], part(pod["metadata"], "labels")
    if updates_on_delete(daemonset) and has_driver_of(pod, daemonset):
        return True
    number = part(metadata, "annotations").get("deprecated.daemonset.template.generation")
    if number is None or labels.get("pod-template-generation") in (None, number):
        return True
    if not part(daemonset, "status").get("updatedNumberScheduled"):
        return False
    question = ReadRevision(
        metadata["namespace"], metadata["name"], metadata["uid"], int(metadata.get("generation", 0))
    )
    answer = observation.query(question, REVISION_MAX_AGE_S)
    if answer is None or answer.error:
        return None
    return bool(answer.value) and answer.value == labels.get("controller-revision-hash")


def _no_pod(observation: Observation[RolloutSettings], key: ObjectKey, daemonset: Obj) -> Verdict:
    facts = observation.node
    if facts.system.in_transition:
        return Verdict(
            Outcome.BLOCKED,
            "KernelLabelStale",
            f"the node runs kernel {facts.system.kernel}, but its label still says"
            f" {facts.system.kernel_label}; NFD has yet to label it again",
        )
    created = seconds(daemonset["metadata"].get("creationTimestamp")) or observation.now
    since = max(created, observation.target.runnable_since)
    if taint := _repelling(facts, daemonset):
        reason, text = why_kept_off(str(key), taint, observation.view.controller_taints)
        return Verdict(Outcome.TROUBLE, reason, text, since)
    message = f"{key} has no pod on the node yet"
    view = observation.view
    gated_by_run = not view.acts and not view.by_nodes
    if gated_by_run and (why := _ungated(facts, daemonset)):
        return Verdict(Outcome.PENDING, "NeedsRun", f"{message}: {why}")
    # The controller has one queue for all DaemonSets: while it makes pods of any, it has not come to
    # this one.
    since = max(since, observation.snapshot.last_made)
    # Who merely looks does not see for how long there has been none, and asks at once.
    if view.acts and observation.now < since + NO_POD_PATIENCE_S:
        observation.wake_at(since + NO_POD_PATIENCE_S)
        return Verdict(Outcome.PENDING, "NoPod", message)
    answer = observation.query(ReadEvents(key.namespace, key.kind, key.name), EVENTS_MAX_AGE_S)
    if answer is None or not answer.value:
        return Verdict(Outcome.TROUBLE, "NoPod", f"{message}, and no event says why", since)
    said = f"{message}: {answer.value}"
    if _QUOTA_EXCEEDED in answer.value:
        return Verdict(Outcome.TROUBLE, "QuotaExceeded", said, since)
    return Verdict(Outcome.TROUBLE, "NoPod", said, since)


def _ungated(node: NodeFacts, daemonset: Obj) -> str:
    """Which of our own labels a DaemonSet's pods wait for on a node, in words; "" for none."""
    affinity = NodeAffinity.of(part(daemonset, "spec", "template", "spec"))
    ours = affinity.without(lambda key: not key.startswith(f"{DOMAIN}/"))
    return ours.why_not(node.labels, node.name)


def _repelling(node: NodeFacts, daemonset: Obj) -> Taint | None:
    """A taint that keeps a DaemonSet's pods off a node, but for those that Kubernetes itself puts
    there, which pass or are tolerated."""
    spec = part(daemonset, "spec", "template", "spec")
    found = untolerated(node.taints, spec.get("tolerations"))
    return next((taint for taint in found if not taint.key.startswith("node.kubernetes.io/")), None)


KIND = ProofKind(
    name="rollout",
    holds_when="the state's Deployments and StatefulSets run in their current version and its Jobs are complete; on a"
    " node: the pod of each of its DaemonSets is ready, but for those that their authors keep off the node",
    settings=RolloutSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=True,
    by_node=True,
    scope=lambda _settings: Scope.STATE,
)
