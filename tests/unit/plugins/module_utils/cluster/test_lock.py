# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run's lock: who gets it, who keeps it, and what the others are told."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    AlreadyExists,
    Conflict,
    LockHeld,
    NotFound,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.lease import (
    LockTimes,
    RunLock,
    read,
)


class Leases:
    """The part of a client that a lock uses, in memory, with resource versions that count."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.namespaces: set[str] = set()
        self.writes = 0
        self.before_write: Any = None
        self.answering: Any = lambda: None

    def silence(self, seconds: float, moment: Time) -> None:
        """Answer no request for so long from now on; each takes a second."""
        until = moment.now + seconds

        def race() -> None:
            if moment.now < until:
                moment.now += 1.0
                raise Unreachable("no", why="nobody answers")

        self.answering = race

    def hurried(self, _read_s: float, _patience_s: float) -> Leases:
        return self

    def get(self, _kind: Kind, _name: str, _namespace: str | None = None) -> dict[str, Any] | None:
        self.answering()
        return copy.deepcopy(self.lease)

    def create(self, obj: dict[str, Any]) -> dict[str, Any]:
        if obj["kind"] == "Namespace":
            self.namespaces.add(obj["metadata"]["name"])
            return obj
        self._before()
        if obj["metadata"]["namespace"] not in self.namespaces:
            raise NotFound("no namespace")
        if self.lease is not None:
            raise AlreadyExists("there")
        self.lease = copy.deepcopy(obj)
        self.lease["metadata"]["resourceVersion"] = "1"
        self.writes += 1
        return self.lease

    def patch(
        self, _kind: Kind, _name: str, _namespace: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        self._before()
        if self.lease is None:
            raise NotFound("gone")
        if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise Conflict("modified")
        self.lease["spec"].update(body["spec"])
        self.lease["metadata"].setdefault("annotations", {}).update(
            body["metadata"].get("annotations", {})
        )
        self.lease["metadata"]["resourceVersion"] = str(
            int(body["metadata"]["resourceVersion"]) + 1
        )
        self.writes += 1
        return self.lease

    def _before(self) -> None:
        """Let somebody else write between a read and a write, once."""
        self.answering()
        race, self.before_write = self.before_write, None
        if race:
            race()


class Time:
    """Two clocks that go together: since the epoch, and since some start."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def clock(self) -> float:
        return self.now

    def ticks(self) -> float:
        return self.now - 1_799_000_000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def leases() -> Leases:
    return Leases()


@pytest.fixture
def moment() -> Time:
    return Time()


@pytest.fixture
def lock(leases: Leases, moment: Time) -> Any:
    def make(holder: str, info: str = "") -> RunLock:
        return RunLock(
            leases,  # type: ignore[arg-type]
            "gpu",
            holder,
            info=info,
            clock=LockTimes(moment.clock, moment.ticks, moment.sleep),
        )

    return make


def test_the_first_makes_namespace_and_lease(leases: Leases, lock: Any) -> None:
    assert read(leases, "gpu") is None  # type: ignore[arg-type]
    lock("a", "alice@host, job 7").acquire()
    assert leases.namespaces == {"hardware-enablement"}
    assert leases.lease is not None
    assert leases.lease["spec"] == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 60,
        "acquireTime": "2027-01-15T08:00:00.000000Z",
        "renewTime": "2027-01-15T08:00:00.000000Z",
        "leaseTransitions": 0,
    }
    assert leases.lease["metadata"]["annotations"] == {
        "hardware-enablement.io/holder-info": "alice@host, job 7"
    }


def test_the_second_is_told_who_since_when_and_what_to_do(lock: Any, moment: Time) -> None:
    lock("a", "alice@host").acquire()
    moment.now += 30
    with pytest.raises(LockHeld) as caught:
        lock("b").acquire()
    assert (caught.value.holder, caught.value.since) == ("a", "2027-01-15T08:00:00Z")
    text = str(caught.value)
    assert "alice@host has the lock since 2027-01-15T08:00:00Z, until 2027-01-15T08:01:00Z" in text
    assert "run_lock" in text


def test_a_dead_holder_is_replaced_when_its_time_is_up(
    leases: Leases, lock: Any, moment: Time
) -> None:
    lock("a").acquire()
    moment.now += 59
    with pytest.raises(LockHeld):
        lock("b").acquire()
    moment.now += 1
    lock("b").acquire()
    assert leases.lease is not None
    assert leases.lease["spec"]["holderIdentity"] == "b"
    assert leases.lease["spec"]["leaseTransitions"] == 1


def test_a_holder_whose_clock_is_ahead_is_judged_by_watching(
    leases: Leases, lock: Any, moment: Time
) -> None:
    lock("a").acquire()
    assert leases.lease is not None
    leases.lease["spec"]["renewTime"] = "2027-01-15T20:00:00.000000Z"
    other = lock("b")
    with pytest.raises(LockHeld):
        other.acquire()
    moment.now += 40
    leases.lease["metadata"]["resourceVersion"] = "5"
    with pytest.raises(LockHeld):
        other.acquire()
    # It was renewed meanwhile, so the time starts anew.
    moment.now += 40
    with pytest.raises(LockHeld):
        other.acquire()
    moment.now += 20
    other.acquire()


