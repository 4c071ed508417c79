#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Say which cluster a run speaks to
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Shows the address of the API server, the context of the kubeconfig and the cluster's UID, which is that of its
    namespace C(kube-system). A UID stays the same as long as the cluster lives, and no two clusters share one.
  - The playbooks of this collection begin with it. As all its modules it fails where O(cluster_uid) names another one.
options: {}
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.reads
"""

EXAMPLES = r"""
- name: Which cluster is this?
  hardware.enablement.cluster_info:
    context: lab
  register: found

- name: Go on only with the one that was meant
  hardware.enablement.cluster_info:
    context: lab
    cluster_uid: 2f8fdd9d-3a0c-4d43-9b4e-2c0a3b3f1a55
"""

RETURN = r"""
host:
  description: URL of the API server.
  type: str
  returned: success
  sample: https://api.lab.example.org:6443
context:
  description: The context of the kubeconfig, empty where there is none.
  type: str
  returned: success
uid:
  description: UID of the namespace C(kube-system), empty where the user may not read it.
  type: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._states import which_cluster


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.CLUSTER_INFO, supports_check_mode=True),
        which_cluster.TASK,
    )


if __name__ == "__main__":
    main()
