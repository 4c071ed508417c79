# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account of a registry."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Credentials:
    """An account of a registry. identity_token: an OAuth2 refresh token, which then is used instead
    of the password."""

    username: str
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)

    @property
    def basic(self) -> str:
        """Username and password in base64, as HTTP's basic authentication and pull secrets write
        them."""
        return base64.b64encode(f"{self.username}:{self.password}".encode()).decode()

    @property
    def entry(self) -> dict[str, str]:
        """The account as pull secrets write it."""
        token = {"identitytoken": self.identity_token} if self.identity_token else {}
        return {"auth": self.basic, **token}

    @property
    def secrets(self) -> frozenset[str]:
        """All texts that must not be shown."""
        return frozenset({self.password, self.identity_token, self.basic} - {""})
