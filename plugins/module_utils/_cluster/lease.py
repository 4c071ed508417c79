# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run's lock: a Lease that one run holds while it writes, so that two runs never mix.

Optimistic concurrency (resourceVersion) decides who gets it. A holder that died is replaced when
its time is up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from .._json import Obj, part
from .._times import micro_timestamp, seconds, timestamp
from .api_client.api_errors import AlreadyExists, Conflict, LockHeld, NotFound, Unreachable
from .api_client.client import Client
from .api_client.rights import CLUSTER, LOCKS, OF_RECIPE, Right
from .api_objects.kinds import Kind
from .api_objects.labels import DOMAIN, HOLDER_INFO_ANNOTATION, LOCK_NAMESPACE

LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", namespaced=True)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
RENEW_AFTER_S = 20.0
# So long before the lease expires nothing is written any more: a request that was sent then may
# still be carried out.
MARGIN_S = 10.0
# A request about a lock that is held may take so long, with all its repetitions: the lease goes on
# expiring.
REQUEST_S = 4.0
_ATTEMPTS = 5
_AGAIN_S = 1.0


# What a lock needs. Its namespace is made by the first run.
RIGHTS = (
    Right("coordination.k8s.io", ("leases",), ("create",), LOCKS),
    Right(
        "coordination.k8s.io",
        ("leases",),
        ("get", "patch"),
        LOCKS,
        (OF_RECIPE,),
        read_only=("get",),
    ),
    Right("", ("namespaces",), ("get", "create"), CLUSTER, (LOCK_NAMESPACE,), read_only=("get",)),
)


@dataclass(frozen=True)
class LockInfo:
    """A lock as it stands. holder is "" when it is free; times are seconds since the epoch, None when never written."""

    holder: str
    info: str
    since: float | None
    renewed: float | None
    duration_s: int
    resource_version: str
    transitions: int

    @property
    def until(self) -> float | None:
        """When the holder's time is up, if it does not renew."""
        return None if self.renewed is None else self.renewed + self.duration_s


def read(client: Client, name: str) -> LockInfo | None:
    """The lock, or None when nobody has ever taken it."""
    lease = client.get(LEASE, name, LOCK_NAMESPACE)
    return _info(lease) if lease else None


