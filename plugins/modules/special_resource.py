#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: special_resource
short_description: Write or remove the cluster's record of an enabled recipe
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - A SpecialResource (C(kubectl get hwe)) says what was asked for and what was found, with the conditions Ready,
    Progressing and Degraded. This module writes it from a report of M(hardware.enablement.state_validate), and only
    where something differs; the time of the last look is confirmed once an hour, which does not count as a change.
  - Where the phase changes, an Event on the SpecialResource says so.
  - Removing it also takes our labels off the nodes and deletes the namespaces that enabling made, unless others have
    made something there.
options:
  recipe:
    required: true
  state:
    description: Whether the record should be there.
    type: str
    choices: [present, absent]
    default: present
  report:
    description: A result of M(hardware.enablement.state_validate). Needed with O(state=present).
    type: dict
  delete_crd:
    description: With O(state=absent), delete the CustomResourceDefinition too.
    type: bool
    default: false
  delete_definitions:
    description:
      - With O(state=absent), delete the CustomResourceDefinitions that the recipe brought, and with them every object
        of their kinds. Those that were there before stay, and without O(delete_others) also those of whose kinds others
        have made objects.
    type: bool
    default: false
  delete_others:
    description:
      - With O(state=absent), delete namespaces and CustomResourceDefinitions also where objects that others have made
        go with them. Without it such a namespace or definition stays, and so does one of which the user may not list
        all that is in it.
      - Ours is what carries a label of this special resource, or is owned by such an object. What Kubernetes or
        OpenShift put into each namespace is nobody's.
    type: bool
    default: false
  wait_timeout:
    description: With O(state=absent), seconds to wait until everything is gone.
    type: int
    default: 300
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.common.run
"""

EXAMPLES = r"""
- name: Validate
  hardware.enablement.state_validate:
    recipe: nvidia-gpu
    require_ready: false
  register: report

- name: Keep what was found in the cluster
  hardware.enablement.special_resource:
    recipe: nvidia-gpu
    report: "{{ report }}"
"""

RETURN = r"""
status:
  description: The status as it was, or would be, written.
  type: dict
  returned: with O(state=present)
removed:
  description: What was, or would be, removed.
  type: list
  elements: str
  returned: with O(state=absent)
restored:
  description: What had been taken over, and was, or would be, given back as it was.
  type: list
  elements: str
  returned: with O(state=absent)
kept:
  description: What stays in the cluster, why, and what a person does to remove that too.
  type: list
  elements: dict
  returned: with O(state=absent)
  sample:
    - object: Namespace gpu
      reason: which was there before
      todo: see what is in it, then kubectl delete namespace gpu
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import special_resource


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.SPECIAL_RESOURCE, supports_check_mode=True),
        special_resource.TASK,
    )


if __name__ == "__main__":
    main()
