#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_takeover
short_description: Take the nodes of NVIDIA's GPU Operator over, without a restart of a driver
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Enables a recipe in the namespace of the operator's operands, on nodes that these serve. The pods of drivers stay as
    they are (name, UID, number of restarts) and become those of the recipe's DaemonSets. They wait for an upgrade.
  - The operator's Deployment is scaled to 0. Then node by node its other operands leave, as the labels
    C(nvidia.com/gpu.deploy.*) become V(false), those of the recipe come, and all states are proven, before the next
    node is begun. A node that is not proven ends it; the nodes that were not begun are still served by the operator's
    operands.
  - When all nodes are taken over the custom resources are deleted, and with them what is left of what was made of them.
  - Without O(stop_operator), and in check mode, nothing is written, and what would be done is returned.
  - A run that was killed is taken up by the next one.
options:
  recipe:
    description: The recipe, C(nvidia-gpu) or one that has its options and labels.
    required: true
  stop_operator:
    description: Whether the operator may be stopped and its custom resources be deleted. Nothing is written without.
    type: bool
    default: false
  at_a_time:
    description: How many nodes change at a time.
    type: int
    default: 1
  failure_grace:
    description: Seconds that a failure has to last until it counts.
    type: float
    default: 30
  timeout:
    description: Seconds for each state on each node, instead of what the recipe says.
    type: float
  show:
    description: Show the table of all nodes in the end.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.common.run
"""

EXAMPLES = r"""
- name: Read what the operator was asked for
  hardware.enablement.operator_info:
  register: operator

- name: Take its nodes over, two at a time
  hardware.enablement.operator_takeover:
    recipe: "{{ operator.recipe }}"
    options: "{{ operator.options }}"
    pools: "{{ operator.pools }}"
    stop_operator: true
    at_a_time: 2
"""

RETURN = r"""
plan:
  description: The nodes that are still the operator's.
  type: list
  elements: dict
  returned: always
  contains:
    node:
      description: Name of the node.
      type: str
    driver:
      description: Name of the driver's pod, which stays; empty for none.
      type: str
    leaving:
      description: Names of the pods that make room.
      type: list
      elements: str
    new:
      description: Operands that the operator was told to leave out on this node, and that it gets now.
      type: list
      elements: str
table:
  description: What is done, as lines of text.
  type: list
  elements: str
  returned: always
message:
  description: Why nothing was done; empty where it was.
  type: str
  returned: always
taken:
  description: The nodes that this run has taken over.
  type: list
  elements: str
  returned: when something was done
report:
  description: How all states stand, as M(hardware.enablement.state_validate) returns it.
  type: dict
  returned: when something was done
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._operators import operator_takeover


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.OPERATOR_TAKEOVER, supports_check_mode=True),
        operator_takeover.TASK,
    )


if __name__ == "__main__":
    main()
