# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task ends: its result, one sentence for what a person can mend, and one for what only we
can."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.outcome import (
    masked,
    outcome_of,
)


def fails(
    error: Exception, verbosity: int = 0, secrets: frozenset[str] = frozenset()
) -> dict[str, Any]:
    def work() -> NoReturn:
        raise error

    return outcome_of(work, secrets=secrets, verbosity=verbosity)


def test_a_result_is_masked_with_secrets_that_were_learned_on_the_way() -> None:
    secrets: set[str] = set()

    def work() -> dict[str, Any]:
        secrets.add("hunter2")
        return {"changed": True, "rows": ["password=hunter2", {"deep": "hunter2"}]}

    found = outcome_of(work, secrets=secrets, verbosity=3)
    assert found["changed"] is True
    assert "hunter2" not in str(found)
    assert found["rows"][0] == "password=********"


def test_our_own_errors_are_their_sentence_and_what_they_bring() -> None:
    error = InvalidInput("no", why="bad hunter2")
    error.result = {"changed": True}
    assert fails(error, 3, frozenset({"hunter2"})) == {
        "failed": True,
        "changed": True,
        "msg": "no: bad ********.",
    }


def test_a_bug_is_one_sentence_with_a_traceback_only_from_vvv_on() -> None:
    found = fails(KeyError("driver"), verbosity=2)
    assert found.keys() == {"failed", "msg"}
    assert "bug in hardware.enablement" in found["msg"]
    assert "KeyError: 'driver'" in found["msg"]
    assert "-vvv" in found["msg"]
    assert "\n" not in found["msg"]
    shown = fails(ValueError("token hunter2"), 3, frozenset({"hunter2"}))
    assert any("test_outcome.py" in line for line in shown["traceback"])
    assert "hunter2" not in str(shown)


def test_errors_of_others_are_let_through() -> None:
    def work() -> NoReturn:
        raise LookupError

    with pytest.raises(LookupError):
        outcome_of(work, secrets=set(), verbosity=0, raised=(LookupError,))


def test_nothing_secret_nothing_touched() -> None:
    value = object()
    assert masked(value, set()) is value
