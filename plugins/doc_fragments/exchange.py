# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How nodes are freed, changed, proven again and given back."""

from __future__ import annotations


class ModuleDocFragment:
    """What driver_upgrade and node_remedy have alike."""

    DOCUMENTATION = r"""
options:
  options:
    description:
      - Secret options, which the record does not have. Others are those of the record, since nothing is deployed
        here; one that is given and differs is refused.
    type: dict
  max_unavailable:
    description:
      - How many of the special resource's nodes (a number, or a percentage, rounded down, but at least 1) may be
        unavailable at a time. Nodes that are NotReady or cordoned by others count, those in quarantine do not.
    type: str
    default: "10%"
  drain:
    description: How nodes are freed, in the words of C(kubectl drain).
    type: dict
    suboptions:
      whole_node:
        description: Whether all pods leave, and not only those that use the devices.
        type: bool
        default: false
      force:
        description: Whether pods go that no controller makes again.
        type: bool
        default: false
      delete_emptydir_data:
        description: Whether pods go that have data in an emptyDir; one in memory does not count.
        type: bool
        default: false
      daemonsets:
        description:
          - Whether pods of others' DaemonSets go that use the devices. They come back when the node is given back.
        type: bool
        default: true
      grace_period:
        description: Seconds that each evicted pod has. Without it, what the pod says.
        type: int
      timeout:
        description: Seconds after which a node that is not free is left as it was.
        type: int
        default: 600
  stop_timeout:
    description: Seconds that the special resource's own pods, and the driver's, have to end.
    type: int
    default: 300
  reboot:
    description:
      - How each node is rebooted once its driver's pod has ended, for drivers that cannot be unloaded.
      - With V(annotation), O(reboot_annotation) is set on the node, for what reboots nodes in the cluster; it is
        taken off when the node has booted anew.
      - With V(caller), the task ends when all nodes that are on their way wait for it, and RV(reboot) names them; the
        task goes on where it stopped when it is run again.
    type: str
    choices: [none, annotation, caller]
    default: none
  reboot_annotation:
    description: The annotation for O(reboot=annotation), as V(NAME=VALUE).
    type: str
  reboot_timeout:
    description: Seconds that a node has to boot anew.
    type: int
    default: 1800
  report:
    description: Whether the report lists every node or only the problems.
    type: str
    choices: [problems, all]
    default: problems
    version_added: 0.2.0
  failure_grace:
    description: Seconds that a failure has to last until it counts.
    type: int
    default: 30
  timeout:
    description: Seconds that each state has to be proven on a node. Without it, what the recipe says of each.
    type: int
  require_ready:
    description: Fail where not every node is as it should be. Else RV(message) says so.
    type: bool
    default: true
"""
