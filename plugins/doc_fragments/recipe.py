# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which recipe is meant, with which options, and which of its states."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments; DOCUMENTATION says where the recipe is."""

    DOCUMENTATION = r"""
options:
  recipe:
    description:
      - Name of the recipe, which is the name of its folder.
    type: str
  recipe_dir:
    description:
      - The folder that holds the recipe's folder, or a ConfigMap (V(cm://namespace/name)) or an artifact of a registry
        (V(oci://registry/repository:tag)) with the same content, or a Helm repository (V(https://host/path)).
      - A recipe that is not in it, or without it any, is one of this collection.
    type: path
"""

    # Where the files are sent along.
    BUNDLE = r"""
options:
  bundle:
    description:
      - The files of the recipe, path to text. Filled in by the action plugin, so that a target needs no files.
    type: dict
"""

    REPLACE = r"""
options:
  options_replace:
    description:
      - Whether O(options) and O(pools) are all that is wanted, also where the record has others, which are dropped
        then. Without it, who leaves out what the record has is refused.
    type: bool
    default: false
"""

    OPTIONS = r"""
options:
  options:
    description:
      - Values for the recipe's options; see the recipe's documentation.
      - What is given here holds as it is, V({}) being all defaults. Without it, the options that the special resource
        was enabled with hold, as its record has them. Secret ones are not in it, and so have to be given each time.
    type: dict
  pools:
    description:
      - Sets of nodes with options of their own. Each has C(name) (a DNS label of at most 20 characters), one of
        C(selector) (C(matchLabels) and C(matchExpressions) with all operators of node affinity), C(machine_config_pool)
        and C(node_pool) (the names of such objects on OpenShift and HyperShift), and C(options), which win over
        O(options) there.
      - A node in two pools, and a pool without a node, are refused.
      - V([]) is no pools. Without it, those of the record hold.
    type: list
    elements: dict
  namespace:
    description:
      - The namespace for the recipe's objects. Without it, that of the record, else the one that the recipe names.
    type: str
  instance:
    description:
      - What the recipe is enabled as, if not by its own name. Labels, record, default namespace and the names of the
        recipe's own cluster-wide objects follow it, so that one recipe may be enabled more than once.
    type: str
"""

    # For modules that may be given a part of the recipe.
    STATES = r"""
options:
  states:
    description: The states by name. Without this and O(role), all states of the recipe.
    type: list
    elements: str
  role:
    description: The states that the recipe gives to this role.
    type: str
"""

    # For modules about what is enabled, whatever it was enabled with.
    ENABLED = r"""
options:
  recipe:
    required: true
  instance:
    description: The name under which the recipe is enabled, where that is another one.
    type: str
"""
