# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small recipe in memory, and what is needed to load, change and render it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)

LABEL = "feature.node.kubernetes.io/kernel-version.full"

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy-gpu
description: A toy
namespace: toy
resources: ["toy.io/gpu", "toy.io/part-*"]
selector:
  any_of:
    - {feature.node.kubernetes.io/pci-0302_10de.present: "true"}
    - {toy.io/here: null}
options:
  driver_enabled: {type: bool, default: true}
  version: {type: str, default: "1.0", description: Version of the driver}
  replicas: {type: int, default: 1}
  mode: {type: str, default: slow, choices: [slow, fast]}
  password: {type: str, default: "", no_log: true}
  ports: {type: list, elements: int, default: []}
states:
  plugin:
    role: state_device_plugin
    requires: [driver]
    assets: [plugin/*.yaml.j2]
    validate:
      - rollout: {}
      - workload: {pod: validation/check.yaml.j2, resource: toy.io/gpu}
  image:
    role: state_driver_container
    per: kernel
    image: "registry.io/driver:{{ options.version }}-{{ kernel.tag }}"
  driver:
    role: state_driver
    requires: [image]
    per: kernel
    enabled: driver_enabled
    assets:
      - driver/*.yaml.j2
      - {path: driver/scc.yaml.j2, needs_api: security.openshift.io/v1/SecurityContextConstraints}
    timeout: 900
    validate:
      - rollout: {}
    disabled_validate:
      - workload: {pod: validation/check.yaml.j2}
""".replace("  image:\n    role", "  build:\n    role").replace(
    "requires: [image]", "requires: [build]"
)

DRIVER = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: driver-{{ group.id }}
  labels: &labels {app: driver-{{ group.id }}}
spec:
  selector:
    matchLabels: *labels
  template:
    metadata:
      labels: *labels
    spec:
      containers:
        - name: driver
          image: {{ image | to_json }}
"""

ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: driver
"""

SCC = """\
apiVersion: security.openshift.io/v1
kind: SecurityContextConstraints
metadata:
  name: driver
"""

PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: plugin
spec:
  selector:
    matchLabels: {app: plugin}
  template:
    metadata:
      labels: {app: plugin}
    spec:
      initContainers:
        - name: wait
          image: registry.io/plugin:1
      containers:
        - name: plugin
          image: registry.io/plugin:1
          env:
            - {name: MODE, value: {{ options.mode | quote }}}
            - {name: NO_PROXY, value: kept}
          resources: {requests: {cpu: 10m, memory: 16Mi}}
        - name: second
          image: registry.io/plugin:1
"""

CHECK = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: check
      image: registry.io/check:1
      args: [{{ node | to_json }}, {{ kernel.raw | to_json }}]
"""

FILES = {
    "recipe.yml": RECIPE,
    "driver/daemonset.yaml.j2": DRIVER,
    "driver/account.yaml.j2": ACCOUNT,
    "driver/scc.yaml.j2": SCC,
    "plugin/daemonset.yaml.j2": PLUGIN,
    "validation/check.yaml.j2": CHECK,
}


def _group(name: str, kernel: str) -> NodeGroup:
    """A group by kernel, selected by a label."""
    label = kernel.replace("+", "_")
    term = {"matchExpressions": [{"key": LABEL, "operator": "In", "values": [label]}]}
    return NodeGroup(
        name,
        ("kernel",),
        GroupSystem(kernel, label, os_id="ubuntu", os_version="24.04", arch="amd64"),
        terms=(term,),
    )


OLD, NEW = _group("5-15-0-1-aaaaaa", "5.15.0-1+fips"), _group("6-8-0-2-bbbbbb", "6.8.0-2-generic")


@pytest.fixture(name="files")
def _files() -> dict[str, str]:
    """The recipe's files; a test may change them."""
    return dict(FILES)


@pytest.fixture(name="groups")
def _groups() -> tuple[NodeGroup, NodeGroup]:
    """Two kernel groups."""
    return OLD, NEW


@pytest.fixture(name="recipe")
def _recipe() -> Recipe:
    """The recipe as it is."""
    return load(FILES, "toys/toy-gpu")


MakeFacts = Callable[..., RenderFacts]


@pytest.fixture(name="facts_for")
def _facts_for() -> MakeFacts:
    """facts_for(recipe, given options, other fields of RenderFacts)."""

    def make(recipe: Recipe, given: Mapping[str, Any] | None = None, **others: Any) -> RenderFacts:
        fields: dict[str, Any] = {
            "namespace": recipe.namespace,
            "options": resolve(recipe, given),
            "groups": (OLD, NEW),
            "applyset_id": "applyset-toy",
        }
        return RenderFacts(**{**fields, **others})

    return make
