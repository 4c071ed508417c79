# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that several modules share: how to reach the cluster, which recipe, and what a module
supports."""

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

    RECIPE_NAMES = r"""
options:
  recipe:
    description:
      - Name of the recipe, which is the name of its folder.
    type: str
  recipe_dir:
    description:
      - The folder that holds the recipe's folder, or a ConfigMap (V(cm://namespace/name)) or an artifact of a registry
        (V(oci://registry/repository:tag)) with the same content, or a Helm repository (V(https://host/path)).
      - A recipe that is not in it, or without it any, is one of this collection.
    type: path
"""

    # Beside recipe_names, where the files are sent along.
    RECIPE = r"""
options:
  bundle:
    description:
      - The files of the recipe, path to text. Filled in by the action plugin, so that a target needs no files.
    type: dict
"""

    OPTIONS = r"""
options:
  options:
    description:
      - Values for the recipe's options; see the recipe's documentation.
      - What is given here holds as it is, V({}) being all defaults. Without it, the options that the special resource
        was enabled with hold, as its record has them. Secret ones are not in it, and so have to be given each time.
    type: dict
  pools:
    description:
      - Sets of nodes with options of their own. Each has C(name) (a DNS label of at most 20 characters), one of
        C(selector) (C(matchLabels) and C(matchExpressions) with all operators of node affinity), C(machine_config_pool)
        and C(node_pool) (the names of such objects on OpenShift and HyperShift), and C(options), which win over
        O(options) there.
      - A node in two pools, and a pool without a node, are refused.
      - V([]) is no pools. Without it, those of the record hold.
    type: list
    elements: dict
  namespace:
    description:
      - The namespace for the recipe's objects. Without it, that of the record, else the one that the recipe names.
    type: str
  instance:
    description:
      - What the recipe is enabled as, if not by its own name. Labels, record, default namespace and the names of the
        recipe's own cluster-wide objects follow it, so that one recipe may be enabled more than once.
    type: str
"""

    RUN = r"""
options:
  run_id:
    description:
      - The name of this run in the special resource's lock. Filled in by the action plugin, so that all tasks of one
        C(ansible-playbook) process are one run.
    type: str
"""

    PROVING = r"""
options:
  failure_grace:
    description: Seconds that a failure (a crashing pod, an image that cannot be pulled) has to last to count.
    type: int
    default: 30
  timeout:
    description: Seconds for each state and node, from when its requirements hold, instead of what the recipe says.
    type: int
  vanished_grace:
    description:
      - Seconds that the labels of a node's hardware have to be gone before the node leaves, provided that nothing holds
        a device there and other nodes have the hardware. Until then it is C(vanished), and nothing of it is given up.
    type: int
    default: 3600
    version_added: 0.2.0
  release_nodes:
    description: Names of nodes that have lost the labels of their hardware and are to leave now, devices held or not.
    type: list
    elements: str
    default: []
    version_added: 0.2.0
  on_regress:
    description:
      - What happens to the gate of a state that was proven before and fails, and to those of the states that stand on
        it. V(keep) marks them C(degraded), which stops no pod. V(withdraw) takes them away, and with them the pods of
        the states that require these.
    type: str
    choices: [keep, withdraw]
    default: keep
  require_ready:
    description: Fail where a state is not ready on a node in the end.
    type: bool
    default: true
  report:
    description: Whether the report lists every node or only the problems.
    type: str
    choices: [problems, all]
    default: problems
  show:
    description: Print the table while the task runs, where the action plugin runs in the controller process.
    type: bool
    default: false
  record:
    description:
      - Write what was found into the special resource's record, as M(hardware.enablement.special_resource) does. So of
        many clusters each is recorded when it is done, and not when the slowest is.
    type: bool
    default: false
"""

    EXCHANGE = r"""
options:
  recipe:
    required: true
  options:
    description:
      - Secret options, which the record does not have. Others are those of the record, since nothing is deployed
        here; one that is given and differs is refused.
    type: dict
  instance:
    description: The name under which the recipe is enabled, where that is another one.
    type: str
  drain:
    description: How nodes are freed, in the words of C(kubectl drain).
    type: dict
    suboptions:
      whole_node:
        description: Whether all pods leave, and not only those that use the devices.
        type: bool
        default: false
      force:
        description: Whether pods go that no controller makes again.
        type: bool
        default: false
      delete_emptydir_data:
        description: Whether pods go that have data in an emptyDir; one in memory does not count.
        type: bool
        default: false
      daemonsets:
        description:
          - Whether pods of others' DaemonSets go that use the devices. They come back when the node is given back.
        type: bool
        default: true
      grace_period:
        description: Seconds that each evicted pod has. Without it, what the pod says.
        type: int
      timeout:
        description: Seconds after which a node that is not free is left as it was.
        type: int
        default: 600
  stop_timeout:
    description: Seconds that the special resource's own pods, and the driver's, have to end.
    type: int
    default: 300
  reboot:
    description:
      - How each node is rebooted once its driver's pod has ended, for drivers that cannot be unloaded.
      - With V(annotation), O(reboot_annotation) is set on the node, for what reboots nodes in the cluster; it is
        taken off when the node has booted anew.
      - With V(caller), the task ends when all nodes that are on their way wait for it, and RV(reboot) names them; the
        task goes on where it stopped when it is run again.
    type: str
    choices: [none, annotation, caller]
    default: none
  reboot_annotation:
    description: The annotation for O(reboot=annotation), as V(NAME=VALUE).
    type: str
  reboot_timeout:
    description: Seconds that a node has to boot anew.
    type: int
    default: 1800
  failure_grace:
    description: Seconds that a failure has to last until it counts.
    type: int
    default: 30
  timeout:
    description: Seconds that each state has to be proven on a node. Without it, what the recipe says of each.
    type: int
  require_ready:
    description: Fail where not every node is as it should be. Else RV(message) says so.
    type: bool
    default: true
"""

    RMD = r"""
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

    RMD_NODES = r"""
options:
  nodes:
    description: Names of nodes.
    type: list
    elements: str
  node_selector:
    description: Labels of nodes, instead of O(nodes).
    type: dict
"""

    REGISTRIES = r"""
options:
  registry_ca:
    description: Certificates (PEM) of the authorities of private registries, trusted beside the system's.
    type: str
  registry_verify:
    description: Whether registries' certificates are verified.
    type: bool
    default: true
  registry_mirrors:
    description: Where to ask instead of a registry. On OpenShift the cluster's own mirrors count, too.
    type: list
    elements: dict
    default: []
    suboptions:
      prefix:
        description: Host of the registry, and maybe the beginning of a path.
        type: str
        required: true
      locations:
        description: What stands there instead, in the order in which they are asked.
        type: list
        elements: str
        required: true
      source:
        description: Whether the place itself is asked last. Else what is built is pushed to the first location.
        type: bool
        default: true
  registries:
    description: How single registries are spoken to, where that differs from the others.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: Host of the registry with its port, or V(*.example.com) for all hosts below that domain.
        type: str
        required: true
      ca:
        description: Certificates (PEM) of its authority, trusted for it alone.
        type: str
      verify:
        description: Whether its certificate is verified.
        type: bool
        default: true
      plain_http:
        description: It is asked without TLS. No other registry ever is.
        type: bool
        default: false
"""
