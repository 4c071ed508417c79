# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin: what Ansible asks of one, over what _states/inventory finds."""

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes
short_description: The nodes of a Kubernetes or OpenShift cluster as hosts
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Each node is a host. Groups say which recipes are enabled on it and how they stand, which kernel it runs, its zone
    and its node pool.
  - The cluster is reached as by all modules of this collection; reading it takes one paged list for each of nodes,
    NodeFeatures and SpecialResources, and no request for a single node.
  - The name of the file ends in V(hardware_nodes.yml) or V(hardware_nodes.yaml).
  - "All that is known of a node is in the variable C(kubernetes_node), a dictionary with C(name), C(uid), C(kernel),
    C(kernel_group), C(os) (C(id), C(version), C(build)), C(architecture), C(container_runtime) (C(name), C(version)),
    C(boot_id), C(addresses) (lists by type), C(labels), C(taints), C(unschedulable), C(ready), C(ready_message),
    C(capacity), C(allocatable), C(zone), C(node_pool), C(features) (C(attributes), C(flags) and C(instances) of
    NodeFeatures) and C(recipes)."
  - "C(recipes) has for each recipe C(phase) (V(ready), V(waiting), V(failed), V(degraded), V(blocked), V(vanished),
    V(starting), V(leaving) or V(unknown)), the C(state) that keeps the node from being ready, C(reason) and C(message)
    of it where the record has them (that of the ten worst nodes), C(restarts_pending) (states whose pods still run the
    version before), C(upgrade) (V(upgrading), V(quarantined) or nothing), C(pool), C(gates), C(proofs) and
    C(vanished_since)."
  - "A host is in C(RECIPE), C(RECIPE_PHASE), C(RECIPE_restart_pending) where a restart is pending, C(RECIPE_upgrading)
    or C(RECIPE_quarantined) where its driver is exchanged or could not be, C(RECIPE_pool_POOL), C(kernel_GROUP),
    C(zone_ZONE) and C(node_pool_POOL). Other characters than letters, digits and underscores are underscores there. A
    group without hosts is not made."
  - Phases, gates, proofs and pending restarts are what the last run has found. Nothing is evaluated anew.
  - Texts of the cluster are never templated.
notes:
  - What the user may not read is left out with a warning, but for nodes.
extends_documentation_fragment:
  - hardware.enablement.common.connection
  - constructed
  - inventory_cache
requirements:
  - python >= 3.10
  - kubernetes >= 29.0.0
  - PyYAML >= 5.4.1
options:
  plugin:
    description: Says that a file is for this plugin.
    type: str
    required: true
    choices: [hardware.enablement.nodes]
  label_selector:
    description: Only nodes with these labels, as C(kubectl --selector) takes it. The API server selects.
    type: str
    default: ""
  recipes:
    description:
      - Only nodes on which any of these recipes (or instances of them) is enabled. The API server selects, in one list
        for each.
    type: list
    elements: str
    default: []
  features:
    description:
      - Which features of Node Feature Discovery's NodeFeatures are taken, by their names there; V(*) takes all.
      - V([]) leaves NodeFeatures unread. Their list is long, since each holds its node's whole kernel configuration.
    type: list
    elements: str
    default: [cpu.model, cpu.topology, kernel.version, memory.numa, pci.device, system.osrelease]
  address:
    description:
      - Which address of a node becomes C(ansible_host), the first of that type that is an address or a DNS name.
      - V(none) sets no C(ansible_host), so that the name of the node is what Ansible connects to.
    type: str
    choices: [InternalIP, ExternalIP, Hostname, InternalDNS, ExternalDNS, none]
    default: InternalIP
  host_prefix:
    description: Stands before the name of each host, for clusters in one inventory whose nodes have equal names.
    type: str
    default: ""
"""

EXAMPLES = r"""
# The least: hardware_nodes.yml, with the kubeconfig as for kubectl or K8S_AUTH_* in the environment
plugin: hardware.enablement.nodes

