# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One odd or hostile object costs only itself: whatever a node or a record carries of what the API
server lets through, the run, the inventory and the other nodes go on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    proofs_annotation,
    restart_pending_annotation,
    taints_annotation,
    upgrade_annotation,
    vanished_annotation,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._states import (
    apply,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.node_hosts import (
    find_hosts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import (
    adopted,
    record_spec,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]

ROUNDS = 24
DEEP = "[" * 10_000 + "]" * 10_000
# What anybody who may patch a node, or a record, may write into an annotation.
TEXTS = [
    "",
    "null",
    "[]",
    "{}",
    "7",
    '"x"',
    "[[[]]]",
    '{"driver": 1}',
    '{"driver": {"hash": {"a": []}}}',
    '[{"key": 1}]',
    '[{"object": [1, {}, null, []], "patch": {}}]',
    '[{"object": ["v1", "Node", "", "n1"], "patch": []}]',
    '{"phase": "draining", "tried": [[1]], "since": 5}',
    '{"phase": "draining", "since": "9999-12-31T23:59:59Z"}',
    '{"phase": ["draining"]}',
    DEEP,
    '{"driver":' * 10_000 + "1" + "}" * 10_000,
    "9" * 5000,
    f'{{"driver": {"9" * 5000}}}',
    "NaN",
    '{"driver": NaN}',
    '{"driver": {"hash": "\\ud800"}}',
    '"\\u0000"',
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe",
    "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    ",,,",
    "{{ 7 * 7 }}",
    "a" * 200_000,
]
# What the kubelet's own credentials may write into its node's status.
TOLD = [
    "",
    "x" * 5000,
    "../../etc",
    "6.1\n\nkind: Pod",
    "$(reboot)",
    "{{ 1 }}",
    "\x1b[31m",
    "٣.1",
    "a b",
]
# A label's value has at most 63 of these characters.
LABEL_VALUES = [
    "",
    "1E999999999",
    "9" * 63,
    "NaN",
    "0x10",
    "1_000",
    "-".join("a" * 30),
    "true",
    "0.0.0",
]
AMOUNTS = ["0", "9223372036854775807", "1E", "8500m", "1Ki", "-1"]


def odd_node(chance: random.Random) -> Obj:
    """A node with the hardware and what is odd but typed."""
    node = runs.card_node("odd", card="yes")
    annotations = (
        proofs_annotation,
        restart_pending_annotation,
        taints_annotation,
        upgrade_annotation,
        vanished_annotation,
    )
    for name in annotations:
        if chance.random() < 0.7:
            node["metadata"]["annotations"][name("toy")] = chance.choice(TEXTS)
    labels = (
        "feature.node.kubernetes.io/system-os_release.ID",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID",
        "feature.node.kubernetes.io/pci-0302_10de.present",
        "hardware-enablement.io/toy",
        "hardware-enablement.io/toy.driver",
        "hardware-enablement.io/toy.node-kernel",
        "topology.kubernetes.io/zone",
        "card",
    )
    for label in labels[:-1] if chance.random() < 0.8 else labels:
        if chance.random() < 0.5:
            node["metadata"]["labels"][label] = chance.choice(LABEL_VALUES)
    info = node["status"]["nodeInfo"]
    for name in ("kernelVersion", "osImage", "architecture", "bootID", "containerRuntimeVersion"):
        if chance.random() < 0.4:
            info[name] = chance.choice(TOLD)
    for name in ("capacity", "allocatable"):
        node["status"][name] = {runs.RESOURCE: chance.choice(AMOUNTS)}
    node["status"]["addresses"] = [{"type": chance.choice(TOLD), "address": chance.choice(TOLD)}]
    node["status"]["conditions"][0]["lastTransitionTime"] = "0000-01-01T00:00:00Z"
    node["status"]["conditions"][0]["message"] = chance.choice(TOLD)
    return node


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_an_odd_node_costs_no_other_node_and_no_run(fake: FakeServer, seed: int) -> None:
    odd = odd_node(random.Random(seed))  # noqa: S311 - the same each time
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"), odd)
    # The node offers the devices already, which has nothing to do with how odd it is.
    assert runs.run(apply.TASK, STATE_APPLY, fake, adopt=True)["changed"]
    assert f"driver-{runs.group_of(runs.card_node())}" in cluster.objects["daemonsets"]
    cluster.writes.clear()
    assert not runs.run(apply.TASK, STATE_APPLY, fake, adopt=True)["changed"]
    assert cluster.writes == []
    warnings: list[str] = []
    hosts = find_hosts(
        fake.client(), label_selector="", recipes=[], features=["*"], warn=warnings.append
    )
    assert hosts["n1"]["kernel"] == NodeFacts.from_object(runs.card_node()).system.kernel
    assert "odd" in hosts
    json.dumps(hosts, allow_nan=False).encode()


@pytest.mark.parametrize("kernel", [told for told in TOLD if told != "x" * 5000])
def test_nothing_is_deployed_for_a_node_that_tells_a_kernel_which_cannot_be_one(
    fake: FakeServer, kernel: str
) -> None:
    odd = runs.card_node("odd", kernel=kernel, card="yes")
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"), odd)
    runs.run(apply.TASK, STATE_APPLY, fake)
    assert list(cluster.objects["daemonsets"]) == [f"driver-{runs.group_of(runs.card_node())}"]


READERS: list[Callable[[Obj], Any]] = [
    adopted.read,
    record_spec.state_kinds,
    record_spec.made_namespaces,
    record_spec.namespaces,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:20])
def test_what_a_record_remembers_may_be_anything(text: str) -> None:
    names = (
        adopted.ANNOTATION,
        record_spec.KINDS_ANNOTATION,
        record_spec.MADE_NAMESPACES_ANNOTATION,
        record_spec.APPLYSET_NAMESPACES_ANNOTATION,
    )
    record = {"metadata": {"name": "toy", "annotations": dict.fromkeys(names, text)}, "spec": {}}
    for read in READERS:
        json.dumps([*map(str, read(record))]).encode()
    made = record_spec.with_spec(record, "toy", "id", {})
    json.dumps(made, allow_nan=False).encode()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:20])
def test_an_odd_record_of_another_recipe_costs_no_run(fake: FakeServer, text: str) -> None:
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"))
    names = (adopted.ANNOTATION, record_spec.KINDS_ANNOTATION)
    cluster.put(
        "specialresources",
        {
            "metadata": {"name": "other", "annotations": dict.fromkeys(names, text)},
            "spec": {"recipe": "other", "options": {"deep": text}},
        },
    )
    assert runs.run(apply.TASK, STATE_APPLY, fake)["changed"]
