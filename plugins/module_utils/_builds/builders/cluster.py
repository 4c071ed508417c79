# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What builders that work in the cluster share: several builds at a time, watched until the last
one has ended.

The objects of a build are named after its inputs: a run that was killed left nothing that the next
one does not find.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..._cluster.api_client.api_errors import ApiError, Unauthorized, Unreachable
from ..._cluster.api_client.rights import CLUSTER, READ, WRITE, Right
from ..._cluster.api_client.watch import WatchHub
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.objects import key_of
from ..._cluster.pod_trial import lacks_right, trial_pod, why_refused
from ..._cluster.removal import waited_for
from ..._json import Obj
from ..._recipes.templates.manifests import pod_template
from ..failures import NO_ACCOUNT, TIMED_OUT, BuildFailure, BuildPhase, failure
from ..orders import BuildOrder, Built
from .means import Means

LOG_LINES = 20
REFUSED = "Refused"
SHOWN_LINES = 8
TICK_S = 1.0
SAY_EVERY_S = 15.0


# What every builder needs: its objects, their pods and logs, and what the namespace allows.
RIGHTS = (
    Right("batch", ("jobs",), (*READ, *WRITE), read_only=("get", "list")),
    Right("", ("configmaps",), (*READ, *WRITE), read_only=("get", "list")),
    Right("", ("namespaces",), ("get",), CLUSTER, read_only=("get",)),
)


@dataclass
class RunningBuild:
    """An order that is being built. trouble_since: since when it cannot start. Both in seconds
    since the epoch."""

    order: BuildOrder
    began: float
    trouble_since: float | None = None


@dataclass
class _BuildProgress:
    """The orders of one run. waiting_since: when it was first tried to begin an order (seconds since
    the epoch); done: by the order's name."""

    left: list[BuildOrder]
    running: list[RunningBuild] = field(default_factory=list)
    done: dict[str, Built] = field(default_factory=dict)
    waiting_since: dict[str, float] = field(default_factory=dict)


