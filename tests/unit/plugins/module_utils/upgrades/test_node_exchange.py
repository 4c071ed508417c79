# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node's way to another driver: what is done in which order, and what others do meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.driver_pods import (
    DriverPod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    ExchangeEnding,
    ExchangeStep,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    refusal,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.node_bed import (
    OLD,
    STANDING,
    Way,
)

__all__ = ["fake"]


@pytest.fixture
def way(fake: FakeServer) -> Way:
    return Way(fake)


def test_each_step_comes_when_the_one_before_is_over(way: Way) -> None:
    way.add_user()
    way.own = [STANDING]
    assert way.go() is ExchangeStep.FREE
    assert way.node["spec"]["unschedulable"] is True
    assert way.noted["phase"] == "upgrading"
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]
    assert way.go() is ExchangeStep.STOP
    assert way.cluster.deleted == []
    way.own = []
    assert way.go() is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old"]
    way.old = []
    assert way.go() is ExchangeStep.PROVE
    way.exchange.finish()
    assert way.go(7) is ExchangeStep.ENDED
    assert way.exchange.ending is ExchangeEnding.DONE
    assert "unschedulable" not in way.node["spec"]
    assert way.node["spec"]["taints"] == []
    assert (way.noted["phase"], way.noted["target"]) == ("done", "v2")


def test_a_node_that_proves_itself_takes_its_labels_off_first(way: Way) -> None:
    way.states, way.labelled = ("driver", "plugin"), ["driver", "plugin"]
    way.own = [STANDING]
    way.until_not(ExchangeStep.FREE)
    assert way.go() is ExchangeStep.STOP
    assert way.noted["withdrawn"] == ["driver", "plugin"]
    # Nothing is restarted while pods would come back.
    way.own = []
    assert way.go() is ExchangeStep.STOP
    assert way.cluster.deleted == []
    way.labelled = []
    assert way.go() is ExchangeStep.RESTART
    way.old = []
    assert way.go() is ExchangeStep.PROVE
    # Now it may prove again.
    assert "withdrawn" not in way.noted


def test_a_driver_stays_while_a_label_may_still_bring_pods_onto_it(way: Way) -> None:
    way.labelled = ["plugin"]
    way.until_not(ExchangeStep.FREE)
    assert way.go() is ExchangeStep.STOP
    assert way.exchange.reason == "the node still has the label of state plugin"
    assert way.cluster.deleted == []
    way.labelled = []
    assert way.go() is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old"]


def test_a_driver_that_was_restarted_before_is_only_proven(way: Way) -> None:
    way.old = []
    assert way.go() is ExchangeStep.PROVE
    assert way.cluster.deleted == []


def test_a_budget_is_asked_again_and_named_and_in_the_end_nothing_has_changed(way: Way) -> None:
    way.add_user()
    way.held = True
    way.go()
    assert way.exchange.reason.startswith("pod ns/user, which runs with runtime class acme")
    assert "the budget b needs 1 healthy pods" in way.exchange.reason
    way.go(11)
    way.go(1)
    # Who looks from elsewhere reads it, too.
    assert "the budget b needs" in way.noted["reason"]
    way.go(60)
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert way.noted == {}
    assert "unschedulable" not in way.node["spec"]
    assert way.cluster.deleted == []


def test_a_budget_that_gives_in_is_enough(way: Way) -> None:
    way.add_user()
    way.held = True
    way.go()
    way.held = False
    way.go(5)
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]
    assert way.exchange.step is ExchangeStep.RESTART


def test_a_user_that_does_not_end_says_what_holds_it(way: Way) -> None:
    way.add_user()
    way.cluster.objects["pods"]["user"]["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["their.io/hold"],
    }
    way.go()
    assert way.exchange.reason.endswith(
        "is ending: finalizer their.io/hold holds it, which belongs to ReplicaSet r"
    )


def test_who_may_not_be_evicted_ends_it_before_anybody_is(way: Way) -> None:
    way.add_user("a")
    way.add_user("b", volumes=[{"emptyDir": {}}])
    way.go()
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert "drain.delete_emptydir_data" in way.exchange.reason
    assert way.evicted == []
    assert "unschedulable" not in way.node["spec"]


def test_own_pods_that_do_not_leave_end_in_quarantine(way: Way) -> None:
    way.own = [STANDING]
    way.go()
    way.go(61)
    assert way.exchange.ending is ExchangeEnding.QUARANTINED
    assert way.noted["phase"] == "quarantined"
    begun = "pod toy/plugin stands on the driver and has to end: its deletion has not begun"
    assert begun in way.noted["reason"]
    values = [taint["value"] for taint in way.node["spec"]["taints"]]
    assert values == ["quarantined"]


def test_a_node_that_is_gone_is_no_failure(way: Way) -> None:
    way.cluster.remove("nodes", "n1")
    assert way.go() is ExchangeStep.ENDED
    assert way.exchange.ending is ExchangeEnding.GONE


def test_an_api_server_that_does_not_answer_is_asked_again(way: Way) -> None:
    silent = way.cluster.refuse
    way.cluster.refuse = lambda _asked: refusal(503, "ServiceUnavailable", "later")
    way.go()
    assert (way.exchange.step, way.exchange.ending) == (ExchangeStep.CORDON, None)
    assert not way.exchange.is_due(way.now)
    way.cluster.refuse = silent
    assert way.go(2) is ExchangeStep.RESTART, way.exchange.reason


def test_a_driver_that_does_not_end_says_what_holds_it(way: Way) -> None:
    way.old = [replace(OLD, ends="finalizer their.io/hold holds it")]
    way.go(2)
    assert way.exchange.reason.endswith("is ending: finalizer their.io/hold holds it")


def test_a_driver_that_changes_meanwhile_is_begun_again(way: Way) -> None:
    way.go()
    other = DriverPod("driver", ObjectKey("v1", "Pod", "toy", "next"), "uid-next", "image a -> b")
    way.old = [other]
    way.add_driver("next")
    assert way.go() is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old", "next"]


def test_a_node_that_nobody_may_cordon_is_left_to_itself(way: Way) -> None:
    way.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no, says a webhook") if asked.method == "PATCH" else None
    )
    way.go()
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert "no, says a webhook" in way.exchange.reason
    assert way.noted == {}
