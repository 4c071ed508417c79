#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sro_config
short_description: Read a custom resource of the Special Resource Operator
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Reads a C(SpecialResource) (C(sro.openshift.io/v1beta1) or C(v1alpha1)) or C(SpecialResourceModule) as its users
    wrote it, and returns what is enabled for it.
  - Fails with everything that cannot be honoured; asks no cluster. What is another way here is said, and returned as
    notes.
options:
  from_cr:
    description: The file, on the machine that runs Ansible; it holds the custom resource and nothing else.
    type: path
    required: true
  recipe_dir:
    description: Where its chart, or a recipe of that name, lies. Without it, where C(spec.chart.repository.url) says.
    type: path
  last_kernel_wins:
    description:
      - Whether an object of one name that comes out differently for two kernels is to be that of the last one, as the
        operator had it. It is put into the options, of what the resource depends on as well.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common.controller
  - hardware.enablement.common.reads
requirements:
  - PyYAML >= 5.4.1
"""

EXAMPLES = r"""
- name: What would be enabled?
  hardware.enablement.sro_config:
    from_cr: simple-kmod.yaml
  register: asked
"""

RETURN = r"""
action:
  description: V(enable), V(disable) for the managementState Removed, V(leave) for Unmanaged.
  type: str
  returned: success
name:
  description: Name of the custom resource, which is that of the record.
  type: str
  returned: success
recipe:
  description: Name of the chart, or of the recipe.
  type: str
  returned: success
recipe_dir:
  description: Where it lies.
  type: str
  returned: success
namespace:
  description: The namespace for its objects.
  type: str
  returned: success
options:
  description: Options of the recipe.
  type: dict
  returned: success
depends:
  description: What is enabled before it, each with name and options.
  type: list
  elements: dict
  returned: success
notes:
  description: What is another way here, a sentence each.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._sro import sro_config


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.SRO_CONFIG, supports_check_mode=True),
        sro_config.TASK,
    )


if __name__ == "__main__":
    main()
