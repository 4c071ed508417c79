#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nfd_info
short_description: Find the nodes with some hardware, and their kernels
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Lists the nodes that carry the labels of a piece of hardware, as Node Feature Discovery (NFD) publishes them, and
    returns compact facts about them. Kernel groups, devices, extended resources, nodes that rebooted into another
    kernel and wait for their labels.
  - The API server filters and pages the lists; there is one list for each label set and no request per node.
  - Kernel and operating system come from the kubelet where NFD is absent, and the result says so.
options:
  recipe:
    description: Take selector and resources from this recipe. One of O(recipe) and O(selector) is needed.
  selector:
    description:
      - Label sets. A node matches when it carries all labels of any of them.
      - An empty value means that the label has to be there, with whatever value.
    type: list
    elements: dict
  settle:
    description:
      - Seconds between two looks that have to find the same nodes, for labels that NFD is just setting. There are ten
        looks at most; V(0) is one look.
    type: int
    default: 0
  resources:
    description: Extended resources to sum up; the names may hold V(*).
    type: list
    elements: str
    default: []
  nfd_age:
    description:
      - Also find out when NFD last told something new, which takes a list of all NodeFeature objects' metadata.
    type: bool
    default: false
  only_for_images:
    description:
      - List nodes only where RV(image_states) is not empty. Else the result has what the recipe says and nothing of
        nodes, for who needs them for images alone.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.recipe.replace
"""

EXAMPLES = r"""
- name: Which nodes have an NVIDIA GPU, and which kernels do they run?
  hardware.enablement.nfd_info:
    selector:
      - feature.node.kubernetes.io/pci-0302_10de.present: "true"
      - feature.node.kubernetes.io/pci-0300_10de.present: "true"
    resources: [nvidia.com/gpu]
  register: gpus

- name: Show a line for each kernel
  ansible.builtin.debug:
    msg: "{{ item.kernel }} on {{ item.nodes | join(', ') }}"
  loop: "{{ gpus.groups }}"
"""

RETURN = r"""
matched:
  description: Number of nodes that match. Zero is a result, not an error.
  type: int
  returned: where nodes are listed
  sample: 3
groups:
  description: Nodes that share kernel, operating system and architecture.
  type: list
  elements: dict
  returned: where nodes are listed
  contains:
    id:
      description: Stable id, fit for object names.
      type: str
      sample: 5-15-0-91-generic-1a2b3c
    kernel:
      description: The kernel as the kubelet reports it.
      type: str
      sample: 5.15.0-91-generic
    kernel_label:
      description: The kernel as NFD writes it into a label.
      type: str
    os_id:
      description: ID of os-release.
      type: str
      sample: ubuntu
    os_version:
      description: VERSION_ID of os-release.
      type: str
      sample: "22.04"
    arch:
      description: Architecture.
      type: str
      sample: amd64
    nodes:
      description: Names of the nodes.
      type: list
      elements: str
    count:
      description: Number of nodes.
      type: int
    terms:
      description: Node selector terms; each of them selects nodes of this group.
      type: list
      elements: dict
    held:
      description: The same by labels of ours alone, which stay when those of Node Feature Discovery are gone.
      type: list
      elements: dict
node_groups:
  description:
    - The same for all that the recipe and O(pools) tell nodes apart by. Other groups are made of these; a task that
      gets the whole result as C(discovery) needs no nodes to render.
  type: list
  elements: dict
  returned: where nodes are listed
  contains:
    per:
      description: What they are told apart by, of C(kernel), C(runtime), C(driver) and C(pool).
      type: list
      elements: str
    os_build:
      description: The build of RHCOS, the newest among the nodes.
      type: str
    runtime:
      description: The container runtime, where it counts.
      type: str
      sample: containerd
    runtime_major:
      description: The first number of its version.
      type: str
      sample: "2"
    runtime_version:
      description: Its version, the lowest among the nodes.
      type: str
      sample: "2.1.4"
    preinstalled_driver:
      description: Whether the nodes bring their driver, where that counts.
      type: bool
    pool:
      description: Name of the pool, empty outside of all.
      type: str
    by_name:
      description: Nodes that lack labels to select them by.
      type: dict
pools:
  description: The pools, with the label expressions that select their nodes.
  type: list
  elements: dict
  returned: where nodes are listed
devices:
  description: PCI devices by C(class_vendor), with the number of nodes that have them.
  type: dict
  returned: where nodes are listed
resources:
  description: Extended resources with their capacity, allocatable amount and number of nodes.
  type: dict
  returned: where nodes are listed
mixed:
  description: Whether the nodes differ in kernel, operating system or architecture.
  type: dict
  returned: where nodes are listed
transitions:
  description: Nodes that run another kernel than their label says, since they rebooted and NFD has yet to look.
  type: list
  elements: dict
  returned: where nodes are listed
nfd:
  description: Whether NFD's labels are there, and what was used instead of them.
  type: dict
  returned: where nodes are listed
  contains:
    present:
      description: Whether any node carries labels of NFD.
      type: bool
    source:
      description: Where kernel and operating system come from, V(labels) or V(nodeinfo).
      type: str
    newest:
      description: When NFD last told something new, with O(nfd_age=true).
      type: str
    message:
      description:
        - What is missing, in one sentence. Where no node matches, it says which labels were looked for, whether NFD
          runs, which similar labels there are and what to do.
      type: str
cluster:
  description: >-
    The platform, C(kubernetes) or C(openshift), the distribution that most of the nodes say they are, and what
    templates may know of it besides.
  type: dict
  returned: where nodes are listed
taints:
  description: The taints by which the nodes of the recipe are partitioned, by its record.
  type: list
  elements: dict
  returned: always
image_states:
  description:
    - The states of the recipe whose images are looked up or built, as the options have it. Where there is none, all
      images are only named, and nothing is left to M(hardware.enablement.driver_container).
  type: list
  elements: str
  returned: always
depends:
  description: The recipes that the recipe names as those that have to be enabled before it.
  type: list
  elements: str
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states.preparation import discover


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.NFD_INFO, supports_check_mode=True), discover.TASK
    )


if __name__ == "__main__":
    main()
