# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node agent that is told to end leaves labels behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent_ending import (
    PATIENCE_S,
    has_left,
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
    """An API server that gives these answers, the last one again and again."""

    def __init__(self, **answers: list[Any]) -> None:
        self.now = 0.0
        self._answers = {DAEMONSETS: answers["daemonsets"], NODES: answers["nodes"]}

    def get(
        self, path: str, query: Mapping[str, str] | None = None, timeout: float = 0.0
    ) -> Iterator[Obj]:
        """The next one; an exception is raised, for which a second has passed."""
        if path == NODES:
            assert query == {"fieldSelector": "metadata.name=n"}
        assert timeout
        answers = self._answers[path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            self.now += 1
            raise answer
        yield answer

    def left(self) -> bool:
        """What the agent makes of it."""
        return has_left(self, CONFIGURATION, "n", clock=lambda: self.now, sleep=self._pass)

    def _pass(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("daemonsets", "found", "expected"),
    [
        (daemonset(), nodes(toy="yes"), False),
        (daemonset(), nodes(), True),
        (daemonset(deletionTimestamp="2026-01-01T10:00:00Z"), nodes(toy="yes"), True),
        (ApiServerError(404), nodes(toy="yes"), True),
        (ApiServerError(403), nodes(toy="yes"), True),
        # The node itself is gone, and NFD takes what it said.
        (daemonset(), {"items": []}, False),
    ],
)
def test_it_has_left_where_its_daemonset_wants_the_node_no_more(
    daemonsets: Any, found: Obj, expected: bool
) -> None:
    assert Answers(daemonsets=[daemonsets], nodes=[found]).left() is expected


@pytest.mark.parametrize("silence", [TimeoutError(), ApiServerError(500), ValueError("no JSON")])
def test_it_asks_again_where_nobody_answers(silence: Exception) -> None:
    assert Answers(daemonsets=[silence, daemonset()], nodes=[silence, nodes()]).left()


def test_where_nobody_can_tell_in_time_the_labels_stay() -> None:
    server = Answers(daemonsets=[TimeoutError()], nodes=[nodes()])

    assert not server.left()
    assert PATIENCE_S < server.now < PATIENCE_S + 2
