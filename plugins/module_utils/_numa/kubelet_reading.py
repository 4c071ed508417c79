# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the configuration of kubelets is: in the kubelets, and in the objects that OpenShift and
HyperShift make it from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .._cluster.api_client.api_errors import ApiError, Forbidden, Unauthorized
from .._cluster.api_client.client import Client
from .._errors import EnablementError, InvalidInput
from .._json import Obj, part
from .._nodes.expressions import any_holds, parse_selector
from .._nodes.facts import NodeFacts
from .._nodes.pools import NODE_POOL_LABEL, NodePool, check_membership, machine_config_terms
from .._recipes.templates.documents import parse_one
from .._schema.requests import ParameterGroup
from .._states.preparation.discover import with_terms
from .._states.preparation.platform import machine_config_objects, node_selectors
from .kubelet_pools import Declaration
from .kubelet_settings import declared_settings, not_understood, running_settings

# HyperShift keeps what a NodePool configures in ConfigMaps of the hosted cluster
# (hypershift-operator/controllers/nodepool, KubeletConfigConfigMapLabel).
_HOSTED_NAMESPACE = "openshift-config-managed"
_HOSTED_LABEL = "hypershift.openshift.io/kubeletconfig-config"
_HOSTED_KEY = "config"


@dataclass(frozen=True)
class KubeletRequest(ParameterGroup):
    """Which kubelets are read. selector: label sets of nodes, None for all. pools: as a person gives
    them. at_a_time: how many kubelets are asked at once."""

    selector: Optional[Sequence[Mapping[str, Any]]]
    pools: Optional[Sequence[Mapping[str, Any]]]
    at_a_time: int


def require_one_at_a_time(at_a_time: int) -> None:
    """Raises InvalidInput for less than one."""
    if at_a_time < 1:
        raise InvalidInput(
            "the kubelets cannot be asked", why=f"at_a_time is {at_a_time}", todo="give 1 or more"
        )


def read_kubelets(
    client: Client, nodes: Sequence[NodeFacts], at_a_time: int
) -> tuple[dict[str, Obj], dict[str, str]]:
    """(node -> settings, node -> why they are not known). Raises ApiError where the right to ask is
    missing.

    A node that is not ready is not asked: its kubelet would be waited for.
    """
    ready = [node.name for node in nodes if node.readiness.ready]
    problems = {
        node.name: f"the node is not ready: {node.readiness.message}"
        for node in nodes
        if not node.readiness.ready
    }
    answers = client.parallel(
        [lambda name=name: client.node_configz(name) for name in ready],  # type: ignore[misc]
        workers=at_a_time,
    )
    running: dict[str, Obj] = {}
    for name, answer in zip(ready, answers, strict=True):
        if isinstance(answer, (Forbidden, Unauthorized)):
            raise answer
        try:
            running[name] = _settings_of(name, answer)
        except EnablementError as error:
            problems[name] = str(error)
    return running, problems


def _settings_of(node: str, answer: Obj | ApiError) -> Obj:
    if isinstance(answer, ApiError):
        raise answer
    return running_settings(answer.get("kubeletconfig"), f"node {node}")


def read_pools(
    client: Client, asked_for: tuple[NodePool, ...], nodes: Sequence[NodeFacts]
) -> tuple[tuple[NodePool, ...], list[Obj]]:
    """(the pools that a person asks for, else those of the platform; its MachineConfigPools).

    Raises InvalidInput for pools that do not fit the nodes.
    """
    pools = with_terms(client, asked_for)
    check_membership(pools, nodes)
    machine_config_pools = machine_config_objects(client, "MachineConfigPool")
    return pools or _pools_of_platform(machine_config_pools, nodes), machine_config_pools


