# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: N818  (an error is named by what is wrong)
"""What can go wrong with a registry; each error is one sentence that says what, where, why and what
to do."""

from __future__ import annotations

from typing import ClassVar

from .._errors import EnablementError


class RegistryError(EnablementError):
    """A registry, or its token server, refused a request or said something that makes no sense.

    status: HTTP status, 0 where there was no answer. registry: host[:port] that was asked. reason:
    one word of CamelCase.
    """

    reason: ClassVar[str] = "RegistryError"

    def __init_subclass__(cls, reason: str = "") -> None:
        super().__init_subclass__()
        cls.reason = reason or cls.__name__

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        why: str = "",
        todo: str = "",
        status: int = 0,
        registry: str = "",
    ) -> None:
        self.status = status
        self.registry = registry
        super().__init__(what, where=where, why=why, todo=todo)


class RegistryUnreachable(RegistryError, reason="Unreachable"):
    """No answer, or one that was cut off, for longer than the retries last."""


class TimedOut(RegistryUnreachable):
    """No connection, or no answer, within the time that one attempt may take."""


class NotTrusted(RegistryError):
    """The registry's certificate cannot be verified."""


class RegistryUnauthorized(RegistryError, reason="Unauthorized"):
    """401: there are no credentials, they are wrong, or the token that they bring is not accepted."""


class Denied(RegistryError):
    """403, or 401 for a token that says less than is needed: the credentials are good, but lack the
    right."""


class ImageNotFound(RegistryError, reason="NotFound"):
    """404 for something that has to be there: a base image, or a part that a manifest lists."""


class TooManyRequests(RegistryError):
    """429 for longer than the retries last, or with a longer wait than they would."""


class ServerError(RegistryError):
    """5xx for longer than the retries last."""


class WrongDigest(RegistryError):
    """What came is not what its digest says."""


class WrongArchitecture(RegistryError):
    """The image is there, but not for the architecture that is asked for."""
