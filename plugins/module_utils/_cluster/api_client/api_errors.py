# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: N818  (an error is named as the API server names its reason)
"""What can go wrong with the API server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._errors import EnablementError
from .repetition import Fate


class UnknownKind(EnablementError):
    """The API server does not serve a kind."""


class LockHeld(EnablementError):
    """Another run has the lock, or has taken it over. holder, since and until say who and when
    (UTC, RFC 3339)."""

    def __init__(
        self, what: str, *, holder: str, since: str, until: str, why: str = "", todo: str = ""
    ) -> None:
        self.holder = holder
        self.since = since
        self.until = until
        super().__init__(what, why=why, todo=todo)


@dataclass(frozen=True)
class RequestFailure:
    """How a request has failed. status: HTTP status, 0 where there was no answer. causes: "field:
    message" lines. fate: what became of it. asked_s: how long the API server asks to wait."""

    status: int = 0
    causes: Sequence[str] = ()
    fate: Fate = Fate.REFUSED
    asked_s: float = 0.0


class ApiError(EnablementError):
    """The API server refused a request. attempts: how often it was sent; else see RequestFailure."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        why: str = "",
        todo: str = "",
        request: RequestFailure | None = None,
    ) -> None:
        failed = request or RequestFailure()
        self.status = failed.status
        self.causes = list(failed.causes)
        self.fate = failed.fate
        self.asked_s = failed.asked_s
        self.attempts = 1
        super().__init__(what, where=where, why=why, todo=todo)


class NotFound(ApiError):
    """404: the object, its namespace or its kind is not there."""


class Conflict(ApiError):
    """409: somebody else has changed the object."""


class AlreadyExists(ApiError):
    """409: an object of this name is there already."""


class Forbidden(ApiError):
    """403: the credentials lack a right, or admission or a quota refused."""


class Unauthorized(ApiError):
    """401: the API server does not accept the credentials."""


class Invalid(ApiError):
    """422: the object breaks a rule of its kind."""


class Gone(ApiError):
    """410: a resource version or a continue token has expired."""


class TooLarge(ApiError):
    """The answer has more bytes than are taken of one."""


class Unreachable(ApiError):
    """No answer, or only answers that say "later", for longer than the retries last."""


class Unreadable(Unreachable):
    """What answered is no API server, or its answer came in pieces: as good as no answer."""