def _pools_of_platform(
    machine_config_pools: Sequence[Obj], nodes: Sequence[NodeFacts]
) -> tuple[NodePool, ...]:
    """The pools that the platform has: MachineConfigPools, or HyperShift's NodePools; none
    elsewhere."""
    selectors = node_selectors(machine_config_pools)
    if selectors:
        return tuple(
            NodePool(name, machine_config_terms(name, selectors)) for name in sorted(selectors)
        )
    hosted = {node.labels[NODE_POOL_LABEL] for node in nodes if NODE_POOL_LABEL in node.labels}
    return tuple(
        NodePool(name, (parse_selector({"matchLabels": {NODE_POOL_LABEL: name}}),))
        for name in sorted(hosted)
    )


def nodes_by_pool(pools: Sequence[NodePool], nodes: Sequence[NodeFacts]) -> dict[str, list[str]]:
    """Pool -> names of its nodes, for pools that have any; "" for nodes outside of all."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        name = next((pool.name for pool in pools if pool.has(node.labels)), "")
        found.setdefault(name, []).append(node.name)
    return found


def read_declarations(
    client: Client, machine_config_pools: Sequence[Obj], nodes: Sequence[NodeFacts]
) -> list[Declaration]:
    """What KubeletConfigs of OpenShift and ConfigMaps of HyperShift ask of these nodes' kubelets.

    Raises InvalidInput for one that is not understood.
    """
    configs = machine_config_objects(client, "KubeletConfig")
    found = [_of_openshift(config, machine_config_pools, nodes) for config in configs]
    if any(NODE_POOL_LABEL in node.labels for node in nodes):
        hosted = client.list(
            client.kind("v1", "ConfigMap"), namespace=_HOSTED_NAMESPACE, labels=_HOSTED_LABEL
        ).items
        found += [_of_hypershift(config, nodes) for config in hosted]
    return [declaration for declaration in found if declaration.settings]


def _of_openshift(config: Obj, pools: Sequence[Obj], nodes: Sequence[NodeFacts]) -> Declaration:
    source = f"KubeletConfig {config['metadata']['name']}"
    spec = part(config, "spec")
    chosen = _selected(spec.get("machineConfigPoolSelector"), pools, source)
    selectors = node_selectors(pools)
    terms = [machine_config_terms(name, selectors) for name in chosen]
    covered = {node.name for node in nodes if any(any_holds(term, node.labels) for term in terms)}
    return Declaration(source, covered, declared_settings(part(spec, "kubeletConfig"), source))


def _selected(selector: Any, pools: Sequence[Obj], source: str) -> list[str]:
    """Names of the MachineConfigPools that a selector on their labels selects; without one, none
    (machine-config-operator, getPoolsForKubeletConfig)."""
    if not selector:
        return []
    try:
        term = parse_selector(selector)
    except ValueError as error:
        raise not_understood(source, str(error)) from None
    return [
        pool["metadata"]["name"]
        for pool in pools
        if any_holds((term,), part(pool["metadata"], "labels"))
    ]


def _of_hypershift(config: Obj, nodes: Sequence[NodeFacts]) -> Declaration:
    metadata = config["metadata"]
    source = f"ConfigMap {metadata['namespace']}/{metadata['name']}"
    pool = part(metadata, "labels").get(NODE_POOL_LABEL)
    covered = {node.name for node in nodes if pool and node.labels.get(NODE_POOL_LABEL) == pool}
    return Declaration(source, covered, _hosted_settings(config, source))


def _hosted_settings(config: Obj, source: str) -> Obj:
    """Of a KubeletConfig, or a bare KubeletConfiguration, as text."""
    try:
        found = parse_one(part(config, "data").get(_HOSTED_KEY) or "{}", source)
    except InvalidInput:
        raise not_understood(source, "it is no YAML") from None
    if isinstance(found, Mapping) and found.get("kind") == "KubeletConfig":
        spec = found.get("spec")
        found = part(spec, "kubeletConfig") if isinstance(spec, Mapping) else spec
    return declared_settings(found, source)
