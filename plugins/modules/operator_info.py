#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_info
short_description: What another operator was asked for, as options of a recipe
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Reads the custom resources of NVIDIA's or AMD's GPU operator, from the cluster or from a file, and says of each
    field that is set which option it is here, that something is done otherwise, that it has no counterpart, or that it
    changes nothing, and why. Each is in exactly one of these lists; empty texts, lists and mappings count as not set.
  - With O(recipe) it is tried whether that recipe can be enabled so, for made-up nodes of every pool, and in a cluster
    whether each node is in one pool. That takes the rights to list nodes and to get the recipe's record.
  - Secrets and ConfigMaps that they name are not read.
options:
  recipe:
    description:
      - The recipe that is to take the settings. Without it, nothing is tried.
    default: ""
  options:
    description: Options that win over those that are read, when it is tried.
    type: dict
  pools:
    description: Pools instead of those that are read, when it is tried.
    type: list
    elements: dict
  operator:
    description:
      - Whose they are, V(gpu-operator) for NVIDIA's C(ClusterPolicy) and C(NVIDIADriver), V(amd-gpu-operator) for AMD's
        C(DeviceConfig).
    type: str
    choices: [gpu-operator, amd-gpu-operator]
    default: gpu-operator
  file:
    description:
      - A file with the custom resources, on the machine where the module runs, as C(kubectl get -o yaml) writes them.
        Without it they are read from the cluster.
    type: path
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
"""

EXAMPLES = r"""
- name: What would this operator's settings be here?
  hardware.enablement.operator_info:
    recipe: nvidia-gpu
  register: operator

- name: Stop where something has no counterpart
  ansible.builtin.assert:
    that: operator.dropped | length == 0 and not operator.refused
    fail_msg: "{{ operator.table | join('\n') }}"
"""

RETURN = r"""
found:
  description: Whether there are any custom resources of the operator.
  type: bool
  returned: always
recipe:
  description: The recipe that does what the operator does.
  type: str
  returned: when there are some
  sample: nvidia-gpu
options:
  description: Options of that recipe.
  type: dict
  returned: when there are some
  sample: {driver_version: 580.105.08, mig_strategy: single}
pools:
  description: Pools, one for each C(NVIDIADriver) that chooses nodes, or each of several C(DeviceConfig).
  type: list
  elements: dict
  returned: when there are some
taken:
  description: Field to option, of what is taken.
  type: dict
  returned: when there are some
  sample: {mig.strategy: mig_strategy}
dropped:
  description: Field to reason, of what has no counterpart.
  type: dict
  returned: when there are some
  sample: {gds: its kernel modules stay with the driver's pod until that is exchanged; then they go}
differs:
  description: Field to what is done otherwise.
  type: dict
  returned: when there are some
  sample: {driver.manager: upgrade frees a node itself before its driver is exchanged}
same:
  description: Field to reason, of what changes nothing, as it is so here anyway or the operator does not use it either.
  type: dict
  returned: when there are some
  sample: {gds: the operator does not use it without gds.enabled}
refused:
  description: Why O(recipe) cannot be enabled so, as C(enable) would say it; empty where it can.
  type: str
  returned: when there are some
  sample: ""
table:
  description: The same as lines of text.
  type: list
  elements: str
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._operators import operator_info


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.OPERATOR_INFO, supports_check_mode=True),
        operator_info.TASK,
    )


if __name__ == "__main__":
    main()
