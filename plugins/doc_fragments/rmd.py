# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How RMD's daemons are reached, and on which nodes."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments; DOCUMENTATION is about the daemons."""

    DOCUMENTATION = r"""
options:
  namespace:
    description: The namespace of RMD's pods.
    type: str
    default: intel-rmd
  endpoint:
    description:
      - The way to the daemons. V(pod_ip) needs the pods' network, V(host_port) a port of the nodes that RMD was
        deployed with. V(port_forward) goes through the API server, with TLS from here to the daemon.
      - Whether TLS is spoken the name of the pod's port says. Nothing is ever sent without TLS to a port for TLS.
    type: str
    choices: [pod_ip, host_port, port_forward]
    default: pod_ip
  tls_server_name:
    description:
      - The name that the daemons' certificates hold, such as V(rmd-nameserver) for those that RMD brings. Without it,
        each node's has to hold C(NODE.rmd.hardware-enablement.io).
    type: str
  tls_secret:
    description: Secret in O(namespace) with C(ca.crt), C(tls.crt) and C(tls.key), unless O(rmd_ca) is given.
    type: str
    default: intel-rmd-client
  rmd_ca:
    description: File with the certificate (PEM) of the authority that signed the daemons' certificates.
    type: path
  rmd_cert:
    description: File with the client certificate (PEM) that the daemons are shown.
    type: path
  rmd_key:
    description: File with its key (PEM). It is refused if everybody can read it.
    type: path
  rmd_username:
    description: User for daemons that ask for an account instead of a client certificate.
    type: str
  rmd_password:
    description: The user's password.
    type: str
  timeout:
    description: Seconds that a daemon may take to answer.
    type: int
    default: 30
  parallel:
    description: How many nodes are asked at once.
    type: int
    default: 16
requirements:
  - requests, which kubernetes brings
"""

    NODES = r"""
options:
  nodes:
    description: Names of nodes.
    type: list
    elements: str
  node_selector:
    description: Labels of nodes, instead of O(nodes).
    type: dict
"""