class ClusterBuilder(ABC):
    """Builds in the cluster."""

    # The ServiceAccount that its pods run as.
    account = "default"

    def __init__(self, means: Means) -> None:
        self.client = means.client
        self.settings = means.settings
        self.guard = means.guard
        self.clock = means.clock
        self._outlook = means.predicted_failure

    def build(self, orders: Sequence[BuildOrder], say: Callable[[str], None]) -> list[Built]:
        """Build all orders; what failed says why, with the last lines of its log."""
        self.guard()
        self.prepare(orders)
        progress, scope = _BuildProgress(list(orders)), self.settings.scope
        hub = WatchHub(self.client)
        try:
            for kind in self.watched():
                hub.subscribe(kind, namespace=scope.namespace, labels=scope.selector)
            while not hub.synced:
                self._take(hub)
            said = self.clock()
            while progress.left or progress.running:
                self._begin_next(progress, say)
                self._take(hub)
                self.guard()
                self._end_finished(progress, say)
                if self.clock() - said >= SAY_EVERY_S:
                    said = self.clock()
                    self._tell_all(progress, say)
        finally:
            hub.close()
        return [progress.done[order.name] for order in orders]

    def _begin_next(self, progress: _BuildProgress, say: Callable[[str], None]) -> None:
        """Start as many orders as may run beside those that do."""
        for order in progress.left[: max(0, self.settings.pace.parallel - len(progress.running))]:
            since = progress.waiting_since.setdefault(order.name, self.clock())
            begun = self._begin(order, since, say)
            if begun is None:
                continue
            progress.left.remove(order)
            if isinstance(begun, RunningBuild):
                progress.running.append(begun)
            else:
                progress.done[order.name] = begun
                say(f"{order.title}: {begun.said}")

    def _end_finished(self, progress: _BuildProgress, say: Callable[[str], None]) -> None:
        """Take those out that have ended."""
        for entry in list(progress.running):
            built = self.poll(entry)
            if built is not None:
                progress.running.remove(entry)
                progress.done[entry.order.name] = built
                self._tell(entry, built, say)

    def foreseen(self, order: BuildOrder) -> BuildFailure | None:
        """What would make a build of an order fail, as far as it can be known before anything is
        made for it."""
        return self._outlook(order, self.account, self.own_secrets())

    def refused(self, order: BuildOrder) -> BuildFailure | None:
        """Why the API server would not take the pod of a build now, by its dry run."""
        made = self.pod_maker(order)
        if made is None:
            return None
        key, template = key_of(made), pod_template(made) or made
        try:
            self.client.create(trial_pod(key, template, set()), dry_run=True)
        except (Unauthorized, Unreachable):
            raise
        except ApiError as error:
            if lacks_right(error):
                return None
            why = f"its pod would be refused: {why_refused(error, key)}"
            return replace(failure(BuildPhase.START, REFUSED, why), foreseen=True)
        return None

    def pod_maker(self, _order: BuildOrder) -> Obj | None:
        """The object that makes the pod of a build, None where only the cluster knows that pod."""
        return None

    def remove_others(self, names: Sequence[str]) -> bool:
        """Remove what is left of builds that no order of this run is about; whether there was
        anything."""
        others = [
            (kind, item["metadata"]["name"])
            for kind in self.owned()
            for item in self.client.list(
                kind, namespace=self.settings.scope.namespace, labels=self.settings.scope.selector
            ).items
            if not any(f"{item['metadata']['name']}-".startswith(f"{name}-") for name in names)
        ]
        for kind, name in others:
            self.guard()
            self.client.delete(kind, name, self.settings.scope.namespace)
        return bool(others)

    @abstractmethod
    def owned(self) -> Sequence[Kind]:
        """The kinds of a build's objects that do not go with another one."""

    @abstractmethod
    def own_secrets(self) -> Sequence[str]:
        """The Secrets that a build needs where it runs, whatever it builds."""

    @abstractmethod
    def watched(self) -> Sequence[Kind]:
        """The kinds to watch; see take."""

    @abstractmethod
    def prepare(self, orders: Sequence[BuildOrder]) -> None:
        """Check the orders, and make what all of them need."""

    @abstractmethod
    def take(self, obj: Obj, *, gone: bool) -> None:
        """Take in what a watch says."""

    @abstractmethod
    def start(self, order: BuildOrder, say: Callable[[str], None]) -> bool:
        """Make sure that the order is being built; False while what is left of one before is still
        going away."""

    @abstractmethod
    def poll(self, entry: RunningBuild) -> Built | None:
        """How a build has ended, or None while it goes on."""

    @abstractmethod
    def doing(self, entry: RunningBuild) -> str:
        """What a build is at, for a person who waits."""

    def _begin(
        self, order: BuildOrder, since: float, say: Callable[[str], None]
    ) -> RunningBuild | Built | None:
        """Start an order; None while that has to wait, which it does since a time in seconds since
        the epoch."""
        try:
            refusal = self.foreseen(order)
            # A namespace gets its ServiceAccounts a moment after it was made.
            if (
                refusal
                and refusal.reason == NO_ACCOUNT
                and self.clock() - since < self.settings.pace.grace
            ):
                return None
            if refusal:
                return Built(order, refusal)
            if self.start(order, say):
                return RunningBuild(order, self.clock())
        except ApiError as error:
            return _refused(order, error)
        if self.clock() - since < self.settings.pace.timeout:
            return None
        why = f"what is left of the one before does not go away: {self._awaited(order)}"
        return Built(order, failure(BuildPhase.START, TIMED_OUT, why))

    def remnant(self, _order: BuildOrder) -> Obj | None:
        """What is left of a build before, and has to be gone first; None for nothing."""
        return None

    def _awaited(self, order: BuildOrder) -> str:
        """What has to be gone before an order can begin, and why it is not; "" for nothing."""
        left = self.remnant(order)
        return waited_for({key_of(left): left}) if left else ""

    def _tell_all(self, progress: _BuildProgress, say: Callable[[str], None]) -> None:
        """How far all orders are that have not ended."""
        for entry in progress.running:
            say(f"{entry.order.title}: {self.doing(entry)} ({self._age(entry)})")
        for order in progress.left:
            if awaited := self._awaited(order):
                say(f"{order.title}: {awaited}")

    def _tell(self, entry: RunningBuild, built: Built, say: Callable[[str], None]) -> None:
        say(f"{entry.order.title}: {built.said} ({self._age(entry)})")
        for line in built.log[-SHOWN_LINES:]:
            say(f"  | {line}")

    def _take(self, hub: WatchHub) -> None:
        for event in hub.next(TICK_S):
            self.take(event.object, gone=event.type == "DELETED")

    def _age(self, entry: RunningBuild) -> str:
        return f"{self.clock() - entry.began:.0f} s"


def _refused(order: BuildOrder, error: ApiError) -> Built:
    """The end of an order that the API server refuses to have built: a quota, admission, a right.
    Others go on."""
    if isinstance(error, (Unauthorized, Unreachable)):
        raise error  # it would refuse all others, too
    return Built(order, failure(BuildPhase.START, REFUSED, str(error).rstrip(".")))


def last_lines(log: str, kept: str, most: int) -> list[str]:
    """The last lines of a log, at most so many, without empty ones; where it is gone, of what the
    cluster kept of it."""
    text = log if log.strip() else kept
    return [line for line in (line.strip() for line in text.splitlines()) if line][-most:]
