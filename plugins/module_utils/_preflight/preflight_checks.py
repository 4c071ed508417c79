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
from .needed_image import NeededImage
from .pod_trials import refused_pods

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
    made = [change.key for change in planned if change.action == "create"]
    yield from refused_pods(client, planner.wanted, made)
    yield from repelled_pods(planner.wanted, desired.nodes)
    for image in images(planner.wanted):
        if image.finding:
            yield image.finding


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
