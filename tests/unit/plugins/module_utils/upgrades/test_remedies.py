# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node that is at fault: what is tried, in which order, how often, and what is left in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    proven_patch,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    ExchangeEnding,
    ExchangeStep,
    Reboot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedies import (
    Remedy,
    RemedyRules,
    possible,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
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

RESET = "remedies/reset.yaml"
RULES = RemedyRules((RESET, "restart", "reboot"), attempts=3, cooldown_s=600)


@pytest.fixture
def way(fake: FakeServer) -> Iterator[Way]:
    """A node whose device somebody has reported, before its first remedy."""
    made = Way(fake, Remedy(RESET, "XID 79"), RULES)
    made.old = [replace(OLD, made=timestamp(made.now - 500))]
    yield made
    made.end()


def end_pod(way: Way, phase: str) -> None:
    """Let the remedy's pod end."""
    pod = next(each for name, each in way.cluster.objects["pods"].items() if "remedy-" in name)
    way.cluster.put("pods", {**pod, "status": {"phase": phase}})


def test_a_pod_is_run_once_everybody_has_left_and_the_driver_stays(way: Way) -> None:
    way.add_user()
    way.own = [STANDING]
    way.go()
    assert way.node["spec"]["unschedulable"] is True
    assert [taint["value"] for taint in way.node["spec"]["taints"]] == ["quarantined"]
    assert (way.noted["phase"], way.noted["fault"]) == ("remedy", "XID 79")
    way.until_not(ExchangeStep.FREE)
    assert way.go() is ExchangeStep.STOP
    assert "tried" not in way.noted
    way.own = []
    assert way.go() is ExchangeStep.RUN_POD
    assert way.noted["tried"] == [timestamp(way.now)]
    assert way.noted["remedy"] == RESET
    end_pod(way, "Succeeded")
    assert way.go(1) is ExchangeStep.PROVE
    assert way.cluster.deleted == []
    way.exchange.finish()
    way.go()
    assert way.exchange.ending is ExchangeEnding.DONE
    assert "unschedulable" not in way.node["spec"]
    assert way.node["spec"]["taints"] == []
    # So that another one today is counted.
    assert way.noted["tried"] == [timestamp(way.now - 1)]
    assert "fault" not in way.noted


def test_what_does_not_help_is_followed_by_the_next_until_none_is_left(way: Way) -> None:
    way.settings = replace(way.settings, reboot=Reboot(("example.com/reboot", "now"), 60))
    way.begin(Remedy(RESET, "", ()))
    way.go()
    end_pod(way, "Failed")
    assert way.go(1) is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old"]
    assert (way.noted["remedy"], len(way.noted["tried"])) == ("restart", 2)
    way.old = []
    assert way.go(1) is ExchangeStep.PROVE
    way.old = [replace(OLD, made=timestamp(way.now))]
    way.exchange.fail("driver, CrashLoopBackOff: no such device")
    assert way.go(1) is ExchangeStep.REBOOT
    assert way.node["metadata"]["annotations"]["example.com/reboot"] == "now"
    way.boot, way.old = "boot-2", []
    assert way.go(1) is ExchangeStep.PROVE
    way.exchange.fail("driver, CrashLoopBackOff: no such device")
    assert way.go(1) is ExchangeStep.ENDED
    assert way.exchange.ending is ExchangeEnding.QUARANTINED
    assert way.noted["reason"] == "driver, CrashLoopBackOff: no such device"
    assert len(way.noted["tried"]) == 3
    assert [taint["value"] for taint in way.node["spec"]["taints"]] == ["quarantined"]


def test_a_run_that_was_killed_is_taken_up_where_it_was(way: Way) -> None:
    way.begin(Remedy("restart", "XID 79"))
    assert way.go() is ExchangeStep.RESTART
    tried = way.noted["tried"]
    # The driver's pod is as old as before: it is what the first run had not got to.
    way.begin(Remedy("restart"))
    assert way.go(5) is ExchangeStep.RESTART
    way.old = [replace(OLD, made=timestamp(way.now))]
    way.begin(Remedy("restart"))
    assert way.go(5) is ExchangeStep.PROVE
    assert (way.noted["tried"], way.noted["fault"]) == (tried, "XID 79")


def test_what_a_killed_run_tried_is_no_try_of_another_remedy(way: Way) -> None:
    way.begin(Remedy("restart", "XID 79"))
    way.go()
    way.begin(Remedy(RESET, "XID 79"))
    assert way.go(5) is ExchangeStep.RUN_POD
    assert (way.noted["remedy"], way.noted["tried"]) == (RESET, [timestamp(way.now)])


def test_a_pod_that_an_earlier_look_has_made_is_none_that_is_refused(way: Way) -> None:
    way.cluster.refuse = lambda asked: (
        refusal(409, "AlreadyExists", "it is there already") if _is_new_pod(asked) else None
    )
    assert way.go() is ExchangeStep.RUN_POD
    assert way.exchange.ending is None


def test_the_lock_is_looked_at_before_a_remedy_s_pod_is_made(way: Way) -> None:
    way.go()
    assert way.looked == sum(asked.method != "GET" for asked in way.fake.asked)


def _is_new_pod(asked: Asked) -> bool:
    return asked.method == "POST" and asked.path.split("?")[0].endswith("/pods")


def test_a_pod_that_has_run_is_not_run_again(way: Way) -> None:
    way.go()
    end_pod(way, "Succeeded")
    before = {*way.cluster.objects["pods"]}
    way.begin(Remedy(RESET))
    assert way.go(30) is ExchangeStep.PROVE
    assert {*way.cluster.objects["pods"]} == before


def test_who_cannot_leave_keeps_the_node_in_quarantine_and_nothing_is_tried(way: Way) -> None:
    way.add_user(volumes=[{"emptyDir": {}}])
    way.go()
    assert way.exchange.ending is ExchangeEnding.QUARANTINED
    assert way.noted["reason"].startswith("XID 79; not freed: pod ns/user")
    assert way.noted["remedy"] == "none"
    assert "tried" not in way.noted
    assert "unschedulable" not in way.node["spec"]


def test_proofs_do_not_end_what_they_cannot_see(way: Way) -> None:
    way.exchange.give_up("3 remedies within a day did not help")
    way.go()
    node = way.node
    assert proven_patch(node["spec"]["taints"], node["metadata"]["annotations"], "toy") == []
    way.begin(Remedy(RESET)).give_up("no more")
    way.go()
    assert proven_patch(node["spec"]["taints"], node["metadata"]["annotations"], "toy") != []


def test_a_pod_that_is_refused_is_a_remedy_that_failed(way: Way) -> None:
    way.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no, says a webhook") if _is_new_pod(asked) else None
    )
    assert way.go() is ExchangeStep.RESTART
    assert way.noted["remedy"] == "restart"
    assert len(way.noted["tried"]) == 2


def test_a_day_has_so_many_tries_and_the_last_step_is_repeated() -> None:
    day = [timestamp(moment) for moment in (1000, 2000, 3000)]
    rules = replace(RULES, attempts=4)
    assert [rules.next(day[:count], 4000) for count in range(4)] == [
        RESET,
        "restart",
        "reboot",
        "reboot",
    ]
    assert RULES.next(day, 4000) == ""
    # The first of them was more than a day ago.
    assert RULES.next(day, 1000 + 86401) == "reboot"
    assert RULES.is_cooling(day, 3500)
    assert not RULES.is_cooling(day, 3601)
    assert possible(RULES.steps, reboots=False) == (RESET, "restart")