@dataclass(frozen=True)
class LockTimes:
    """now: seconds since the epoch. ticks: seconds that never jump. sleep: waits for seconds."""

    now: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class RunLock:
    """One run's hold on a lock. holder is the same for all tasks of a run; info tells a person who
    that is."""

    def __init__(
        self,
        client: Client,
        name: str,
        holder: str,
        *,
        duration_s: int = 60,
        info: str = "",
        clock: LockTimes | None = None,
    ) -> None:
        self._client = client
        self._name = name
        self._holder = holder
        self._duration_s = duration_s
        self._text = info or holder
        self._clock = clock or LockTimes()
        self._renewed_at: float | None = None
        self._tried_at: float | None = None
        self._observed: tuple[str, float] | None = None

    @property
    def _hurried(self) -> Client:
        return self._client.hurried(REQUEST_S, REQUEST_S)

    def acquire(self, wait_s: float = 0.0) -> None:
        """Take the lock, or renew it where this run has it already; raises LockHeld.

        wait_s: how long another run's hold is waited for.
        """
        deadline = self._clock.ticks() + wait_s
        while True:
            try:
                self._acquire()
                return
            except LockHeld:
                if self._clock.ticks() >= deadline:
                    raise
            self._clock.sleep(_AGAIN_S)

    def _acquire(self) -> None:
        for _attempt in range(_ATTEMPTS):
            found = read(self._client, self._name)
            if (
                found is not None
                and found.holder not in ("", self._holder)
                and not self._is_expired(found)
            ):
                raise self._held(found)
            try:
                if found is None:
                    self._create()
                elif not self._is_fresh(found):
                    self._write(self._client, found)
                return
            except (AlreadyExists, Conflict):
                # Somebody was faster: look at what they wrote.
                continue
        found = read(self._client, self._name)
        raise self._held(found) if found else self._lost(None)

    def check(self) -> None:
        """Look before a write whether this run still has the lock, and renew it when it is time;
        raises LockHeld.

        Where the API server does not answer, the lock is asked about until it is about to expire.
        """
        while not self._confirm(reading=True):
            self._clock.sleep(_AGAIN_S)

    def keep(self) -> None:
        """Renew the lock when its last renewal is a while ago; raises LockHeld when it was lost or
        is about to be.

        Where the API server does not answer, the next call tries again.
        """
        now = self._clock.ticks()
        if not self._is_due(now) or (
            self._tried_at is not None and 0 <= now - self._tried_at < _AGAIN_S
        ):
            return
        self._confirm(reading=False)
        self._tried_at = self._clock.ticks()

    def _confirm(self, *, reading: bool) -> bool:
        """Renew the lock if it is time, read it in any case with reading; False where nobody
        answered."""
        try:
            self._renew(reading=reading)
        except Unreachable as silence:
            if self._is_kept():
                return False
            # It says all that the other one does.
            raise self._unkept(silence) from None
        return True

    def _renew(self, *, reading: bool) -> None:
        for _attempt in range(_ATTEMPTS):
            if not reading and not self._is_due(self._clock.ticks()):
                return
            found = read(self._hurried, self._name)
            if found is None or found.holder != self._holder:
                raise self._lost(found)
            if not self._is_due(self._clock.ticks()):
                return
            # Another task of this run may have renewed it, or an attempt whose answer was lost.
            with suppress(Conflict):
                self._write(self._hurried, found)
                return
        raise self._lost(read(self._hurried, self._name))

    def _is_kept(self) -> bool:
        """Whether the lock lasts a while, also if nobody renews it."""
        renewed = self._renewed_at
        return renewed is not None and self._clock.ticks() - renewed < self._duration_s - MARGIN_S

    def _is_due(self, now: float) -> bool:
        return self._renewed_at is None or now - self._renewed_at >= RENEW_AFTER_S

    def release(self) -> None:
        """Give the lock back; does nothing where another run has it. The Lease stays, without a
        holder."""
        self._renewed_at = None
        for _attempt in range(_ATTEMPTS):
            found = read(self._hurried, self._name)
            if found is None or found.holder != self._holder:
                return
            body = {
                "metadata": {"resourceVersion": found.resource_version},
                "spec": {"holderIdentity": "", "renewTime": micro_timestamp(self._clock.now())},
            }
            try:
                self._hurried.patch(LEASE, self._name, LOCK_NAMESPACE, body)
                return
            except Conflict:
                continue
            except NotFound:
                return

    def _is_expired(self, found: LockInfo) -> bool:
        """By the holder's own times, or because the record did not change while this object watched
        it long enough."""
        now = self._clock.ticks()
        if self._observed is None or self._observed[0] != found.resource_version:
            self._observed = (found.resource_version, now)
        until = found.until
        return (
            until is None
            or until <= self._clock.now()
            or now - self._observed[1] >= found.duration_s
        )

    def _is_fresh(self, found: LockInfo) -> bool:
        """Whether another task of this run has renewed the lock just now."""
        if found.holder != self._holder or found.renewed is None:
            return False
        age = self._clock.now() - found.renewed
        if not 0 <= age < RENEW_AFTER_S:
            return False
        self._renewed_at = self._clock.ticks() - age
        return True

    def _create(self) -> None:
        lease = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {
                "name": self._name,
                "namespace": LOCK_NAMESPACE,
                "labels": {"app.kubernetes.io/managed-by": DOMAIN},
                "annotations": {HOLDER_INFO_ANNOTATION: self._text},
            },
            "spec": self._spec(transitions=0, since=None),
        }
        moment = self._clock.ticks()
        try:
            self._client.create(lease)
        except NotFound:
            self._create_namespace()
            self._client.create(lease)
        self._renewed_at = moment

    def _create_namespace(self) -> None:
        with contextlib.suppress(AlreadyExists):
            self._client.create(
                {"apiVersion": "v1", "kind": NAMESPACE.kind, "metadata": {"name": LOCK_NAMESPACE}}
            )

    def _write(self, client: Client, found: LockInfo) -> None:
        mine = found.holder == self._holder
        body = {
            "metadata": {
                "resourceVersion": found.resource_version,
                "annotations": {HOLDER_INFO_ANNOTATION: self._text},
            },
            "spec": self._spec(
                transitions=found.transitions + (0 if mine else 1),
                since=found.since if mine else None,
            ),
        }
        moment = self._clock.ticks()
        client.patch(LEASE, self._name, LOCK_NAMESPACE, body)
        self._renewed_at = moment

    def _spec(self, *, transitions: int, since: float | None) -> Obj:
        now = self._clock.now()
        return {
            "holderIdentity": self._holder,
            "leaseDurationSeconds": self._duration_s,
            "acquireTime": micro_timestamp(now if since is None else since),
            "renewTime": micro_timestamp(now),
            "leaseTransitions": transitions,
        }

    def _held(self, found: LockInfo) -> LockHeld:
        return LockHeld(
            f"Another run works on {self._name}",
            holder=found.holder,
            since=_short(found.since),
            until=_short(found.until),
            why=f"{found.info or found.holder} has the lock since {_short(found.since)}, until {_short(found.until)} "
            "unless it renews it",
            todo="wait until it ends, or if it is dead release its lock with the module run_lock (force: true)",
        )

    def _lost(self, found: LockInfo | None) -> LockHeld:
        self._renewed_at = None
        holder = found.holder if found else ""
        if found and holder:
            why = f"{found.info or holder} has taken it at {_short(found.since)}"
        else:
            why = "somebody has released it"
        return LockHeld(
            f"This run has lost its lock on {self._name}",
            holder=holder,
            since=_short(found.since) if found else "",
            until=_short(found.until) if found else "",
            why=why,
            todo="nothing more was written; run again when the other run has ended",
        )

    def _unkept(self, error: Unreachable) -> LockHeld:
        self._renewed_at = None
        return LockHeld(
            f"This run could not renew its lock on {self._name} in time",
            holder="",
            since="",
            until="",
            why=error.why,
            todo="nothing more was written; run again when the API server answers",
        )


def _info(lease: Obj) -> LockInfo:
    spec, metadata = part(lease, "spec"), lease["metadata"]
    return LockInfo(
        holder=spec.get("holderIdentity") or "",
        info=part(metadata, "annotations").get(HOLDER_INFO_ANNOTATION) or "",
        since=seconds(spec.get("acquireTime")),
        renewed=seconds(spec.get("renewTime")),
        duration_s=int(spec.get("leaseDurationSeconds") or 0),
        resource_version=metadata.get("resourceVersion") or "",
        transitions=int(spec.get("leaseTransitions") or 0),
    )


def _short(moment: float | None) -> str:
    return "an unknown time" if moment is None else timestamp(moment)
