# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of operator_takeover: nodes that NVIDIA's GPU Operator serves become those of the recipe
nvidia-gpu, node by node, and no driver's pod restarts.

What is done and what is not is told from the cluster, so that a run that was killed is repaired by
running again: the custom resources go last, and are marked before anything else is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_objects.change_report import name_some
from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.labels import TAKEN_OVER_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.authorization import access
from .._cluster.removal import wait_until_gone
from .._errors import EnablementError
from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._runs.wait_progress import WaitProgress
from .._schema.requests import ParameterGroup
from .._states import apply
from .._states.apply_plan import PlanRequest
from .._states.desired import Desired
from .._states.on_nodes.strays import MembershipRequest
from .._states.preflight import of_run, refuse_lacking
from .._states.preparation.image_facts import ImageRequest
from .._states.preparation.prepare import prepare
from .._states.preparation.recipe_request import RecipeRequest
from .._states.proof_request import ProofRequest
from .._states.validate import prove
from . import driver_adoption
from .gpu_operator import GROUP
from .node_takeover import NodeTakeover, TakeoverScope
from .operator_survey import (
    OperatorSurvey,
    deploy_labels,
    is_operators,
    owner_group,
    refuse_obstacles,
    survey_operator,
)
from .takeover_plan import TakeoverPlan, plan_of

# Beside what enabling the recipe needs.
RIGHTS = (
    Right(GROUP, ("clusterpolicies", "nvidiadrivers"), ("get", "list", "patch", "delete"), CLUSTER),
    Right(GROUP, ("gpuclusters",), ("list",), CLUSTER),
    Right("amd.com", ("deviceconfigs",), ("list",), CLUSTER),
    Right("apps", ("daemonsets",), ("get", "list", "delete"), CLUSTER),
    Right("apps", ("controllerrevisions",), ("list", "delete"), CLUSTER),
    Right("apps", ("deployments",), ("list", "patch"), CLUSTER),
    Right("", ("pods",), ("list", "patch", "delete"), CLUSTER),
    Right("", ("services",), ("get", "delete"), CLUSTER),
    Right("", ("nodes",), ("list", "patch"), CLUSTER),
)

# Merged with ours they would select pods of both, or cannot be changed at all.
_MADE_ANEW = ("Service", "ServiceMonitor")
_NAMED = 3


@dataclass(frozen=True)
class TakeoverPace(ParameterGroup):
    """at_a_time: nodes. failure_grace, timeout: seconds, see ProofRequest."""

    at_a_time: int = 1
    failure_grace: float = 30
    timeout: Optional[float] = None


@dataclass(frozen=True)
class OperatorTakeoverRequest:
    """What operator_takeover is to do. stop_operator: take over, not only say how."""

    connection: ConnectionRequest
    given: RecipeRequest
    pace: TakeoverPace
    run_id: Optional[str] = None
    stop_operator: bool = False
    show: bool = False

    def proving(self, *, wait: bool, record: bool, show: bool) -> ProofRequest:
        """How states are proven on the way; what is not ready at the end fails by itself."""
        return ProofRequest(
            wait=wait,
            failure_grace=self.pace.failure_grace,
            timeout=self.pace.timeout,
            require_ready=False,
            show=show,
            record=record,
        )


def run(request: OperatorTakeoverRequest, context: RunContext) -> Obj:
    """Plan; where the operator may be stopped: take its nodes over, then delete what it was asked
    for."""
    client = connect(request.connection)
    survey = survey_operator(client, request.given.namespace)
    if not survey.resources:
        return {
            "changed": False,
            "plan": [],
            "table": [],
            "message": "there is nothing to take over",
        }
    there = replace(request.given, namespace=survey.namespace)
    request = replace(request, given=_once_only(there, client, context))
    desired = _desired(client, request.given, context)
    refuse_obstacles(survey, desired.nodes)
    plan = plan_of(survey, desired.nodes, desired.recipe.name)
    result = _plan_result(plan, context, allowed=request.stop_operator)
    if context.check_mode or not request.stop_operator:
        return result
    _refuse_missing_rights(client, survey, desired)
    with given_back(client, desired.recipe.name, context):
        return {**result, **_take_over(desired, survey, plan, request, context)}


def _plan_result(plan: TakeoverPlan, context: RunContext, *, allowed: bool) -> Obj:
    """The plan as a result, and as a person sees it."""
    result: Obj = {
        "changed": allowed,
        "plan": plan.rows(),
        "table": plan.table(),
        "message": "" if allowed else plan.consent(),
    }
    if context.diff:
        result["diff"] = [{"prepared": "".join(f"{line}\n" for line in plan.table())}]
    # Ansible shows no diff of what changes nothing.
    for line in () if context.diff and allowed else plan.table():
        context.notice(line)
    return result


