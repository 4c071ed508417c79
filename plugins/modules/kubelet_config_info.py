#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubelet_config_info
short_description: What the kubelets of each pool run for CPUs, memory and NUMA
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Asks each kubelet, by way of the API server, which configuration it runs (C(configz)), and returns what decides
    about exclusive CPUs, memory and NUMA alignment, defaults included. One request for each node, a bounded number at
    a time.
  - Says for each pool whether its kubelets agree, in which settings they do not, and on which nodes.
  - Where OpenShift or HyperShift configure kubelets by objects (C(KubeletConfig), or ConfigMaps of a NodePool), what
    these declare is compared with what the kubelets really run.
  - Needs the right to C(get) C(nodes/proxy), see docs/admin/kubelets.md.
options:
  selector:
    description:
      - Label sets. A node matches when it carries all labels of any of them. Without it, all nodes.
      - An empty value means that the label has to be there, with whatever value.
    type: list
    elements: dict
  pools:
    description:
      - The pools of nodes. Each has C(name), and one of C(selector) (C(matchLabels) and C(matchExpressions) with all
        operators of node affinity), C(machine_config_pool) and C(node_pool).
      - Without it, MachineConfigPools on OpenShift, NodePools on HyperShift, and elsewhere all nodes are one pool.
    type: list
    elements: dict
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.common.kubelets
"""

EXAMPLES = r"""
- name: What do the kubelets run?
  hardware.enablement.kubelet_config_info:
    selector:
      - node-role.kubernetes.io/worker: ""
  register: kubelets

- name: Pods can be aligned to NUMA nodes only where all kubelets of a pool do it
  ansible.builtin.assert:
    that:
      - item.uniform
      - item.settings.topology_manager_policy == "single-numa-node"
    fail_msg: "pool {{ item.name }}: {{ item.differs }}"
  loop: "{{ kubelets.pools }}"
"""

RETURN = r"""
nodes:
  description: The settings of each node whose kubelet answered, by the node's name.
  type: dict
  returned: always
  sample:
    node-1:
      cpu_manager_policy: static
      cpu_manager_options: {full-pcpus-only: "true"}
      cpu_manager_reconcile_seconds: 5.0
      memory_manager_policy: Static
      topology_manager_policy: single-numa-node
      topology_manager_scope: pod
      topology_manager_options: {}
      max_numa_nodes: 8
      reserved_cpus: 0-1
      kube_reserved: {memory: 524288000}
      system_reserved: {}
      eviction_hard: {memory.available: 104857600, nodefs.available: "10%"}
      reserved_memory: [{numa_node: 0, limits: {memory: 629145600}}]
unknown:
  description: Nodes whose settings are not known, with the reason.
  type: list
  elements: dict
  returned: always
  contains:
    node:
      description: Name of the node.
      type: str
    problem:
      description: Why, in one sentence.
      type: str
pools:
  description: The pools that have nodes, by name. The one without a name has the nodes that are in no other.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the pool.
      type: str
    nodes:
      description: Names of its nodes.
      type: list
      elements: str
    uniform:
      description: Whether all its kubelets answered and run the same settings.
      type: bool
    settings:
      description: What its kubelets have in common; memory in bytes, CPUs in cores, times in seconds.
      type: dict
    differs:
      description: Settings in which they differ, each with its values and their nodes, that of most nodes first.
      type: list
      elements: dict
    declared:
      description:
        - Objects of OpenShift or HyperShift that configure these kubelets; C(source), C(settings), and in C(differs)
          what kubelets run instead.
      type: list
      elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._numa import kubelet_config


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.KUBELET_CONFIG_INFO, supports_check_mode=True),
        kubelet_config.TASK,
    )


if __name__ == "__main__":
    main()
