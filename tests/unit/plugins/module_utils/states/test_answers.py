# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading metrics where pods do not answer: nobody else waits for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.queries import (
    ReadLogs,
    ReadMetrics,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.answers import (
    WORKERS,
    Answers,
)


class Pods:
    """A client of pods, some of which never answer; writes down who was asked."""

    def __init__(self, silent: set[str]) -> None:
        self.silent = silent
        self.asked: list[str] = []

    def parallel(self, calls: Sequence[Callable[[], Any]], **_options: int) -> list[Any]:
        """One after the other, with errors as results."""
        results: list[Any] = []
        for call in calls:
            try:
                results.append(call())
            except Unreachable as error:
                results.append(error)
        return results

    def pod_proxy(self, _namespace: str, pod: str, _port: int, _path: str, *, scheme: str) -> str:
        """A pod's metrics."""
        assert scheme == "http"
        self.asked.append(pod)
        if pod in self.silent:
            raise Unreachable("no answer")
        return "up 1"

    def logs(self, _namespace: str, pod: str, **_options: Any) -> str:
        """A pod's log."""
        return pod


def queries(count: int) -> list[ReadMetrics]:
    return [ReadMetrics("n", f"p{number:03}", "uid", 9400, "/metrics") for number in range(count)]


def fetch(answers: Answers, wanted: Sequence[Any]) -> dict[Any, Any]:
    return answers.fetch(wanted, lambda: 1.0)


def test_where_no_pod_answers_only_one_round_is_asked() -> None:
    wanted = queries(1000)
    pods = Pods({query.pod for query in wanted})
    log = ReadLogs("n", "other", "uid", None, 5)

    found = fetch(Answers(pods, lambda _run_queries: {}), [*wanted, log])  # type: ignore[arg-type]

    assert len(pods.asked) == WORKERS
    assert found[log].value == "other"
    assert "no answer" in found[wanted[0]].error
    assert found[wanted[-1]].error == f"not asked, since {WORKERS} others did not answer"


def test_pods_that_answer_are_not_kept_waiting_twice_by_the_same_ones() -> None:
    wanted = queries(50)
    pods = Pods({query.pod for query in wanted[:WORKERS]})
    answers = Answers(pods, lambda _run_queries: {})  # type: ignore[arg-type]
    fetch(answers, wanted)
    pods.asked.clear()

    found = fetch(answers, wanted)

    assert pods.asked[-WORKERS:] == [query.pod for query in wanted[:WORKERS]]
    assert [query for query in wanted if found[query].error] == wanted[:WORKERS]


def test_a_pod_that_answers_again_is_asked_in_its_turn() -> None:
    wanted = queries(WORKERS + 1)
    pods = Pods({wanted[0].pod})
    answers = Answers(pods, lambda _run_queries: {})  # type: ignore[arg-type]
    assert fetch(answers, wanted)[wanted[0]].error
    pods.silent.clear()
    fetch(answers, wanted)
    pods.asked.clear()

    fetch(answers, wanted)

    assert pods.asked == [query.pod for query in wanted]
