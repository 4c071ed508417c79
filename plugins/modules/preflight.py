#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Say what enabling a recipe would meet, also for kernels that no node runs yet
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - For each kernel that nodes run, or will run, says whether its driver image is there, would be built, or cannot be
    had and why. Beside that it finds what would stop an enable, such as other device plugins, missing Secrets, rights
    and CRDs, quotas, Pod Security and admission policies (by dry runs of the very objects and of their pods), taints,
    nodes that are short of disk, and images that are not in their registry.
  - Without a recipe it says which hardware the nodes have, which recipes take it, and what is in their way.
  - It writes nothing, unless O(build=true), O(stage=true) or O(pull=true).
options:
  bundles:
    description:
      - Recipe to its files, path to text, where none is named. Filled in by the action plugin.
    type: dict
  kernels:
    description:
      - Kernels that nodes will run, as C(uname -r) says them there, or mappings of C(kernel) with C(os_id),
        C(os_version), C(os_build) (of RHCOS) and C(arch), each only where it differs from what the nodes have now.
      - Without it, the kernels are those that nodes run, and those that are staged.
    type: list
    elements: raw
  releases:
    description:
      - Images of OpenShift's releases that the cluster will be updated to. Their kernels are among O(kernels), with the
        Driver Toolkit to build with. They are those of ordinary nodes, not of real-time kernels.
    type: list
    elements: str
    default: []
  build:
    description: Build the images that are missing now, and push them. The recipe has to be enabled.
    type: bool
    default: false
  stage:
    description:
      - Build what is missing, and write O(kernels) into the record in the place of those that were staged before; an
        empty list stages none any more. Runs of C(enable) deploy the driver of a staged kernel before a node runs it.
    type: bool
    default: false
  pull:
    description:
      - Have a node of each architecture pull every image that pods name, with the recipe's pull secrets and through the
        nodes' own mirrors, by pods in the recipe's namespace that are deleted again. What it cannot pull is in the way.
        Without it, registries are asked from where Ansible runs.
      - In check mode no node is asked.
    type: bool
    default: false
  adopt:
    description:
      - As O(hardware.enablement.state_apply#module:adopt) will be, for what only seems to serve the same devices.
    type: bool
    default: false
  show:
    description: Show the table.
    type: bool
    default: false
  images:
    description: Image for each group's id (of nodes), instead of what would be found.
    type: dict
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.recipe.replace
  - hardware.enablement.common.run
  - hardware.enablement.registries
  - hardware.enablement.builds
seealso:
  - module: hardware.enablement.driver_container
  - module: hardware.enablement.state_apply
"""

EXAMPLES = r"""
- name: Which hardware is there, and which recipes take it?
  hardware.enablement.preflight:
    show: true

- name: Is there a driver for the kernel of the next maintenance?
  hardware.enablement.preflight:
    recipe: nvidia-gpu
    kernels: [6.8.0-71-generic]
    show: true
"""

RETURN = r"""
recipe:
  description: Name of the recipe, as which it is or would be enabled.
  type: str
  returned: with a recipe
enabled:
  description: Whether it has a record.
  type: bool
  returned: with a recipe
ready:
  description: Whether nothing is in the way.
  type: bool
  returned: success
kernels:
  description: A row for each kernel and state that has images.
  type: list
  elements: dict
  returned: with a recipe
  contains:
    kernel:
      description: The kernel.
      type: str
    system:
      description: The operating system of these nodes.
      type: str
      sample: ubuntu 24.04
    group:
      description: Id of the group of nodes.
      type: str
    nodes:
      description: How many nodes run it.
      type: int
    state:
      description: Name of the state; empty where the recipe needs no image by kernel.
      type: str
    answer:
      description:
        - One of V(prebuilt), V(built), V(would build), V(built by the recipe), V(kept) (what was found before, since a
          registry could not be asked), V(not known) (only nodes can ask, by pods), V(none needed) and V(cannot).
      type: str
    image:
      description: The image that is there, or that would be pushed.
      type: str
    why:
      description: Why it cannot be had, or what else to know.
      type: str
findings:
  description: What else was found.
  type: list
  elements: dict
  returned: success
  contains:
    check:
      description: What was looked at.
      type: str
      sample: pods
    message:
      description: What is wrong, and what to do.
      type: str
    blocks:
      description: Whether an enable would be stopped; else it is only not known.
      type: bool
images:
  description: All images that this needs, but those of OpenShift's internal registry.
  type: list
  elements: dict
  returned: with a recipe
  contains:
    image:
      description: The image by the name by which it is looked for.
      type: str
    pinned:
      description: The same with its digest; empty where that is not known.
      type: str
staged:
  description: The kernels that the record has.
  type: list
  elements: str
  returned: with a recipe
next:
  description: What to do next.
  type: str
  returned: with a recipe
hardware:
  description: Without a recipe, a row for each kind of device.
  type: list
  elements: dict
  returned: success
  contains:
    device:
      description: As Node Feature Discovery names it.
      type: str
      sample: 0302_10de
    vendor:
      description: Who makes it.
      type: str
      sample: NVIDIA
    kind:
      description: What it is by its PCI class.
      type: str
      sample: 3D controller
    nodes:
      description: The nodes that have it.
      type: list
      elements: str
    kernels:
      description: The kernels of these nodes.
      type: list
      elements: str
    recipes:
      description: The recipes that take it.
      type: list
      elements: str
table:
  description: The same for a person, line by line.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._preflight import preflight_core


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.PREFLIGHT, supports_check_mode=True),
        preflight_core.TASK,
    )


if __name__ == "__main__":
    main()
