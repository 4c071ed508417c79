# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first look of the loop, with nothing asked and nothing waited for, already says how things
stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.strays import (
    Strays,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.answers import (
    Answers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.label_writer import (
    LabelWriter,
    MarkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.loop import (
    Loop,
    ProofScope,
    WriteAccess,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.progress import (
    Progress,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    WalkSettings,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

GPU = Proof("allocatable", {"resource": "example.com/gpu"})


class Nothing:
    """A cluster in which there is nothing."""

    items: Sequence[Any] = ()

    def kind(self, api_version: str, kind: str) -> Kind:
        group, _slash, version = api_version.rpartition("/")
        return Kind(group, version, kind, f"{kind.lower()}s", namespaced=True)

    def list(self, *_args: object, **_kwargs: object) -> Nothing:
        return self

    def parallel(self, calls: Sequence[Any], **_kwargs: object) -> list[Any]:
        return [call() for call in calls]


def loop_of(plans: Sequence[StatePlan], held: list[str]) -> Loop:
    """A loop over a cluster in which nothing is but the nodes that it is given; held: takes down
    when it locks."""
    client, context = cast(Client, Nothing()), RunContext(clock=lambda: NOW)
    return Loop(
        client,
        ProofScope(
            plans=plans,
            members=Strays([{"example.com/card": None}]),
            settings=WalkSettings("demo", "demo"),
            grouping=Grouping(),
            complete=True,
        ),
        WriteAccess(
            allowed=True,
            guard=lambda: held.append("kept"),
            before_write=lambda: held.append("taken"),
            withdraw=lambda _node: False,
        ),
        answers=cast(Answers, Started()),
        writer=LabelWriter(
            client, plans, MarkSettings("demo"), lambda: held.append("label"), dry=True
        ),
        progress=Progress(context, "demo"),
        clock=context.clock,
    )


class Started:
    """Answers, none of which has come yet."""

    def fetch(self, queries: Sequence[Any], _clock: object) -> Mapping[Any, Any]:
        self.queries = queries
        return {}


NODE = {
    "metadata": {"name": "n1", "uid": "u", "labels": {"example.com/card": ""}},
    "status": {
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"kernelVersion": "6.1"},
    },
}
FACTS = NodeFacts.from_object(NODE)
HASHES = {Grouping().id_of(FACTS): "h"}


def test_a_state_of_the_cluster_is_not_called_ready_before_the_nodes_were_looked_at() -> None:
    plugin = world.with_groups(world.plan("plugin", proofs=(GPU,), deployed=False), hashes=HASHES)
    dashboard = replace(
        world.plan("dashboard", requires=("plugin",), deployed=False), per_node=False
    )
    loop = loop_of([plugin, dashboard], [])
    assert not loop.check_quickly([FACTS])
    found = {state: result.phase for (_node, state), result in loop.results.items()}
    assert found == {"plugin": Phase.WAITING, "dashboard": Phase.WAITING}


def test_the_lock_is_taken_before_a_validation_pod_is_started() -> None:
    check = Proof("workload", {"pod": "p.yaml.j2", "sampling": "all", "parallel": 5, "timeout": 60})
    plans = [
        world.with_groups(world.plan(name, proofs=(proof,), deployed=False), hashes=HASHES)
        for name, proof in (("check", check), ("exporter", Proof("logs", {"match": "serving"})))
    ]
    held: list[str] = []
    loop = loop_of(plans, held)
    loop.snapshot.put_pod(world.pod("exporter"))
    loop.check_quickly([FACTS])
    assert held == ["taken"]


def test_on_how_many_nodes_a_daemonset_is_to_run_is_counted_once_for_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By each node anew it was minutes of a run on 5,000 nodes."""
    asked: list[str] = []
    daemonsets_for = StatePlan.daemonsets_for

    def counting(plan: StatePlan, group: str) -> tuple[ObjectKey, ...]:
        asked.append(group)
        return daemonsets_for(plan, group)

    monkeypatch.setattr(StatePlan, "daemonsets_for", counting)
    plan = world.with_groups(world.plan("driver"), hashes=HASHES)
    nodes = [replace(FACTS, name=f"n{at}") for at in range(100)]
    loop = loop_of([plan], [])
    daemonset = world.daemonset("driver")
    counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady")
    daemonset["status"] |= dict.fromkeys(counts, 100)
    loop.snapshot.put_workload(daemonset)
    loop.check_quickly(nodes)
    assert len(asked) < 10 * len(nodes)
    # Its counts are 100, which only so many nodes agree with.
    assert [*loop.snapshot.settled.values()] == [True]
    # Until one changes, or a workload.
    loop.mirror.take_nodes(nodes[:1])
    assert loop.snapshot.settled == {}
    loop.check_quickly(nodes)
    loop.snapshot.put_workload(daemonset)
    assert loop.snapshot.settled == {}
