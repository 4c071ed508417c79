#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_new
short_description: Begin a recipe
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Writes the files that a recipe begins with. They are a driver for each kernel, a device plugin and an exporter of
    metrics, each with its proofs, in less than 150 lines.
  - Or, with O(chart), those of a recipe that deploys what a Helm chart does with its own values. States are made by
    what objects do. Options are the images, and the values that come out in objects as they are, with choices and
    description of C(values.schema.json). The program C(helm) has to be on the PATH.
  - M(hardware.enablement.recipe_check) finds no mistake in them. A folder that exists is left as it is.
options:
  name:
    description: Name of the recipe and of its folder, a DNS label of at most 30 characters.
    type: str
    required: true
  recipe_dir:
    description: The folder that will hold the recipe's folder.
    type: path
    required: true
  label:
    description: Node label that tells the hardware, as C(NAME) or C(NAME=VALUE); without a value it is V(true).
    type: str
    required: true
  resource:
    description: The extended resource that the device plugin advertises.
    type: str
    required: true
  chart:
    description: A Helm chart to make the recipe of, a folder or an archive, which the recipe does not refer to.
    type: path
extends_documentation_fragment:
  - hardware.enablement.common.controller
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
- name: Begin a recipe for FPGA cards
  hardware.enablement.recipe_new:
    name: acme-fpga
    recipe_dir: "{{ playbook_dir }}/recipes"
    label: feature.node.kubernetes.io/pci-1200_10ee.present
    resource: acme.example/fpga

- name: Make a recipe of a chart
  hardware.enablement.recipe_new:
    name: acme-fpga
    recipe_dir: "{{ playbook_dir }}/recipes"
    chart: /home/me/charts/acme-device-plugin
    label: feature.node.kubernetes.io/pci-1200_10ee.present
    resource: acme.example/fpga
"""

RETURN = r"""
path:
  description: The recipe's folder.
  type: str
  returned: success
files:
  description: The files in it.
  type: list
  elements: str
  returned: success
"""
