#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: special_resource_info
short_description: Read the cluster's records of enabled recipes
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Returns the SpecialResource records of a cluster, or one of them.
options:
  name:
    description:
      - Name of the record, which is the recipe's name. The name of a chart's folder finds the chart's. Without it, all
        records.
    type: str
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
"""

EXAMPLES = r"""
- name: What is enabled here?
  hardware.enablement.special_resource_info:
  register: enabled

- name: Show it
  ansible.builtin.debug:
    msg: "{{ item.name }} is {{ item.status.phase | default('not validated yet') }}"
  loop: "{{ enabled.resources }}"
"""

RETURN = r"""
resources:
  description: The records. Empty where there is none.
  type: list
  elements: dict
  returned: success
  contains:
    name:
      description: Name of the record.
      type: str
    spec:
      description: What was asked for, secrets left out.
      type: dict
    status:
      description: What the last validation found.
      type: dict
    created:
      description: Time of the first enabling.
      type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import special_resource


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.SPECIAL_RESOURCE_INFO, supports_check_mode=True),
        special_resource.INFO_TASK,
    )


if __name__ == "__main__":
    main()
