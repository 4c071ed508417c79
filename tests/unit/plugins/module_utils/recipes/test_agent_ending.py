# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node agent that is told to end leaves labels behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent import (
    PAUSE_S,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent_ending import (
    GRACE_S,
    PATIENCE_S,
    TIMEOUT_S,
    Ending,
    why_it_ends,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.configuration import (
    AgentConfiguration,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.watched_objects import (
    Api,
    ApiServerError,
)

Obj = dict[str, Any]

CONFIGURATION = AgentConfiguration("toy", "toys", "toy-node-agent", "", "h", [], [])
NODES = "/api/v1/nodes"
DAEMONSETS = "/apis/apps/v1/namespaces/toys/daemonsets/toy-node-agent"
TERM = {"matchExpressions": [{"key": "toy", "operator": "Exists"}]}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}


def daemonset(**metadata: str) -> Obj:
    """The agent's, which wants nodes with the label toy."""
    spec = {"affinity": {"nodeAffinity": REQUIRED}}
    return {"metadata": metadata, "spec": {"template": {"spec": spec}}}


def nodes(**labels: str) -> Obj:
    """The list of the agent's node."""
    return {"items": [{"metadata": {"name": "n", "labels": labels}}]}


class Answers(Api):
    """An API server that gives these answers, the last one again and again. takes: seconds for one."""

    def __init__(self, takes: float = 0.0, **answers: list[Any]) -> None:
        self.now = 0.0
        self._takes = takes
        self._answers = {DAEMONSETS: answers["daemonsets"], NODES: answers["nodes"]}

    def get(
        self, path: str, query: Mapping[str, str] | None = None, timeout: float = 0.0
    ) -> Iterator[Obj]:
        """The next one; an exception is raised, for which a second has passed. Too late is none."""
        if path == NODES:
            assert query == {"fieldSelector": "metadata.name=n"}
        self.now += min(self._takes, timeout)
        if self._takes > timeout:
            raise TimeoutError
        answers = self._answers[path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            self.now += 1
            raise answer
        yield answer

    def ending(self) -> Ending:
        """What the agent makes of it."""
        return why_it_ends(self, CONFIGURATION, "n", clock=lambda: self.now, sleep=self._pass)

    def _pass(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("daemonsets", "found", "expected"),
    [
        (daemonset(), nodes(toy="yes"), Ending.REPLACED),
        (daemonset(), nodes(), Ending.LEFT),
        (daemonset(deletionTimestamp="2026-01-01T10:00:00Z"), nodes(toy="yes"), Ending.LEFT),
        (ApiServerError(404), nodes(toy="yes"), Ending.LEFT),
        (ApiServerError(403), nodes(toy="yes"), Ending.LEFT),
        # The node itself is gone, and NFD takes what it said.
        (daemonset(), {"items": []}, Ending.REPLACED),
    ],
)
def test_it_has_left_where_its_daemonset_wants_the_node_no_more(
    daemonsets: Any, found: Obj, expected: Ending
) -> None:
    assert Answers(daemonsets=[daemonsets], nodes=[found]).ending() is expected


@pytest.mark.parametrize("silence", [TimeoutError(), ApiServerError(500), ValueError("no JSON")])
def test_it_asks_again_where_nobody_answers(silence: Exception) -> None:
    server = Answers(daemonsets=[silence, daemonset()], nodes=[silence, nodes()])
    assert server.ending() is Ending.LEFT


def test_a_machine_that_needs_seconds_for_an_answer_gets_it() -> None:
    server = Answers(takes=4.0, daemonsets=[daemonset()], nodes=[nodes()])

    assert server.ending() is Ending.LEFT


def test_where_nobody_can_tell_in_time_it_does_not_know() -> None:
    server = Answers(daemonsets=[TimeoutError()], nodes=[nodes()])

    assert server.ending() is Ending.UNKNOWN
    assert PATIENCE_S < server.now < PATIENCE_S + 2


def test_it_has_ended_before_it_is_killed() -> None:
    """Connections and answers each take their time, the last two after its patience; then NFD's pause."""
    slow = Answers(takes=TIMEOUT_S, daemonsets=[daemonset()], nodes=[TimeoutError()])

    assert slow.ending() is Ending.UNKNOWN
    assert slow.now + 2 * TIMEOUT_S + PAUSE_S <= GRACE_S
