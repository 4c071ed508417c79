#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: numa_config
short_description: From what kubelets run to the options of the recipe numa
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Exporters publish beside what a node has free by which policy its kubelet gives it away. This module asks the
    kubelets of the recipe's nodes, as M(hardware.enablement.kubelet_config_info) does, and returns options and pools of
    the recipe C(numa) that say so. It fails where the kubelets of a pool do not agree.
  - Takes the custom resources of the NUMA Resources Operator for what is asked for, where O(from_cr) names them.
  - Refuses options that contradict each other.
  - Needs the right to C(get) C(nodes/proxy), unless O(read_kubelets=false); see docs/admin/kubelets.md.
options:
  recipe:
    description: The recipe, C(numa) or one that has its options.
    required: true
  from_cr:
    description:
      - A file with a C(NUMAResourcesOperator), a C(NUMAResourcesScheduler), or both (v1 or v1alpha1), on the machine
        where the module runs. O(options) and O(pools) win over what they say. What becomes of each field that they set,
        and of their annotations, is said.
    type: path
  read_kubelets:
    description: Whether the kubelets are asked. Without it, their policies are as the options say.
    type: bool
    default: true
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.common.kubelets
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
"""

EXAMPLES = r"""
- name: What would an operator's custom resources be here?
  hardware.enablement.numa_config:
    recipe: numa
    from_cr: operator.yml
  register: numa

- name: Show it
  ansible.builtin.debug:
    msg: "{{ numa.options }}, pools {{ numa.pools }}"
"""

RETURN = r"""
options:
  description: Options of the recipe, those that differ from its defaults and those that were found out.
  type: dict
  returned: always
  sample:
    topology_manager_policy: single-numa-node
    topology_manager_scope: pod
    topologies: 0f3a5c7e9b1d2f4a
    control_plane_nodes: 3
pools:
  description: Pools with their options. Those of the platform where their kubelets differ and none are given.
  type: list
  elements: dict
  returned: always
taken:
  description: Field of the custom resources to option, of what is taken.
  type: dict
  returned: with O(from_cr)
  sample: {"NUMAResourcesScheduler: replicas": scheduler_replicas}
dropped:
  description: Field to reason, of what has no counterpart.
  type: dict
  returned: with O(from_cr)
differs:
  description: Field to what is done otherwise.
  type: dict
  returned: with O(from_cr)
same:
  description: Field to reason, of what changes nothing.
  type: dict
  returned: with O(from_cr)
unknown:
  description:
    - Nodes whose kubelets did not answer. They are taken to run what the others of their pool do, else what the options
      say, else what is in the record; where none of them says anything, the module fails.
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
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._numa import numa_config


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.NUMA_CONFIG, supports_check_mode=True),
        numa_config.TASK,
    )


if __name__ == "__main__":
    main()
