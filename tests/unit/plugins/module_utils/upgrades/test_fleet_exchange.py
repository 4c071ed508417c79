# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are held before the first look, and which are left alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    UPGRADING,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.faulty_nodes import (
    FaultyNodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.fleet_exchange import (
    FleetExchange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.outdated_drivers import (
    OutdatedDrivers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedies import (
    RemedyRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_survey import (
    UpgradeSurvey,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
    NOW,
    node,
    plan,
)

NAME = "hardware-enablement.io/toy.upgrade"
BEGUN = '{"phase": "%s", "target": "v2", "since": "2026-01-01T00:00:00Z"}'


@pytest.mark.parametrize(("check_mode", "held"), [(False, {"begun"}), (True, set())])
def test_what_an_earlier_run_has_begun_is_held_from_the_first_look(
    check_mode: bool, held: set[str]
) -> None:
    snapshot = ClusterSnapshot()
    for name, phase in (("begun", UPGRADING), ("ended", "done"), ("other", "")):
        said = {NAME: BEGUN % phase} if phase else {}
        snapshot.nodes[name] = node(name, annotations=said)
    desired: Any = SimpleNamespace(
        client=cast(Client, None),
        plans=[],
        recipe=SimpleNamespace(name="toy"),
        prepared=SimpleNamespace(namespace="toy"),
    )
    choice: Any = SimpleNamespace(reason="Upgrading", phase=UPGRADING)
    exchange = FleetExchange(
        desired,
        cast(Any, None),
        None,
        lambda _survey: choice,
        cast(Guard, SimpleNamespace(before_write=lambda: None)),
        RunContext(check_mode=check_mode),
    )
    walker = Walker([], WalkSettings("toy", "toy"), snapshot, NOW)
    exchange.announce(walker)
    assert walker.held.keys() == held


TAINTS = {
    "stays": "example.com/team",
    "starts": "node.cilium.io/agent-not-ready",
    "leaves": "ToBeDeletedByClusterAutoscaler",
}
PLAN = plan("driver")


def survey_of(*, phase: str = "", **marks: Any) -> UpgradeSurvey:
    """A node of each kind of TAINTS, by the name of its kind. phase: what their annotation says;
    marks: what else they have."""
    snapshot = ClusterSnapshot()
    for name, key in TAINTS.items():
        snapshot.nodes[name] = node(
            name,
            annotations={NAME: BEGUN % phase} if phase else {},
            taints=({"key": key, "effect": "NoSchedule"},),
            **marks,
        )
        snapshot.groups[name] = GROUP
    desired: Any = SimpleNamespace(
        client=None,
        plans=[PLAN],
        recipe=SimpleNamespace(name="toy", remedies=SimpleNamespace(states=("driver",))),
        prepared=SimpleNamespace(namespace="toy"),
    )
    return UpgradeSurvey(desired, cast(Any, None), snapshot)


def test_a_node_that_leaves_is_not_exchanged_and_one_that_starts_is_said_to_do_so() -> None:
    survey = survey_of(phase=UPGRADING)
    choice = OutdatedDrivers(survey, cast(Any, SimpleNamespace(only=None)))
    assert choice.candidates() == ["starts", "stays"]
    assert survey.leaving().keys() == {"leaves"}
    assert survey._unusable("stays") == ""
    assert survey._unusable("starts").startswith(
        "the node starts: it has the taint node.cilium.io/"
    )


@pytest.mark.parametrize(
    ("reported", "faulty"), [((), ["stays"]), (tuple(TAINTS), ["starts", "stays"])]
)
def test_what_fails_on_a_node_on_its_way_is_no_fault_of_it(
    reported: tuple[str, ...], faulty: list[str]
) -> None:
    survey = survey_of(labels={"hardware-enablement.io/toy.driver": "degraded"})
    settings: Any = SimpleNamespace(
        faults=dict.fromkeys(reported, "XID 79"),
        exchange=SimpleNamespace(remedies=RemedyRules()),
    )
    assert sorted(FaultyNodes(survey, settings, lambda: NOW).candidates()) == faulty


def test_a_node_that_leaves_on_its_way_is_let_go() -> None:
    survey, ended = survey_of(), []
    desired: Any = SimpleNamespace(client=None)
    fleet = FleetExchange(
        desired,
        cast(Any, None),
        None,
        cast(Any, None),
        cast(Any, SimpleNamespace(before_write=None)),
        RunContext(),
    )
    walker = Walker([PLAN], WalkSettings("toy", "toy"), survey.snapshot, NOW)
    exchange: Any = SimpleNamespace(
        node="leaves",
        remedy=None,
        tell=lambda _text: ended.append("told"),
        drop=lambda: ended.append("dropped"),
        fail=lambda _text: ended.append("failed"),
    )
    result = Result("driver", Phase.LEAVING, "NodeLeaves", "it leaves")
    walker.results["leaves", "driver"] = result
    fleet._judge(exchange, walker, survey)
    walker.results["leaves", "driver"] = replace(result, final=True)
    fleet._judge(exchange, walker, survey)
    assert ended == ["told", "dropped"]
