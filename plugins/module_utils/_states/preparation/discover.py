# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the nodes of a recipe: paged lists that the server filters, one per label set. The core of
nfd_info."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from ..._cluster.api_client.api_errors import Forbidden
from ..._cluster.api_client.client import Client, connect
from ..._cluster.api_client.connection_request import ConnectionRequest
from ..._cluster.api_client.rights import CLUSTER, READ, Right
from ..._cluster.api_objects.host_access import host_paths, pod_spec
from ..._errors import InvalidInput
from ..._json import Obj, elements, part
from ..._nodes.absence import Evidence, explain
from ..._nodes.discovery import Discovery, discover
from ..._nodes.distribution import common_distribution
from ..._nodes.grouping import Grouping
from ..._nodes.pools import NodePool, machine_config_terms
from ..._nodes.selectors import label_selector, matches, taints_of
from ..._recipes.loading.lookups import is_looked_up
from ..._runs.context import RunContext
from ..._runs.task import Task
from ..._schema.requests import ParameterGroup
from .platform import cluster_facts, machine_config_objects, node_selectors
from .prepare import Prepared, prepare, refuse_dropped, tell_differences
from .recipe_request import RecipeRequest

Selector = Sequence[Mapping[str, Optional[str]]]

_ATTEMPTS = 10
# In the image of its worker, or the command.
_NAMES_OF_NFD = ("nfd-worker", "node-feature-discovery")
# Where it looks for what others say of a node (source/local/local.go).
_FOLDER = "/etc/kubernetes/node-feature-discovery"


# What finding nodes needs.
RIGHTS = (
    Right("", ("nodes",), READ, CLUSTER, read_only=READ),
    Right("nfd.k8s-sigs.io", ("nodefeatures",), ("list",), CLUSTER, read_only=("list",)),
)


def list_nodes(client: Client, selector: Selector) -> list[Obj]:
    """The nodes that match any of the label sets, each once, by name."""
    kind = client.kind("v1", "Node")
    found: dict[str, Obj] = {}
    for labels in selector:
        for node in client.list(kind, labels=label_selector(labels), leanly=True).items:
            if matches(part(node["metadata"], "labels"), [labels], taints_of(node)):
                found[node["metadata"]["name"]] = node
    return [found[name] for name in sorted(found)]


