# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which taints are no person's to take off."""

from __future__ import annotations


class ModuleDocFragment:
    """What all modules have alike that go by how nodes stand."""

    DOCUMENTATION = r"""
options:
  controller_taints:
    description:
      - Taints that controllers of your own put on nodes and take off by themselves, besides those that
        L(the collection knows,https://github.com/hardware-enablement/hardware.enablement/blob/main/docs/admin/around-us.md).
        The first that matches counts.
    type: list
    elements: dict
    default: []
    version_added: 0.2.0
    suboptions:
      key:
        description: Key of the taint; C(*) stands for any text.
        type: str
        required: true
      node:
        description:
          - What the taint tells of the node. One that V(leaves) or V(starts) is waited for as long as a state may take,
            and is no failure before. V(stays) says only that a person who takes the taint off would have it back.
        type: str
        choices: [leaves, starts, stays]
        required: true
      by:
        description: Who puts it there and takes it off, for messages.
        type: str
        default: ""
"""
