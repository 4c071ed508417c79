# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node's way to another driver: what is done in which order, and what others do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    ApiError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.device_allocation import (
    NOBODY,
    AllocationChange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.driver_pods import (
    DriverPod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    ExchangeEnding,
    ExchangeStep,
    Reboot,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    refusal,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.node_bed import (
    ALLOCATION,
    OLD,
    STANDING,
    Way,
    claimed,
)

__all__ = ["fake"]


@pytest.fixture
def way(fake: FakeServer) -> Iterator[Way]:
    made = Way(fake)
    yield made
    made.end()


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


def test_who_has_claimed_a_device_leaves_before_the_driver_goes(way: Way) -> None:
    evictions = way.cluster.refuse
    way.cluster.refuse = lambda asked: claimed(asked, "uid-user") or evictions(asked)
    way.settings = replace(
        way.settings, use=replace(way.settings.use, dra_drivers=("gpu.acme.io",))
    )
    way.begin()
    way.add_user(runtimeClassName="", resourceClaims=[{"name": "gpu"}])
    way.go()
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]


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


def test_a_driver_that_somebody_made_anew_meanwhile_is_not_ended(way: Way) -> None:
    way.cluster.objects["pods"]["old"]["metadata"]["uid"] = "uid-of-another"
    way.go()
    assert "old" in way.cluster.objects["pods"]


def test_a_validation_pod_of_the_driver_that_goes_is_ended_and_no_other_one(way: Way) -> None:
    proving = world.validator("proof", "driver", phase="Running")
    way.own = [STANDING, {**proving, "metadata": {**proving["metadata"], "uid": "uid-before"}}]
    way.cluster.put("pods", proving)
    way.go()
    # It is another one of that name.
    assert way.cluster.objects["pods"].keys() == {"old", "proof"}
    way.own = [STANDING, proving]
    way.go()
    assert way.cluster.objects["pods"].keys() == {"old"}


def test_an_eviction_is_of_the_pod_that_was_seen(way: Way) -> None:
    way.add_user()
    way.go()
    (asked,) = (each for each in way.fake.asked if each.path.split("?")[0].endswith("/eviction"))
    assert b'"preconditions":{"uid":"uid-user"}' in asked.body
    assert way.cluster.deleted == []


@pytest.mark.parametrize("reason", ["NotFound", "Conflict"])
def test_a_user_that_went_by_itself_is_waited_for_no_longer(way: Way, reason: str) -> None:
    way.add_user()
    way.cluster.refuse = lambda asked: _on_eviction(asked, way, reason)
    way.go()
    way.until_not(ExchangeStep.FREE)
    assert way.exchange.ending is None
    assert way.go() is ExchangeStep.RESTART


def _on_eviction(asked: Asked, way: Way, reason: str) -> Answer | None:
    """Let the user go, and another one come, when it is to be evicted."""
    if not asked.path.split("?")[0].endswith("/eviction"):
        return None
    if "user" in way.cluster.objects["pods"]:
        way.cluster.remove("pods", "user")
    return refusal({"NotFound": 404, "Conflict": 409}[reason], reason, "it is gone")


def test_a_user_that_leaves_already_is_not_evicted_and_not_in_the_way(way: Way) -> None:
    way.add_user(volumes=[{"emptyDir": {}}])
    way.cluster.objects["pods"]["user"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert way.go() is ExchangeStep.FREE
    assert "is ending: the kubelet of node n1 has until" in way.exchange.reason
    assert way.evicted == []


def test_the_lock_is_looked_at_before_each_write(way: Way) -> None:
    way.settings = replace(way.settings, reboot=Reboot(("example.com/reboot", "now"), 60))
    way.begin()
    way.add_user()
    way.own = [world.validator("proof", "driver", phase="Running")]
    way.cluster.put("pods", way.own[0])
    way.held = True
    way.go()
    # Cordoned, and asked to leave.
    assert (_writes(way), way.looked) == (2, 2)
    way.held = False
    way.go(5)
    way.until_not(ExchangeStep.FREE)
    way.own = []
    way.go()
    way.boot, way.old = "boot-2", []
    assert way.go() is ExchangeStep.PROVE
    way.exchange.finish()
    way.go()
    assert way.exchange.ending is ExchangeEnding.DONE
    assert way.looked == _writes(way)


def _writes(way: Way) -> int:
    """How many requests were to change something."""
    return sum(asked.method != "GET" for asked in way.fake.asked)


def test_a_node_that_does_not_boot_anew_is_given_up(way: Way) -> None:
    way.settings = replace(way.settings, reboot=Reboot(("example.com/reboot", "now"), 90))
    way.begin()
    assert way.go() is ExchangeStep.REBOOT
    asked = sum("example.com/reboot" in str(patch) for _name, patch in way.cluster.patched)
    assert way.go(90) is ExchangeStep.REBOOT
    # It is asked for once.
    assert sum("example.com/reboot" in str(each) for _name, each in way.cluster.patched) == asked
    way.go(1)
    assert way.exchange.ending is ExchangeEnding.QUARANTINED
    assert way.noted["reason"] == "the node has not booted anew for 90 s"


def test_a_reboot_is_taken_up_by_the_next_run_and_asked_for_no_more_once_it_is_over(
    way: Way,
) -> None:
    way.settings = replace(way.settings, reboot=Reboot(("example.com/reboot", "now"), 90))
    way.begin()
    way.go()
    assert way.noted["boot"] == "boot-1"
    # Killed; the driver's pod has gone, and the node has not booted yet.
    way.old = []
    way.begin()
    assert way.go() is ExchangeStep.REBOOT
    way.boot = "boot-2"
    assert way.go() is ExchangeStep.PROVE
    assert "example.com/reboot" not in way.node["metadata"]["annotations"]
    assert "boot" not in way.noted


def test_the_driver_of_before_is_waited_for_until_it_has_ended(way: Way) -> None:
    assert way.go() is ExchangeStep.RESTART
    assert way.go() is ExchangeStep.RESTART
    assert way.exchange.reason == "pod toy/old of the version before is ending"
    assert way.cluster.deleted == ["old"]


def test_what_is_refused_once_a_node_is_on_its_way_is_no_matter_of_that_node(way: Way) -> None:
    way.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if asked.method == "DELETE" else None
    )
    with pytest.raises(ApiError):
        way.go()
    assert way.exchange.ending is None


