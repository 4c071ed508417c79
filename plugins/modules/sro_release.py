#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sro_release
short_description: Take over from the Special Resource Operator
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - With O(state=ended) it fails where the operator runs, or scales its Deployment to 0 and waits until its pods are
    gone.
  - With O(state=released) it takes the operator's labels, annotations and owner references off the objects that the
    record says are ours, its labels off the nodes, and its finalizers off the custom resource. No object is deleted,
    and no pod template changes.
options:
  name:
    description: Name of the custom resource, and of the record.
    type: str
    required: true
  state:
    description: What is to be.
    type: str
    choices: [ended, released]
    required: true
  end_operator:
    description: Whether an operator that runs is ended. Without it, the module fails.
    type: bool
    default: false
  wait_timeout:
    description: Seconds that its pods may take to end.
    type: int
    default: 120
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.run
  - hardware.enablement.common.writes
"""

EXAMPLES = r"""
- name: End the operator
  hardware.enablement.sro_release:
    name: simple-kmod
    state: ended
    end_operator: true
"""

RETURN = r"""
adopt:
  description: Whether there is a custom resource of that name, so that its objects are to be taken over.
  type: bool
  returned: success
released:
  description: The objects that were taken out of the operator's hands.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._sro import sro_release


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.SRO_RELEASE, supports_check_mode=True),
        sro_release.TASK,
    )


if __name__ == "__main__":
    main()
