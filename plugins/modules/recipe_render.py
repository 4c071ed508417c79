#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_render
short_description: Write what enabling a recipe would apply into a folder, for Argo CD and Flux
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Renders a recipe for the nodes of a cluster, or for groups of nodes that are described, and writes its objects as
    plain manifests with a C(kustomization.yaml), the record, the rights of a run, a list of images and a C(README.md).
  - The objects are those that M(hardware.enablement.state_apply) would apply, with annotations for the sync waves of
    Argo CD, which follow the graph of the states. Nothing in the cluster is changed. With O(groups) none is asked.
  - What such a run would keep in the cluster although no state makes it any more, such as the driver of a node that has
    lost the labels of its hardware, is in C(kept.yaml), as the cluster has it.
  - Secrets are left out, since the files are for a repository; the result and C(README.md) name them.
  - Files that it has made before and that are not needed any more are removed from the folder. A file of somebody else
    is never written over.
options:
  recipe:
    required: true
  folder:
    description: The folder to write to. It is made where it is not there.
    type: path
    required: true
  groups:
    description:
      - The groups of nodes that there will be, instead of those of a cluster. Nodes of a group are alike. That they
        have the recipe's hardware is taken for granted.
      - This is for Kubernetes. What OpenShift tells of itself (Driver Toolkit, proxy, MachineConfigPools) is known by
        its cluster alone.
    type: list
    elements: dict
    suboptions:
      kernel:
        description: The kernel, as C(uname -r) says it.
        type: str
        required: true
      os_id:
        description: The C(ID) of their C(/etc/os-release).
        type: str
        required: true
      os_version:
        description: The C(VERSION_ID) of their C(/etc/os-release), where it has one.
        type: str
        default: ""
      architecture:
        description: The architecture, as Kubernetes names it.
        type: str
        default: amd64
      runtime:
        description: The container runtime with its version, as kubelets tell it.
        type: str
        default: containerd://2.1.4
      labels:
        description: Labels by which pools, or a driver that the nodes bring, are known.
        type: dict
        default: {}
  apis:
    description:
      - Kinds that the described cluster serves beside those of Kubernetes itself, each as C(group/version/Kind).
        Files of the recipe that need another kind are left out, as in a cluster without it.
    type: list
    elements: str
    default: []
  images:
    description: Images by the id of a group, instead of those that the recipe names or an earlier run has found.
    type: dict
  allow_empty:
    description: As of M(hardware.enablement.state_apply), for what a run would keep in the cluster.
    type: bool
    default: false
  vanished_grace:
    description:
      - Seconds that the labels of a node's hardware have to be gone before the node leaves, provided that nothing holds
        a device there and other nodes have the hardware. Until then the folder keeps what it needs, as a run does.
    type: int
    default: 3600
  release_nodes:
    description: Names of nodes that have lost the labels of their hardware, and for which nothing is kept.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.common.connection
  - hardware.enablement.common
  - hardware.enablement.common.controller
  - hardware.enablement.common.writes
seealso:
  - module: hardware.enablement.recipe_check
  - module: hardware.enablement.recipe_rights
"""

EXAMPLES = r"""
- name: Write what the cluster would get
  hardware.enablement.recipe_render:
    recipe: nvidia-gpu
    folder: deploy/nvidia-gpu

- name: The same for a cluster that is not there yet
  hardware.enablement.recipe_render:
    recipe: nvidia-gpu
    folder: deploy/nvidia-gpu
    groups:
      - kernel: 6.8.0-60-generic
        os_id: ubuntu
        os_version: "24.04"
    apis:
      - monitoring.coreos.com/v1/ServiceMonitor
"""

RETURN = r"""
folder:
  description: Where the files are.
  type: str
  returned: success
files:
  description: Their names.
  type: list
  elements: str
  returned: success
images:
  description: The images of all pods, each once. Those of validation pods are not among them, since runs make these.
  type: list
  elements: str
  returned: success
objects:
  description: How many objects there are, with the record.
  type: int
  returned: success
left_out:
  description: Secrets that are not in the folder.
  type: list
  elements: str
  returned: success
"""
