# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all modules have alike: attributes, how a cluster is reached, and which run it is."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments; DOCUMENTATION holds the attributes that all modules have alike."""

    DOCUMENTATION = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/hardware.enablement.k8s) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - hardware.enablement.k8s
  action:
    description: Runs inside the controller process where the connection is local, else as a module on the target.
    support: full
  async:
    description: Supports being used with the C(async) keyword.
    support: none
  platform:
    description: Where it runs; it needs a network connection to the cluster's API server.
    support: full
    platforms: posix
requirements:
  - python >= 3.10
  - kubernetes >= 29.0.0
  - PyYAML >= 5.4.1
  - jinja2 >= 3.1.0
"""

    # Of modules that speak to no cluster; where they run differs.
    TARGET = r"""
options: {}
attributes:
  action:
    description: Runs inside the controller process where the connection is local, else as a module on the target.
    support: full
  async:
    description: Supports being used with the C(async) keyword.
    support: none
"""

    CONTROLLER = r"""
options: {}
attributes:
  action:
    description: Runs inside the controller process, whatever the connection, since recipes are files of the controller.
    support: full
  async:
    description: Supports being used with the C(async) keyword.
    support: none
  platform:
    description: Where it runs.
    support: full
    platforms: posix
requirements:
  - python >= 3.10
  - PyYAML >= 5.4.1
"""

    # The options of kubernetes.core, whose code reads them. Written out and not taken over from its
    # fragment: who reads a tarball alone, as Galaxy does, has no other collection beside it.
    CONNECTION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file, or several as in E(KUBECONFIG), or the content of one as a dictionary.
      - Without it, and without other options of a connection, the service account of the pod that Ansible runs in or
        C(~/.kube/config) is used.
      - Also E(K8S_AUTH_KUBECONFIG).
    type: raw
  context:
    description: Name of a context in the kubeconfig. Also E(K8S_AUTH_CONTEXT).
    type: str
  host:
    description: URL of the API server. Also E(K8S_AUTH_HOST).
    type: str
  api_key:
    description: Bearer token. Also E(K8S_AUTH_API_KEY).
    type: str
  username:
    description: User for clusters that accept HTTP Basic authentication. Also E(K8S_AUTH_USERNAME).
    type: str
  password:
    description: The user's password, see O(username). Also E(K8S_AUTH_PASSWORD).
    type: str
  client_cert:
    description: Path of a client certificate (PEM). Also E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description: Path of its key (PEM). Also E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  ca_cert:
    description:
      - Path of the certificates (PEM) that the API server's is verified by, the whole chain of them.
      - Also E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  validate_certs:
    description: Whether the API server's certificate is verified. Also E(K8S_AUTH_VERIFY_SSL).
    type: bool
    aliases: [verify_ssl]
  proxy:
    description: URL of an HTTP proxy; E(HTTP_PROXY) and its like are not looked at. Also E(K8S_AUTH_PROXY).
    type: str
  no_proxy:
    description:
      - Names, domains, addresses and CIDRs that are reached without O(proxy), with commas between them.
      - Also E(K8S_AUTH_NO_PROXY).
    type: str
  proxy_headers:
    description: Headers for the proxy.
    type: dict
    suboptions:
      proxy_basic_auth:
        description: User and password for the proxy, C(USER:PASSWORD). Also E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH).
        type: str
      basic_auth:
        description: User and password, C(USER:PASSWORD). Also E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH).
        type: str
      user_agent:
        description: What the client calls itself. Also E(K8S_AUTH_PROXY_HEADERS_USER_AGENT).
        type: str
  persist_config:
    description:
      - Whether a token that was renewed on the way is written to the kubeconfig, as far as the client library can.
      - Also E(K8S_AUTH_PERSIST_CONFIG).
    type: bool
  impersonate_user:
    description: User to act as. Also E(K8S_AUTH_IMPERSONATE_USER).
    type: str
  impersonate_groups:
    description: Groups to act as. Also E(K8S_AUTH_IMPERSONATE_GROUPS), with commas between them.
    type: list
    elements: str
  cluster_uid:
    description:
      - The cluster that is meant, by the UID of its namespace C(kube-system). Another one is refused before anything
        else is sent. M(hardware.enablement.cluster_info) shows it.
    type: str
"""

    WRITES = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and predict the changes without making them.
    support: full
  diff_mode:
    description: Returns what changed, or would change, in diff mode.
    support: full
  idempotent:
    description: When run twice, the second run changes nothing.
    support: full
"""

    READS = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode); it only reads.
    support: full
  diff_mode:
    description: Returns what changed in diff mode; nothing ever does.
    support: N/A
  idempotent:
    description: It only reads.
    support: full
"""

    RUN = r"""
options:
  run_id:
    description:
      - The name of this run in the special resource's lock. Filled in by the action plugin, so that all tasks of one
        C(ansible-playbook) process are one run.
    type: str
"""

    KUBELETS = r"""
options:
  at_a_time:
    description: How many kubelets are asked at a time.
    type: int
    default: 16
"""
