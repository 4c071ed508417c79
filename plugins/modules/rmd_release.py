#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_release
short_description: Let go of what waits for RMD, before RMD is removed
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Takes all workloads off all nodes, so that these have all of their cache again. What a daemon that does not answer
    has divided stays divided until the node's next boot.
  - Takes the finalizer of this collection off all RmdWorkloads, so that they can be deleted where no RMD is left that
    they could be taken from, takes C(intel.com/l3_cache_ways) from the status of all nodes, and deletes the
    RmdNodeStates that this collection has made. RmdWorkloads themselves stay.
  - A daemon that does not answer is no failure.
options:
  free:
    description: Whether workloads are taken off the nodes.
    type: bool
    default: true
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.common.run
  - hardware.enablement.rmd
seealso:
  - module: hardware.enablement.rmd_reconcile
"""

EXAMPLES = r"""
- name: Let go of all RmdWorkloads
  hardware.enablement.rmd_release:
"""

RETURN = r"""
freed:
  description: Node to the uuids of the workloads that were taken off it.
  type: dict
  returned: success
  sample: {worker-node-1: [web]}
problems:
  description: Why other workloads are still there.
  type: list
  elements: str
  returned: success
workloads:
  description: RmdWorkloads that lost the finalizer.
  type: list
  elements: str
  returned: success
  sample: [default/web]
nodes:
  description: Nodes that offer no cache ways any more.
  type: list
  elements: str
  returned: success
node_states:
  description: RmdNodeStates that were deleted.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd import release


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RMD_RELEASE, supports_check_mode=True), release.TASK
    )


if __name__ == "__main__":
    main()