def _desired(client: Client, given: RecipeRequest, context: RunContext) -> Desired:
    """What the recipe wants of the nodes as they are now."""
    prepared = prepare(given, context, client)
    return Desired(client, prepared, MembershipRequest(), ImageRequest(), context.clock)


def _once_only(given: RecipeRequest, client: Client, context: RunContext) -> RecipeRequest:
    """What is given of the recipe; once there is a record, it says what was asked for: of the custom
    resources some may be gone."""
    recorded = _as_recorded(given)
    return recorded if prepare(recorded, context, client).record else given


def _as_recorded(given: RecipeRequest) -> RecipeRequest:
    return replace(given, options=None, pools=None)


def _apply(
    request: OperatorTakeoverRequest, context: RunContext, *, adopt: bool, wait: bool
) -> Obj:
    """Apply all states of the recipe. adopt: what is the operator's, too."""
    asked = apply.StateApplyRequest(
        connection=request.connection,
        given=request.given,
        run_id=request.run_id,
        choice=apply.AppliedStates(),
        images=ImageRequest(),
        membership=MembershipRequest(),
        planning=PlanRequest(adopt=adopt),
        proving=request.proving(wait=wait, record=True, show=request.show),
    )
    return apply.run(asked, context)


def _take_over(
    desired: Desired,
    survey: OperatorSurvey,
    plan: TakeoverPlan,
    request: OperatorTakeoverRequest,
    context: RunContext,
) -> Obj:
    client, recipe = desired.client, desired.recipe.name
    guard = Guard(client, recipe, context)
    guard.before_write()
    _stop(client, survey, context)
    _mark_resources(client, survey.resources, recipe)
    _make_room(desired, survey, guard, WaitProgress(context))
    _adopt_drivers(desired, survey, guard, context)
    _apply(request, context, adopt=True, wait=False)
    takeover = _lead_nodes(desired, survey, request, guard, context)
    left = [*takeover.failed, *takeover.left]
    if left:
        why = "; ".join(f"{name}: {text}" for name, text in sorted(takeover.failed.items()))
        raise EnablementError(
            f"{name_some(sorted(left), _NAMED)} of {len(plan.nodes)} nodes could not be taken over",
            why=f"{why}; the others are still served by the operator's operands"
            if takeover.left
            else why,
            todo="mend it and run again, which goes on with the nodes that are left",
        )
    guard.before_write()
    _delete_resources(client, survey.resources, context)
    report = _apply(request, context, adopt=False, wait=True)
    return {"taken": sorted(takeover.taken), "report": report.get("report"), "changed": True}


def _stop(client: Client, survey: OperatorSurvey, context: RunContext) -> None:
    """Scale the operator to nothing, and wait until it is gone: it would make everything anew."""
    kind = client.kind("apps/v1", "Deployment")
    for deployment in survey.deployments:
        name, spec = deployment["metadata"]["name"], deployment["spec"]
        if spec.get("replicas") != 0:
            context.notice(f"Deployment {survey.namespace}/{name} is scaled to 0")
            client.patch(kind, name, survey.namespace, {"spec": {"replicas": 0}})
        labels = ",".join(
            f"{key}={value}" for key, value in sorted(spec["selector"]["matchLabels"].items())
        )
        wait_until_gone(
            client,
            partial(_pods, client, survey.namespace, labels),
            driver_adoption.PATIENCE_S,
            say=WaitProgress(context),
        )


def _pods(client: Client, namespace: str, labels: str) -> list[Obj]:
    return client.list(client.kind("v1", "Pod"), namespace=namespace, labels=labels).items


def _mark_resources(client: Client, resources: Sequence[Obj], recipe: str) -> None:
    """From now on they are no rivals of the recipe."""
    for each in resources:
        if TAKEN_OVER_LABEL not in part(each["metadata"], "labels"):
            client.patch(
                client.kind(each["apiVersion"], each["kind"]),
                each["metadata"]["name"],
                None,
                {"metadata": {"labels": {TAKEN_OVER_LABEL: recipe}}},
            )


def _make_room(
    desired: Desired, survey: OperatorSurvey, guard: Guard, say: Callable[[str], None]
) -> None:
    """What of the operator's has a name that we need: DaemonSets go without their pods, what can be
    merged with ours is no longer the custom resource's, so that it stays when that goes."""
    client = desired.client
    daemonsets = {
        ObjectKey(
            "apps/v1", "DaemonSet", each["metadata"]["namespace"], each["metadata"]["name"]
        ): each
        for each in survey.daemonsets
    }
    for key in sorted(_wanted_keys(desired), key=str):
        kind = client.kind(key.api_version, key.kind)
        live = client.get(kind, key.name, key.namespace or None)
        if live is None or not is_operators(live):
            continue
        guard.before_write()
        if key in daemonsets:
            _mark_pods(client, daemonsets[key], survey, desired.recipe.name)
            driver_adoption.orphan(client, daemonsets[key], say)
        elif key.kind in _MADE_ANEW:
            client.delete(kind, key.name, key.namespace or None, uid=live["metadata"]["uid"])
        else:
            _disown(client, key, live)


