#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_partition
short_description: Keep nodes with special hardware for the pods that need it
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Puts taints on all nodes of an enabled special resource, and takes off those of its own that are not asked for
    any more (hard partitioning); makes PriorityClasses, by which pods that need the hardware displace those that
    only fill the nodes (soft partitioning).
  - A taint is told by key, value and effect. One that was on a node before stays somebody else's, and is never
    taken off.
  - The taints are kept in the SpecialResource, and the special resource's own pods tolerate them. Where its DaemonSets
    do not yet, the taint is recorded and not put on nodes; the playbook C(partition) enables the special resource
    again in between.
options:
  state:
    description: With V(absent), all taints and PriorityClasses of this special resource are taken away.
    type: str
    choices: [present, absent]
    default: present
  taints:
    description:
      - The taints, each as C(kubectl taint) takes it (C(nvidia.com/gpu=present:NoSchedule)), or with C(key), C(value)
        and C(effect) as in a node's spec. An empty list takes them off. Without it, those of the record.
      - A key that is one of the recipe's resources (C(nvidia.com/gpu)) is tolerated by every pod that asks for it where
        the API server's admission plugin ExtendedResourceToleration is on; the task says where it is not.
    type: list
    elements: raw
  no_execute:
    description:
      - Whether O(taints) may have the effect C(NoExecute), which ends the pods on these nodes that do not tolerate it.
    type: bool
    default: false
  soft:
    description: Whether the PriorityClasses should be there. Without it, they stay as they are.
    type: bool
  priority_classes:
    description:
      - The PriorityClasses for O(soft=true). Without it, RECIPE-high-priority (1000000) and RECIPE-low-priority
        (100000). None becomes the cluster's default.
    type: list
    elements: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      value:
        description: The higher, the more important; at most 1000000000. A class of another value is made anew.
        type: int
        required: true
      description:
        description: For whom it is.
        type: str
      preemption_policy:
        description: Whether its pods displace others.
        type: str
        choices: [PreemptLowerPriority, Never]
        default: PreemptLowerPriority
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.enabled
  - hardware.enablement.common.run
"""

EXAMPLES = r"""
- name: Only pods that ask for a GPU run on nodes with GPUs
  hardware.enablement.node_partition:
    recipe: nvidia-gpu
    taints: ["nvidia.com/gpu=present:NoSchedule"]

- name: Others may fill them, and make room when it is needed
  hardware.enablement.node_partition:
    recipe: nvidia-gpu
    taints: []
    soft: true
"""

RETURN = r"""
taints:
  description: The taints that the nodes are to carry.
  type: list
  elements: dict
  returned: success
nodes:
  description: The nodes whose taints were, or would be, changed.
  type: list
  elements: str
  returned: success
untolerated:
  description: Taints that wait, since DaemonSets of the special resource do not tolerate them yet.
  type: list
  elements: str
  returned: success
  sample: ["example.com/reserved=gpu:NoSchedule"]
priority_classes:
  description: The PriorityClasses that were, or would be, changed, with C(name) and C(action).
  type: list
  elements: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import partition


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.NODE_PARTITION, supports_check_mode=True),
        partition.TASK,
    )


if __name__ == "__main__":
    main()
