#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_config
short_description: Read the cluster's RmdConfig, and keep its status
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Intel's RMD operator is configured by one object, RmdConfig C(default/rmdconfig). This module turns it into options
    of the recipe C(intel-rmd), and tells in its status which nodes have RMD. Without such an object it does nothing.
  - Its C(deployNodeAgent) says nothing any more. The agent is there always, since it tells what is in force.
options:
  nodes:
    description: Names of the nodes that have RMD, for the status. Without it, the status is left as it is.
    type: list
    elements: str
  problem:
    description: Why RMD is not ready, for the status; empty where it is.
    type: str
    default: ""
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
"""

EXAMPLES = r"""
- name: What does the cluster's RmdConfig ask for?
  hardware.enablement.rmd_config:
  register: config
"""

RETURN = r"""
found:
  description: Whether there is an RmdConfig.
  type: bool
  returned: always
options:
  description: Options of the recipe C(intel-rmd) that it sets.
  type: dict
  returned: always
  sample:
    rmd_image: registry.example.org/rmd:0.3.1
    hardware_labels: [{"feature.node.kubernetes.io/cpu-rdt.RDTL3CA": "true"}]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd import config


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RMD_CONFIG, supports_check_mode=True), config.TASK
    )


if __name__ == "__main__":
    main()
