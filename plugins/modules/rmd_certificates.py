#!/usr/bin/python
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rmd_certificates
short_description: Keep the certificates of RMD's daemons and of its client
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Makes an authority, a server certificate for each node (its name is V(NODE.rmd.hardware-enablement.io)) and a client
    certificate, and keeps them in Secrets of the recipe C(intel-rmd)'s namespace. Makes all of them anew before they
    end, at once, so that the daemons start anew once.
  - No key is in a result, a diff or a message.
requirements:
  - cryptography >= 42.0.0, on the machine where this runs, with O(source=generated)
options:
  state:
    description: Whether the certificates should be there. V(absent) removes those that were made here.
    type: str
    choices: [present, absent]
    default: present
  namespace:
    description: The namespace of the recipe C(intel-rmd).
    type: str
    default: intel-rmd
  nodes:
    description:
      - Names of the nodes that have a daemon. Nodes that are no longer named lose their certificate, but not where no
        node is named at all.
    type: list
    elements: str
    default: []
  source:
    description:
      - With V(provided), the Secret C(intel-rmd-client) (V(ca.crt), V(tls.crt), V(tls.key)) is somebody else's, and
        only what daemons need to know of it is copied.
    type: str
    choices: [generated, provided]
    default: generated
  server_secret:
    description: With O(source=provided), the Secret with the certificate that all daemons share, to notice its changes.
    type: str
  days:
    description: How long certificates are good for. Those of nodes that join end with the others.
    type: int
    default: 365
  renew_before_days:
    description: How long before their end certificates are made anew.
    type: int
    default: 30
  authority_days:
    description: How long the authority is good for; it is made anew once what it signs would outlive it.
    type: int
    default: 3650
  renew:
    description: Make the certificates, or the authority too, anew now.
    type: str
    choices: [auto, certificates, authority]
    default: auto
extends_documentation_fragment:
  - hardware.enablement.common
  - hardware.enablement.common.connection
  - hardware.enablement.common.writes
  - hardware.enablement.common.run
"""

EXAMPLES = r"""
- name: Find the nodes
  hardware.enablement.nfd_info:
    recipe: intel-rmd
    options:
      rmd_image: registry.example.org/rmd:0.3.1
  register: found

- name: Keep their certificates
  hardware.enablement.rmd_certificates:
    nodes: "{{ found.groups | map(attribute='nodes') | flatten }}"
"""

RETURN = r"""
fingerprint:
  description: >-
    A text that changes when the daemons have to start anew; the recipe's option C(certificates) puts it into their
    pods. In check mode V(not-known-yet) where the certificates would be made anew.
  type: str
  returned: always
  sample: 9f2c61d05a3be174
why:
  description: Why all certificates were made anew; empty where they were not.
  type: str
  returned: always
  sample: they end on 2027-11-21
issued:
  description: Nodes that got a certificate.
  type: list
  elements: str
  returned: always
removed:
  description: Nodes that lost theirs, or the objects that were removed.
  type: list
  elements: str
  returned: always
expires:
  description: When they end.
  type: str
  returned: where it is known
  sample: "2027-11-21T12:00:00Z"
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._interface import arguments
from ..module_utils._interface.module import run_module
from ..module_utils._rmd.certificates import renewal


def main() -> None:
    """Run the module."""
    run_module(
        AnsibleModule(argument_spec=arguments.RMD_CERTIFICATES, supports_check_mode=True),
        renewal.TASK,
    )


if __name__ == "__main__":
    main()
