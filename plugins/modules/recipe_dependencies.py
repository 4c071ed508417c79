#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_dependencies
short_description: Tell what a recipe depends on
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Returns all recipes that a recipe depends on (C(depends) in C(recipe.yml)), directly or not, in the order in which
    they have to be enabled, and which of them are enabled already.
  - Fails where recipes depend on each other, and where two of them want a third one with different options.
  - The role C(dependencies) enables and proves what this module returns.
options:
  recipe:
    required: true
  depends:
    description: What it depends on beside that, each with C(name) and perhaps C(options) and C(recipe_dir).
    type: list
    elements: dict
    default: []
  graph:
    description:
      - Recipe to where it is, its namespace and options, and what it names in C(depends). Filled in by the action
        plugin, so that a target needs no files.
    type: dict
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.recipe
  - hardware.enablement.common.reads
"""

EXAMPLES = r"""
- name: What has to be enabled before it?
  hardware.enablement.recipe_dependencies:
    recipe: acme-fpga
    recipe_dir: "{{ playbook_dir }}/recipes"
  register: found
"""

RETURN = r"""
dependencies:
  description: What the recipe depends on; each comes after what it depends on itself.
  type: list
  elements: dict
  returned: success
  contains:
    name:
      description: Name of the recipe.
      type: str
    options:
      description: The options that it is to be enabled with, or has by its record, where it is enabled.
      type: dict
    recipe_dir:
      description: Where it is, V("") for the collection itself.
      type: str
    pools:
      description: Its pools, where it is enabled.
      type: list
      elements: dict
    enabled:
      description: Whether it is enabled.
      type: bool
    unfinished:
      description:
        - Whether it is enabled and its last run did not find it ready, so that it is applied once more, with the
          options of its record.
      type: bool
    namespace:
      description: The namespace that it names, or that it is enabled in.
      type: str
    instance:
      description: What it is enabled as; its name, where it is not.
      type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states.cleanup import dependency_order


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RECIPE_DEPENDENCIES, supports_check_mode=True),
        dependency_order.TASK,
    )


if __name__ == "__main__":
    main()
