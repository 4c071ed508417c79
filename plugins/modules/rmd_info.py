#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_info
short_description: Read caches, pools, policies and workloads from Intel RMD
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Asks the Resource Management Daemon (RMD) of each node for its L3 caches and their pools, its policies, memory
    bandwidth allocation, and the workloads that it runs.
  - A node that cannot be asked is part of the result, and no failure.
  - Without O(nodes) and O(node_selector) all nodes that have a daemon are asked.
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.rmd
  - hardware.enablement.rmd.nodes
options:
  failure_grace:
    description: Seconds for which a node that cannot be asked is asked again, every second.
    type: int
    default: 0
seealso:
  - module: hardware.enablement.rmd_workload
"""

EXAMPLES = r"""
- name: Which ways are free, and who has the others?
  hardware.enablement.rmd_info:
  register: rmd

- name: Guaranteed ways that are left, by node and cache
  ansible.builtin.debug:
    msg: "{{ item.node }}: {{ item.caches | map(attribute='pools') | map(attribute='guaranteed') | list }}"
  loop: "{{ rmd.nodes }}"
  loop_control:
    label: "{{ item.node }}"

- name: One node, through the API server
  hardware.enablement.rmd_info:
    nodes: [worker-node-1]
    endpoint: port_forward
"""

RETURN = r"""
nodes:
  description: What each daemon says.
  type: list
  elements: dict
  returned: success
  contains:
    node:
      description: Name of the node.
      type: str
    reachable:
      description: Whether its daemon has answered.
      type: bool
    kind:
      description: Where something could not be read, the kind of that failure.
      type: str
    message:
      description: That failure in a sentence.
      type: str
    dialect:
      description:
        - V(v0.2) or V(v0.3), by the workloads; empty where none runs. V(resctrl) where the node's
          agent divides the cache.
      type: str
    workloads:
      description: The workloads, with the options of M(hardware.enablement.rmd_workload) and what RMD says of them.
      type: list
      elements: dict
      sample: [{uuid: web, core_ids: ["2", "3"], cache: {max: 2, min: 2}, id: "1", status: Successful, cos_name: COS2,
        origin: REST}]
    caches:
      description: The L3 caches, with their CPUs, ways, the mask of the free ways, and the free ways of each pool.
      type: list
      elements: dict
      sample: [{id: "0", cores: 0-23, ways: 11, available_ways: 7ff, pools: {guaranteed: 1-6}}]
    policies:
      description: The policies by name, as the daemon writes them.
      type: dict
    mba:
      description: Memory bandwidth allocation, with C(supported), C(enabled), C(step) and C(least).
      type: dict
    unfinished:
      description: Workloads that a killed run has deleted, and the next one puts back.
      type: list
      elements: str
requests:
  description: How many requests the daemons were sent, by method.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd import info


def main() -> None:
    """Run the module."""
    run_module(AnsibleModule(argument_spec=arguments.RMD_INFO, supports_check_mode=True), info.TASK)


if __name__ == "__main__":
    main()
