#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: run_lock
short_description: Take or release the lock of a special resource
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Two runs that write to one special resource would undo each other's work, so the first one holds a Lease. The other
    modules take it before their first write; a playbook releases it at its end with this module.
  - A lock that is not renewed for 60 seconds is free.
options:
  recipe:
    description: Name of the recipe.
    type: str
    required: true
  state:
    description: V(present) takes or renews the lock, V(absent) releases it where this run holds it.
    type: str
    choices: [present, absent]
    default: present
  force:
    description: With O(state=absent), release the lock of another run.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.common.run
"""

EXAMPLES = r"""
- name: Release the lock at the end of a playbook
  hardware.enablement.run_lock:
    recipe: nvidia-gpu
    state: absent
"""

RETURN = r"""
holder:
  description: Who holds the lock now; empty where nobody does.
  type: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import run_lock


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RUN_LOCK, supports_check_mode=True), run_lock.TASK
    )


if __name__ == "__main__":
    main()