def test_what_was_cordoned_before_stays_so_when_the_node_is_given_back(way: Way) -> None:
    way.node["spec"]["unschedulable"] = True
    way.old = []
    way.go()
    # Also where another run goes on.
    way.begin()
    way.go()
    way.exchange.finish()
    way.go()
    assert way.exchange.ending is ExchangeEnding.DONE
    assert way.node["spec"]["unschedulable"] is True


def test_an_api_server_that_is_silent_evicts_nobody_and_is_asked_again(way: Way) -> None:
    way.add_user()
    answer = way.cluster.refuse
    way.cluster.refuse = lambda asked: (
        refusal(503, "ServiceUnavailable", "later")
        if asked.path.split("?")[0].endswith("/eviction")
        else None
    )
    way.go()
    assert not way.exchange.is_due(way.now)
    assert "may not be evicted" not in way.exchange.reason
    way.cluster.refuse = answer
    way.go(6)
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]


@pytest.fixture
def served(way: Way) -> Way:
    """A node with the driver that is deployed, whose devices come to be served in another way."""
    way.node["metadata"]["labels"] = {ALLOCATION: "plugin"}
    way.allocation, way.driver_stays, way.old = AllocationChange("plugin", "dra"), True, []
    return way


def allocation_of(way: Way) -> str:
    """What the node's label says."""
    return str(way.node["metadata"]["labels"][ALLOCATION])


def test_one_way_has_gone_before_another_comes_and_the_driver_stays(served: Way) -> None:
    served.add_user()
    served.own, served.serves = [STANDING], "the node still offers acme.io/card"
    assert served.go() is ExchangeStep.FREE
    # Who holds a device keeps what has given it.
    assert allocation_of(served) == "plugin"
    served.until_not(ExchangeStep.FREE)
    for _look in range(3):
        assert served.go(1) is ExchangeStep.STOP
    assert allocation_of(served) == NOBODY
    assert "stands on the driver and has to end" in served.exchange.reason
    served.own = []
    assert served.go(1) is ExchangeStep.STOP
    assert allocation_of(served) == NOBODY
    assert served.exchange.reason == (
        "the node still offers acme.io/card, and two would serve the same devices"
    )
    served.serves = ""
    assert served.go(1) is ExchangeStep.SWITCH
    assert allocation_of(served) == "dra"
    assert served.go(1) is ExchangeStep.PROVE
    assert served.cluster.deleted == []


def test_a_run_that_was_killed_between_two_ways_is_taken_up(served: Way) -> None:
    served.serves = "the node still offers acme.io/card"
    for _look in range(2):
        served.go(1)
    assert allocation_of(served) == NOBODY
    served.serves = ""
    served.begin()
    for _look in range(3):
        served.go(1)
    assert allocation_of(served) == "dra"
    assert served.exchange.step is ExchangeStep.PROVE


def test_what_does_not_go_leaves_the_node_to_nobody_and_in_quarantine(served: Way) -> None:
    served.serves = "ResourceSlice n1-x of dra.acme.io is still there"
    served.go()
    for _look in range(3):
        served.go(60)
    assert served.exchange.ending is ExchangeEnding.QUARANTINED
    assert "still there, and two would serve the same devices, for 60 s" in served.noted["reason"]
    assert allocation_of(served) == NOBODY


def test_a_user_that_stays_keeps_what_has_given_it_its_device(served: Way) -> None:
    served.add_user(volumes=[{"emptyDir": {}}])
    served.go()
    assert served.exchange.ending is ExchangeEnding.POSTPONED
    assert allocation_of(served) == "plugin"
