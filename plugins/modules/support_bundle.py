#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: support_bundle
short_description: Put all that a bug report needs into one archive
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Reads what is known of special resources and writes it into one compressed archive. Its first file says what is
    wrong and in which order to read. Nothing in the cluster is changed.
  - There are the records, what M(hardware.enablement.state_validate) would report, the objects as they are rendered
    and as they are with what differs, Events, pods with the last lines of their logs, other device plugins with
    theirs, nodes with labels and annotations, NodeFeatures, and versions.
  - Each part is read for itself. What cannot be read, or is too much, is left out, and the first file says so. Where
    the cluster does not answer at all, there is what is known without it, versions and the recipe, and why.
  - Secrets are masked. These are the values of Secrets, also where logs show them, of options that are secret and are
    given, of variables of containers whose names tell, logins in addresses, bearer tokens and private keys.
options:
  file:
    description: The archive to write, C(.tar.gz). Only its owner may read it.
    type: path
    required: true
  resources:
    description: The special resources, as M(hardware.enablement.special_resource_info) returns them.
    type: list
    elements: dict
    default: []
  unread:
    description: Why the special resources could not be read. O(resources) are those that somebody has named then.
    type: str
    default: ""
  recipe_dir:
    description: The folder that holds the recipes' folders, where it is not the one that a record names.
    type: path
  bundles:
    description: The files of each recipe, path to text. Filled in by the action plugin.
    type: dict
    default: {}
  options:
    description:
      - Values of options that are secret, without which a recipe that needs them cannot be rendered.
    type: dict
  anonymous:
    description:
      - Whether nodes, with their addresses, and images, with their registries, get other names everywhere. Namespaces
        and labels keep theirs.
    type: bool
    default: false
  most:
    description: How many MiB all texts together may have. What comes last of what matters is left out.
    type: int
    default: 20
  seconds:
    description: After so many seconds no further part is read.
    type: int
    default: 120
  lines:
    description: How many of the last lines of each log are read.
    type: int
    default: 200
extends_documentation_fragment:
  - hardware.enablement.common.connection
  - hardware.enablement.common
attributes:
  action:
    description: Runs inside the controller process, whatever the connection, since its file goes there.
    support: full
  check_mode:
    description: Can run in C(check_mode), and reads everything then without writing the archive.
    support: full
  diff_mode:
    description: Returns what changed in diff mode; an archive has no lines.
    support: none
  idempotent:
    description: Each run writes an archive of that moment.
    support: none
seealso:
  - module: hardware.enablement.special_resource_info
  - module: hardware.enablement.state_validate
"""

EXAMPLES = r"""
- name: Read what is enabled
  hardware.enablement.special_resource_info:
  register: enabled

- name: Make an archive for a bug report
  hardware.enablement.support_bundle:
    file: support-bundle.tar.gz
    resources: "{{ enabled.resources }}"
    anonymous: true
"""

RETURN = r"""
file:
  description: The archive.
  type: str
  returned: success
files:
  description: What is in it, the first file first.
  type: list
  elements: str
  returned: success
missing:
  description: What is not in it, and why, in sentences.
  type: list
  elements: str
  returned: success
summary:
  description: How each special resource stands, in a line.
  type: dict
  returned: success
"""
