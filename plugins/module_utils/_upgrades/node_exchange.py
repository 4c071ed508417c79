# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exchange of one node's driver, or a remedy on a node, step by step: each call does what is due
now, and what was done is told from the cluster, so that a run that was killed anywhere is taken up by
the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from .._cluster.api_client.api_errors import ApiError, Conflict, Unreachable
from .._cluster.api_client.client import Client
from .._cluster.api_objects.labels import VALIDATION_LABEL
from .._json import Obj, part
from .._nodes.device_allocation import NOBODY
from .._nodes.upgrade_marks import (
    DONE,
    QUARANTINED,
    REMEDY,
)
from .._recipes.loading.recipe import REBOOT_NODE, RESTART_DRIVER
from .._verdicts.wait_causes import deletion_cause
from .driver_pods import DriverPod
from .exchange_mark import ExchangeMark
from .exchange_steps import ExchangeEnding, ExchangeSettings, ExchangeStep, Reboot
from .node_drain import NodeDrain
from .remedies import Remedy
from .remedy_pod import RemedyPod, remedy_pod_name
from .upgrade_survey import SurveyedNode

AGAIN_S = 2.0
POD_AGAIN_S = 1.0
# What lasts so long is written to the node, for whoever looks from elsewhere.
TELL_AFTER_S = 10.0


_WITHDRAWN = (
    ExchangeStep.STOP,
    ExchangeStep.RUN_POD,
    ExchangeStep.REBOOT,
    ExchangeStep.RESTART,
    ExchangeStep.SWITCH,
)
_HELD = (ExchangeStep.CORDON, ExchangeStep.FREE, *_WITHDRAWN)
_WATCHED = (ExchangeStep.PROVE, ExchangeStep.ENDED)


