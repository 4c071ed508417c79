#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_report
short_description: Show how a run over clusters ended, as a table, a page and metrics
version_added: 0.2.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Makes one table of clusters and recipes from what the tasks of each cluster have registered. Sends nothing.
  - The same as a page, as data and as metrics is written to files, where these are named. Nodes and what the record
    says are known of results that were asked for with C(report=all).
options:
  clusters:
    description:
      - For each cluster (host of the inventory) the registered results of its tasks, in their order. A result of
        M(hardware.enablement.state_apply) with a report, of M(hardware.enablement.state_validate) in a loop over
        records, and one that failed, each make rows.
    type: dict
    required: true
  recipe:
    description: The recipe that results without a name are about.
    type: str
    default: ""
  require_ready:
    description: Whether all that is not ready is a problem, as for status, and a cluster where nothing is enabled.
    type: bool
    default: false
  page:
    description:
      - File of HTML to write a page for people to; one with the ending C(.json) beside it has its data. Nothing is
        fetched by the page, and nothing runs in it.
    type: path
    version_added: 0.2.0
  metrics:
    description: File to write the metrics of the records to, in OpenMetrics' text format.
    type: path
    version_added: 0.2.0
  junit:
    description:
      - File to write JUnit's XML to, for what shows the results of tests. It has a suite for each cluster and recipe,
        and in it a case for each state, or for each node that a state is not ready on.
    type: path
    version_added: 0.2.0
  show:
    description: Whether the table is shown.
    type: bool
    default: true
    version_added: 0.2.0
extends_documentation_fragment:
  - hardware.enablement.common.target
  - hardware.enablement.common.reads
attributes:
  platform:
    description: Where it runs.
    support: full
    platforms: posix
requirements:
  - python >= 3.10
"""

EXAMPLES = r"""
- name: Show how all clusters stand
  hardware.enablement.fleet_report:
    clusters: "{{ dict(ansible_play_hosts_all | zip(results)) }}"
    recipe: nvidia-gpu
  vars:
    results: "{{ ansible_play_hosts_all | map('extract', hostvars, 'my_results') }}"
  run_once: true
"""

RETURN = r"""
rows:
  description: A row for each cluster and recipe.
  type: list
  elements: dict
  returned: success
  contains:
    cluster:
      description: The inventory's name of the cluster.
      type: str
    recipe:
      description: Name of the recipe.
      type: str
    phase:
      description: As in the record; C(error) where the run did not come that far, C(-) where there is nothing to tell.
      type: str
    nodes_ready:
      description: Number of nodes that are ready.
      type: int
    nodes_total:
      description: Number of nodes with the hardware.
      type: int
    message:
      description: One sentence.
      type: str
    failed:
      description: Whether this is a problem.
      type: bool
table:
  description: The same as lines of text.
  type: list
  elements: str
  returned: success
problems:
  description: One sentence for each cluster that has a problem.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import fleet


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.FLEET_REPORT, supports_check_mode=True), fleet.TASK
    )


if __name__ == "__main__":
    main()
