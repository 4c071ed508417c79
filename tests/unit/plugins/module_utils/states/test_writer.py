# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written to nodes, and when."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    ApiError,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    proofs_annotation,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.node_patches import (
    try_patches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.label_writer import (
    LabelWriter,
    MarkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.node_marks import (
    NodeMarks,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    ProofRecord,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

DEMO = "hardware-enablement.io/demo"
AGENT = f"{DEMO}.agent-configuration"
KERNEL = f"{DEMO}.node-kernel"


def writer(by_nodes: bool = False) -> LabelWriter:
    """A writer that sends nothing."""
    plans = [world.plan("driver"), world.plan("monitoring", gated=False, unlocks=False)]
    return LabelWriter(
        cast(Client, SimpleNamespace()),
        plans,
        MarkSettings("demo", by_nodes=by_nodes),
        lambda: None,
        dry=True,
    )


def proofs(patch: dict[str, Any]) -> dict[str, Any]:
    """The proofs in a node's patch."""
    return dict(json.loads(patch["metadata"]["annotations"][proofs_annotation("demo")]))


def monitored(moment: str, hash_: str = "h") -> NodeMarks:
    """What a node should carry when its monitoring is proven."""
    return NodeMarks(
        {}, "driver.waiting", {"monitoring": ProofRecord(hash_, world.KERNEL, world.BOOT, moment)}
    )


def test_a_proof_that_waits_for_the_nodes_last_write_tells_when_it_was_found() -> None:
    test = writer()
    before = NodeMarks({}, "driver.waiting")
    for moment in ("early", "late"):
        test.want("n1", before, monitored(moment))
    test.flush(final=lambda _name: False)
    assert test.changed == {}
    test.flush(final=lambda _name: True)
    assert proofs(test.changed["n1"])["monitoring"]["time"] == "early"


def test_a_proof_of_something_else_has_its_own_time() -> None:
    test = writer()
    before = monitored("early", "another hash")
    test.want("n1", before, monitored("late"))
    test.flush(final=lambda _name: True)
    assert proofs(test.changed["n1"])["monitoring"]["time"] == "late"


def test_what_nodes_say_themselves_is_not_written_by_a_run() -> None:
    test = writer(by_nodes=True)
    before = NodeMarks({"driver": "stale"}, "driver.stale", facts={AGENT: "h"})
    proof = {"driver": ProofRecord("h", world.KERNEL, world.BOOT, "now")}
    test.want("n1", before, NodeMarks({"driver": "ready"}, "ready", proof, {KERNEL: "k"}))
    test.flush(final=lambda _name: True)

    labels = test.changed["n1"]["metadata"]["labels"]
    assert labels == {KERNEL: "k"}
    assert "driver" in proofs(test.changed["n1"])


def test_that_the_hardware_has_vanished_says_a_run() -> None:
    test = writer(by_nodes=True)
    test.want("n1", NodeMarks({}, "ready"), NodeMarks({}, "vanished"))
    test.flush(final=lambda _name: True)

    assert test.changed["n1"]["metadata"]["labels"] == {"hardware-enablement.io/demo": "vanished"}


def test_an_agent_takes_off_its_own_label() -> None:
    test = writer()
    before = NodeMarks({"driver": "ready"}, "ready", facts={AGENT: "h"})
    test.want("n1", before, NodeMarks({}, "driver.waiting"))
    test.flush(final=lambda _name: True)

    labels = test.changed["n1"]["metadata"]["labels"]
    assert labels["hardware-enablement.io/demo.driver"] is None
    assert AGENT not in labels


class Silent:
    """An API server that does not answer patches, nor anything else where it is gone."""

    def __init__(self, gone: bool) -> None:
        self.gone = gone

    def kind(self, _api_version: str, kind: str) -> str:
        return kind

    def parallel(self, calls: list[Any], **_options: Any) -> list[ApiError]:
        return [Unreachable("Cannot patch Node n1", why="no answer") for _call in calls]

    def get(self, *_asked: Any) -> None:
        if self.gone:
            raise Unreachable("Cannot get Node n1", why="no answer")


def test_a_patch_without_an_answer_is_its_nodes_matter_unless_nobody_answers_at_all() -> None:
    patches: dict[str, dict[str, Any]] = {"n1": {}}
    assert try_patches(cast(Client, Silent(gone=False)), patches).keys() == {"n1"}
    with pytest.raises(Unreachable):
        try_patches(cast(Client, Silent(gone=True)), patches)


class Patched:
    """An API server with one node, which is as somebody else has left it."""

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels = labels

    def kind(self, _api_version: str, kind: str) -> str:
        return kind

    def parallel(self, calls: list[Callable[[], None]], **_options: Any) -> list[None]:
        return [call() for call in calls]

    def patch(self, _kind: str, name: str, _namespace: None, body: Any, **_options: Any) -> Any:
        self.labels |= body["metadata"].get("labels", {})
        return {"metadata": {"name": name, "labels": dict(self.labels)}}


def test_what_another_took_off_at_the_same_time_is_seen_missing() -> None:
    """As NFD does with the labels of an agent that has just ended, while a run writes its own."""
    cluster = Patched({})
    test = LabelWriter(
        cast(Client, cluster),
        [world.plan("driver")],
        MarkSettings("demo"),
        lambda: None,
        dry=False,
    )
    before = NodeMarks({"hook": "ready"}, None)
    test.want("n1", before, NodeMarks({"hook": "ready", "driver": "ready"}, None))
    test.flush(final=lambda _name: True)

    old = NodeFacts.from_object({"metadata": {"name": "n1", "labels": {f"{DEMO}.hook": "ready"}}})
    assert test.marks_of(old).gates == {"driver": "ready"}
    now = NodeFacts.from_object({"metadata": {"name": "n1", "labels": cluster.labels}})
    test.seen(now)
    gone = NodeFacts.from_object({"metadata": {"name": "n1", "labels": {}}})
    assert test.marks_of(gone).gates == {}
