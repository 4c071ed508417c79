# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would stop an enable, beside its images: each check asks what is there, and writes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_objects.change_report import name_some
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import STATE_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._errors import EnablementError
from .._json import Obj, part
from .._nodes.taints import Taint, is_tolerated, taints_of
from .._recipes.render import check_recipe
from .._recipes.templates.manifests import pod_template
from .._runs.context import RunContext
from .._states.apply_plan import ApplyPlanner, PlanRequest
from .._states.desired import Desired
from .._states.preflight import refuse_missing_rights, refuse_others
from .._verdicts.conditions import condition
from .kernel_answers import PreflightFinding
from .needed_image import NeededImage, validation_pods
from .pod_reference import missing_objects
from .pod_trials import PodTrials
from .resource_quota import short_quotas

_NAMED = 3
# What a kubelet says of itself that lets it take, or keep, no pods.
_PRESSURES = ("DiskPressure", "MemoryPressure", "PIDPressure")
_OF_KUBERNETES = "node.kubernetes.io/"
_PREDICTED = "predicted locally, since "


def refused(check: str, call: Callable[[], object]) -> Iterator[PreflightFinding]:
    """What a check of a run says no to, as a finding."""
    try:
        call()
    except EnablementError as error:
        yield PreflightFinding(check, str(error).rstrip("."))


def findings(
    client: Client,
    desired: Desired,
    images: Callable[[Sequence[Obj]], Sequence[NeededImage]],
    context: RunContext,
    *,
    adopt: bool,
) -> Iterator[PreflightFinding]:
    """All findings about a recipe that has nodes. images: looks up those of pods of some objects."""
    whole = replace(desired.facts, resolved=None)
    yield from refused("rivals", lambda: refuse_others(client, desired, adopt=adopt))
    yield from refused("recipe", lambda: check_recipe(desired.recipe, whole))
    yield from unfit_nodes(desired.nodes)
    yield from missing_secrets(client, desired)
    planned: list[Change] = []
    planner = ApplyPlanner(
        desired, list(desired.recipe.states), PlanRequest(adopt=adopt), context.warning
    )
    yield from refused("objects", lambda: planned.extend(planner.plan(desired.record).differing))
    yield from refused(
        "rights", lambda: refuse_missing_rights(client, desired, planned, proves=True)
    )
    for change in planned:
        if change.note.startswith(_PREDICTED):
            yield PreflightFinding("objects", f"{change.key}: {change.note[len(_PREDICTED) :]}")
    proofs = list(map(_named_pod, validation_pods(desired)))
    trials = PodTrials(client, [*planner.wanted, *proofs], planned)
    yield from trials.findings()
    yield from missing_objects(client, trials.present, map(key_of, planner.wanted))
    yield from _crowded_quotas(client, desired, trials)
    yield from repelled_pods(planner.wanted, desired.nodes)
    for image in images(planner.wanted):
        if image.finding:
            yield image.finding


def _named_pod(pod: Obj) -> Obj:
    """A validation pod by a name that says what it is; a run gives each another one."""
    state = str(part(pod, "metadata", "labels").get(STATE_LABEL) or "states")
    name = f"validation-of-{state}".replace("_", "-")
    return {**pod, "metadata": {**pod["metadata"], "name": name}}


def _crowded_quotas(
    client: Client, desired: Desired, trials: PodTrials
) -> Iterator[PreflightFinding]:
    """Quotas that have no room for a driver on each node."""
    namespace = desired.prepared.namespace
    daemonsets = client.kind("apps/v1", "DaemonSet")
    try:
        quotas = client.list(client.kind("v1", "ResourceQuota"), namespace=namespace).items
        found = client.list(daemonsets, namespace=namespace).items if quotas else []
    except Forbidden:
        return  # the dry run has asked them about one pod
    live, nodes = {key_of(each): each for each in found}, nodes_of(desired)
    more = [
        (pod, nodes[key] - int(part(live.get(key, {}), "status").get("currentNumberScheduled", 0)))
        for key, pod in trials.admitted.items()
        if key in nodes and key.namespace == namespace
    ]
    yield from short_quotas(quotas, [(pod, count) for pod, count in more if count > 0])


def nodes_of(desired: Desired) -> dict[ObjectKey, int]:
    """On how many nodes each DaemonSet runs. Those that their author wants on some nodes only are not
    among them."""
    nodes = {group.id: len(group.nodes) for group in desired.discovery.node_groups}
    return {
        key_of(item.manifest): sum(
            nodes[finest]
            for finest in state.enabled_on
            if not item.group or state.groups.get(finest) == item.group
        )
        for state in desired.rendered.values()
        for item in state.objects
        if item.manifest["kind"] == "DaemonSet" and item.affinity is None
    }


def unfit_nodes(nodes: Sequence[Obj]) -> Iterator[PreflightFinding]:
    """Nodes whose kubelets say that they are short of something, or do not answer."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        name = node["metadata"]["name"]
        for pressure in _PRESSURES:
            if _is_true(node, pressure):
                found[f"under {pressure}, so that they take no pods"].append(name)
        if not _is_true(node, "Ready"):
            found["not Ready"].append(name)
    for what, names in sorted(found.items()):
        yield PreflightFinding(
            "nodes", f"{name_some(names, _NAMED)}: {what}", blocks=len(names) == len(nodes)
        )


def _is_true(node: Obj, kind: str) -> bool:
    return (condition(node, kind) or {}).get("status") == "True"


def repelled_pods(objects: Sequence[Obj], nodes: Sequence[Obj]) -> Iterator[PreflightFinding]:
    """Taints of the nodes that no DaemonSet's pods tolerate."""
    specs = [pod_template(obj) or {} for obj in objects if obj["kind"] == "DaemonSet"]
    tolerations = [part(spec, "spec").get("tolerations") or () for spec in specs]
    for taint, names in sorted(_by_taint(nodes).items()):
        if tolerations and not any(is_tolerated(taint, each) for each in tolerations):
            yield PreflightFinding(
                "taints",
                f"{name_some(names, _NAMED)}: no pod tolerates {taint}; give it by the option"
                " tolerations, or take the taint off",
            )


def _by_taint(nodes: Sequence[Obj]) -> dict[Taint, list[str]]:
    """The nodes that have each taint. Those of Kubernetes itself come and go with a node's state, and
    DaemonSets' pods tolerate them."""
    found: dict[Taint, list[str]] = defaultdict(list)
    for node in nodes:
        for taint in taints_of(node):
            if not taint.key.startswith(_OF_KUBERNETES):
                found[taint].append(node["metadata"]["name"])
    return found


def missing_secrets(client: Client, desired: Desired) -> Iterator[PreflightFinding]:
    """Secrets to pull with that are not there."""
    namespace = desired.prepared.namespace
    for name in desired.prepared.options["image_pull_secrets"]:
        try:
            found = client.get(client.kind("v1", "Secret"), str(name), namespace)
        except Forbidden:
            return  # who may not see it does not know
        if found is None:
            yield PreflightFinding(
                "secrets",
                f"Secret {namespace}/{name} does not exist, and pods pull with it; make it",
            )
