# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task ends, in process and as a module: with its result or one sentence, never with a
traceback or a secret in it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Set
from typing import Any

from ansible.module_utils.common.parameters import remove_values

from .._errors import EnablementError
from .._json import Obj

TRACEBACK_VERBOSITY = 3


def outcome_of(
    work: Callable[[], Obj],
    *,
    secrets: Set[str],
    verbosity: int,
    raised: tuple[type[Exception], ...] = (),
) -> Obj:
    """The result of work, or a failed result with the error's sentence.

    - secrets: texts to mask in the result; work may add to them while it runs
    - raised: exceptions that the caller handles itself

    Any exception other than these and EnablementError is a bug of ours; its traceback is in the
    result with -vvv.
    """
    try:
        found = work()
    except raised:
        raise
    except EnablementError as error:
        found = {"failed": True, "msg": str(error), **error.result}
    except Exception as error:  # noqa: BLE001 - whatever it is, a person gets one sentence
        found = {"failed": True, "msg": _sentence(error)}
        if verbosity >= TRACEBACK_VERBOSITY:
            found["traceback"] = "".join(traceback.format_exception(error)).splitlines()
    cleaned: Obj = masked(found, secrets)
    return cleaned


def masked(value: Any, secrets: Set[str]) -> Any:
    """The value with asterisks where it shows a secret."""
    return remove_values(value, secrets) if secrets else value


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    bug = EnablementError(
        "This is a bug in hardware.enablement, not a mistake of yours",
        why=what,
        todo="run again with -vvv to see where it comes from, and report what that shows",
    )
    return str(bug)
