# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove objects and wait until they are gone: by watch, so that finalizers and dependents have
their time."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from .._errors import EnablementError
from .._json import Obj
from .._verdicts.wait_causes import deletion_cause
from .api_client.api_errors import ApiError
from .api_client.client import Client
from .api_client.watch import WatchHub
from .api_objects.kinds import Kind
from .api_objects.objects import ObjectKey, key_of
from .api_objects.ranks import WORKLOADS, by_rank, rank_of

_TICK_S = 1.0
_SHOWN = 5


def delete_and_wait(
    client: Client,
    keys: Iterable[ObjectKey],
    timeout: float,
    *,
    guard: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = lambda _text: None,
    uids: Mapping[ObjectKey, str] | None = None,
) -> list[ObjectKey]:
    """Remove objects in the reverse order of ranks, waiting after each rank until its objects are
    gone.

    timeout: seconds in all. guard is called before each batch and about once a second while
    waiting, and so is say, with what is waited for and why. uids: of the objects as they were when
    their removal was decided, as far as they are known; one that somebody has made anew since stays.
    Returns what was there. Raises EnablementError that names what is left, and what causes it, when
    time is up.
    """
    deadline = time.monotonic() + timeout
    removed: list[ObjectKey] = []
    for _rank, batch in by_rank(keys, lambda key: key.kind, reverse=True):
        guard()
        removed += _Removal(client, batch, guard, say, uids or {}).run(deadline)
    return removed


def wait_until_gone(
    client: Client,
    read: Callable[[], Sequence[Obj]],
    timeout: float,
    *,
    say: Callable[[str], None] = lambda _text: None,
) -> None:
    """Look about once a second until nothing is left.

    read gives what is left. timeout: in seconds. say: as for delete_and_wait. Raises EnablementError
    as that does.
    """
    deadline = time.monotonic() + timeout
    while left := {key_of(obj): obj for obj in read()}:
        if time.monotonic() > deadline:
            raise not_gone(left, client.host)
        say(waited_for(left))
        time.sleep(_TICK_S)


def waited_for(left: Mapping[ObjectKey, Obj]) -> str:
    """What is waited for, and why: of several what does not pass by itself."""
    causes = {key: deletion_cause(left[key]) for key in sorted(left)}
    key = next((key for key, cause in causes.items() if not cause.by_itself), next(iter(causes)))
    return f"waits until {key} is gone: {causes[key].why}"


def not_gone(left: Mapping[ObjectKey, Obj], host: str, trouble: str = "") -> EnablementError:
    """The error for what is left when time is up. trouble: why nobody knows."""
    causes = [deletion_cause(left[key]) for key in sorted(left)]
    stuck = [cause for cause in causes if not cause.by_itself] or causes
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    reasons = list(dict.fromkeys(cause.why for cause in stuck))
    advice = list(dict.fromkeys(cause.todo for cause in stuck))
    return EnablementError(
        f"{', '.join(str(key) for key in sorted(left)[:_SHOWN])}{more} did not go in time",
        where=host,
        why=trouble or "; ".join(reasons[:_SHOWN]),
        todo=f"{', and '.join(advice[:_SHOWN])}, then run again",
    )


def propagation_of(kind: str) -> str:
    """Workloads go after their pods, so that gone means gone; the rest need not wait for anything."""
    return "Foreground" if rank_of(kind) == WORKLOADS else "Background"


class _Removal:
    """Watch first, then delete, so that no end is missed."""

    def __init__(
        self,
        client: Client,
        keys: Sequence[ObjectKey],
        guard: Callable[[], None],
        say: Callable[[str], None],
        uids: Mapping[ObjectKey, str],
    ) -> None:
        self._client = client
        self._keys = set(keys)
        self._guard = guard
        self._say = say
        self._uids = uids
        self._seen: dict[ObjectKey, Obj] = {}

    def run(self, deadline: float) -> list[ObjectKey]:
        places: dict[tuple[Kind, str], list[str]] = defaultdict(list)
        for key in sorted(self._keys):
            # A kind that is not served any more has no objects.
            if self._client.serves(key.api_version, key.kind):
                places[(self._client.kind(key.api_version, key.kind), key.namespace)].append(
                    key.name
                )
        hub = WatchHub(self._client)
        try:
            for (kind, namespace), names in places.items():
                fields = f"metadata.name={names[0]}" if len(names) == 1 else None
                hub.subscribe(kind, namespace=namespace or None, fields=fields)
            while not hub.synced:
                self._take(hub)
            found = {key: obj for key, obj in self._seen.items() if self._is_meant(key, obj)}
            self._delete(found)
            while left := self._left(found):
                if time.monotonic() > deadline:
                    raise not_gone(left, self._client.host, hub.trouble)
                self._guard()
                self._say(waited_for(left))
                self._take(hub)
        finally:
            hub.close()
        return list(found)

    def _is_meant(self, key: ObjectKey, obj: Obj) -> bool:
        """Whether an object is the one whose removal was decided."""
        return key not in self._uids or self._uids[key] == obj["metadata"]["uid"]

    def _take(self, hub: WatchHub) -> None:
        for event in hub.next(_TICK_S):
            metadata = event.object["metadata"]
            key = ObjectKey(
                event.object["apiVersion"],
                event.object["kind"],
                metadata.get("namespace") or "",
                metadata["name"],
            )
            if event.type == "DELETED":
                self._seen.pop(key, None)
            elif key in self._keys:
                self._seen[key] = event.object

    def _delete(self, found: dict[ObjectKey, Obj]) -> None:
        calls = []
        for key, obj in found.items():
            kind, uid = self._client.kind(key.api_version, key.kind), obj["metadata"]["uid"]
            how = propagation_of(key.kind)
            calls.append(
                partial(
                    self._client.delete, kind, key.name, key.namespace, uid=uid, propagation=how
                )
            )
        for answer in self._client.parallel(calls):
            if isinstance(answer, ApiError):
                raise answer

    def _left(self, found: Mapping[ObjectKey, Obj]) -> dict[ObjectKey, Obj]:
        """Those that are still there, as they are now; one of the same name and another uid was made
        by somebody else since."""
        return {
            key: self._seen[key]
            for key, obj in found.items()
            if key in self._seen and self._seen[key]["metadata"]["uid"] == obj["metadata"]["uid"]
        }
