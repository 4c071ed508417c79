# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a new recipe begins with: driver, device plugin and monitoring, each with its
proofs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_RECIPE = """\
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

_FILES = {
    "recipe.yml": _RECIPE,
    "driver/namespace.yaml.j2": _NAMESPACE,
    "driver/daemonset.yaml.j2": _DRIVER,
    "device_plugin/daemonset.yaml.j2": _PLUGIN,
    "monitoring/daemonset.yaml.j2": _EXPORTER,
}


def scaffold(name: str, label: str, resource: str) -> Mapping[str, str]:
    """Path -> text of the files. label: of the nodes with the hardware, NAME or NAME=VALUE; "true"
    without a value."""
    key, _equals, value = label.partition("=")
    words = {"@NAME@": name, "@RESOURCE@": resource, "@LABEL@": key, "@VALUE@": value or "true"}
    return {path: _filled_in(text, words) for path, text in _FILES.items()}


def _filled_in(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