def _wanted_keys(desired: Desired) -> set[ObjectKey]:
    """All objects that the recipe has, whatever node they are for."""
    return {key_of(item.manifest) for state in desired.rendered.values() for item in state.objects}


def _mark_pods(client: Client, daemonset: Obj, survey: OperatorSurvey, recipe: str) -> None:
    """Mark a DaemonSet's pods, which it leaves behind, as the recipe's to remove."""
    uid = daemonset["metadata"]["uid"]
    owned = [pod for pod in survey.pods if controller_of(pod).get("uid") == uid]
    driver_adoption.mark_operands(client, owned, recipe)


def _disown(client: Client, key: ObjectKey, live: Obj) -> None:
    """Take an object from the operator's custom resources, with which it would go."""
    owners = [each for each in live["metadata"]["ownerReferences"] if owner_group(each) != GROUP]
    client.patch(
        client.kind(key.api_version, key.kind),
        key.name,
        key.namespace or None,
        {"metadata": {"uid": live["metadata"]["uid"], "ownerReferences": owners or None}},
    )


def _adopt_drivers(
    desired: Desired, survey: OperatorSurvey, guard: Guard, context: RunContext
) -> None:
    pods = survey.driver_pods()
    labels = driver_adoption.labels_on(desired)
    lacking = sorted(pods.keys() - labels.keys())
    if lacking:
        raise EnablementError(
            f"The recipe deploys no driver on {name_some(lacking, _NAMED)}, and the operator has one there",
            todo="set driver_enabled for these nodes",
        )
    guard.before_write()
    driver_adoption.adopt_pods(desired.client, pods, labels)
    for daemonset in survey.drivers:
        driver_adoption.orphan(desired.client, daemonset, WaitProgress(context))
    if pods:
        context.notice(
            f"{len(pods)} drivers' pods stay as they are and become those of {desired.recipe.name}"
        )


def _lead_nodes(
    desired: Desired,
    survey: OperatorSurvey,
    request: OperatorTakeoverRequest,
    guard: Guard,
    context: RunContext,
) -> NodeTakeover:
    client = desired.client
    now = _desired(client, _as_recorded(request.given), context)
    fresh = survey_operator(client, survey.namespace)
    scope = TakeoverScope(
        recipe=now.recipe.name,
        namespace=survey.namespace,
        daemonsets=frozenset(each["metadata"]["uid"] for each in fresh.daemonsets),
        nodes=[
            str(node["metadata"]["name"])
            for node in now.nodes
            if deploy_labels(node) or fresh.operands(str(node["metadata"]["name"]))
        ],
        at_a_time=request.pace.at_a_time,
    )
    takeover = NodeTakeover(client, scope, guard.before_write, context)
    every = list(now.recipe.states.values())
    proving = request.proving(wait=True, record=False, show=False)
    prove(now, every, proving, context, guard, hook=takeover)
    return takeover


def _delete_resources(client: Client, resources: Sequence[Obj], context: RunContext) -> None:
    """Last of all: what is left of the operator's operands goes with them, and no driver is among
    that."""
    for each in resources:
        kind, name = client.kind(each["apiVersion"], each["kind"]), str(each["metadata"]["name"])
        client.delete(kind, name, uid=each["metadata"]["uid"])
        context.notice(f"{each['kind']} {name} is deleted")
        read = partial(driver_adoption.still_there, client, kind, each["metadata"])
        wait_until_gone(client, read, driver_adoption.PATIENCE_S, say=WaitProgress(context))


def _refuse_missing_rights(client: Client, survey: OperatorSurvey, desired: Desired) -> None:
    pods, daemonsets = client.kind("v1", "Pod"), client.kind("apps/v1", "DaemonSet")
    deployments = client.kind("apps/v1", "Deployment")
    namespace = survey.namespace
    rights = of_run(client, desired, proves=True)
    rights |= {access(client.kind("v1", "Node"), None, "patch"): set()}
    rights |= {access(pods, namespace, verb): set() for verb in ("patch", "delete")}
    rights |= {access(daemonsets, namespace, "delete"): set()}
    rights |= {access(client.kind("apps/v1", "ControllerRevision"), namespace, "delete"): set()}
    rights |= {access(deployments, namespace, "patch"): set()} if survey.deployments else {}
    for each in survey.resources:
        kind = client.kind(each["apiVersion"], each["kind"])
        for verb in ("patch", "delete"):
            rights.setdefault(access(kind, None, verb), set()).add(str(each["metadata"]["name"]))
    refuse_lacking(client, rights, f"take over the nodes of {desired.recipe.name} from an operator")


TASK = Task(OperatorTakeoverRequest, run)
