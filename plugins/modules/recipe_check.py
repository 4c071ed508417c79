#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_check
short_description: Check a recipe without a cluster
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Loads a recipe and renders all its states on made-up clusters (Kubernetes, OpenShift, Kubernetes without optional
    APIs) with kernels of several distributions and architectures, with each combination of options that matters.
  - Looks at everything that comes out. Reported are templates that cannot be rendered, options and variables that do
    not exist, fields that Kubernetes does not have, values of a wrong type, names that are too long, objects in two
    states, images without tag, and files that nothing names, all of them in one go, with file and line.
  - It asks no cluster, and reads no kubeconfig. The fields are those of the Kubernetes version that this collection is
    tested with. Kinds that neither Kubernetes nor the recipe's own CRDs define are not looked into; a warning says so.
options:
  recipe:
    required: true
  options:
    description:
      - Values for the recipe's options, which hold in all combinations. Without one, an option that is required gets a
        made-up value, its C(example) in C(recipe.yml) if there is one.
    type: dict
    default: {}
extends_documentation_fragment:
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.common.controller
  - hardware.enablement.common.reads
requirements:
  - jinja2 >= 3.1.0
seealso:
  - module: hardware.enablement.recipe_rights
"""

EXAMPLES = r"""
- name: Check a recipe of one's own
  hardware.enablement.recipe_check:
    recipe: acme-fpga
    recipe_dir: "{{ playbook_dir }}/recipes"

- name: Check a recipe with the options of a site
  hardware.enablement.recipe_check:
    recipe: nvidia-gpu
    options:
      driver_enabled: false
"""

RETURN = r"""
errors:
  description: What is wrong. The task fails where there is any.
  type: list
  elements: dict
  returned: always
  contains:
    severity:
      description: V(error) or V(warning).
      type: str
    file:
      description: File of the recipe.
      type: str
    line:
      description: Line of that file; 0 where none is known.
      type: int
    message:
      description: What is wrong there.
      type: str
    seen_with:
      description: The first combination of options, and the cluster, that showed it; empty for the defaults.
      type: str
warnings_found:
  description: What may be meant so, such as a file that nothing names; entries are those of RV(errors).
  type: list
  elements: dict
  returned: always
combinations:
  description: How many combinations of options were tried.
  type: int
  returned: always
combinations_left_out:
  description: How many more there would have been.
  type: int
  returned: always
options_without_example:
  description: Options that were tried with their default only, since nobody but the author knows another value.
  type: list
  elements: str
  returned: always
images:
  description:
    - The images that the recipe runs with the given options, without those that are looked up or built, and without
      OpenShift's Driver Toolkit. Of images whose names have the operating system or kernel of a node, those for the
      nodes of the made-up clusters.
  type: list
  elements: str
  returned: always
image_set:
  description: The same as an ImageSetConfiguration for oc-mirror (V(mirror.openshift.io/v2alpha1)).
  type: dict
  returned: always
rights:
  description:
    - The rules that a run with the given options needs, as in a ClusterRole; none where something is wrong.
      M(hardware.enablement.recipe_rights) writes them as manifests, limited to namespaces and names.
  type: list
  elements: dict
  returned: always
release_role:
  description: The role that C(disable) runs before it removes anything; empty for none.
  type: str
  returned: always
objects:
  description: How many objects the recipe makes on all the made-up clusters together.
  type: int
  returned: always
kubernetes:
  description: The version of Kubernetes whose fields were looked up.
  type: str
  returned: always
"""
