# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole tasks against the scripted API server: a small recipe, a node with the hardware, what is ours."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    GROUP_LABEL,
    PART_OF_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.applyset import (
    applyset_id,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.task import Task
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import (
    GROUP,
    KIND,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
)

RESOURCE = "toy.io/card"
PART_OF = applyset_id("toy", "", KIND, GROUP)
FILES = {
    "recipe.yml": """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
resources: [toy.io/card]
options:
  token: {type: str, default: "", no_log: true}
states:
  driver:
    role: state_driver
    per: kernel
    assets: [driver.yaml.j2]
    validate: [{rollout: {}}]
  report:
    role: state
    assets: [namespace.yaml.j2, report.yaml.j2]
""",
    "driver.yaml.j2": """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "driver-{{ group.id }}"}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: main, image: i}]}
""",
    "namespace.yaml.j2": "apiVersion: v1\nkind: Namespace\nmetadata: {name: toy}\n",
    "report.yaml.j2": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: report}
data: {kept: "yes"}
""",
}


def run(
    task: Task[Any], spec: Obj, fake: FakeServer, context: RunContext | None = None, **given: Any
) -> Obj:
    """A task's result, with the defaults of its arguments."""
    recipe = {"recipe": "toy", "bundle": FILES} if "recipe" in spec else {}
    found = ArgumentSpecValidator({**spec, "bundle": {"type": "dict"}}).validate(
        {"host": fake.url, "api_key": "secret", **recipe, **given}
    )
    assert not found.error_messages
    return task.run(
        found.validated_parameters, context or RunContext(run_id="run-1", clock=lambda: world.NOW)
    )


def card_node(name: str = "n1", kernel: str = world.KERNEL, **labels: str) -> Obj:
    """A node; with card="yes" it has the hardware."""
    found = {
        "feature.node.kubernetes.io/kernel-version.full": kernel,
        "kubernetes.io/arch": "amd64",
        **labels,
    }
    return world.node_object(name, labels=found, kernel=kernel)


def group_of(node: Obj) -> str:
    """The id of a node's kernel group."""
    return Grouping().id_of(NodeFacts.from_object(node))


def ours(
    kind: str, name: str, state: str = "report", part_of: str = PART_OF, group: str = ""
) -> Obj:
    """An object that a run of the past has made."""
    labels = {PART_OF_LABEL: part_of, STATE_LABEL: state, **({GROUP_LABEL: group} if group else {})}
    metadata = {"name": name, "namespace": "toy", "labels": labels}
    if kind == "DaemonSet":
        return {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": metadata,
            "spec": {"template": {"spec": {}}},
        }
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}
