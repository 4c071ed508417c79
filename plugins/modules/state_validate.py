#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: state_validate
short_description: Prove that states of a recipe work on every node
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Looks at every node that matches the recipe's selector. As soon as the requirements of a state hold on a node, its
    proofs are run there. Each node goes at its own pace.
  - What was proven is written to the node. A gate label lets pods of later states run there, a summary label is for
    users' own pods to select, an annotation keeps what was proven for which kernel and boot.
  - A proof that still holds is not run again. A run that finds everything proven writes nothing.
  - In check mode the module looks once, writes nothing and runs no validation pod.
options:
  recipe:
    required: true
  images:
    description: Driver image for each group's id (of nodes), as given to M(hardware.enablement.state_apply).
    type: dict
  wait:
    description: Wait until every state is ready, failed, or past its deadline on every node. Else look once.
    type: bool
    default: true
  node:
    description:
      - Name of a node. The table is about it alone, with what is wrong, what to do, and its last ten events.
      - All else that is returned is about all nodes, as ever.
    type: str
    version_added: 0.1.0
  allow_empty:
    description: Take our labels off nodes without the hardware even where no node has it any more.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.recipe
  - hardware.enablement.recipe.bundle
  - hardware.enablement.recipe.options
  - hardware.enablement.recipe.states
  - hardware.enablement.proving
  - hardware.enablement.taints
  - hardware.enablement.common.run
seealso:
  - module: hardware.enablement.state_apply
"""

EXAMPLES = r"""
- name: Wait until every GPU node has passed every proof
  hardware.enablement.state_validate:
    recipe: nvidia-gpu

- name: How are the drivers right now?
  hardware.enablement.state_validate:
    recipe: nvidia-gpu
    states: [driver]
    wait: false
    require_ready: false
  check_mode: true
  register: drivers
"""

RETURN = r"""
phase:
  description:
    - The worst phase that occurs, one of V(failed), V(degraded), V(waiting), V(unknown) and V(ready), or V(empty)
      where no node matches.
  type: str
  returned: always
ready:
  description: Whether every state is ready on every node, and there is a node.
  type: bool
  returned: always
acceptable:
  description: Like RV(ready), but an unknown that was proven before counts as ready, and so does an empty cluster.
  type: bool
  returned: always
message:
  description: The same in one sentence.
  type: str
  returned: always
nodes_total:
  description: Number of nodes that match.
  type: int
  returned: always
nodes_ready:
  description: Number of nodes on which every state is ready.
  type: int
  returned: always
kernels:
  description: The kernels of these nodes.
  type: list
  elements: str
  returned: always
states:
  description:
    - A row for each state with phase, counts, the reason of the worst node, and counts for each group of nodes.
  type: list
  elements: dict
  returned: always
table:
  description: The report as the lines of a short table.
  type: list
  elements: str
  returned: always
causes:
  description: >-
    Each cause of what is not ready once, the worst and longest first, with the states that stand on it. In check mode
    with C(before), what the last run has seen in the same state and when (C(seen)), where that is something else.
  type: list
  elements: dict
  returned: always
  sample:
    - state: driver
      phase: failed
      reason: CrashLoopBackOff
      message: "pod nvidia-gpu/nvidia-driver-x7k2p container driver: CrashLoopBackOff (exit code 1, 4 restarts)"
      since: "2026-11-20T10:00:00Z"
      todo: read the pod's log (kubectl logs --previous), mend the cause, run again
      nodes: 3
      examples: [gpu-1, gpu-2, gpu-7]
      blocked:
        - state: runtime_hook
          nodes: 3
drift:
  description: >-
    In check mode without O(wait) what others have done to what is deployed; of a run what it has put back. C(drift) is
    missing, changed or extended; C(put_back) says whether a run has put it back, or would in check mode.
  type: list
  elements: dict
  returned: always
  sample:
    - object: DaemonSet nvidia-gpu/nvidia-dcgm-exporter
      state: monitoring
      drift: changed
      fields: ["spec.template.spec.containers[exporter].image"]
      by: flux
      since: "2026-11-20T10:00:00Z"
      put_back: false
      todo: run the playbook that enables it, which puts back what is missing and what it had set
problems:
  description: What is not ready for a reason of its own, the worst and longest first, and what to do about it.
  type: list
  elements: dict
  returned: always
  sample:
    - node: gpu-2
      state: driver
      phase: failed
      reason: CrashLoopBackOff
      message: "pod nvidia-gpu/nvidia-driver-x7k2p container driver: CrashLoopBackOff (exit code 1, 4 restarts)"
      since: "2026-11-20T10:00:00Z"
      todo: read the pod's log (kubectl logs --previous), mend the cause, run again
left:
  description: Nodes that left during the run, deleted or no longer labelled; they count neither as ready nor as failed.
  type: list
  elements: str
  returned: always
leaving:
  description: Nodes that a controller takes away and on which something does not hold; they do not count unless all do.
  type: list
  elements: str
  returned: always
  version_added: 0.2.0
outdated:
  description: What labels and record say that is not so any more, since a run alone writes them. Empty where both are
    as new as this look, and where this is a run.
  type: dict
  returned: always
  version_added: 0.2.0
  contains:
    nodes:
      description: Nodes whose labels a run would change.
      type: list
      elements: str
    record:
      description: The record's phase, where that is another one.
      type: str
    seen:
      description: When a run last looked, as the record says it, give or take an hour.
      type: str
unwanted:
  description: What is ready on nodes although a DaemonSet of it is not for them, by its own node selector or affinity;
    a row for each state and reason.
  type: list
  elements: dict
  returned: always
  contains:
    state:
      description: Name of the state.
      type: str
    nodes:
      description: On how many nodes.
      type: int
    total:
      description: Of how many.
      type: int
    message:
      description: Which DaemonSet, what it wants, and what these nodes have instead.
      type: str
rivals:
  description: The DaemonSets of others that serve the recipe's resources on the same nodes.
  type: list
  elements: str
  returned: always
unfinished:
  description: What the API server refused after the proofs, such as the removal of validation pods; one sentence each.
  type: list
  elements: str
  returned: always
released:
  description: Nodes that have left, or would leave, and why.
  type: dict
  returned: always
restarts_pending:
  description: Nodes whose driver pod runs the version before, until M(hardware.enablement.driver_upgrade) exchanges it.
  type: list
  elements: str
  returned: always
allocation:
  description: What gives the devices of which nodes to pods, where the recipe has several ways; a row for each pair of
    what is and what is asked for.
  type: list
  elements: dict
  returned: always
  version_added: 0.2.0
  contains:
    way:
      description: What serves the nodes, C(none) between two.
      type: str
    wanted:
      description: What is to, which M(hardware.enablement.driver_upgrade) brings about.
      type: str
    nodes:
      description: The nodes.
      type: list
      elements: str
nodes:
  description: The phase of every node, and of every state on it.
  type: dict
  returned: with O(report=all)
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import validate


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.STATE_VALIDATE, supports_check_mode=True),
        validate.TASK,
    )


if __name__ == "__main__":
    main()
