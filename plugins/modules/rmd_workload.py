#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_workload
short_description: Give CPUs of nodes a share of the L3 cache through Intel RMD
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Makes workloads run in the Resource Management Daemon (RMD) of nodes, or not run there. A workload gives cache ways,
    memory bandwidth and P-states to CPUs, and is known by its uuid.
  - RMD is archived upstream and has no more patches. Both of its dialects are spoken, v0.2 and v0.3.
  - Each node is asked once what runs there. Where that is what is wanted, nothing else is sent. A change is a DELETE
    and a POST, since RMD's PATCH frees what a workload has before it knows whether it can give it anything new; what
    was deleted is kept in a Lease until the new one is there, and put back if RMD refuses it, or by the next run if
    this one is killed.
  - RMD's own rules are looked at before anything is sent, since some wrong requests crash it.
options:
  state:
    description: Whether the workloads run on the nodes. Other workloads of the nodes are left alone.
    type: str
    choices: [present, absent]
    default: present
  uuid:
    description: The workload's name on each node. Give this, or O(workloads).
    type: str
  core_ids:
    description:
      - CPUs, as V(3), V(4-5) or V(0-1,3). RMD is given them one by one, since v0.3 cannot free a range.
    type: list
    elements: str
  cache:
    description:
      - Ways of each L3 cache that one of the CPUs belongs to. Equal and above 0, they are guaranteed; O(cache.max)
        above O(cache.min) above 0 is best effort; 0 and 0 is the shared pool.
    type: dict
    suboptions:
      max:
        description: The most ways.
        type: int
        required: true
      min:
        description: The least ways.
        type: int
        required: true
  mba:
    description:
      - Memory bandwidth, in the unit that the daemon runs with. RMD takes it only with a guaranteed O(cache), and RMD
        v0.2 not at all. Where the node's agent divides the cache, it may be asked for alone.
    type: dict
    suboptions:
      percentage:
        description: Percent, from 1 to 100.
        type: int
      mbps:
        description: Megabytes per second.
        type: int
  pstate:
    description: Settings for RMD's P-state plugin, where that is loaded.
    type: dict
    suboptions:
      ratio:
        description: Ratio that the plugin sets.
        type: float
      monitoring:
        description: Whether the plugin monitors.
        type: str
        choices: ["on", "off"]
  policy:
    description: A policy of the daemon, by which O(cache), O(mba) and O(pstate) are set; these then do not count.
    type: str
  workloads:
    description:
      - Several workloads, which all run on all the nodes; faster than a loop, and one transaction.
    type: list
    elements: dict
    suboptions:
      uuid:
        description: As O(uuid).
        type: str
        required: true
      core_ids:
        description: As O(core_ids).
        type: list
        elements: str
      cache:
        description: As O(cache).
        type: dict
        suboptions:
          max:
            description: The most ways.
            type: int
            required: true
          min:
            description: The least ways.
            type: int
            required: true
      mba:
        description: As O(mba).
        type: dict
        suboptions:
          percentage:
            description: Percent, from 1 to 100.
            type: int
          mbps:
            description: Megabytes per second.
            type: int
      pstate:
        description: As O(pstate).
        type: dict
        suboptions:
          ratio:
            description: Ratio that the plugin sets.
            type: float
          monitoring:
            description: Whether the plugin monitors.
            type: str
            choices: ["on", "off"]
      policy:
        description: As O(policy).
        type: str
  dialect:
    description:
      - The daemons' dialect. V(auto) tells it by what runs there, and else by a request without parameters, which every
        daemon refuses.
    type: str
    choices: [auto, v0.2, v0.3]
    default: auto
  on_partial_failure:
    description:
      - With V(rollback) nothing is written unless all nodes can be reached and the workloads keep RMD's rules there,
        and when a node fails afterwards, all are brought back to what they were. V(keep) leaves what went well, and
        what ran before where it did not.
    type: str
    choices: [rollback, keep]
    default: rollback
  lock_wait:
    description: Seconds to wait for another run that writes to a node. The hold of a run that was killed ends after 60.
    type: int
    default: 75
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.common.run
  - hardware.enablement.rmd
  - hardware.enablement.rmd.nodes
seealso:
  - module: hardware.enablement.rmd_info
"""

EXAMPLES = r"""
- name: Two guaranteed ways for four CPUs on two nodes
  hardware.enablement.rmd_workload:
    uuid: rmdworkload-guaranteed-cache
    core_ids: ["0-3"]
    cache: {max: 2, min: 2}
    nodes: [worker-node-1, worker-node-2]

- name: Cache with P-state
  hardware.enablement.rmd_workload:
    uuid: rmdworkload-guaranteed-cache-pstate
    core_ids: ["4", "5", "6", "7"]
    cache: {max: 2, min: 2}
    pstate: {ratio: 3.0, monitoring: "on"}
    node_selector:
      feature.node.kubernetes.io/cpu-rdt.RDTL3CA: "true"

- name: Several at once; what fails on one node does not undo the others
  hardware.enablement.rmd_workload:
    workloads:
      - {uuid: web, core_ids: ["2-3"], cache: {max: 4, min: 2}}
      - {uuid: batch, core_ids: ["4-7"], cache: {max: 0, min: 0}}
    nodes: [worker-node-1]
    on_partial_failure: keep

- name: No longer on this node
  hardware.enablement.rmd_workload:
    uuid: web
    nodes: [worker-node-1]
    state: absent
"""

RETURN = r"""
nodes:
  description: A result for each node, also when the task fails.
  type: list
  elements: dict
  returned: always
  contains:
    node:
      description: Name of the node.
      type: str
    outcome:
      description:
        - V(unchanged), V(changed), V(would_change) in check mode, V(failed), V(rolled_back), or V(withheld) where
          nothing was written because another node failed.
      type: str
    changed:
      description: Whether the node is not as it was before.
      type: bool
    failed:
      description: Whether it was this node that failed.
      type: bool
    kind:
      description: The kind of its failure, such as V(no_cache), V(conflict_core), V(not_trusted), V(server_panic).
      type: str
    message:
      description: The failure in a sentence.
      type: str
    dialect:
      description:
        - The daemon's dialect, or V(resctrl) where the node's agent divides the cache; empty where
          nothing told it.
      type: str
    actions:
      description:
        - What was planned for each workload, as C(uuid), C(action) (V(keep), V(post), V(replace), V(delete), or
          V(restore) for what a killed run had left) and maybe C(problem).
      type: list
      elements: dict
    workloads:
      description: All workloads of the node after the task, with what RMD says of them.
      type: list
      elements: dict
    warnings:
      description: What RMD will have done wrong on the way.
      type: list
      elements: str
requests:
  description: How many requests the daemons were sent, by method.
  type: dict
  returned: always
  sample: {GET: 5}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import workload_arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd import workload_run


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=workload_arguments.RMD_WORKLOAD, supports_check_mode=True),
        workload_run.TASK,
    )


if __name__ == "__main__":
    main()
