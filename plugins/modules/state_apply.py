#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: state_apply
short_description: Apply or remove states of a recipe
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Renders states of a recipe, asks the API server by dry run what would differ, and applies only that, by server-side
    apply with one field manager. Objects that a state owned and no longer contains are pruned.
  - Nothing is written, and no lock is taken, while nothing differs.
  - The recipe's graph is the order. The pods of a DaemonSet wait for their nodes' gates, so it is applied at once.
    What node affinity cannot hold back (a Deployment, a Job, a custom resource) is applied when what its state requires
    is proven on a node, and what a disabled state has left is removed when the proofs of the disabled state hold
    everywhere. Without O(wait) that is so where it is proven already; the rest is listed under RV(states) as waiting.
  - Namespaces and CustomResourceDefinitions go first, and are never pruned. Objects of a kernel that a node still runs
    are never pruned, and nothing at all while no node matches the recipe's selector.
options:
  recipe:
    required: true
  tags:
    description:
      - The tags that the run is limited to, C(ansible_run_tags) of a playbook for all states. A state is applied where
        they hold its own name or that of its role without C(state_), or V(all). Then O(wait) proves all states where
        they hold V(validation) or V(all), and none otherwise.
    type: list
    elements: str
    version_added: 0.2.0
  skip_tags:
    description: The same for C(ansible_skip_tags).
    type: list
    elements: str
    version_added: 0.2.0
  with_requirements:
    description: Apply what the chosen states require, too, and wait until that is proven.
    type: bool
    default: false
    version_added: 0.2.0
  state:
    description:
      - V(present) applies; V(absent) removes what the states own, in reverse order, and waits until it is gone.
    type: str
    choices: [present, absent]
    default: present
  discovery:
    description: A result of M(hardware.enablement.nfd_info), to save the lists of nodes.
    type: dict
  images:
    description: Driver image for each group's id (of nodes), instead of what the recipe's template gives.
    type: dict
  adopt:
    description:
      - Take over objects that exist and are not ours, and go on where something else serves the same devices.
    type: bool
    default: false
  allow_empty:
    description:
      - Prune also where no node matches the selector, or a node still runs the kernel; nodes leave also where no other
        one has the hardware. Where pods hold devices, all stays as it is.
    type: bool
    default: false
  recreate:
    description: Replace an object whose change is not possible in place, such as the selector of a DaemonSet.
    type: bool
    default: false
  force:
    description: With O(state=absent), remove also while pods hold the recipe's devices.
    type: bool
    default: false
  wait:
    description:
      - Wait until the states are proven on every node, as M(hardware.enablement.state_validate) does, and fail where
        one is not. Then also give the run's lock back, unless an earlier task has taken it.
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
  - hardware.enablement.recipe.replace
  - hardware.enablement.recipe.states
  - hardware.enablement.proving
  - hardware.enablement.taints
  - hardware.enablement.common.run
seealso:
  - module: hardware.enablement.state_validate
"""

EXAMPLES = r"""
- name: What would the driver state change?
  hardware.enablement.state_apply:
    recipe: nvidia-gpu
    states: [driver]
    options:
      driver_version: "580"
  check_mode: true
  diff: true

- name: Deploy the drivers and wait until each node has proven its own
  hardware.enablement.state_apply:
    recipe: nvidia-gpu
    states: [driver]
    wait: true

- name: Remove monitoring
  hardware.enablement.state_apply:
    recipe: nvidia-gpu
    states: [monitoring]
    state: absent
"""

RETURN = r"""
states:
  description: A row for each state.
  type: list
  elements: dict
  returned: success
  contains:
    name:
      description: Name of the state.
      type: str
    enabled:
      description: Whether the options have it deployed.
      type: bool
    objects:
      description: Number of objects that it consists of.
      type: int
    changes:
      description: What was, or in check mode would be, done to which object.
      type: list
      elements: dict
      sample: [{"action": "create", "object": "DaemonSet nvidia-gpu/nvidia-driver"}]
    waiting:
      description: What is not done yet, since what it requires is not proven.
      type: list
      elements: dict
      sample: [{"action": "create", "object": "Deployment nvidia-gpu/grafana", "requires": ["monitoring"]}]
    skipped:
      description: Files that were left out, and why.
      type: list
      elements: dict
    left_out:
      description: Fields of objects of a chart, or of numbered manifests, that their kinds do not have.
      type: list
      elements: dict
      sample: [{"object": "RoleBinding kmod/driver", "field": "userNames"}]
    left_alone:
      description: Objects of somebody else that are used as they are, such as a CRD of a chart that was there before.
      type: list
      elements: dict
    kept:
      description: Objects that nothing wants and that stay all the same, and why.
      type: list
      elements: dict
notes:
  description: What a chart's NOTES.txt says.
  type: str
  returned: when something of the last state of a recipe with notes has changed
release_role:
  description: The role that the recipe names, which gives back what is not in its objects, before these go.
  type: str
  returned: with O(state=absent)
instance:
  description: As what the recipe is enabled. A chart is called as its Chart.yaml says, whatever its folder is called.
  type: str
  returned: with O(state=absent)
images:
  description: The driver image of each group's id (of nodes), where a state resolves it.
  type: dict
  returned: when one of the states has an image template
nodes:
  description: Number of nodes that match the recipe's selector.
  type: int
  returned: with O(state=present)
report:
  description: What M(hardware.enablement.state_validate) returns for these states.
  type: dict
  returned: with O(wait=true)
requests:
  description: Number of requests to the API server by verb.
  type: dict
  returned: with O(state=present)
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import apply


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.STATE_APPLY, supports_check_mode=True), apply.TASK
    )


if __name__ == "__main__":
    main()
