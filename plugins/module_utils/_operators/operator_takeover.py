# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of operator_takeover: nodes that NVIDIA's GPU Operator serves become those of the recipe
nvidia-gpu, node by node, and no driver's pod restarts.

What is done and what is not is told from the cluster, so that a run that was killed is repaired by
running again: the custom resources go last, and are marked before anything else is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_objects.change_report import name_some
from .._cluster.api_objects.labels import TAKEN_OVER_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.authorization import access
from .._errors import EnablementError
from .._json import Obj
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._schema.requests import make_request
from .._states import apply
from .._states.desired import Desired
from .._states.on_nodes.strays import MembershipRequest
from .._states.preflight import of_record, refuse_lacking
from .._states.preparation.image_facts import ImageRequest
from .._states.preparation.prepare import prepare
from .._states.preparation.recipe_request import RecipeRequest
from .._states.proof_request import ProofRequest
from .._states.validate import prove
from . import driver_adoption
from .driver_adoption import wait_for
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

# What applying and proving take beside what this is asked.
_RUN: Mapping[str, Any] = {
    **dict.fromkeys(
        ("states", "role", "tags", "skip_tags", "images", "driver_images", "discovery")
    ),
    **dict.fromkeys(
        ("allow_empty", "recreate", "force", "with_requirements", "require_ready"), False
    ),
    "state": "present",
    "record": True,
    "release_nodes": [],
    "vanished_grace": 3600,
    "on_regress": "keep",
    "report": "problems",
}
# Merged with ours they would select pods of both, or cannot be changed at all.
_MADE_ANEW = ("Service", "ServiceMonitor")
_NAMED = 3


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Plan; where the operator may be stopped: take its nodes over, then delete what it was asked
    for."""
    client = connect(params)
    survey = survey_operator(client, params["namespace"])
    if not survey.resources:
        return {
            "changed": False,
            "plan": [],
            "table": [],
            "message": "there is nothing to take over",
        }
    given = _once_only({**_RUN, **params, "namespace": survey.namespace}, client, context)
    desired = _desired(client, given, context)
    refuse_obstacles(survey, desired.nodes)
    plan = plan_of(survey, desired.nodes, desired.recipe.name)
    allowed = bool(params["stop_operator"])
    message = "" if allowed else plan.consent()
    result: Obj = {
        "changed": allowed,
        "plan": plan.rows(),
        "table": plan.table(),
        "message": message,
    }
    if context.diff:
        result["diff"] = [{"prepared": "".join(f"{line}\n" for line in plan.table())}]
    # Ansible shows no diff of what changes nothing.
    for line in () if context.diff and allowed else plan.table():
        context.notice(line)
    if context.check_mode or not allowed:
        return result
    _refuse_missing_rights(client, survey, desired)
    with given_back(client, desired.recipe.name, context):
        return {**result, **_take_over(desired, survey, plan, given, context)}


def _desired(client: Client, params: Mapping[str, Any], context: RunContext) -> Desired:
    """What the recipe wants of the nodes as they are now."""
    return Desired(
        client,
        prepare(make_request(RecipeRequest, params), context, client),
        make_request(MembershipRequest, params),
        make_request(ImageRequest, params),
        context.clock,
    )


def _once_only(params: Mapping[str, Any], client: Client, context: RunContext) -> Mapping[str, Any]:
    """The parameters; once there is a record, it says what was asked for: of the custom resources some
    may be gone."""
    recipe = replace(make_request(RecipeRequest, params), options=None, pools=None)
    recorded = prepare(recipe, context, client).record
    return {**params, "options": None, "pools": None} if recorded else params


def _take_over(
    desired: Desired,
    survey: OperatorSurvey,
    plan: TakeoverPlan,
    params: Mapping[str, Any],
    context: RunContext,
) -> Obj:
    client, recipe = desired.client, desired.recipe.name
    guard = Guard(client, recipe, context)
    guard.before_write()
    _stop(client, survey, context)
    _mark_resources(client, survey.resources, recipe)
    _make_room(desired, survey, guard)
    _adopt_drivers(desired, survey, guard, context)
    apply.TASK.run({**params, "adopt": True, "wait": False}, context)
    takeover = _lead_nodes(desired, survey, params, guard, context)
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
    report = apply.TASK.run({**params, "adopt": False, "wait": True}, context)
    return {"taken": sorted(takeover.taken), "report": report.get("report"), "changed": True}


def _stop(client: Client, survey: OperatorSurvey, context: RunContext) -> None:
    """Scale the operator to nothing, and wait until it is gone: it would make everything anew."""
    kind, pods = client.kind("apps/v1", "Deployment"), client.kind("v1", "Pod")
    for deployment in survey.deployments:
        name, spec = deployment["metadata"]["name"], deployment["spec"]
        if spec.get("replicas") != 0:
            context.notice(f"Deployment {survey.namespace}/{name} is scaled to 0")
            client.patch(kind, name, survey.namespace, {"spec": {"replicas": 0}})
        labels = ",".join(
            f"{key}={value}" for key, value in sorted(spec["selector"]["matchLabels"].items())
        )
        wait_for(
            partial(_none_left, client, pods, survey.namespace, labels),
            f"the operator's pod in {survey.namespace} still runs",
        )


def _none_left(client: Client, kind: Any, namespace: str, labels: str) -> bool:
    return not client.list(kind, namespace=namespace, labels=labels).items


def _mark_resources(client: Client, resources: Sequence[Obj], recipe: str) -> None:
    """From now on they are no rivals of the recipe."""
    for each in resources:
        if TAKEN_OVER_LABEL not in (each["metadata"].get("labels") or {}):
            client.patch(
                client.kind(each["apiVersion"], each["kind"]),
                each["metadata"]["name"],
                None,
                {"metadata": {"labels": {TAKEN_OVER_LABEL: recipe}}},
            )


def _make_room(desired: Desired, survey: OperatorSurvey, guard: Guard) -> None:
    """What of the operator's has a name that we need: DaemonSets go without their pods, what can be
    merged with ours is no longer the custom resource's, so that it stays when that goes."""
    client = desired.client
    wanted = {
        key_of(item.manifest) for state in desired.rendered.values() for item in state.objects
    }
    by_key = {
        ObjectKey(
            "apps/v1", "DaemonSet", each["metadata"]["namespace"], each["metadata"]["name"]
        ): each
        for each in survey.daemonsets
    }
    for key in sorted(wanted, key=str):
        kind = client.kind(key.api_version, key.kind)
        live = client.get(kind, key.name, key.namespace or None)
        if live is None or not is_operators(live):
            continue
        guard.before_write()
        if key in by_key:
            uid = by_key[key]["metadata"]["uid"]
            owned = [pod for pod in survey.pods if _owner_uid(pod) == uid]
            driver_adoption.mark_operands(client, owned, desired.recipe.name)
            driver_adoption.orphan(client, by_key[key])
        elif key.kind in _MADE_ANEW:
            client.delete(kind, key.name, key.namespace or None, uid=live["metadata"]["uid"])
        else:
            owners = [
                each for each in live["metadata"]["ownerReferences"] if owner_group(each) != GROUP
            ]
            client.patch(
                kind,
                key.name,
                key.namespace or None,
                {"metadata": {"uid": live["metadata"]["uid"], "ownerReferences": owners or None}},
            )