def test_another_task_of_the_same_run_has_it_at_once_and_writes_only_when_it_is_time(
    leases: Leases, lock: Any, moment: Time
) -> None:
    lock("a").acquire()
    moment.now += 10
    task = lock("a")
    task.acquire()
    assert leases.writes == 1
    # The age of the other task's renewal counts.
    moment.now += 9
    task.check()
    assert leases.writes == 1
    moment.now += 1
    task.check()
    assert leases.writes == 2
    assert leases.lease is not None
    assert leases.lease["spec"]["acquireTime"] == "2027-01-15T08:00:00.000000Z"
    assert leases.lease["spec"]["renewTime"] == "2027-01-15T08:00:20.000000Z"


def test_a_lost_lock_is_noticed_and_never_taken_back(
    leases: Leases, lock: Any, moment: Time
) -> None:
    mine = lock("a")
    mine.acquire()
    moment.now += 61
    lock("b", "bob@host").acquire()
    with pytest.raises(LockHeld, match="This run has lost its lock on gpu: bob@host has taken it"):
        mine.check()
    mine.release()
    assert leases.lease is not None
    assert leases.lease["spec"]["holderIdentity"] == "b"


def test_a_lock_that_was_taken_a_moment_ago_is_noticed_before_the_next_write(lock: Any) -> None:
    mine = lock("a")
    mine.acquire()
    # Somebody thought that this run was dead: run_lock with force.
    lock("a").release()
    lock("b", "bob@host").acquire()
    mine.keep()
    with pytest.raises(LockHeld, match="bob@host has taken it"):
        mine.check()


def test_a_renewal_that_fails_is_tried_again_until_the_lease_is_about_to_expire(
    leases: Leases, lock: Any, moment: Time
) -> None:
    mine = lock("a")
    mine.acquire()
    moment.now += 20
    leases.silence(25, moment)
    while leases.writes == 1:
        moment.now += 0.25
        mine.keep()
    assert 25 <= moment.now - 1_800_000_020 <= 28
    moment.now += 20
    leases.silence(25, moment)
    mine.check()
    assert leases.writes == 3
    began = moment.now
    leases.silence(600, moment)
    with pytest.raises(
        LockHeld, match="could not renew its lock on gpu in time: nobody answers; nothing more was"
    ):
        mine.check()
    assert moment.now - began <= 51


def test_while_nobody_answers_the_lock_is_asked_about_once_a_second(
    leases: Leases, lock: Any, moment: Time
) -> None:
    mine = lock("a")
    mine.acquire()
    moment.now += 20
    leases.silence(600, moment)
    began = moment.now
    for _tick in range(40):
        moment.now += 0.25
        mine.keep()
    # Of each two seconds one is the request, which nobody answers.
    assert moment.now - began - 40 * 0.25 <= 11


def test_a_renewal_whose_answer_was_lost_is_ours(leases: Leases, lock: Any, moment: Time) -> None:
    mine = lock("a")
    mine.acquire()
    moment.now += 20
    patch = leases.patch

    def lost(*args: Any) -> dict[str, Any]:
        leases.patch = patch  # type: ignore[method-assign]
        patch(*args)
        # What a client gets that asks again.
        return patch(*args)

    leases.patch = lost  # type: ignore[method-assign]
    mine.check()
    assert leases.lease is not None
    assert leases.lease["spec"]["holderIdentity"] == "a"


def test_a_lock_that_somebody_released_is_lost(leases: Leases, lock: Any, moment: Time) -> None:
    mine = lock("a")
    mine.acquire()
    lock("a").release()
    moment.now += 21
    with pytest.raises(LockHeld, match="somebody has released it"):
        mine.check()
    leases.lease = None
    with pytest.raises(LockHeld):
        mine.check()
    mine.release()


def test_a_released_lock_is_free_and_remembers_nothing_as_held(leases: Leases, lock: Any) -> None:
    mine = lock("a")
    mine.acquire()
    mine.release()
    found = read(leases, "gpu")  # type: ignore[arg-type]
    assert found is not None
    assert found.holder == ""
    lock("b").acquire()


def test_of_two_that_come_at_once_one_wins(leases: Leases, lock: Any, moment: Time) -> None:
    leases.namespaces.add("hardware-enablement")
    leases.before_write = lock("b").acquire
    with pytest.raises(LockHeld, match="b has the lock"):
        lock("a").acquire()
    moment.now += 100
    leases.before_write = lock("c").acquire
    with pytest.raises(LockHeld, match="c has the lock"):
        lock("a").acquire()


def test_two_tasks_of_one_run_may_renew_at_once(leases: Leases, lock: Any, moment: Time) -> None:
    mine, other = lock("a"), lock("a")
    mine.acquire()
    moment.now += 30
    leases.before_write = other.acquire
    mine.check()
    assert leases.lease is not None
    assert leases.lease["metadata"]["resourceVersion"] == "3"
