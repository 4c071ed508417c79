# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of numa_config: options and pools of the recipe numa, from what a person asks for and
what the kubelets run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._cluster.api_client.client import Client, connect
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._nodes.pools import NodePool, pool_name
from .._runs.context import RunContext
from .._runs.task import Task
from .._schema.requests import make_request
from .._states.preparation.discover import list_nodes
from .._states.preparation.platform import machine_config_objects
from .._states.preparation.prepare import Prepared, prepare
from .._states.preparation.recipe_request import RecipeRequest
from .._states.record.record_spec import make_spec
from .kubelet_reading import kubelets_at_a_time, nodes_by_pool, read_kubelets, read_pools
from .operator_resources import settings_of
from .pool_policy import (
    POLICIES,
    digest_of,
    policies_of,
    recorded_policies,
    refuse_contradictions,
    unread,
)

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

_CONTROL_PLANE = ({"node-role.kubernetes.io/control-plane": None},)


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """numa_config: reads only. What is not given is as in the record."""
    at_a_time = kubelets_at_a_time(params)
    client = connect(params)
    params = _with_operators(params, client)
    prepared = prepare(make_request(RecipeRequest, params), context, client)
    for name, wanted in (("", prepared.options), *prepared.pool_options.items()):
        refuse_contradictions(wanted, f"pool {name}" if name else "the options of all nodes")
    nodes = [NodeFacts.from_object(node) for node in list_nodes(client, prepared.selector)]
    pools, machine_config_pools = read_pools(client, prepared.pools, nodes)
    members = nodes_by_pool(pools, nodes)
    policies: dict[str, dict[str, str]] = {name: {} for name in members}
    problems: dict[str, str] = {}
    if params["read_kubelets"]:
        running, problems = read_kubelets(client, nodes, at_a_time)
        given = {"": params.get("options") or {}, **{pool.name: pool.options for pool in pools}}
        for name, found in members.items():
            policies[name] = (
                policies_of(name, found, running)
                or _given(given[""], given.get(name, {}))
                or _recorded(name, found, prepared, problems)
            )
        if problems:
            context.notice(unread(problems))
    asked = make_spec(prepared.recipe, prepared.namespace, prepared.options)["options"]
    return {
        "changed": False,
        "options": {
            **asked,
            **_of_all(prepared, policies),
            "topologies": digest_of(members, policies),
            "control_plane_nodes": len(list_nodes(client, _CONTROL_PLANE)),
        },
        "pools": _pools(prepared, policies, hosted=not machine_config_pools),
        "unknown": [{"node": node, "problem": problems[node]} for node in sorted(problems)],
    }


def _with_operators(params: Mapping[str, Any], client: Client) -> Obj:
    """The parameters, with what the operator's custom resources say where a person says nothing."""
    source = params.get("from_cr")
    if not source:
        return dict(params)
    try:
        documents = [*yaml.safe_load_all(Path(source).read_text(encoding="utf-8"))]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(
            f"{source} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with the operator's custom resources",
        ) from None
    machine_config_pools = machine_config_objects(client, "MachineConfigPool")
    asked = settings_of([found for found in documents if found], machine_config_pools, str(source))
    return {
        **params,
        "options": {**asked.options, **(params.get("options") or {})},
        "pools": params.get("pools") or asked.pools,
    }


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
    raise EnablementError(
        f"no kubelet of pool {pool} says what it runs" if pool else "no kubelet says what it runs",
        where=f"node {node}",
        why=problems[node],
        todo="mend that, or give topology_manager_policy and topology_manager_scope among the options"
        f"{' of the pool' if pool else ''}",
    )


def _of_all(prepared: Prepared, policies: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The policies for nodes outside of all pools; without pools of a person's, those of all nodes
    that share them."""
    if prepared.pools or not _same(policies):
        return dict(policies.get("", {}))
    return next((dict(found) for found in policies.values() if found), {})


def _pools(
    prepared: Prepared, policies: Mapping[str, Mapping[str, str]], *, hosted: bool
) -> list[Obj]:
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


def _same(policies: Mapping[str, Mapping[str, str]]) -> bool:
    known = [found for found in policies.values() if found]
    return all(found == known[0] for found in known)


TASK = Task(None, run)
