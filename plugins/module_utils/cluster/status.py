# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read refusals: from an HTTP answer to an ApiError that is one sentence. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    Unauthorized,
    Unreachable,
)

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


def error_from_body(status: int, body: bytes, *, where: str, verb: str, target: str) -> ApiError:
    """The error that an answer's body tells; body may be a Status object or anything else (a proxy's HTML page)."""
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("kind") != "Status":
        text = " ".join(body.decode(errors="replace").split())
        found = {"message": _cut(text) if text and not text.startswith("<") else f"HTTP status {status}"}
    return error_from_status({**found, "code": found.get("code") or status}, where=where, verb=verb, target=target)


def error_from_status(found: Mapping[str, Any], *, where: str, verb: str, target: str) -> ApiError:
    """The error that a Status object tells."""
    status = int(found.get("code") or 0)
    reason = str(found.get("reason") or "")
    details = found.get("details") or {}
    causes = [_cause(cause) for cause in details.get("causes") or []]
    kind = AlreadyExists if status == 409 and reason == "AlreadyExists" else _CLASSES.get(status, ApiError)
    # For an invalid object the message repeats the causes behind a long preamble.
    message = str(found.get("message") or reason or f"HTTP status {status}")
    why = "; ".join(causes) if causes and status == 422 else message
    return kind(
        f"Cannot {verb} {target}",
        where=where,
        why=_cut(" ".join(why.split())),
        todo=_advice(status, why),
        status=status,
        reason=reason,
        causes=causes,
        verb=verb,
        target=target,
    )


def _cause(cause: Mapping[str, Any]) -> str:
    field, message = cause.get("field") or "", cause.get("message") or cause.get("reason") or ""
    return f"{field}: {message}" if field else str(message)


def _advice(status: int, message: str) -> str:
    if status == 401:
        return "renew the credentials (token, client certificate or kubeconfig)"
    if status == 403 and " cannot " in message:
        return "give the run's user this right"
    if status == 409:
        return "run again"
    if status == 429 or status >= 500:
        return "see whether the API server is healthy, then run again"
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
