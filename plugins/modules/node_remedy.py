#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_remedy
short_description: Take nodes whose devices are at fault out of use, try what mends them, and give them back
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Looks at the nodes that O(faults) names, and at those that fail what they have proven before, in the states that the
    recipe's C(remedies) name. In check mode it says which nodes these are, what would be tried on each, and whose pods
    use their devices.
  - A node is cordoned, with the taint C(hardware-enablement.io/RECIPE=quarantined:NoSchedule), the pods that use its
    devices are evicted as their PodDisruptionBudgets allow, the special resource's own pods that stand on the driver
    leave, the remedy is done, all states are proven again, and the node is given back.
  - A remedy is a restart of the driver's pod, a pod of the recipe (which resets the device, say), or a reboot. Where
    one does not help the next is tried. After O(attempts) within a day the node is left in quarantine, with the reason.
  - Quarantine of a node that failed its proofs ends with the run that finds it proven. Where somebody has reported what
    proofs cannot see, it ends with a remedy that was tried, or with O(release).
  - How each node stands is kept in its annotation C(hardware-enablement.io/RECIPE.upgrade). A run that was killed is
    taken up by the next one.
options:
  faults:
    description:
      - What is said of nodes that their proofs may not see. A remedy is tried whatever the proofs say.
    type: list
    elements: dict
    default: []
    suboptions:
      node:
        description: The node. One that is not the special resource's is left alone.
        type: str
        required: true
      fault:
        description: What is wrong with it, in a line, such as the name of an alert.
        type: str
        required: true
  release:
    description:
      - Nodes in quarantine that were mended by hand. They leave it as soon as they are proven, and what was tried on
        them before counts no more.
    type: list
    elements: str
    default: []
  attempts:
    description: How many remedies are tried on a node within a day.
    type: int
    default: 3
  cooldown:
    description:
      - Seconds after the last remedy on a node in which O(faults) of it is not looked at, since an alert goes on for a
        while after its cause has gone.
    type: int
    default: 600
  max_failures:
    description:
      - How many nodes (a number, or a percentage, rounded down, but at least 1) may be in quarantine. With one more, no
        further node is taken out of use; what fails on so many is hardly their devices.
    type: str
    default: "10%"
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.enabled
  - hardware.enablement.common.run
  - hardware.enablement.exchange
  - hardware.enablement.taints
seealso:
  - module: hardware.enablement.driver_upgrade
"""

EXAMPLES = r"""
- name: Which nodes are at fault, and what would be tried?
  hardware.enablement.node_remedy:
    recipe: nvidia-gpu
  check_mode: true
  diff: true

- name: An alert has named a node
  hardware.enablement.node_remedy:
    recipe: nvidia-gpu
    faults:
      - node: gpu-node-7
        fault: NvidiaGpuXidCritical

- name: Its GPU was replaced
  hardware.enablement.node_remedy:
    recipe: nvidia-gpu
    release: [gpu-node-7]
"""

RETURN = r"""
plan:
  description: A row for each node that may be at fault.
  type: list
  elements: dict
  returned: success
  contains:
    node:
      description: Its name.
      type: str
    why:
      description: What is wrong, and what is tried.
      type: str
    wave:
      description: 1, or 0 for a node that is not begun.
      type: int
    users:
      description: The pods that have to leave.
      type: list
      elements: str
    blocked:
      description: Why the node is not begun.
      type: str
    held_by:
      description: What lets a pod not go at the time of the plan.
      type: str
table:
  description: The same as a table.
  type: list
  elements: str
  returned: success
done:
  description: The nodes that are proven again.
  type: list
  elements: str
  returned: success
postponed:
  description: Nodes that could not be cordoned, and why.
  type: dict
  returned: success
quarantined:
  description: The nodes that nothing has mended, and why.
  type: dict
  returned: success
stopped:
  description: Why no further node was begun.
  type: str
  returned: success
reboot:
  description: The nodes that are to be rebooted before the task is run again, with O(reboot=caller).
  type: list
  elements: str
  returned: success
message:
  description: Why not every node is proven, empty where all are.
  type: str
  returned: success
report:
  description: How all states stand, as M(hardware.enablement.state_validate) returns it.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._upgrades import remedy_run


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.NODE_REMEDY, supports_check_mode=True),
        remedy_run.TASK,
    )


if __name__ == "__main__":
    main()
