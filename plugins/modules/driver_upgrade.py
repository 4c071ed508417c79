#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: driver_upgrade
short_description: Exchange drivers that wait for a restart, node by node, in waves
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - A changed driver does not restart by itself. This brings each node of an enabled special resource whose driver's
    pod is not of the version that is deployed to that version. In check mode it says which nodes these are, why, in
    which wave they come, whose pods use their devices, and what would hold them up.
  - A node is cordoned and tainted, the pods that use its devices are evicted as their PodDisruptionBudgets allow, the
    special resource's own pods that stand on the driver leave, the driver's pod is restarted, all states are proven
    again, and the node is given back. A node that was cordoned before stays so.
  - So is a node whose devices are given to pods in another way than is asked for, by a device plugin or by DRA. Its
    driver stays; one of the two has gone before the other comes.
  - A node that cannot be freed is left as it was. A node that is not proven with the new driver goes into quarantine,
    by the taint C(hardware-enablement.io/RECIPE=quarantined:NoSchedule); the run that finds it proven takes that off.
  - How each node stands is kept in its annotation C(hardware-enablement.io/RECIPE.upgrade). A run that was killed is
    taken up by the next one.
options:
  nodes:
    description: The nodes that may be begun. Without it, all.
    type: list
    elements: str
  waves:
    description:
      - How many nodes each wave has, as numbers or percentages of all nodes that are to be exchanged; the last one is
        repeated, as in a play's C(serial). A wave begins when all nodes of the one before are proven.
      - A node that fails in the first of several waves stops everything.
    type: list
    elements: str
    default: ["1", "10%", "50%", "100%"]
  max_failures:
    description:
      - How many nodes (a number, or a percentage, rounded down) may fail. When one more has failed, no further node is
        begun.
    type: str
    default: "5%"
  soak:
    description: Seconds that a wave has to stay proven before the next one begins.
    type: int
    default: 0
  maintenance_window:
    description: When nodes may be begun. Those that are on their way when it ends are brought to their end.
    type: dict
    suboptions:
      start:
        description: A time of day, such as V(22:00).
        type: str
        required: true
      end:
        description: A time of day; one that is not after O(maintenance_window.start) is on the next day.
        type: str
        required: true
      days:
        description: The days on which it starts, as V(mon) to V(sun). Without it, all.
        type: list
        elements: str
      timezone:
        description: The time zone of both, such as V(Europe/Berlin).
        type: str
        default: UTC
  rollback:
    description:
      - Whether to go back where too many nodes fail. The options with which all nodes were last proven are put back,
        and the nodes that had changed are exchanged once more.
    type: bool
    default: false
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
  - module: hardware.enablement.node_remedy
  - module: hardware.enablement.state_validate
"""

EXAMPLES = r"""
- name: Which drivers would be exchanged, in which order, and what is in the way?
  hardware.enablement.driver_upgrade:
    recipe: nvidia-gpu
  check_mode: true
  diff: true

- name: One node first; go back to the driver before where that one fails
  hardware.enablement.driver_upgrade:
    recipe: nvidia-gpu
    waves: ["1", "25%"]
    soak: 300
    rollback: true

- name: All at once, at night, whoever uses the GPUs
  hardware.enablement.driver_upgrade:
    recipe: nvidia-gpu
    waves: ["100%"]
    max_unavailable: "100%"
    maintenance_window: {start: "22:00", end: "04:00", timezone: Europe/Berlin}
    drain: {force: true, delete_emptydir_data: true}
"""

RETURN = r"""
plan:
  description: A row for each node whose driver is to be exchanged.
  type: list
  elements: dict
  returned: success
  contains:
    node:
      description: Its name.
      type: str
    why:
      description: What differs from the version that is deployed.
      type: str
    wave:
      description: The wave in which it comes, from 1 on; 0 for a node that is not begun.
      type: int
    users:
      description: The pods that have to leave.
      type: list
      elements: str
    blocked:
      description: Why the node is not begun.
      type: str
    held_by:
      description: The PodDisruptionBudgets that let a pod not go at the time of the plan.
      type: str
table:
  description: The same as a table.
  type: list
  elements: str
  returned: success
done:
  description: The nodes that were exchanged and proven.
  type: list
  elements: str
  returned: success
postponed:
  description: The nodes that were begun and could not be freed, and why. They are as they were.
  type: dict
  returned: success
quarantined:
  description: The nodes that are not proven with the new driver, and why.
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
rolled_back:
  description: Whether all nodes that had changed run the version before.
  type: bool
  returned: success
rollback:
  description: What became of going back.
  type: str
  returned: success
message:
  description: Why not every driver was exchanged, empty where all were.
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
from ..module_utils._upgrades import upgrade_run


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.DRIVER_UPGRADE, supports_check_mode=True),
        upgrade_run.TASK,
    )


if __name__ == "__main__":
    main()
