# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How clusters stand, as suites of JUnit: one for each cluster and recipe, in it a case for each state,
or for each node that a state is not ready on. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._json import Obj, elements
from ..._runs.junit import JunitCase, Outcome
from ..validation.phases import Phase

_READY = (Phase.READY.value, "empty")
# What is not ready for no reason of its own, or need not be: not tried, to JUnit.
_PASSED_OVER = (Phase.BLOCKED.value, Phase.LEAVING.value)


def cases_of(row: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[JunitCase]:
    """The cases of one row of the table of clusters, and of the report that it was made of (empty where
    there was none).

    A file has failures where the run has failed, and none where it has not: what is not ready then is
    skipped. A state that is blocked is always.
    """
    problems = elements(report, "problems")
    known = {each["state"] for each in problems}
    for problem in problems:
        yield _problem(problem, failed=row["failed"])
    for state in elements(report, "states"):
        if state["name"] not in known:
            yield _state(state, failed=row["failed"])
    for drift in elements(report, "drift"):
        if drift["drift"] != "extended" and not drift["put_back"]:
            yield _drifted(drift, failed=row["failed"])
    if not elements(report, "states"):
        yield _whole(row)


def _problem(problem: Obj, *, failed: bool) -> JunitCase:
    node, state = problem["node"], problem["state"]
    name = f"{state} [{node}]" if node else state
    return _not_ready(name, problem, f"{problem['message']}\n{problem['todo']}", failed=failed)


def _state(state: Obj, *, failed: bool) -> JunitCase:
    """A state that no node has a problem of its own with."""
    if state["phase"] in _READY:
        return JunitCase(state["name"])
    return _not_ready(state["name"], state, state["message"], failed=failed)


def _not_ready(name: str, found: Obj, text: str, *, failed: bool) -> JunitCase:
    said = f"{found['phase']}: {found['reason']}"
    if failed and found["phase"] not in _PASSED_OVER:
        return JunitCase(name, "failure", found["phase"], said, text)
    return JunitCase(name, "skipped", message=said)


def _drifted(drift: Obj, *, failed: bool) -> JunitCase:
    name, said = f"drift [{drift['object']}]", f"{drift['drift']} by {drift['by'] or 'somebody'}"
    if failed:
        text = "\n".join((*drift["fields"], drift["todo"]))
        return JunitCase(name, "failure", "drifted", said, text)
    return JunitCase(name, "skipped", message=said)


def _whole(row: Mapping[str, Any]) -> JunitCase:
    """Where nothing is known of states."""
    if not row["failed"]:
        return JunitCase(row["recipe"])
    outcome: Outcome = "error" if row["phase"] == "error" else "failure"
    return JunitCase(row["recipe"], outcome, row["phase"], row["message"], row["message"])
