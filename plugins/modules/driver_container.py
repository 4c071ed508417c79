#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: driver_container
short_description: Find or build the driver image for every kernel
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - For each group of a recipe's nodes (kernel, and pool where there are any), gives one image that fits. It takes the
    first of an image that somebody else made for that kernel, one that was built earlier from the same inputs, and one
    that it builds now. For a kernel that none of these serves it lists what was tried, and the other kernels go on.
  - What counts as the same inputs are the Containerfile, the build context (for git, the commit), the arguments, the
    digest of the base image, and the kernel. A new base image or a changed file builds once more; nothing else does.
  - A tag cannot hold every kernel's name, so the kernel is a label of the image, too, and compared after each look-up.
  - The images are pinned by digest and written into the SpecialResource record, from where all other modules take them.
    A driver whose image changed is restarted by nobody; it is reported as pending.
  - A recipe that merely names its images (no C(build), and C(lookup) is V(never)) has nothing to do here.
options:
  recipe:
    required: true
  discovery:
    description: A result of M(hardware.enablement.nfd_info), to save the lists of nodes.
    type: dict
  images:
    description: Image for each group's id (of nodes), instead of what would be found.
    type: dict
  outcomes:
    description:
      - With O(builder=controller), the results of M(hardware.enablement.image_build) for RV(orders) of before, as a
        loop over these registers them. What could not be built is remembered, and is the result of its own kernels.
    type: list
    elements: dict
    default: []
  wait:
    description: Give the run's lock back at the end, unless an earlier task has taken it.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.recipe.states
  - hardware.enablement.common.run
  - hardware.enablement.registries
  - hardware.enablement.builds
seealso:
  - module: hardware.enablement.state_apply
"""

EXAMPLES = r"""
- name: Which images would be built?
  hardware.enablement.driver_container:
    recipe: simple-kmod
  check_mode: true

- name: Find or build the module's image for every kernel
  hardware.enablement.driver_container:
    recipe: simple-kmod
    options:
      repository: registry.example.com/drivers/simple-kmod
    push_secret: registry-push
    builder_image: quay.io/buildah/stable:v1.43.0
"""

RETURN = r"""
groups:
  description: A row for each state and group of nodes.
  type: list
  elements: dict
  returned: success
  contains:
    state:
      description: Name of the state.
      type: str
    group:
      description: Id of the group.
      type: str
    kernel:
      description: The kernel as the node's kubelet names it.
      type: str
    image:
      description: The image, pinned by digest; empty where there is none.
      type: str
    name:
      description:
        - The reference by which it was looked up, one of those that the recipe names, or where it was pushed.
      type: str
      sample: nvcr.io/nvidia/driver:595-6.8.0-60-generic-ubuntu22.04
    source:
      description: How it was found.
      type: str
      sample: prebuilt
    inputs:
      description: Hash of what it was, or would be, built from; empty for an image that somebody else made.
      type: str
    tried:
      description: What was looked for before, and what became of it.
      type: list
      elements: str
    problem:
      description: Why there is no image, or why it is still the one of before.
      type: str
    target:
      description: In check mode, what would be built and pushed; else empty.
      type: str
    failed:
      description:
        - What failed to be built, a hash of its inputs, where it is pushed, and how it is built (registries' settings,
          builder, which Secrets). Any other build is tried at once, this one only with O(rebuild=true) or from
          RV(groups[].retry) on.
      type: str
    phase:
      description: What the build was at; one of V(start), V(base), V(sources), V(compile) and V(push).
      type: str
    reason:
      description: Why it failed, in one word. V(Failed) in the phase V(compile) is held against the inputs.
      type: str
      sample: NotTrusted
    attempts:
      description: How often it has failed in a row.
      type: int
    retry:
      description: When it is tried again (RFC 3339); empty where it is not, unless O(rebuild=true).
      type: str
images:
  description: What the record says now, for the O(hardware.enablement.state_apply#module:driver_images) of other tasks.
  type: list
  elements: dict
  returned: success
orders:
  description: With O(builder=controller), what is still to be built.
  type: list
  elements: dict
  returned: success
bases:
  description: Base images of builds, each with the same by its digest.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._builds import container
from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.DRIVER_CONTAINER, supports_check_mode=True),
        container.TASK,
    )


if __name__ == "__main__":
    main()
