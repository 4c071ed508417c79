#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kmm_import
short_description: A recipe from a Module of Kernel Module Management
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Writes a folder with a recipe that does what a C(Module) (kmm.sigs.x-k8s.io/v1beta1) is for. It has an image for
    each kernel, its build and signature, loading and unloading, the device plugin or DRA driver.
  - Takes those of KMM's hub (C(ManagedClusterModule)) and those before its release 1.0 (kmm.sigs.k8s.io) as well.
  - Returns what becomes of each field that is set.
  - Writes nothing that M(hardware.enablement.recipe_check) would refuse.
  - Reads the ConfigMaps with its Dockerfiles. Secrets are named in the recipe, and not read.
  - Nothing is overwritten, and nothing is written to a cluster.
options:
  name:
    description:
      - Name of the recipe. Without it, that of the Module, with C(-) for dots, and cut where it has more than 30
        characters.
    type: str
  recipe_dir:
    description: The folder in which the recipe's folder is made.
    type: path
    required: true
  file:
    description:
      - A file with the Module and the ConfigMaps with its Dockerfiles, on the controller. Without it they are read from
        the cluster.
    type: path
  module:
    description: Name of the Module; needed where it is read from the cluster, or a file has several.
    type: str
  namespace:
    description: Namespace of the Module in the cluster.
    type: str
    default: default
  resource:
    description: The extended resource that its device plugin advertises, so that this is proven.
    type: str
    default: ""
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
attributes:
  check_mode:
    description: Can run in C(check_mode) and predict the changes without making them.
    support: full
  diff_mode:
    description: Returns what changed in diff mode.
    support: none
  idempotent:
    description: A second run is refused, since the folder exists.
    support: none
seealso:
  - module: hardware.enablement.recipe_check
"""

EXAMPLES = r"""
- name: Make a recipe of a Module
  hardware.enablement.kmm_import:
    module: kmm-ci-a
    namespace: modules
    recipe_dir: recipes
"""

RETURN = r"""
path:
  description: The recipe's folder.
  type: str
  returned: success
files:
  description: Its files.
  type: list
  elements: str
  returned: success
taken:
  description: Field to where it is in the recipe.
  type: dict
  returned: success
dropped:
  description: Field to reason, of what has no counterpart.
  type: dict
  returned: success
differs:
  description: Field, label of nodes, or ConfigMap, to what is done otherwise.
  type: dict
  returned: success
table:
  description: The same as lines of text.
  type: list
  elements: str
  returned: success
"""