---
# gpus.hardware_nodes.yml: GPU nodes of one zone, reached by ssh as a user of our own
plugin: hardware.enablement.nodes
kubeconfig: ~/.kube/lab
context: lab
cluster_uid: 0b0b5a0e-5d7c-4a0c-8f2d-0a9a54f0d0c1
recipes: [nvidia-gpu]
label_selector: topology.kubernetes.io/zone=berlin-1
features: []
compose:
  ansible_user: "'core'"
  gpus: kubernetes_node.allocatable['nvidia.com/gpu'] | default(0) | int
groups:
  not_ready: not kubernetes_node.ready
  drained: kubernetes_node.unschedulable
keyed_groups:
  - key: kubernetes_node.labels['node.kubernetes.io/instance-type']
    prefix: type
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/hardware-nodes
cache_timeout: 300
"""

import hashlib
import json
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils._cluster.api_client.client import Client, connect
from ..module_utils._cluster.api_client.connection_request import ConnectionRequest
from ..module_utils._errors import EnablementError
from ..module_utils._interface.arguments import CONNECTION
from ..module_utils._recipes.loading.values import plain
from ..module_utils._schema.requests import make_request
from ..module_utils._states.inventory.host_groups import address_of, host_groups
from ..module_utils._states.inventory.node_hosts import find_hosts

try:
    from ansible.template import trust_as_template as trusted
except ImportError:  # Before ansible-core 2.19 all is trusted that is not marked.
    trusted = str

FILES = ("hardware_nodes.yml", "hardware_nodes.yaml")
VARIABLE = "kubernetes_node"
# What says which hosts are found, so that a cache holds no others.
_ASKED = ("label_selector", "recipes", "features")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Nodes as hosts."""

    NAME = "hardware.enablement.nodes"

    def verify_file(self, path: str) -> bool:
        """Whether a file is named as those for this plugin are."""
        return bool(super().verify_file(path)) and path.endswith(FILES)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002 - Ansible's own signature
        """Fill the inventory. Raises AnsibleParserError with one sentence."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            hosts = self._hosts(path, read_cache=cache)
        except EnablementError as error:
            # Ansible adds what causes an error to its sentence, and causes of that.
            raise AnsibleParserError(str(error)) from None
        for name, variables in hosts.items():
            self._add(f"{self.get_option('host_prefix')}{name}", variables)

    def _hosts(self, path: str, *, read_cache: bool) -> dict[str, Any]:
        """The variables of each node, by name, from the cache where there is one."""
        settings = {name: plain(self.get_option(name)) for name in CONNECTION}
        client = connect(make_request(ConnectionRequest, settings))
        if not self.get_option("cache"):
            return self._find(client)
        asked = json.dumps([client.host, *(plain(self.get_option(name)) for name in _ASKED)])
        key = f"{self.get_cache_key(path)}_{hashlib.sha256(asked.encode()).hexdigest()[:8]}"
        if read_cache and key in self._cache:
            return dict(self._cache[key])
        hosts = self._find(client)
        self._cache[key] = hosts
        return hosts

    def _find(self, client: Client) -> dict[str, Any]:
        asked = {name: plain(self.get_option(name)) for name in _ASKED}
        return find_hosts(client, warn=self.display.warning, **asked)

    def _add(self, host: str, variables: dict[str, Any]) -> None:
        """Add one host. Whatever the cluster says is text, also where it looks like a template."""
        self.inventory.add_host(host)
        self.inventory.set_variable(host, VARIABLE, wrap_var(variables))
        address = address_of(variables, self.get_option("address"))
        if address:
            # No template: it has been looked at. AWX reads it, and knows no marks.
            self.inventory.set_variable(host, "ansible_host", trusted(address))
        for group, parent in host_groups(variables).items():
            # A node may be called as a recipe is, so no name is looked up among both.
            self.inventory.add_host(host, self.inventory.add_group(group))
            if parent:
                self.inventory.add_child(parent, group)
        known, strict = self.inventory.get_host(host).get_vars(), self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), known, host, strict)
        for construct, wanted in (
            (self._add_host_to_composed_groups, "groups"),
            (self._add_host_to_keyed_groups, "keyed_groups"),
        ):
            construct(self.get_option(wanted), {}, host, strict)
