# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The users of a node's devices leave, by the rules of kubectl drain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._cluster.api_client.api_errors import ApiError, Conflict, NotFound, Unreachable
from .._cluster.api_client.client import Client
from .._cluster.api_client.watch import WatchHub
from .._json import Obj
from .._states.on_nodes.claiming_pods import ClaimingPods
from .._verdicts.wait_causes import deletion_cause
from .device_users import KEPT, DeviceUser, device_users
from .exchange_steps import ExchangeSettings

# As kubectl drain asks again where a budget refuses.
EVICT_AGAIN_S = 5.0


class NodeDrain:
    """Who uses the devices of a node, and their evictions."""

    def __init__(
        self,
        client: Client,
        node: str,
        settings: ExchangeSettings,
        before_write: Callable[[], None],
    ) -> None:
        self._client = client
        self._node = node
        self._settings = settings
        self._before_write = before_write
        self._claiming = ClaimingPods(client, settings.use.dra_drivers)
        self._hub: WatchHub | None = None
        self._pods: dict[str, Obj] = {}
        self._watched: dict[str, Obj] = {}
        self._tried: dict[str, float] = {}
        self._refused: dict[str, str] = {}

    def evict(self, users: Sequence[DeviceUser], now: float) -> None:
        """Evict those that have not been asked to leave, or not for a while. Raises Unreachable."""
        for user in users:
            if not user.leaving and self._tried.get(user.uid, 0.0) + EVICT_AGAIN_S <= now:
                self._evict(user, now)

    def close(self) -> None:
        """End the watch."""
        if self._hub:
            self._hub.close()
            self._hub = None

    def kept_by(self, users: Sequence[DeviceUser]) -> str:
        """Which pod is waited for, and what keeps it."""
        user = next((each for each in users if each.uid in self._refused), users[0])
        more = f" (and {len(users) - 1} more)" if len(users) > 1 else ""
        kept = self._refused.get(user.uid) or self._ending(user)
        return f"pod {user}{more}, which {user.why}, {kept}"

    def _ending(self, user: DeviceUser) -> str:
        """How far a pod's end is."""
        pod = self._pods.get(user.uid)
        return f"is ending: {deletion_cause(pod).why}" if user.leaving and pod else "was evicted"

    def users(self) -> list[DeviceUser]:
        """Who uses the devices now: one list, then a watch as long as somebody does."""
        if self._hub is None:
            kind, bound = self._client.kind("v1", "Pod"), f"spec.nodeName={self._node}"
            found = self._client.list(kind, fields=bound, kept=KEPT).items
            self._pods = {pod["metadata"]["uid"]: pod for pod in found}
            users = self._of(found)
            if users and not any(user.obstacle for user in users):
                self._hub = WatchHub(self._client)
                self._hub.subscribe(kind, fields=bound)
            return users
        for event in self._hub.next(0.0):
            pod = event.object
            if event.type == "DELETED":
                self._watched.pop(pod["metadata"]["uid"], None)
            else:
                self._watched[pod["metadata"]["uid"]] = pod
        if self._hub.synced:
            self._pods = self._watched
        return self._of(list(self._pods.values()))

    def _of(self, pods: Sequence[Obj]) -> list[DeviceUser]:
        return device_users(pods, self._settings.drain, self._claiming.among(pods))

    def _evict(self, user: DeviceUser, now: float) -> None:
        self._tried[user.uid] = now
        self._before_write()
        try:
            self._client.evict(user.key, user.uid, self._settings.rules.grace_period)
        except (NotFound, Conflict):
            # It is gone; another one of its name is somebody else.
            self._pods.pop(user.uid, None)
        except Unreachable as error:
            if error.status != 429:
                raise
            budget = "; ".join(error.causes) or error.why
            self._refused[user.uid] = f"may not be evicted: {budget}"
        except ApiError as error:
            self._refused[user.uid] = f"cannot be evicted: {error.why}"
        else:
            self._refused.pop(user.uid, None)
