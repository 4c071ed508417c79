#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: numa_validate
short_description: Check that pods are placed by NUMA node, and that what the scheduler believes is true
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Compares what kubelets run, what exporters publish (C(NodeResourceTopology)), which pods are on the nodes, and what
    the secondary scheduler is told and has in its cache. docs/admin/numa-validate.md lists all checks.
  - Each finding has a stable id, a severity, and what to do about it. What could not be read is a finding, too.
  - Reads only. For kubelets it needs the right to C(get) C(nodes/proxy); without it, or with O(kubelets=false), the
    other checks are made.
options:
  selector:
    description:
      - Label sets. A node is looked at when it carries all labels of any of them.
      - An empty value means that the label has to be there with that value, none at all with whatever value.
      - Without O(selector) and O(pools), the nodes that exporters are on or meant for; where there is no exporter, all.
    type: list
    elements: dict
  pools:
    description:
      - The pools of nodes, as for M(hardware.enablement.kubelet_config_info). Only their nodes are looked at, and those
        of each are expected to be configured alike.
      - Without it, MachineConfigPools on OpenShift, NodePools on HyperShift, and elsewhere all nodes are one pool.
    type: list
    elements: dict
  kubelets:
    description: Whether kubelets are asked what they run.
    type: bool
    default: true
  namespace:
    description: Namespace of the exporters.
    type: str
    default: numa-resources
  exporter_labels:
    description: Labels of the exporters' DaemonSets.
    type: dict
    default:
      app.kubernetes.io/name: numa
      app.kubernetes.io/component: exporter
  scheduler_namespace:
    description: Namespace of the scheduler; without it O(namespace).
    type: str
  scheduler_labels:
    description: Labels of the scheduler's Deployment.
    type: dict
    default:
      app.kubernetes.io/name: numa
      app.kubernetes.io/component: scheduler
  settle:
    description:
      - For how many seconds the cluster is read again where something is found that passes by itself as pods come and
        go. 0 looks once.
    type: int
    default: 15
  fail_on:
    description:
      - Findings of which severity make the task fail; V(warning) includes errors.
    type: str
    choices: [error, warning, none]
    default: error
  json:
    description: File to write summary, nodes, pools and findings to, as JSON; also where the task fails.
    type: path
  junit:
    description: File to write the same to as JUnit's XML, a test case for each check and finding.
    type: path
  show:
    description: Whether the table is shown.
    type: bool
    default: false
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
  - hardware.enablement.common.kubelets
requirements:
  - xxhash >= 3.0.0
notes:
  - Files are written where the module runs, and in check mode none.
"""

EXAMPLES = r"""
- name: Is all as it should be?
  hardware.enablement.numa_validate:
    junit: "{{ playbook_dir }}/numa.xml"
    show: true

- name: The same of what somebody else has deployed, without asking kubelets
  hardware.enablement.numa_validate:
    namespace: topology
    exporter_labels: {app: topology-exporter}
    scheduler_namespace: schedulers
    scheduler_labels: {app: topology-aware-scheduler}
    kubelets: false
    fail_on: none
  register: numa
"""

RETURN = r"""
findings:
  description: What does not hold; errors first.
  type: list
  elements: dict
  returned: when the cluster could be read
  contains:
    id:
      description: Id of the check.
      type: str
    severity:
      description: C(error), C(warning) or C(info).
      type: str
    node:
      description: The node that it is about, empty for none.
      type: str
    pool:
      description: The node's pool, or the one that it is about.
      type: str
    object:
      description: The object that it is about, where that is not the node.
      type: str
    component:
      description: Whose setting it is.
      type: str
    setting:
      description: What is wrong.
      type: str
    expected:
      description: What it should be.
      type: str
    detected:
      description: What it is.
      type: str
    remediation:
      description: What to do.
      type: str
    message:
      description: All of it in one sentence.
      type: str
  sample:
    - id: topology-policy-differs
      severity: error
      node: worker-3
      pool: aligned
      object: ""
      component: NodeResourceTopology
      setting: policy and scope
      expected: single-numa-node, pod, as the kubelet runs
      detected: none, container
      remediation: run the playbook numa again, and see that the exporter's pod on the node has been replaced
      message: >-
        node worker-3: NodeResourceTopology, policy and scope: none, container, where single-numa-node, pod, as the
        kubelet runs is due
summary:
  description: How much was looked at and found.
  type: dict
  returned: when the cluster could be read
  contains:
    errors:
      description: Number of findings of this severity.
      type: int
    warnings:
      description: Number of findings of this severity.
      type: int
    infos:
      description: Number of findings of this severity.
      type: int
    nodes:
      description: Number of nodes that were looked at.
      type: int
    checks:
      description: Number of checks that there are.
      type: int
    not_run:
      description: Ids of checks that did without something they need.
      type: list
      elements: str
nodes:
  description: The nodes that were looked at.
  type: list
  elements: str
  returned: when the cluster could be read
pools:
  description: Their pools, each with C(name) and C(nodes); the one without a name has the nodes that are in no other.
  type: list
  elements: dict
  returned: when the cluster could be read
table:
  description: The same as lines of text.
  type: list
  elements: str
  returned: when the cluster could be read
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._numa import numa_validate


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.NUMA_VALIDATE, supports_check_mode=True),
        numa_validate.TASK,
    )


if __name__ == "__main__":
    main()
