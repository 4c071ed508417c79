# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of numa_config: options and pools of the recipe numa, from what a person asks for and
what the kubelets run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._nodes.pools import NODE_POOL_LABEL, NodePool, pool_name
from .._operators.resource_documents import read_documents
from .._runs.context import RunContext
from .._runs.task import Task
from .._states.preparation.discover import list_nodes
from .._states.preparation.platform import machine_config_objects
from .._states.preparation.prepare import Prepared, prepare
from .._states.preparation.recipe_request import RecipeRequest
from .._states.record.record_spec import make_spec
from .kubelet_reading import nodes_by_pool, read_kubelets, read_pools, require_one_at_a_time
from .operator_resources import PlatformPools, settings_of
from .pool_policy import (
    POLICIES,
    digest_of,
    nothing_said,
    policies_of,
    recorded_policies,
    refuse_contradictions,
    unread,
)

_CONTROL_PLANE = ({"node-role.kubernetes.io/control-plane": None},)
# Pool -> its policies, by the names of the options.
PoolPolicies = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class NumaConfigRequest:
    """What numa_config is to settle. from_cr: a file with the operator's custom resources, whose
    settings hold where nothing is given. read_kubelets: whether policies are what kubelets run."""

    connection: ConnectionRequest
    given: RecipeRequest
    from_cr: Optional[str]
    read_kubelets: bool
    at_a_time: int


@dataclass(frozen=True)
class _RecipeNodes:
    """The nodes of the recipe by pool, "" for those outside of all. are_hosted: whether the platform
    has no MachineConfigPools."""

    nodes: Sequence[NodeFacts]
    pools: Sequence[NodePool]
    by_pool: Mapping[str, Sequence[str]]
    are_hosted: bool


def run(request: NumaConfigRequest, context: RunContext) -> Obj:
    """numa_config: reads only. What is not given is as in the record."""
    require_one_at_a_time(request.at_a_time)
    client = connect(request.connection)
    given, operators = _with_operators(request.given, request.from_cr, client, context)
    prepared = prepare(given, context, client)
    _refuse_contradictions(prepared)
    members = _members(client, prepared)
    policies: PoolPolicies = {name: {} for name in members.by_pool}
    problems: Mapping[str, str] = {}
    if request.read_kubelets:
        running, problems = read_kubelets(client, members.nodes, request.at_a_time)
        policies = _policies(members, running, given.options or {}, prepared, problems)
        if problems:
            context.notice(unread(problems))
    asked = make_spec(prepared.recipe, prepared.namespace, prepared.options)["options"]
    return {
        "changed": False,
        "options": {
            **asked,
            **_of_all(prepared, policies),
            "topologies": digest_of(members.by_pool, policies),
            "control_plane_nodes": len(list_nodes(client, _CONTROL_PLANE)),
        },
        "pools": _pools(prepared, policies, hosted=members.are_hosted),
        **operators,
        "unknown": [{"node": node, "problem": problems[node]} for node in sorted(problems)],
    }


def _refuse_contradictions(prepared: Prepared) -> None:
    """Raises InvalidInput for options, of all nodes or of a pool, that no kubelet could run."""
    for name, wanted in (("", prepared.options), *prepared.pool_options.items()):
        refuse_contradictions(wanted, f"pool {name}" if name else "the options of all nodes")


def _members(client: Client, prepared: Prepared) -> _RecipeNodes:
    """The nodes of the recipe, in the pools that a person asks for, else in the platform's."""
    nodes = [NodeFacts.from_object(node) for node in list_nodes(client, prepared.selector)]
    pools, machine_config_pools = read_pools(client, prepared.pools, nodes)
    by_pool = nodes_by_pool(pools, nodes)
    return _RecipeNodes(nodes, pools, by_pool, are_hosted=not machine_config_pools)


def _policies(
    members: _RecipeNodes,
    running: Mapping[str, Obj],
    options: Mapping[str, Any],
    prepared: Prepared,
    problems: Mapping[str, str],
) -> PoolPolicies:
    """Pool -> its policies: what its kubelets run, else what a person gives, else what is published.

    options: what is given for all nodes. problems: why kubelets were not read."""
    of_pools = {pool.name: pool.options for pool in members.pools}
    return {
        name: policies_of(name, nodes, running)
        or _given(options, of_pools.get(name, {}))
        or _recorded(name, nodes, prepared, problems)
        for name, nodes in members.by_pool.items()
    }


def _with_operators(
    given: RecipeRequest, source: Optional[str], client: Client, context: RunContext
) -> tuple[RecipeRequest, Obj]:
    """What is given, with what the operator's custom resources say where a person says nothing; and
    what became of each of their fields."""
    if not source:
        return given, {}
    documents = read_documents(str(source))
    platform = PlatformPools(
        machine_config_objects(client, "MachineConfigPool"),
        bool(list_nodes(client, ({NODE_POOL_LABEL: None},))),
        given.pools or (),
    )
    asked = settings_of(documents, platform, str(source))
    for line in asked.table():
        context.notice(line)
    options = {**asked.options, **(given.options or {})}
    return replace(given, options=options, pools=asked.pools or given.pools), asked.lists


def _given(*options: Mapping[str, Any]) -> dict[str, str]:
    """The policies that a person gives, by options of which the later ones win."""
    return {name: str(found[name]) for found in options for name in POLICIES if found.get(name)}


def _recorded(
    pool: str, nodes: Sequence[str], prepared: Prepared, problems: Mapping[str, str]
) -> dict[str, str]:
    """What is published of a pool none of whose kubelets was read. Raises EnablementError where
    nothing is: to say that they align nothing would send them pods that they refuse."""
    defaults = {name: prepared.recipe.options[name].default for name in POLICIES}
    if found := recorded_policies(pool, prepared.record, defaults):
        return found
    node = min(nodes)
    raise nothing_said(pool, node, problems[node])


def _of_all(prepared: Prepared, policies: PoolPolicies) -> dict[str, str]:
    """The policies for nodes outside of all pools; without pools of a person's, those of all nodes
    that share them."""
    if prepared.pools or not _same(policies):
        return dict(policies.get("", {}))
    return next((dict(found) for found in policies.values() if found), {})


def _pools(prepared: Prepared, policies: PoolPolicies, *, hosted: bool) -> list[Obj]:
    """The pools as parse_pools() takes them: a person's, else the platform's where their kubelets
    differ."""
    if prepared.pools:
        return [_with_policies(pool, policies.get(pool.name, {})) for pool in prepared.pools]
    if _same(policies):
        return []
    source = "node_pool" if hosted else "machine_config_pool"
    return [
        {"name": pool_name(name), source: name, "options": dict(found)}
        for name, found in sorted(policies.items())
        if name
    ]


def _with_policies(pool: NodePool, policies: Mapping[str, str]) -> Obj:
    spec = pool.to_spec()
    return {**spec, "options": {**spec["options"], **policies}}


def _same(policies: PoolPolicies) -> bool:
    known = [found for found in policies.values() if found]
    return all(found == known[0] for found in known)


TASK = Task(NumaConfigRequest, run)
