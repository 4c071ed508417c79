# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source: what ansible-rulebook asks of one, over what _events finds."""

from __future__ import annotations

import asyncio
import importlib
import logging
from typing import Any

from ansible.plugins.loader import init_plugin_loader

DOCUMENTATION = r"""
---
module: cluster_events
short_description: What happens to nodes with special hardware, and to what is enabled on them
version_added: 0.1.0
author: hardware.enablement contributors (@hardware-enablement)
description:
  - Lists nodes and SpecialResources (and RmdWorkloads where the cluster has them), then watches them, and tells what
    a run should see to.
  - An event has C(type), C(recipe), C(instance) (the name of the SpecialResource), C(cluster) (its UID), C(nodes),
    C(workloads) (V(NAMESPACE/NAME)) and C(since). It has names and no other text of the cluster.
  - A source that starts tells what needs a run now, by what the last run has left on the nodes. So nothing is missed
    while none is running.
  - What comes close together is one event for each type and recipe, and what is over before it is told is not told.
  - A pod that crashes again and again is told once an hour, and not while what the last run has found says so already.
  - A node that is not ready, or that Node Feature Discovery has not labelled since it booted, is told of when it is.
  - Needs C(list) and C(watch) of nodes, specialresources, rmdworkloads, and pods in the namespaces of the recipes;
    C(hardware-enablement-viewer) has them.
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file, or several as in E(KUBECONFIG), or the content of one as a dictionary.
      - Without it, and without other options of a connection, the service account of the pod that ansible-rulebook runs
        in or C(~/.kube/config) is used. Also E(K8S_AUTH_KUBECONFIG).
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
    description: The user's password. Also E(K8S_AUTH_PASSWORD).
    type: str
  client_cert:
    description: Path of a client certificate. Also E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description: Path of its key. Also E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  ca_cert:
    description: Path of the CA that signed the API server's certificate. Also E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  validate_certs:
    description: Whether the API server's certificate is verified. Also E(K8S_AUTH_VERIFY_SSL).
    type: bool
    aliases: [verify_ssl]
  proxy:
    description: URL of a proxy. Also E(K8S_AUTH_PROXY).
    type: str
  no_proxy:
    description: Hosts that are reached without it, with commas between them. Also E(K8S_AUTH_NO_PROXY).
    type: str
  proxy_headers:
    description: Headers for the proxy.
    type: dict
    suboptions:
      proxy_basic_auth:
        description: User and password, with a colon between them. Also E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH).
        type: str
      basic_auth:
        description: The same for the API server. Also E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH).
        type: str
      user_agent:
        description: What the client calls itself. Also E(K8S_AUTH_PROXY_HEADERS_USER_AGENT).
        type: str
  persist_config:
    description: Whether a token that was renewed is written to the kubeconfig. Also E(K8S_AUTH_PERSIST_CONFIG).
    type: bool
  impersonate_user:
    description: User to act as. Also E(K8S_AUTH_IMPERSONATE_USER).
    type: str
  impersonate_groups:
    description: Groups to act as. Also E(K8S_AUTH_IMPERSONATE_GROUPS).
    type: list
    elements: str
  cluster_uid:
    description: UID of the namespace kube-system; another cluster is refused.
    type: str
  recipes:
    description: Names of the SpecialResources to look at; all where none is named.
    type: list
    elements: str
    default: []
  events:
    description: The types of event to tell.
    type: list
    elements: str
    choices:
      - node_joined
      - node_left
      - node_rebooted
      - kernel_changed
      - gate_degraded
      - pod_crashed
      - restart_pending
      - node_ready
      - resource_changed
      - workload_changed
    default:
      - node_joined
      - node_left
      - node_rebooted
      - kernel_changed
      - gate_degraded
      - pod_crashed
      - restart_pending
      - node_ready
      - resource_changed
      - workload_changed
  debounce:
    description: For how many seconds the first event of a type and recipe waits for others like it.
    type: float
    default: 10
  resync:
    description:
      - After how many seconds what still needs a run is told again, since the run before may have failed; 0 for never.
    type: float
    default: 3600
requirements:
  - python >= 3.10
  - kubernetes >= 29.0.0
  - PyYAML >= 5.4.1
  - jinja2 >= 3.1.0
"""

EXAMPLES = r"""
- name: All that happens, on the cluster of the kubeconfig or of K8S_AUTH_*
  hardware.enablement.cluster_events:

- name: Nodes of one recipe that need a run
  hardware.enablement.cluster_events:
    kubeconfig: /etc/kubernetes/lab.yaml
    cluster_uid: 0b0b5a0e-5d7c-4a0c-8f2d-0a9a54f0d0c1
    recipes: [nvidia-gpu]
    events: [node_joined, node_rebooted, kernel_changed]
    debounce: 30
"""

# So long a stop of ansible-rulebook waits at most.
TURN_S = 1.0
START = "ansible_collections.hardware.enablement.plugins.module_utils._interface.source_start"
_log = logging.getLogger("hardware.enablement.cluster_events")


async def main(queue: asyncio.Queue[Any], args: dict[str, Any]) -> None:
    """Put events into the queue until this task is cancelled. Raises an EnablementError whose text
    is one sentence."""
    # ansible-rulebook loads this file by its path, and knows no collections as packages.
    init_plugin_loader()
    watch = await asyncio.to_thread(importlib.import_module(START).start, args)
    trouble = ""
    try:
        while True:
            for event in await asyncio.to_thread(watch.next, TURN_S):
                await queue.put(event)
            if watch.trouble != trouble:
                trouble = watch.trouble
                _log.warning("%s", trouble or "The API server answers again")
    finally:
        watch.close()
