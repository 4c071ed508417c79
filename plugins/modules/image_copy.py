#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: image_copy
short_description: Check which images a mirror has, and bring them there through a folder
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Says of each image whether its mirrors have it, exports images from their registries into a folder (an OCI image
    layout), and imports them from there into their mirrors.
  - What is there already is neither fetched nor sent again, and everything is compared with its digest. So what was
    interrupted is mended by running it again.
  - It asks no cluster, and returns the mirrors as others are told of them.
extends_documentation_fragment:
  - hardware.enablement.common.target
  - hardware.enablement.registries
options:
  images:
    description:
      - The images, as recipes name them. Without it, those of O(layout).
    type: list
    elements: str
    default: []
  state:
    description:
      - V(checked) only looks, and does not fail where an image is missing. With O(layout) the digests are those of its
        images.
      - V(exported) brings O(images) into O(layout), from their registries or from O(registry_mirrors).
      - V(imported) brings them from O(layout) into the first location of their mirror.
    type: str
    choices: [checked, exported, imported]
    default: checked
  layout:
    description: A folder, made where it is not there yet. Each image keeps its whole name there.
    type: path
  mirror:
    description:
      - Host, and maybe the beginning of a path, below which images lie under their whole name, as in
        C(mirror.example.com/quay.io/org/image). It stands beside O(registry_mirrors), and is not for V(exported).
    type: str
  archs:
    description:
      - Architectures, as Kubernetes writes them, that are exported of an image for several; all without it. An image
        that is named by its digest stays whole.
    type: list
    elements: str
    default: []
  registry_auth_file:
    description: Path of a configuration of docker (C(~/.docker/config.json), say) with credentials for registries.
    type: path
requirements:
  - python >= 3.10
  - requests
attributes:
  check_mode:
    description: Can run in C(check_mode); it then asks registries, and writes nothing.
    support: full
  diff_mode:
    description: Returns what changed in diff mode.
    support: full
  idempotent:
    description: What is there already is not written again.
    support: full
  platform:
    description: Where it runs.
    support: full
    platforms: linux
seealso:
  - module: hardware.enablement.preflight
  - module: hardware.enablement.recipe_check
"""

EXAMPLES = r"""
- name: Fetch the images, where there is a way out
  hardware.enablement.image_copy:
    state: exported
    images: [quay.io/org/driver:1.2, registry.example.com/plugin:3]
    layout: /media/disk/images
    archs: [amd64]

- name: Bring them into the mirror, where there is none
  hardware.enablement.image_copy:
    state: imported
    layout: /media/disk/images
    mirror: mirror.corp.example:5000
    registry_auth_file: ~/.docker/config.json
"""

RETURN = r"""
images:
  description: How each image stands.
  type: list
  elements: dict
  returned: success
  contains:
    image:
      description: As it was named.
      type: str
    digest:
      description: The one that is wanted, else the one that was found; empty where neither is known.
      type: str
    place:
      description: Where it was looked for, fetched or sent.
      type: str
    status:
      description: One of V(there), V(missing), V(other) (another digest is there) and V(unknown).
      type: str
    why:
      description: What is wrong with it.
      type: str
    sent:
      description: How many of its blobs and manifests were missing.
      type: int
    changed:
      description: Whether something of it was, or would be, written.
      type: bool
missing:
  description: The images that are not there.
  type: list
  elements: str
  returned: success
image_set:
  description: An ImageSetConfiguration for oc-mirror that has these images.
  type: dict
  returned: success
registry_mirrors:
  description: The mirrors, as O(registry_mirrors) takes them.
  type: list
  elements: dict
  returned: success
mirror_map:
  description:
    - Path to text of what others are told of the mirrors, such as an ImageDigestMirrorSet and an ImageTagMirrorSet,
      C(registries.conf), containerd's C(certs.d), and variables for this collection.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._preflight import copy_core


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.IMAGE_COPY, supports_check_mode=True),
        copy_core.TASK,
    )


if __name__ == "__main__":
    main()
