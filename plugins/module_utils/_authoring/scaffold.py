# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a new recipe begins with: driver, device plugin, a pod that uses a device, and
monitoring, each with its proofs; a README, a scenario of molecule. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_RECIPE = """\
@SCHEMA_LINE@
---
apiVersion: hardware-enablement.io/v1
name: @NAME@
description: What this hardware is, and what the recipe makes of it
namespace: @NAME@
resources: ["@RESOURCE@"]

selector:
  any_of:
    - {@LABEL@: "@VALUE@"}

options:
  driver_enabled:
    type: bool
    default: true
    description: Deploy the driver. Off where the nodes bring it along.
  driver_repository:
    type: str
    default: registry.example.com/@NAME@/driver
    description: Registry and path, without tag, of the driver images; their tag is the kernel.
  plugin_image:
    type: str
    default: registry.example.com/@NAME@/device-plugin:1.0
    description: Image (tag or digest) of the device plugin.
  validation_image:
    type: str
    default: registry.example.com/@NAME@/sample:1.0
    description: Image (tag or digest) of a program that uses a device, and ends with 0 where it could.
  exporter_enabled:
    type: bool
    default: true
    description: Deploy the exporter of metrics.
  exporter_image:
    type: str
    default: registry.example.com/@NAME@/exporter:1.0
    description: Image (tag or digest) of the exporter.

states:
  driver:
    role: state_driver
    description: Loads the kernel module, one DaemonSet per kernel
    enabled: driver_enabled
    per: kernel
    image: "{{ options.driver_repository }}:{{ kernel.tag }}"
    assets:
      - driver/namespace.yaml.j2
      - driver/daemonset.yaml.j2
    validate:
      - rollout: {}

  device_plugin:
    role: state_device_plugin
    description: Advertises the devices of each node to the kubelet
    requires: [driver]
    assets: [device_plugin/daemonset.yaml.j2]
    validate:
      - rollout: {}
      - allocatable: {resource: "@RESOURCE@", at_least: 1}

  device_plugin_validation:
    role: state_device_plugin_validation
    description: A pod that asks for one device proves that what is advertised can be used
    requires: [device_plugin]
    timeout: 300
    validate:
      - workload: {pod: validation/device-plugin.yaml.j2, resource: "@RESOURCE@", sampling: all}

  monitoring:
    role: state_monitoring
    description: Metrics of the devices
    requires: [device_plugin]
    enabled: exporter_enabled
    assets: [monitoring/daemonset.yaml.j2]
    validate:
      - rollout: {}
"""

_NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: {{ namespace }}
  labels: {pod-security.kubernetes.io/enforce: privileged}
"""

_DRIVER = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: @NAME@-driver-{{ group.id }}
spec:
  updateStrategy: {type: OnDelete}
  selector:
    matchLabels: {app: @NAME@-driver-{{ group.id }}}
  template:
    metadata:
      labels: {app: @NAME@-driver-{{ group.id }}}
    spec:
      containers:
        - name: driver
          image: {{ image | to_json }}
          securityContext: {privileged: true}
"""

_PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: @NAME@-device-plugin
spec:
  selector:
    matchLabels: {app: @NAME@-device-plugin}
  template:
    metadata:
      labels: {app: @NAME@-device-plugin}
    spec:
      containers:
        - name: device-plugin
          image: {{ options.plugin_image | to_json }}
          volumeMounts:
            - {name: plugins, mountPath: /var/lib/kubelet/device-plugins}
      volumes:
        - {name: plugins, hostPath: {path: /var/lib/kubelet/device-plugins}}
"""

_EXPORTER = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: @NAME@-exporter
spec:
  selector:
    matchLabels: {app: @NAME@-exporter}
  template:
    metadata:
      labels: {app: @NAME@-exporter}
    spec:
      containers:
        - name: exporter
          image: {{ options.exporter_image | to_json }}
          ports: [{name: metrics, containerPort: 9100}]
"""

_VALIDATION = """\
# Its device is added to this; its end is the verdict, and its last line is what a person reads of a failure.
apiVersion: v1
kind: Pod
metadata:
  labels: {app: @NAME@-validator}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  containers:
    - name: use
      image: {{ options.validation_image | to_json }}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities: {drop: [ALL]}
"""

# Scenarios of molecule for a recipe: checked without a cluster, which needs neither nodes nor images.
_MOLECULE = """\
---
# molecule test: everything that can be found without a cluster.
driver:
  name: default
platforms:
  - name: localhost
ansible:
  playbooks:
    converge: converge.yml
scenario:
  test_sequence: [converge]
"""

_CONVERGE = """\
---
- name: Check the recipe
  ansible.builtin.import_playbook: hardware.enablement.recipe_check
  vars:
    hardware_enablement_recipe: @NAME@
    hardware_enablement_recipe_dir: "{{ lookup('ansible.builtin.env', 'MOLECULE_PROJECT_DIRECTORY') | dirname }}"
"""

_README = """\
# @NAME@

What this hardware is, which versions of it are served, and what has to be on the nodes before.

| state | what it deploys | what proves it |
|---|---|---|
| `driver` | the kernel module, for each kernel | its pods run |
| `device_plugin` | what offers `@RESOURCE@` | each node offers one or more |
| `device_plugin_validation` | nothing that stays | a pod that asks for one ends with 0 |
| `monitoring` | the exporter of metrics | its pods run |

To check it without a cluster (`molecule test` in this folder does so, too), then to enable it:

```shell
ansible-playbook hardware.enablement.recipe_check -e hardware_enablement_recipe=@NAME@ \\
  -e hardware_enablement_recipe_dir=FOLDER
ansible-playbook hardware.enablement.enable -e hardware_enablement_recipe=@NAME@ \\
  -e hardware_enablement_recipe_dir=FOLDER
```
"""

# By which editors complete and check recipe.yml: the schema is published with the collection's sources.
SCHEMA_LINE = (
    "# yaml-language-server: $schema=https://raw.githubusercontent.com/hardware-enablement"
    "/hardware.enablement/main/docs/recipes/recipe.schema.json"
)

_FILES = {
    "README.md": _README,
    "recipe.yml": _RECIPE,
    "driver/namespace.yaml.j2": _NAMESPACE,
    "driver/daemonset.yaml.j2": _DRIVER,
    "device_plugin/daemonset.yaml.j2": _PLUGIN,
    "validation/device-plugin.yaml.j2": _VALIDATION,
    "monitoring/daemonset.yaml.j2": _EXPORTER,
}
_SCENARIO = {
    "molecule/default/molecule.yml": _MOLECULE,
    "molecule/default/converge.yml": _CONVERGE,
}


def scaffold(name: str, label: str, resource: str) -> Mapping[str, str]:
    """Path -> text of the files. label: of the nodes with the hardware, NAME or NAME=VALUE; "true"
    without a value."""
    key, _equals, value = label.partition("=")
    words = {"@NAME@": name, "@RESOURCE@": resource, "@LABEL@": key, "@VALUE@": value or "true"}
    words["@SCHEMA_LINE@"] = SCHEMA_LINE
    files = {path: _filled_in(text, words) for path, text in _FILES.items()}
    return {**files, **scenario(name)}


def scenario(name: str) -> Mapping[str, str]:
    """The same of a scenario of molecule that checks the recipe."""
    return {path: _filled_in(text, {"@NAME@": name}) for path, text in _SCENARIO.items()}


def validation_pod(name: str) -> str:
    """The template of a pod that uses a device; its image is the option validation_image."""
    return _filled_in(_VALIDATION, {"@NAME@": name})


def _filled_in(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
