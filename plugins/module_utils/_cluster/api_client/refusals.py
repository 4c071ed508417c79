# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read refusals: from an answer to an ApiError that is one sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ..._http.retries import asked_in_words, retry_after_s
from ..._json import JsonError, parse_json
from .api_errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    RequestFailure,
    Unauthorized,
    Unreachable,
    Unreadable,
)
from .decoding import ApiResponse, first_words
from .repetition import Fate

_CLASSES: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: Unreachable,
    500: Unreachable,
    502: Unreachable,
    503: Unreachable,
    504: Unreachable,
}
_LONGEST = 400
# What the API server says of an object's content with a status that is for its own troubles: whatever
# a part of it has not given a status of its own goes out as 500. Server-side apply has none for what
# does not fit a schema, nor have the storage and the connection to it for what is too large.
_NOT_TYPED = re.compile(r"failed to create typed \w+ object \(.*?\): (errors:)?", re.DOTALL)
_TOO_LARGE = re.compile(r"request is too large|message larger than max")


# Of these only an API server's own word counts: who asks for an object takes a 404 for "it is not
# there".
_MEANINGFUL = frozenset({404, 409, 410, 422})
# For a group-version that is not served.
_NO_PAGE = b"404 page not found"


def error_from_answer(
    answer: ApiResponse, *, where: str, verb: str, target: str, relayed: bool = False
) -> ApiError:
    """The error that an answer tells which is no success. relayed: somebody behind the API server
    may have given it."""
    status = answer.status
    try:
        found = parse_json(answer.body)
    except JsonError:
        found = None
    if not isinstance(found, dict) or found.get("kind") != "Status":
        no_status = status in _MEANINGFUL and answer.body.strip() != _NO_PAGE
        if not relayed and (no_status or not 400 <= status < 600):
            return unreadable(answer, "", where=where, verb=verb, target=target)
        words = first_words(answer.body)
        found = {"message": f"HTTP status {status}{f', {words}' if words else ''}"}
    now = datetime.now(timezone.utc)
    asked_s = retry_after_s(answer.headers.get("Retry-After") or "", now)
    return error_from_status(
        {**found, "code": status}, where=where, verb=verb, target=target, asked_s=asked_s
    )


def error_from_status(
    found: Mapping[str, Any], *, where: str, verb: str, target: str, asked_s: float = 0.0
) -> ApiError:
    """The error that a Status object tells."""
    code = found.get("code")
    status = code if isinstance(code, int) else 0
    reason = str(found.get("reason") or "")
    message = str(found.get("message") or reason or f"HTTP status {status}")
    causes = _causes(found.get("details")) or _causes_in(status, message)
    kind = Invalid if _is_about_content(status, message) else _class_of(status, reason)
    # For an invalid object the message repeats the causes behind a long preamble.
    why = "; ".join(causes) if causes and kind is Invalid else message
    fate = _fate(kind, causes, status)
    return kind(
        f"Cannot {verb} {target}",
        where=where,
        why=_cut(" ".join(why.split())) + asked_in_words(asked_s),
        todo=_advice(kind, status, why),
        request=RequestFailure(status, causes, fate, asked_s),
    )


def _is_about_content(status: int, message: str) -> bool:
    """Whether a Status is about what an object says, though its status is one of the server's own
    troubles."""
    return status == 500 and bool(_NOT_TYPED.match(message) or _TOO_LARGE.search(message))


def _causes_in(status: int, message: str) -> list[str]:
    """The causes that server-side apply has in its message only: a line for each, whose path begins
    with a dot."""
    found = _NOT_TYPED.match(message) if status == 500 else None
    lines = message[found.end() :].splitlines() if found else ()
    return [line.strip().removeprefix(".") for line in lines if line.strip()]


def _class_of(status: int, reason: str) -> type[ApiError]:
    """The error of a status; 409 is two, told apart by their reason."""
    if status == 409 and reason == "AlreadyExists":
        return AlreadyExists
    return _CLASSES.get(status, ApiError)


def unreadable(
    answer: ApiResponse, wrong: str, *, where: str, verb: str, target: str
) -> Unreadable:
    """The error for what is no answer of an API server; wrong: what is due instead."""
    return Unreadable(
        f"Cannot {verb} {target}",
        where=where,
        why=f"what answered is no API server ({answer}){f': {wrong}' if wrong else ''}",
        todo="see that host, port and proxy lead to the API server and that it is healthy, then run again",
        request=RequestFailure(answer.status, fate=Fate.UNCLEAR),
    )


def _fate(kind: type[ApiError], causes: Sequence[str], status: int) -> Fate:
    if kind is Conflict:
        # Causes name other field managers. Without any, somebody wrote at the same moment.
        return Fate.REFUSED if causes else Fate.RACED
    if issubclass(kind, Unreachable):
        return Fate.PUT_OFF if status == 429 else Fate.UNCLEAR
    return Fate.REFUSED


def _causes(details: Any) -> list[str]:
    """The causes of a Status object, "field: message" each."""
    given = details.get("causes") if isinstance(details, dict) else None
    entries = given if isinstance(given, list) else []
    return [_cause(entry) for entry in entries if isinstance(entry, dict)]


def _cause(cause: Mapping[str, Any]) -> str:
    field, message = cause.get("field") or "", cause.get("message") or cause.get("reason") or ""
    return f"{field}: {message}" if field else str(message)


def _advice(kind: type[ApiError], status: int, message: str) -> str:
    if kind is Invalid:
        return "mend what it names, then run again"
    if status == 401:
        return "renew the credentials (token, client certificate or kubeconfig)"
    if status == 403 and " cannot " in message:
        return "give the run's user this right"
    if status == 409:
        return "run again"
    if status == 429 or status >= 500:
        return "see whether the API server is healthy, then run again"
    return "mend what it names, then run again"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
