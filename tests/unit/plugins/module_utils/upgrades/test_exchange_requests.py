# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What upgrades and remedies make of what they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface import arguments
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades import (
    remedy_run,
    upgrade_run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    Reboot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedy_settings import (
    NodeRemedyRequest,
    RemedySettings,
    make_remedy_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_settings import (
    DriverUpgradeRequest,
    make_settings,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

RECIPE = load(runs.FILES, "toy")
PREPARED = Prepared(RECIPE, Intent(resolve(RECIPE, {}), "toy"), "applyset")


def checked(spec: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Parameters as a module has them."""
    spec = {**spec, "bundle": {"type": "dict"}}
    found = ArgumentSpecValidator(spec).validate({"recipe": "toy", "bundle": runs.FILES, **given})
    assert not found.error_messages
    parameters: dict[str, Any] = found.validated_parameters
    return parameters


def upgrade(**given: Any) -> DriverUpgradeRequest:
    return make_request(DriverUpgradeRequest, checked(arguments.DRIVER_UPGRADE, **given))


def remedy(**given: Any) -> RemedySettings:
    params = checked(arguments.NODE_REMEDY, **given)
    return make_remedy_settings(PREPARED, make_request(NodeRemedyRequest, params))


def test_a_node_is_led_as_it_is_asked() -> None:
    plain = make_settings(PREPARED, upgrade()).exchange
    assert (plain.recipe, plain.free_s, plain.stop_s, plain.reboot) == ("toy", 600, 300, None)
    assert (plain.rules.daemonsets, plain.rules.force, plain.rules.grace_period) == (
        True,
        False,
        None,
    )
    request = upgrade(
        drain={"force": True, "daemonsets": False, "grace_period": 5, "timeout": 60},
        reboot="annotation",
        reboot_annotation="reboot.example/wanted=yes",
        reboot_timeout=90,
    )
    asked = make_settings(PREPARED, request).exchange
    assert (asked.rules.force, asked.rules.daemonsets, asked.rules.grace_period) == (True, False, 5)
    assert (asked.free_s, asked.reboot) == (60, Reboot(("reboot.example/wanted", "yes"), 90))


@pytest.mark.parametrize(
    "given",
    [
        {"waves": ["half"]},
        {"max_unavailable": "110%"},
        {"max_failures": "-1"},
        {"reboot": "annotation", "reboot_annotation": "wanted"},
        {"maintenance_window": {"start": "soon", "end": "04:00"}},
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        make_settings(PREPARED, upgrade(**given))


@pytest.mark.parametrize("start", ["22:00", 22 * 60])
def test_a_time_is_meant_as_it_is_written_in_quotes_or_not(start: str | int) -> None:
    request = upgrade(maintenance_window={"start": start, "end": "04:00"})
    window = make_settings(PREPARED, request).window
    assert window is not None
    assert str(window).startswith("22:00 to 04:00 UTC")


def test_faults_and_releases_are_of_different_nodes() -> None:
    assert remedy(faults=[{"node": "n1", "fault": "XID 79"}], release=["n2"]).faults == {
        "n1": "XID 79"
    }
    for given in ({"release": ["n1"]}, {"faults": [{"node": "n1", "fault": "two\nlines"}]}):
        with pytest.raises(InvalidInput):
            remedy(**{"faults": [{"node": "n1", "fault": "XID 79"}], **given})


def test_a_rollback_applies_what_was_proven_with_the_secrets_that_no_record_has() -> None:
    request = upgrade(options={"token": "t0ken"}, failure_grace=7.0, require_ready=True)
    proven = {"options": {"version": "1"}, "pools": [{"name": "a"}], "images": [{"image": "i"}]}

    asked = upgrade_run._as_proven(request, proven)

    assert asked.given.options == {"version": "1", "token": "t0ken"}
    assert (asked.given.pools, asked.images.driver_images) == ([{"name": "a"}], [{"image": "i"}])
    assert (asked.state, asked.choice.states, asked.choice.with_requirements) == (
        "present",
        None,
        False,
    )
    proving = asked.proving
    assert (proving.wait, proving.record, proving.require_ready) == (False, True, False)
    assert proving.failure_grace == 7.0


def test_what_is_given_and_no_secret_is_no_option_of_the_way_back() -> None:
    known = runs.FILES["recipe.yml"].replace("  token:", "  level: {type: int}\n  token:")
    bundle = {**runs.FILES, "recipe.yml": known}
    request = upgrade(bundle=bundle, options={"level": 2, "token": "t0ken"})
    proven = {"options": {"level": 1}, "pools": [], "images": []}

    asked = upgrade_run._as_proven(request, proven)

    assert asked.given.options == {"level": 1, "token": "t0ken"}


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.mark.parametrize(
    ("task", "spec", "table"),
    [
        (
            upgrade_run.TASK,
            arguments.DRIVER_UPGRADE,
            ["toy: every driver runs the version that is deployed"],
        ),
        (remedy_run.TASK, arguments.NODE_REMEDY, ["toy: no node is at fault"]),
    ],
)
def test_a_task_plans_for_what_is_deployed_and_for_nothing_else(
    fake: FakeServer, task: Any, spec: dict[str, Any], table: list[str]
) -> None:
    ScriptedCluster(fake, runs.card_node(card="yes"))
    with pytest.raises(EnablementError, match="toy is not enabled, so it has no drivers"):
        runs.run(task, spec, fake)

    runs.run(apply.TASK, arguments.STATE_APPLY, fake)
    planned = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    result = runs.run(task, spec, fake, planned)

    assert (result["table"], result["done"], result["stopped"]) == (table, [], "")
