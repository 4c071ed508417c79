#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: image_build
short_description: Build a driver image on this machine
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Builds an order of M(hardware.enablement.driver_container), run with its builder V(controller), with buildah or
    podman on the machine that the task is delegated to, and pushes the image.
  - It asks no cluster. So an image can be built where there is none, or where the cluster must not build.
extends_documentation_fragment:
  - hardware.enablement.common.target
  - hardware.enablement.registries
options:
  order:
    description: One entry of RV(hardware.enablement.driver_container#module:orders).
    type: dict
    required: true
  program:
    description: What builds; V(auto) takes buildah, else podman.
    type: str
    choices: [auto, buildah, podman]
    default: auto
  auth_file:
    description: File on that machine with the registries' credentials; without it, where the program looks by itself.
    type: path
  isolation:
    description: How the program keeps build steps apart; without it, its own default.
    type: str
    choices: [chroot, oci, rootless]
  secrets_dir:
    description:
      - Folder on that machine with a folder for each Secret that the order names (for git, and for its build steps),
        with a file for each key, such as C(password), or C(ssh-privatekey) and C(known_hosts).
    type: path
  timeout:
    description: Seconds that building, and then pushing, may take.
    type: int
    default: 1800
requirements:
  - python >= 3.10
  - buildah or podman
  - git, where the context is a git repository
attributes:
  check_mode:
    description: Can run in C(check_mode); it then builds nothing.
    support: full
  diff_mode:
    description: Returns what changed in diff mode.
    support: none
  idempotent:
    description: Builds whatever it is given; M(hardware.enablement.driver_container) only orders what is missing.
    support: none
  platform:
    description: Where it runs.
    support: full
    platforms: linux
seealso:
  - module: hardware.enablement.driver_container
"""

EXAMPLES = r"""
- name: Which images are missing?
  hardware.enablement.driver_container:
    recipe: simple-kmod
    options:
      repository: registry.example.com/drivers/simple-kmod
    builder: controller
  register: images

- name: Build them on a host that reaches the package servers
  hardware.enablement.image_build:
    order: "{{ item }}"
  loop: "{{ images.orders }}"
  loop_control:
    label: "{{ item.target }}"
  delegate_to: build-host
"""

RETURN = r"""
image:
  description: What was built, by its tag.
  type: str
  returned: success
digest:
  description: The digest of what was pushed.
  type: str
  returned: success
log:
  description: The last lines of a build or push that failed.
  type: list
  elements: str
  returned: failure
phase:
  description: What failed; one of V(base), V(sources), V(compile) and V(push).
  type: str
  returned: failure
reason:
  description: Why, in one word.
  type: str
  returned: failure
  sample: NotTrusted
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._builds import host
from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.IMAGE_BUILD, supports_check_mode=True), host.TASK
    )


if __name__ == "__main__":
    main()
