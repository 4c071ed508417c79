# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a daemon can be asked. GETs are repeated for a while; what may have worked never is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Optional

from ..._http.http_pool import HttpResponse
from ..._http.retries import PAUSES_S
from ..nodes.node_machine import Dialect, Machine, RmdPolicy, Topology
from ..rmd_errors import RmdError, Unanswered
from ..workloads import RunningWorkload, Workload
from . import dialect as dialects
from .classify import classify
from .dialect import decode, encode, parse_policies, parse_topology, restorable
from .https import RmdConnection

_WORKLOADS = "/v1/workloads"
# A daemon that restarts is back by then.
_PAUSES_S = PAUSES_S[:3]
_LATER = frozenset({502, 503, 504})


class Daemon:
    """One node's daemon, a NodeWriter. dialect is None as long as nothing has told it."""

    def __init__(
        self,
        node: str,
        wire: RmdConnection,
        dialect: Optional[Dialect] = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.node = node
        self.dialect = dialect
        self._wire = wire
        self._sleep = sleep
        self._silence: Optional[Unanswered] = None

    @property
    def where(self) -> str:
        """For messages."""
        return self._wire.address.where

    @property
    def requests(self) -> Counter[str]:
        """How many requests were sent so far, by method."""
        return self._wire.requests

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def workloads(self) -> list[RunningWorkload]:
        """What runs, in the daemon's order; tells the dialect where there is something."""
        found = self._get(_WORKLOADS, "list the workloads")
        if not isinstance(found, list) or not all(isinstance(body, Mapping) for body in found):
            raise self._nonsense("list the workloads")
        self.dialect = self.dialect or dialects.of_workloads(found)
        return [decode(body) for body in found]

    def machine(self, *, mba: bool, policies: bool, may_write: bool = False) -> Machine:
        """What it says of its node; may_write: also by learn_dialect."""
        if may_write:
            self.learn_dialect()
        return Machine(self.topology(mba=mba), self.policies() if policies else None, self.dialect)

    def topology(self, *, mba: bool = False) -> Topology:
        """Caches and pools; mba: ask for memory bandwidth, too."""
        caches = self._get("/v1/cache/l3", "read the caches")
        if not isinstance(caches, Mapping):
            raise self._nonsense("read the caches")
        support = self._get("/v1/mba", "read the memory bandwidth", missing={}) if mba else None
        return parse_topology(caches, support if isinstance(support, Mapping) else None)

    def policies(self) -> dict[str, RmdPolicy]:
        """The policies by name; none where the daemon has none for its CPU."""
        found = self._get("/v1/policy", "read the policies", missing={})
        return parse_policies(found) if isinstance(found, Mapping) else {}

    def learn_dialect(self) -> Dialect:
        """The dialect; asked for, where it is not known, by a POST that every daemon refuses."""
        if self.dialect is None:
            answer = self._send("POST", _WORKLOADS, "learn the dialect", dialects.PROBE)
            self.dialect = dialects.of_refusal(answer.text)
            if self.dialect is None:
                refusal = classify(answer.status, answer.text)
                todo = "" if refusal.kind != "unknown" else "name the dialect (option dialect)"
                raise self._error("learn the dialect", refusal.kind, refusal.why, todo)
        return self.dialect

    def remove(self, running: RunningWorkload) -> None:
        """Remove a workload; what is not there any more is fine."""
        try:
            self.delete(running)
        except Unanswered as error:
            if not error.was_sent or any(left.id == running.id for left in self.workloads()):
                raise

    def add(self, workload: Workload) -> RunningWorkload:
        """Make a workload; raises where it is not there afterwards, or RMD says that it is not in
        force."""
        try:
            made = self.post(encode(workload, self.learn_dialect()))
        except Unanswered as error:
            found = [running for running in self.workloads() if running.uuid == workload.uuid]
            if not error.was_sent or not found:
                raise
            made = found[0]
        if made.is_enforced:
            return made
        self.remove(made)
        why = (
            f'RMD took it, with status "{made.status}" and group "{made.cos_name}", but set nothing'
        )
        raise RmdError(
            f"Cannot post workload {workload.uuid}",
            kind="not_enforced",
            where=self.where,
            why=why,
        )

    def restore(self, body: Mapping[str, Any]) -> None:
        """Make a workload from what the daemon once said of it."""
        wanted = restorable(body)
        try:
            self.post(wanted)
        except Unanswered as error:
            here = {running.uuid for running in self.workloads()}
            if not error.was_sent or wanted.get("uuid") not in here:
                raise
        except RmdError as error:
            if error.kind != "conflict_id":
                raise
            # Somebody else has the id by now.
            self.post({key: value for key, value in wanted.items() if key != "id"})

    def post(self, body: Mapping[str, Any]) -> RunningWorkload:
        """Make a workload from a body in the daemon's dialect. After Unanswered nobody knows
        whether it is there."""
        task = f"post workload {body.get('uuid') or body.get('id')}"
        answer = self._send("POST", _WORKLOADS, task, body)
        found = answer.json()
        if answer.status not in (200, 201) or not isinstance(found, Mapping):
            raise self._refused(task, answer)
        return decode(found)

    def delete(self, running: RunningWorkload) -> bool:
        """Remove a workload; False where it is not there any more."""
        task = f"delete workload {running.uuid or running.id}"
        answer = self._send("DELETE", f"{_WORKLOADS}/{running.id}", task)
        if answer.status == 404:
            return False
        # Where it was not allowed to, RMD says so in the text of a 200; a removal has none.
        if answer.status != 200 or answer.text.strip():
            raise self._refused(task, answer)
        return True

    def _get(self, path: str, task: str, *, missing: Any = None) -> Any:
        """The JSON of an answer; missing: what a 404 means, if it is no error."""
        answer = self._send("GET", path, task)
        if answer.status == 404 and missing is not None:
            return missing
        if answer.status != 200:
            raise self._refused(task, answer)
        return answer.json()

    def _send(
        self, method: str, path: str, task: str, body: Optional[Mapping[str, Any]] = None
    ) -> HttpResponse:
        """Send a request; again what only reads, and else only where the daemon cannot have seen
        it. A daemon that lets a GET time out is not asked again: nobody waits for it twice."""
        if self._silence is not None:
            raise self._silence
        reads = method == "GET"
        for pause in _PAUSES_S:
            try:
                answer = self._wire.send(method, path, task, body)
                if not reads or answer.status not in _LATER:
                    return answer
            except Unanswered as error:
                if error.timed_out and reads:
                    self._silence = error
                if error.timed_out or (error.was_sent and not reads):
                    raise
            self._sleep(pause)
        return self._wire.send(method, path, task, body)

    def _refused(self, task: str, answer: HttpResponse) -> RmdError:
        refusal = classify(answer.status, answer.text, self.dialect)
        return self._error(task, refusal.kind, refusal.why)

    def _nonsense(self, task: str) -> RmdError:
        return self._error(
            task,
            "unknown",
            "its answer makes no sense",
            "see whether a daemon of RMD answers there",
        )

    def _error(self, task: str, kind: str, why: str, todo: str = "") -> RmdError:
        return RmdError(f"Cannot {task}", kind=kind, where=self.where, why=why, todo=todo)
