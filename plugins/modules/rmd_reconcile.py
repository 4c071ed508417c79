#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_reconcile
short_description: Make Intel RMD equal to the cluster's RmdWorkload objects
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Reads the RmdWorkload objects of all namespaces, as Intel's RMD operator knows them in its versions v0.1 to v0.3,
    and makes the Resource Management Daemon (RMD) of each node run what they ask for. It posts, replaces what has
    changed, removes what a node is no longer named for, what belongs to objects that were deleted, and what earlier
    runs have put there for objects that are gone; it posts again what a daemon has lost. Workloads of others stay.
  - Looks at what the kernel does, by the report of the agent on each node, as it looks at what RMD says. What is not in
    force is posted again, that workload alone and three times at most; CPUs that are left in groups of workloads are
    freed. After a node's boot nothing counts as in force. To a node without a report nothing is sent.
  - Applies the CRDs first, where they are missing or differ.
  - A workload's uuid is the name of its object in the namespace C(default), and C(NAMESPACE.NAME) elsewhere. What the
    operator has put on a node under the bare name is adopted.
  - Writes the operator's C(status.workloadStates) and the conditions Ready, Enforced, Degraded and Invalid. What RMD
    would refuse is not sent, and the reason is in the condition Invalid. Keeps an RmdNodeState for each node with RMD.
  - An object that was deleted is held by a finalizer until it is gone from all nodes; a node that has left the cluster
    counts as gone.
  - A run that finds all as it should be sends one GET to each node, reads one report of each, and writes nothing.
options:
  on_partial_failure:
    description:
      - V(keep) leaves what went well, each workload by itself. With V(rollback) nothing is changed on any node unless
        all that have something to change can be changed.
    type: str
    choices: [rollback, keep]
    default: keep
  lock_wait:
    description: Seconds to wait for another run. The hold of a run that was killed ends after 60.
    type: int
    default: 75
  extended_resource:
    description:
      - Publish C(intel.com/l3_cache_ways) in the status of nodes, the guaranteed ways that pods may ask for. These are
        the pool's ways less those that workloads hold which no pod owns, on the socket that has the fewest.
    type: bool
    default: true
  pods:
    description:
      - Keep an RmdWorkload for each container that asks for C(intel.com/l3_cache_ways) and CPUs of its own, on nodes
        where the agent runs. The pod owns it, so that it goes with the pod.
    type: bool
    default: true
  pod_form:
    description:
      - Which version of the operator a new RmdWorkload of a pod looks like. V(v0.3) is called
        C(POD-rmd-workload-CONTAINER) and has C(rdt) and C(plugins); V(v0.1) is called C(rmd-workload-POD) (for the
        first container that asks) and has C(cache) and C(pstate). What is there under either name is kept.
    type: str
    choices: [v0.1, v0.3]
    default: v0.3
  failure_policy:
    description:
      - What happens to a pod whose workload is refused, beside an Event with the reason. V(keep) lets it run,
        V(annotate) writes the reason into its annotation C(hardware-enablement.io/rmd-failure), V(evict) evicts it
        unless its disruption budgets forbid that.
    type: str
    choices: [keep, annotate, evict]
    default: keep
  require_ready:
    description: Fail where a workload or a pod does not have what it asks for. All else is done nevertheless.
    type: bool
    default: true
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.common.run
  - hardware.enablement.rmd
seealso:
  - module: hardware.enablement.rmd_workload
  - module: hardware.enablement.rmd_info
"""

EXAMPLES = r"""
- name: Make RMD equal to the RmdWorkload objects
  hardware.enablement.rmd_reconcile:

- name: The same, where the pods' network cannot be reached from here
  hardware.enablement.rmd_reconcile:
    endpoint: port_forward

- name: Only for workloads that people declare
  hardware.enablement.rmd_reconcile:
    pods: false
    extended_resource: false
"""

RETURN = r"""
workloads:
  description: All RmdWorkloads.
  type: list
  elements: dict
  returned: always
  contains:
    namespace:
      description: Namespace of the object.
      type: str
    name:
      description: Name of the object.
      type: str
    uuid:
      description: By which RMD knows it.
      type: str
    ready:
      description: Whether all its nodes run it as it asks, and it is in force there.
      type: bool
    enforced:
      description: Whether the kernels of all its nodes do what it asks.
      type: bool
    deleted:
      description: Whether it is being deleted, and not gone from all nodes yet.
      type: bool
    problem:
      description: Why it is sent to no node.
      type: str
    nodes:
      description:
        - How it stands on each node, V(Posted), V(Kept), V(NotEnforced), V(Invalid), V(Refused), V(Unreachable) or
          V(NoSuchNode).
      type: dict
    failures:
      description: Why, for each node where it is not as it asks.
      type: dict
nodes:
  description: The nodes where something was sent, refused, or that could not be asked.
  type: list
  elements: dict
  returned: always
pods:
  description: Pods that do not get what they ask for, as C(pod), C(node), C(why) and C(eviction).
  type: list
  elements: dict
  returned: always
declared:
  description: RmdWorkloads that were made for pods.
  type: list
  elements: str
  returned: always
offered:
  description: Cache ways by node, for nodes that offer another number than before.
  type: dict
  returned: always
requests:
  description: How many requests the daemons were sent, by method.
  type: dict
  returned: always
  sample: {GET: 5}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd import reconcile_run


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RMD_RECONCILE, supports_check_mode=True),
        reconcile_run.TASK,
    )


if __name__ == "__main__":
    main()
