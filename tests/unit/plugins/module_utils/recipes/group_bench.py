# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe whose states are made for groups of nodes of every kind, and four nodes that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import (
    EVERY_FACT,
    Grouping,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import NodeGroup
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.instances import (
    as_instance,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    of_pool,
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{toy: "yes"}]}
preinstalled_driver: {any_of: [{driver: host}]}
options:
  version: {type: str, default: "1"}
  mode: {type: str, default: slow}
  deploy: {type: bool, default: true}
states:
  build:
    role: state_driver_container
    per: kernel
    image: "r.io/driver:{{ options.version }}-{{ kernel.tag }}"
  driver:
    role: state_driver
    requires: [build]
    per: [kernel, driver]
    enabled: "{{ options.deploy and not preinstalled_driver }}"
    assets: [driver/*.yaml.j2]
    validate: [{rollout: {}}]
    disabled_validate: [{workload: {pod: check.yaml.j2}}]
  hook:
    role: state_runtime_hook
    requires: [driver]
    per: runtime
    assets: [hook/*.yaml.j2]
    validate: [{rollout: {}}]
  plugin:
    role: state_device_plugin
    requires: [hook]
    per: pool
    assets: [plugin/*.yaml.j2]
    validate:
      - allocatable: {resource: "toy.io/{{ options.mode }}"}
  report:
    role: state
    assets: [report.yaml.j2]
"""

DAEMONSET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}}}
    spec: {{containers: [{{name: main, image: "{image}"}}]}}
"""

FILES = {
    "recipe.yml": RECIPE,
    "check.yaml.j2": """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - {name: check, image: i, args: [{{ options.version | quote }}, {{ runtime.name | quote }}, {{ group.id | quote }}]}
""",
    "driver/account.yaml.j2": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: driver}\n",
    "driver/daemonset.yaml.j2": DAEMONSET.format(name="driver-{{ group.id }}", image="{{ image }}"),
    "hook/daemonset.yaml.j2": DAEMONSET.format(
        name="hook{{ group.suffix }}", image="hook:{{ runtime.name }}-{{ runtime.major }}"
    ),
    "plugin/config.yaml.j2": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: "plugin{{ group.suffix }}"}
data: {mode: {{ options.mode | quote }}, pool: {{ pool | quote }}}
""",
    "report.yaml.j2": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: report}\n",
}

Obj = dict[str, Any]


def node(name: str, runtime: str = "containerd://2.1.4", **labels: str) -> NodeFacts:
    """A node with NFD's labels."""
    kernel = {"kernelVersion": "6.8.0", "osImage": "Ubuntu 24.04", "architecture": "amd64"}
    feature = "feature.node.kubernetes.io/"
    found = {
        f"{feature}kernel-version.full": "6.8.0",
        f"{feature}system-os_release.ID": "ubuntu",
        f"{feature}system-os_release.VERSION_ID": "24.04",
        "kubernetes.io/arch": "amd64",
        **labels,
    }
    info = {**kernel, "containerRuntimeVersion": runtime}
    return NodeFacts.from_object(
        {"metadata": {"name": name, "labels": found}, "status": {"nodeInfo": info}}
    )


NODES = (
    node("plain"),
    node("pooled", model="new"),
    node("host", driver="host"),
    node("crio", "cri-o://1.34.1"),
)


class Bench:
    """A recipe, nodes and pools."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        pool: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
        nodes: Sequence[NodeFacts] = NODES,
        instance: str = "",
        cluster: Mapping[str, Any] | None = None,
        driver_toolkits: Mapping[str, str] | None = None,
    ) -> None:
        self.recipe = as_instance(load(FILES if files is None else files, "toys/toy"), instance)
        selector = {"matchLabels": {"model": "new"}}
        pools = (
            ()
            if pool is None
            else parse_pools([{"name": "new", "selector": selector, "options": dict(pool)}])
        )
        self.grouping = Grouping(
            EVERY_FACT, pools, self.recipe.nodes.preinstalled_driver, {"runtime": "runtime"}
        )
        self.groups = self.grouping.groups(nodes)
        self.facts = RenderFacts(
            namespace="toy",
            options=resolve(self.recipe, given),
            groups=self.groups,
            applyset_id="",
            coarse=self._coarse,
            pool_options={
                each.name: of_pool(self.recipe, each.name, given, each.options) for each in pools
            },
            cluster=cluster or {"platform": "kubernetes"},
            driver_toolkits=driver_toolkits or {},
        )

    def _coarse(self, group: NodeGroup, per: Sequence[str]) -> NodeGroup:
        return next(
            each
            for each in self.grouping.coarse(self.groups, per)
            if set(group.nodes) <= set(each.nodes)
        )

    def of(self, name: str) -> NodeGroup:
        """The finest group of a node."""
        return next(group for group in self.groups if name in group.nodes)

    def made(self, state: str, kind: str = "DaemonSet") -> dict[str, Obj]:
        """Name -> object of a state."""
        objects = (item.manifest for item in render_state(self.recipe, state, self.facts).objects)
        return {obj["metadata"]["name"]: obj for obj in objects if obj["kind"] == kind}

    def images(self, state: str) -> dict[str, str]:
        """Name of a DaemonSet -> image."""
        found = self.made(state).items()
        return {
            name: obj["spec"]["template"]["spec"]["containers"][0]["image"] for name, obj in found
        }

    def refusal(self) -> str:
        """What is said of all states together."""
        with pytest.raises(InvalidInput) as caught:
            check_recipe(self.recipe, self.facts)
        return str(caught.value)


def changed(path: str, old: str, new: str) -> dict[str, str]:
    """The files with a change to one of them."""
    assert old in FILES[path]
    return {**FILES, path: FILES[path].replace(old, new, 1)}
