# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How states are proven on nodes, and what is done where one is not."""

from __future__ import annotations


class ModuleDocFragment:
    """What state_apply and state_validate have alike."""

    DOCUMENTATION = r"""
options:
  driver_images:
    description:
      - RV(hardware.enablement.driver_container#module:images) of an earlier task, for states that look their images up.
        Without it, what the record says.
    type: list
    elements: dict
  failure_grace:
    description: Seconds that a failure (a crashing pod, an image that cannot be pulled) has to last to count.
    type: int
    default: 30
  timeout:
    description: Seconds for each state and node, from when its requirements hold, instead of what the recipe says.
    type: int
  vanished_grace:
    description:
      - Seconds that the labels of a node's hardware have to be gone before the node leaves, provided that nothing holds
        a device there and other nodes have the hardware. Until then it is C(vanished), and nothing of it is given up.
    type: int
    default: 3600
    version_added: 0.2.0
  release_nodes:
    description: Names of nodes that have lost the labels of their hardware and are to leave now, devices held or not.
    type: list
    elements: str
    default: []
    version_added: 0.2.0
  on_regress:
    description:
      - What happens to the gate of a state that was proven before and fails, and to those of the states that stand on
        it. V(keep) marks them C(degraded), which stops no pod. V(withdraw) takes them away, and with them the pods of
        the states that require these.
    type: str
    choices: [keep, withdraw]
    default: keep
  require_ready:
    description: Fail where a state is not ready on a node in the end.
    type: bool
    default: true
  report:
    description: Whether the report lists every node or only the problems.
    type: str
    choices: [problems, all]
    default: problems
  show:
    description:
      - Print the table while the task runs, where the action plugin runs in the controller process. Where states are
        removed, print in check mode what would go.
    type: bool
    default: false
  record:
    description:
      - Write what was found into the special resource's record, as M(hardware.enablement.special_resource) does. So of
        many clusters each is recorded when it is done, and not when the slowest is.
    type: bool
    default: false
"""
