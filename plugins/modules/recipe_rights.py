#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_rights
short_description: Say which rights enabling a recipe needs
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Makes the manifests of the Roles and ClusterRoles with which a recipe can be enabled, looked at and disabled. They
    follow from what the recipe makes with these options, and from what this collection itself does. It asks no cluster
    and writes nothing.
  - An API server lets nobody grant what they do not have. So the rules of roles that a recipe makes are among the
    rights, and roles of others that it binds may be bound by their name.
options:
  recipes:
    description: Names of recipes, which are those of their folders.
    type: list
    elements: str
    required: true
  recipe_dir:
    description:
      - The folder that holds the recipes' folders, or a ConfigMap (V(cm://namespace/name)) or an artifact of a registry
        (V(oci://registry/repository:tag)) with the same content.
      - A recipe that is not in it, or without it any, is one of this collection.
    type: path
  bundles:
    description:
      - Recipe to its files, path to text. Filled in by the action plugin.
    type: dict
  options:
    description: Values for the options of the recipe, where one is named.
    type: dict
    default: {}
  any_options:
    description: The rights for every combination of options that M(hardware.enablement.recipe_check) tries.
    type: bool
    default: false
  namespace:
    description: The namespace for the recipe's objects, instead of the one that the recipe names.
    type: str
  instance:
    description: The name that the recipe is enabled by, if it is not its own.
    type: str
  scope:
    description:
      - V(namespace) makes a Role in the recipe's namespace and one in that of the locks, with a ClusterRole for what is
        in no namespace, of which it names the objects. Both namespaces are among the manifests, since a role needs
        its namespace, the recipe's with the labels that it has on Kubernetes and on OpenShift; a run does
        not remove them.
      - V(cluster) makes ClusterRoles that are enough in whatever namespace, and for several recipes.
    type: str
    choices: [namespace, cluster]
    default: namespace
  name:
    description:
      - What the roles' names begin with. Without it, C(hardware-enablement), with the recipe's name for
        O(scope=namespace).
    type: str
  role:
    description: Which of the two is bound to the O(subjects).
    type: str
    choices: [runner, viewer]
    default: runner
  subjects:
    description: Who gets the role. Without any, nothing is bound.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description: What it is.
        type: str
        choices: [User, Group, ServiceAccount]
        required: true
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: Its namespace, for a service account.
        type: str
extends_documentation_fragment:
  - hardware.enablement.common.controller
  - hardware.enablement.common.reads
requirements:
  - jinja2 >= 3.1.0
seealso:
  - module: hardware.enablement.recipe_check
"""

EXAMPLES = r"""
- name: Which rights does a service account need?
  hardware.enablement.recipe_rights:
    recipes: [nvidia-gpu]
    options:
      driver_enabled: false
    subjects:
      - kind: ServiceAccount
        name: hardware-enablement
        namespace: automation
  register: rights

- name: Write them down
  ansible.builtin.copy:
    content: "{{ rights.text }}"
    dest: rights.yaml
    mode: "0644"
"""

RETURN = r"""
manifests:
  description: The objects, in the order in which they can be applied.
  type: list
  elements: dict
  returned: success
text:
  description: The same as YAML, for C(kubectl apply -f).
  type: str
  returned: success
"""