def _owner_uid(pod: Obj) -> str:
    return str(next((each["uid"] for each in pod["metadata"].get("ownerReferences") or ()), ""))


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
        driver_adoption.orphan(desired.client, daemonset)
    if pods:
        context.notice(
            f"{len(pods)} drivers' pods stay as they are and become those of {desired.recipe.name}"
        )


def _lead_nodes(
    desired: Desired,
    survey: OperatorSurvey,
    params: Mapping[str, Any],
    guard: Guard,
    context: RunContext,
) -> NodeTakeover:
    client = desired.client
    now = _desired(client, {**params, "options": None, "pools": None}, context)
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
        at_a_time=int(params["at_a_time"]),
    )
    takeover = NodeTakeover(client, scope, guard.before_write, context)
    every = list(now.recipe.states.values())
    proving = make_request(ProofRequest, {**params, "wait": True, "record": False, "show": False})
    prove(now, every, proving, context, guard, hook=takeover)
    return takeover


def _delete_resources(client: Client, resources: Sequence[Obj], context: RunContext) -> None:
    """Last of all: what is left of the operator's operands goes with them, and no driver is among
    that."""
    for each in resources:
        kind, name = client.kind(each["apiVersion"], each["kind"]), str(each["metadata"]["name"])
        client.delete(kind, name, uid=each["metadata"]["uid"])
        context.notice(f"{each['kind']} {name} is deleted")
        wait_for(partial(_is_absent, client, kind, name), f"{each['kind']} {name} is still there")


def _is_absent(client: Client, kind: Any, name: str) -> bool:
    return client.get(kind, name) is None


def _refuse_missing_rights(client: Client, survey: OperatorSurvey, desired: Desired) -> None:
    pods, daemonsets = client.kind("v1", "Pod"), client.kind("apps/v1", "DaemonSet")
    deployments = client.kind("apps/v1", "Deployment")
    namespace = survey.namespace
    rights = of_record(desired.recipe.name, exists=desired.record is not None)
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


TASK = Task(None, run)