def list_settled_nodes(
    client: Client, selector: Selector, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> list[Obj]:
    """list_nodes, again until two looks so many seconds apart find the same nodes, and some; ten
    looks at most."""
    nodes = list_nodes(client, selector)
    for _attempt in range(_ATTEMPTS - 1):
        before = [node["metadata"]["name"] for node in nodes]
        sleep(seconds)
        nodes = list_nodes(client, selector)
        if before and before == [node["metadata"]["name"] for node in nodes]:
            break
    return nodes


def grouping_of(client: Client, prepared: Prepared) -> Grouping:
    """By what the recipe's nodes are told apart, MachineConfigPools looked up; raises InvalidInput
    for an unknown one."""
    return replace(prepared.grouping, pools=with_terms(client, prepared.pools))


def with_terms(client: Client, pools: tuple[NodePool, ...]) -> tuple[NodePool, ...]:
    """Pools whose nodes are known, MachineConfigPools looked up; raises InvalidInput for an unknown
    one."""
    if not any(pool.machine_config_pool for pool in pools):
        return pools
    selectors = node_selectors(machine_config_objects(client, "MachineConfigPool"))
    return tuple(
        replace(pool, terms=machine_config_terms(pool.machine_config_pool, selectors))
        if pool.machine_config_pool
        else pool
        for pool in pools
    )


def discovery_of(
    client: Client,
    prepared: Prepared,
    given: Mapping[str, Any] | None,
    nodes: Callable[[], Sequence[Obj]] | None = None,
) -> tuple[Discovery, Obj]:
    """The nodes together and the facts of the cluster, from a result of nfd_info where there is
    one.

    nodes: gives the Node objects, where the caller has them or needs them too.
    """
    if not given:
        listed = nodes() if nodes else list_nodes(client, prepared.selector)
        grouping = grouping_of(client, prepared)
        if not listed:
            return replace(
                discover_nothing(client, prepared.selector), grouping=grouping
            ), cluster_facts(client)
        found = discover(
            listed, prepared.selector, prepared.recipe.devices.resources, grouping=grouping
        )
        return found, facts_of_cluster(client, found)
    found = Discovery.from_dict(given, prepared.grouping)
    wanted, known = (
        sorted(pool.name for pool in pools) for pools in (prepared.pools, found.grouping.pools)
    )
    if wanted != known or any(group.per != prepared.grouping.finest for group in found.node_groups):
        raise InvalidInput(
            "the nodes were found for something else than what is to be done",
            why=f"nfd_info was run with {', '.join(known) or 'no pools'}, or for another recipe",
            todo="give nfd_info the same recipe, options, pools and instance",
        )
    return found, dict(given.get("cluster") or {"platform": "kubernetes"})


def facts_of_cluster(client: Client, found: Discovery) -> Obj:
    """What templates may know of the cluster: what it says itself, and of which distribution its
    nodes say they are."""
    distribution = common_distribution(node.system.distribution for node in found.facts)
    return {**cluster_facts(client), "distribution": distribution}


def newest_feature(client: Client) -> str | None:
    """When NFD last told something new: the newest write to a NodeFeature. None where NFD has no
    such objects."""
    api_version, kind = "nfd.k8s-sigs.io/v1alpha1", "NodeFeature"
    if not client.serves(api_version, kind):
        return None
    features = client.list(client.kind(api_version, kind), metadata_only=True).items
    fields = [
        entry for feature in features for entry in elements(feature["metadata"], "managedFields")
    ]
    return max((str(entry["time"]) for entry in fields if entry.get("time")), default=None)


def discover_nothing(client: Client, selector: Selector, newest: str | None = None) -> Discovery:
    """The discovery where no node matches, which says what a person needs to know."""
    evidence = _gather_evidence(client)
    return discover(
        [],
        selector,
        nodes_total=len(evidence.labels),
        nfd_present=evidence.nfd_present,
        newest=newest,
        absence=explain(selector, evidence),
    )


def _gather_evidence(client: Client) -> Evidence:
    """The evidence: one paged list of nodes, and one of DaemonSets where no node has a label of
    NFD."""
    nodes = client.list(client.kind("v1", "Node"), metadata_only=True).items
    evidence = Evidence([part(node["metadata"], "labels") for node in nodes])
    return evidence if evidence.labelled else Evidence(evidence.labels, _daemonsets(client))


def _daemonsets(client: Client) -> Sequence[str] | None:
    try:
        found = client.list(client.kind("apps/v1", "DaemonSet")).items
    except Forbidden:
        return None
    return sorted(
        f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        for each in filter(_is_worker, found)
    )


def _is_worker(daemonset: Obj) -> bool:
    """Whether a DaemonSet is one of NFD's workers: its pods see the folder of features of their
    node. A name is anybody's, and where NFD is it is not deployed."""
    paths = host_paths(pod_spec(daemonset)).values()
    return any(f"{path}/".startswith(f"{_FOLDER}/") for path in paths) and any(
        known in f"{each.get('image')}/{' '.join(elements(each, 'command'))}"
        for each in elements(pod_spec(daemonset), "containers")
        for known in _NAMES_OF_NFD
    )


@dataclass(frozen=True)
class OptionalRecipe(ParameterGroup):
    """A recipe with what is given of it, where one is named."""

    recipe: Optional[str] = None
    recipe_dir: Optional[str] = None
    bundle: Optional[Mapping[str, str]] = None
    options: Optional[Mapping[str, Any]] = None
    pools: Optional[Sequence[Mapping[str, Any]]] = None
    namespace: Optional[str] = None
    instance: Optional[str] = None

    def named(self) -> RecipeRequest | None:
        """The recipe; None where none is named."""
        if not self.recipe:
            return None
        return RecipeRequest(
            recipe=self.recipe,
            recipe_dir=self.recipe_dir,
            bundle=self.bundle,
            options=self.options,
            pools=self.pools,
            namespace=self.namespace,
            instance=self.instance,
        )


@dataclass(frozen=True)
class NfdInfoRequest:
    """Whose nodes to find: a recipe's, or those that a selector matches, with their resources.

    nfd_age: also when NFD last told something new. settle: seconds between two lists that have to
    be the same; 0 for one list. only_for_images: list none where no state's images are looked up.
    options_replace: see refuse_dropped.
    """

    connection: ConnectionRequest
    given: OptionalRecipe
    selector: Optional[Selector] = None
    resources: Sequence[str] = ()
    nfd_age: bool = False
    settle: int = 0
    only_for_images: bool = False
    options_replace: bool = False


@dataclass(frozen=True)
class NodeSearch:
    """Which nodes are searched, and what their recipe says besides: what differs from its record, the
    states whose images are looked up, the recipes that it depends on, its taints."""

    selector: Selector
    resources: Sequence[str]
    grouping: Grouping | None = None
    differences: Sequence[str] = ()
    image_states: Sequence[str] = ()
    depends: Sequence[str] = ()
    taints: Sequence[Obj] = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """What nfd_info returns of a recipe, whatever its nodes."""
        return {
            "differences": list(self.differences),
            "image_states": list(self.image_states),
            "depends": list(self.depends),
            "taints": list(self.taints),
        }


def run(request: NfdInfoRequest, context: RunContext) -> Obj:
    """nfd_info: facts about the nodes that a selector, or a recipe's, matches. Reads only."""
    given = request.given.named()
    if given is None and not request.selector:
        raise InvalidInput(
            "no nodes can be found",
            why="neither selector nor recipe is given",
            todo="name a recipe (-e hardware_enablement_recipe=nvidia-gpu), or give a selector",
        )
    client = connect(request.connection)
    search = NodeSearch(request.selector or (), request.resources)
    if given:
        prepared = prepare(given, context, client)
        refuse_dropped(prepared, given, replace_all=request.options_replace)
        search = _search_of(client, prepared, context)
        if request.only_for_images and not search.image_states:
            return {"changed": False, **search.to_dict()}
    nodes = (
        list_settled_nodes(client, search.selector, float(request.settle))
        if request.settle
        else list_nodes(client, search.selector)
    )
    newest = newest_feature(client) if request.nfd_age else None
    if nodes:
        discovery = discover(
            nodes, search.selector, search.resources, newest=newest, grouping=search.grouping
        )
    else:
        discovery = discover_nothing(client, search.selector, newest)
        discovery = replace(discovery, grouping=search.grouping or discovery.grouping)
        context.progress(discovery.nfd["message"])
    return {
        "changed": False,
        **discovery.to_dict(),
        "cluster": facts_of_cluster(client, discovery),
        **search.to_dict(),
    }


def _search_of(client: Client, prepared: Prepared, context: RunContext) -> NodeSearch:
    """The search for a recipe's nodes; says what this run changes about its record."""
    tell_differences(prepared, context)
    recipe = prepared.recipe
    return NodeSearch(
        selector=prepared.selector,
        resources=recipe.devices.resources,
        grouping=grouping_of(client, prepared),
        differences=prepared.differences,
        image_states=[state.name for state in recipe.states.values() if is_looked_up(state)],
        depends=[dependency.name for dependency in recipe.depends],
        taints=[dict(taint.to_object()) for taint in prepared.taints],
    )


TASK = Task(NfdInfoRequest, run)
