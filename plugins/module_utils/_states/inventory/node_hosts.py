# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a cluster as Ansible's hosts: one paged list for each kind, whatever the number of
nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._cluster.api_client.api_errors import ApiError, Forbidden, NotFound
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.labels import KERNEL, fact_label
from ..._cluster.api_objects.object_shapes import mismatch_of
from ..._errors import InvalidInput
from ..._json import Obj, elements, part
from ..._nodes.pools import NodePool, parse_pools
from ..preparation.discover import with_terms
from ..record.crd import RECORD
from .host_groups import is_dns_name
from .host_variables import RecordFacts, host_variables
from .node_features import NODE_FEATURE, by_node, shape_of_features

# Without options, which are not asked for here.
_POOL: Obj = {"name": str, "selector": {}, "machine_config_pool": str}
_RECORD: Obj = {"spec": {"pools": [_POOL]}, "status": {"problems": [{}]}}


# What an inventory needs; without the last two it has less to tell.
RIGHTS = tuple(
    Right(group, (plural,), ("list",), CLUSTER, read_only=("list",))
    for group, plural in (
        ("", "nodes"),
        (NODE_FEATURE.group, NODE_FEATURE.plural),
        (RECORD.group, RECORD.plural),
    )
)


def find_hosts(
    client: Client,
    *,
    label_selector: str,
    recipes: Sequence[str],
    features: Sequence[str],
    warn: Callable[[str], None],
) -> dict[str, Obj]:
    """The variables of each node, by name (host_variables.py).

    label_selector: as kubectl takes it. recipes: only nodes that one of these is enabled on; all
    nodes where none is named. features: names of features in NodeFeatures, none to read none. warn
    is told what is left out.
    """
    nodes = _nodes(client, label_selector, recipes, warn)
    features_by_node = by_node(
        _listed(client, NODE_FEATURE, shape_of_features(features), warn) if features else ()
    )
    records = {
        record["metadata"]["name"]: _record_facts(client, record, warn)
        for record in _listed(client, RECORD, _RECORD, warn)
    }
    return {
        node["metadata"]["name"]: host_variables(
            node, features_by_node.get(node["metadata"]["name"], {}), records
        )
        for node in nodes
    }


def _nodes(
    client: Client, label_selector: str, recipes: Sequence[str], warn: Callable[[str], None]
) -> list[Obj]:
    found: dict[str, Obj] = {}
    for mark in [fact_label(recipe, KERNEL) for recipe in recipes] or [""]:
        labels = ",".join(filter(None, (label_selector, mark)))
        listed = client.list(client.kind("v1", "Node"), labels=labels, leanly=True).items
        found |= {node["metadata"]["name"]: node for node in listed}
    if strange := [name for name in found if not is_dns_name(name)]:
        warn(f"{len(strange)} nodes whose names no host can have are left out ({client.host}).")
    return [found[name] for name in sorted(found) if name not in strange]


def _listed(
    client: Client, kind: Kind, kept: Mapping[str, Any], warn: Callable[[str], None]
) -> Iterable[Obj]:
    """All objects of a kind; none where its API is not there, or may not be read."""
    try:
        found = client.list(kind, kept=kept, each_alone=True).items
    except NotFound:
        return ()
    except Forbidden as error:
        warn(f"The hosts are told without {kind.plural}: {error}")
        return ()
    for each in found:
        if wrong := mismatch_of(each):
            warn(f"The hosts are told without {kind.kind} {each['metadata']['name']}: {wrong}")
    return [each for each in found if not mismatch_of(each)]


def _record_facts(
    client: Client, record: Mapping[str, Any], warn: Callable[[str], None]
) -> RecordFacts:
    problems = elements(record, "status", "problems")
    return RecordFacts(
        _pools(client, record, warn),
        # The first is the worst of a node.
        {str(problem.get("node")): problem for problem in reversed(problems)},
    )


def _pools(
    client: Client, record: Mapping[str, Any], warn: Callable[[str], None]
) -> tuple[NodePool, ...]:
    try:
        return with_terms(client, parse_pools(part(record, "spec").get("pools")))
    except (InvalidInput, ApiError) as error:
        warn(f"The hosts are told without the pools of {record['metadata']['name']}: {error}")
        return ()