class NodeExchange:
    """One node on its way. remedy: None where its driver is brought to the version that is
    deployed. masked: a text without secrets."""

    def __init__(
        self,
        client: Client,
        node: SurveyedNode,
        settings: ExchangeSettings,
        remedy: Remedy | None,
        before_write: Callable[[], None],
        clock: Callable[[], float],
        masked: Callable[[str], str],
    ) -> None:
        self._client = client
        self._settings = settings
        self._there = node
        self._masked = masked
        self._before_write = before_write
        self._clock = clock
        self._drain = NodeDrain(client, node.name, settings, before_write)
        self._ended_pods: set[str] = set()
        self._reported = ""
        self._reason_since = clock()
        self.node = node.name
        self._mark = ExchangeMark(client, node.name, settings.recipe, node.target(), remedy, clock)
        self.step = ExchangeStep.CORDON
        self.step_since = self.began = clock()
        self.again_at = 0.0
        self.reason = ""
        self.ending: ExchangeEnding | None = None
        self.took = 0.0
        self._failure = ""
        self._asked = False
        self._do: Mapping[ExchangeStep, Callable[[], None]] = {
            ExchangeStep.CORDON: self._cordon,
            ExchangeStep.FREE: self._free,
            ExchangeStep.STOP: self._stop,
            ExchangeStep.RUN_POD: self._run_pod,
            ExchangeStep.REBOOT: self._reboot,
            ExchangeStep.RESTART: self._restart,
            ExchangeStep.SWITCH: self._switch,
            ExchangeStep.FINISH: self._give_back,
            ExchangeStep.FAIL: self._quarantine,
        }

    @property
    def phase(self) -> str:
        """As the node says it while it is on its way."""
        return self._mark.phase

    @property
    def remedy(self) -> Remedy | None:
        """What is tried on the node; None where its driver is exchanged."""
        return self._mark.remedy

    def is_held(self) -> bool:
        """Whether the node is not to be proven now."""
        return self.step in _HELD

    def is_due(self, now: float) -> bool:
        """Whether there is something to do."""
        return self.step not in _WATCHED and self.again_at <= now

    def withdraws(self) -> bool:
        """Whether our own pods that stand on the driver have to go."""
        return self.step in _WITHDRAWN

    def standing_states(self) -> list[str]:
        """The states of which the node has no gate while its pods leave."""
        return self._there.standing_states()

    def waits_for_caller(self) -> bool:
        """Whether nothing happens before whoever called has rebooted the node."""
        reboot = self._reboot_by
        return self.step is ExchangeStep.REBOOT and reboot is not None and reboot.annotation is None

    @property
    def _reboot_by(self) -> Reboot | None:
        asked = (
            not self._there.driver_stays if self.remedy is None else self.remedy.step == REBOOT_NODE
        )
        return self._settings.reboot if asked else None

    @property
    def _runs_pod(self) -> bool:
        """Whether a pod is all that the remedy is; the driver stays."""
        return self.remedy is not None and self.remedy.step not in (RESTART_DRIVER, REBOOT_NODE)

    def _drivers(self) -> Sequence[DriverPod]:
        """The drivers' pods that have to go."""
        if self.remedy is None:
            return self._there.outdated()
        if not self._mark.is_tried:
            return self._there.drivers()
        begun = self.remedy.tried[-1]
        return [pod for pod in self._there.drivers() if pod.made < begun]

    def advance(self) -> None:
        """Do what is due; raises what another try does not mend."""
        now = self._clock()
        self.again_at = 0.0
        try:
            before = None
            while before is not self.step and self.step not in _WATCHED:
                before = self.step
                self._do[self.step]()
            self._tell()
        except (Unreachable, Conflict) as error:
            self._say(error.why or str(error))
            self.again_at = now + AGAIN_S
        except ApiError as error:
            if self.step is not ExchangeStep.CORDON:
                raise
            # Nothing has been done, and another node may be let.
            self.reason = f"it cannot be cordoned: {error.why or error.what}"
            self.ending, self.step = ExchangeEnding.POSTPONED, ExchangeStep.ENDED

    def _cordon(self) -> None:
        if not self._write(self.phase, ""):
            return
        if self._mark.boot:
            self._go(ExchangeStep.REBOOT)
        elif self._runs_pod or self._there.allocation or self._drivers():
            self._go(ExchangeStep.FREE)
        else:
            # The driver's pod has been restarted by a run before this one.
            self._prove()

    def _free(self) -> None:
        users = self._drain.users()
        now = self._clock()
        blocked = [user for user in users if user.obstacle and not user.leaving]
        if blocked:
            first = blocked[0]
            self._postpone(f"pod {first}, which {first.why}: {first.obstacle}")
            return
        if not users:
            self._drain.close()
            self._go(ExchangeStep.STOP)
            return
        if now - self.step_since > self._settings.free_s:
            self._postpone(f"{self._drain.kept_by(users)}, after {self._settings.free_s:.0f} s")
            return
        self._drain.evict(users, now)
        self._say(self._drain.kept_by(users))
        self.again_at = now + 0.2

    def _stop(self) -> None:
        if not self._withdraw():
            return
        if self._there.allocation and not self._says(NOBODY):
            return
        left = [pod for pod in self._there.standing() if not self._is_remedy_pod(pod)]
        self._end_validators(left)
        if left:
            metadata = left[0]["metadata"]
            self._wait(
                f"pod {metadata['namespace']}/{metadata['name']} stands on the driver"
                f" and has to end: {deletion_cause(left[0]).why}"
            )
            return
        if self._there.allocation and (served := self._there.still_served()):
            self._wait(f"{served}, and two would serve the same devices")
            self.again_at = self._clock() + POD_AGAIN_S
            return
        if not self._note_try():
            return
        if self._runs_pod:
            self._go(ExchangeStep.RUN_POD)
            return
        self._end_drivers()
        if self._reboot_by is None:
            self._go(ExchangeStep.RESTART)
        else:
            self._mark.boot = self._there.boot_id()
            self._write(self.phase, ExchangeStep.REBOOT.value)
            self._go(ExchangeStep.REBOOT)

    def _end_drivers(self) -> None:
        """Delete the drivers' pods that make way for others."""
        self._before_write()
        kind = self._client.kind("v1", "Pod")
        for pod in self._drivers():
            self._client.delete(kind, pod.key.name, pod.key.namespace, uid=pod.uid)
            self._ended_pods.add(pod.uid)

    def _note_try(self) -> bool:
        """Note on the node, before it is done, that a remedy is tried; False where the node is
        gone."""
        if self.remedy is None or self._mark.is_tried:
            return True
        self._mark.begin_try()
        return self._write(REMEDY, self.reason)

    def _run_pod(self) -> None:
        remedy = self.remedy or Remedy("")
        ours = RemedyPod(self._client, self._there, remedy, self._before_write, self._masked)
        # It stays when it has ended, so that it is not made twice.
        pod = ours.seen()
        if pod is None:
            try:
                ours.make()
            except (Unreachable, Conflict):
                raise
            except ApiError as error:
                self.fail(f"the remedy's pod cannot be made: {error.why or error.what}")
                return
        phase = part(pod or {}, "status").get("phase")
        if phase == "Succeeded":
            self._prove()
        elif pod and phase == "Failed":
            self.fail(ours.why_failed(pod))
        else:
            self.again_at = self._clock() + POD_AGAIN_S
            self._wait(f"pod {ours.name}, which is the remedy, has not ended")

    def _is_remedy_pod(self, pod: Obj) -> bool:
        """Whether a pod is what a remedy has begun."""
        if self.remedy is None or not self._mark.is_tried:
            return False
        return bool(pod["metadata"]["name"] == remedy_pod_name(self.node, self.remedy))

    def _reboot(self) -> None:
        reboot = self._reboot_by
        if reboot is None or self._there.boot_id() != self._mark.boot:
            self._mark.boot = ""
            self._request_reboot(None)
            self._write(self.phase, "")
            self._go(ExchangeStep.RESTART)
        elif self._clock() - self.step_since > reboot.timeout_s:
            self.fail(f"the node has not booted anew for {reboot.timeout_s:.0f} s")
        elif reboot.annotation and not self._asked:
            self._request_reboot(reboot.annotation[1])
            self._asked = True

    def _request_reboot(self, value: str | None) -> None:
        reboot = self._reboot_by
        if reboot and reboot.annotation:
            self._before_write()
            body = {"metadata": {"annotations": {reboot.annotation[0]: value}}}
            self._client.patch(self._client.kind("v1", "Node"), self.node, None, body)

    def _end_validators(self, pods: Sequence[Obj]) -> None:
        """End what a run has started to prove the driver that goes."""
        for pod in pods:
            metadata = pod["metadata"]
            if _is_validator(pod) and not metadata.get("deletionTimestamp"):
                self._before_write()
                kind = self._client.kind("v1", "Pod")
                self._client.delete(
                    kind, metadata["name"], metadata["namespace"], uid=metadata["uid"]
                )

    def _restart(self) -> None:
        left = [pod for pod in self._drivers() if pod.uid in self._ended_pods]
        if left:
            key, cause = left[0].key, left[0].ends
            ending = f"pod {key.namespace}/{key.name} of the version before is ending"
            self._wait(f"{ending}: {cause}" if cause else ending)
        elif self._drivers():
            # Another one of an old version: the DaemonSet has changed meanwhile.
            self._go(ExchangeStep.STOP)
        else:
            self._go(ExchangeStep.SWITCH)

    def _switch(self) -> None:
        change = self._there.allocation
        if change is None or self._says(change.wanted):
            self._prove()

    def _says(self, way: str) -> bool:
        """Whether the node's label is seen to name this way; it is written where not."""
        if self._there.says(way):
            return True
        self._before_write()
        body = {"metadata": {"labels": {self._there.allocation_label(): way}}}
        self._client.patch(self._client.kind("v1", "Node"), self.node, None, body)
        self._wait(f"the node has yet to be seen with {self._there.allocation_label()}={way}")
        self.again_at = self._clock() + POD_AGAIN_S
        return False

    def _withdraw(self) -> bool:
        """Have the labels taken off that our pods wait for, by the walk or by the node's own agent;
        False while one is there: a pod may come for it that is not seen yet."""
        states = self._there.own_states()
        if states and self._mark.withdrawn != states:
            self._mark.withdrawn = states
            self._write(self.phase, self.reason)
        if left := self._there.published():
            whose = "the node's agent has yet to take off" if states else "the node still has"
            self._wait(f"{whose} the label of state {left[0]}")
            return False
        return not self.ending

    def _prove(self) -> None:
        if self._mark.withdrawn:
            self._mark.withdrawn = ()
            self._write(self.phase, "")
        self._go(ExchangeStep.PROVE)

    def _wait(self, reason: str) -> None:
        self._say(reason)
        if self._clock() - self.step_since > self._settings.stop_s:
            self.fail(f"{reason}, for {self._settings.stop_s:.0f} s")

    def finish(self) -> None:
        """The node is proven."""
        self._go(ExchangeStep.FINISH)

    def _give_back(self) -> None:
        took = max(round(self._clock() - self.began), 1)
        self._end(ExchangeEnding.DONE, DONE, took=took)

    def _quarantine(self) -> None:
        self._end(ExchangeEnding.QUARANTINED, QUARANTINED, self._failure)

    def fail(self, reason: str) -> None:
        """The node is not to be used as it is; another remedy is tried first, where there is one."""
        self.ending = None
        tried = self.remedy.tried if self.remedy else ()
        step = self._settings.remedies.next(tried, self._clock())
        if self.remedy and step:
            self._mark.next_remedy(step)
            self._go(ExchangeStep.CORDON)
        else:
            self.give_up(reason)

    def give_up(self, reason: str) -> None:
        """The node is not to be used, and nothing is done about it."""
        fault = f"{self.remedy.fault}; " if self.remedy and self.remedy.fault else ""
        self._failure = f"{fault}{reason}"
        self._go(ExchangeStep.FAIL)

    def begin_again(self) -> None:
        """The driver has changed once more."""
        self._there = self._there.survey.surveyed(self.node, self.phase)
        self._mark.target = self._there.target()
        self._go(ExchangeStep.CORDON)

    def _postpone(self, reason: str) -> None:
        """The node cannot be freed: it is left as it was, but for one that nobody should use."""
        if self.remedy:
            self.give_up(f"not freed: {reason}")
        else:
            self._end(ExchangeEnding.POSTPONED, "", reason)

    def drop(self) -> None:
        """The node has left, or leaves and proves nothing any more."""
        self._drain.close()
        self.ending, self.step = ExchangeEnding.GONE, ExchangeStep.ENDED

    def _end(self, ending: ExchangeEnding, phase: str, reason: str = "", took: int = 0) -> None:
        self.reason = reason
        if self._write(phase, reason, took):
            self.took = self._clock() - self.began
            self._drain.close()
            self.ending, self.step = ending, ExchangeStep.ENDED

    def _write(self, phase: str, reason: str, took: int = 0) -> bool:
        """Write how the node stands, "" for in no exchange; False where there is no such node."""
        self._before_write()
        there = self._mark.write(phase, reason, took)
        if not there:
            self.drop()
        return there

    def _go(self, step: ExchangeStep) -> None:
        self.step, self.step_since = step, self._clock()
        self._say(step.value)

    def _say(self, reason: str) -> None:
        if reason != self.reason:
            self.reason, self._reason_since = reason, self._clock()

    def _tell(self) -> None:
        """Note on the node what it has waited for so long."""
        lasting = self._clock() - self._reason_since > TELL_AFTER_S
        if not self.ending and lasting and self._reported != self.reason:
            self._reported = self.reason
            self._write(self.phase, self.reason)

    def tell(self, reason: str) -> None:
        """What the node waits for while it is proven."""
        self._say(reason)
        with suppress(Unreachable, Conflict):
            self._tell()


def _is_validator(pod: Obj) -> bool:
    """Whether a run has started a pod to prove something."""
    return VALIDATION_LABEL in part(pod["metadata"], "labels")
