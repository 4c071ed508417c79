# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may do what in a test's registry: known passwords, and what a token server grants for them.
Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# What anybody may pull where the token server decides.
PUBLIC = "public/"


@dataclass(frozen=True)
class Account:
    """password_hash is bcrypt's of password (cost 4, the least), the only kind that the registry
    reads.

    identity_token: a refresh token, as `docker login` gets one from some registries instead of
    keeping a password.
    """

    name: str
    password: str
    password_hash: str
    identity_token: str
    may_push: bool

    @property
    def entry(self) -> dict[str, str]:
        """This account in a pull secret, as docker writes it."""
        return {"auth": base64.b64encode(f"{self.name}:{self.password}".encode()).decode()}

    @property
    def token_entry(self) -> dict[str, str]:
        """The same with the refresh token."""
        return {
            "auth": base64.b64encode(f"{self.name}:".encode()).decode(),
            "identitytoken": self.identity_token,
        }


PUSHER = Account(
    "pusher",
    "push-0ur-images",
    "$2b$04$empbe3XaQz1cdbQYRtCreO.ot0WWVJ6SwHeL/jOohrLO1hAB0YHji",
    "refresh-of-pusher-58c1",
    may_push=True,
)
PULLER = Account(
    "puller",
    "pull-0ur-images",
    "$2b$04$K6tLl1Ppthp0buvcw86kOOeOHqcdSCAjD6OqR./cg6MKVldPEW4Mq",
    "refresh-of-puller-91e7",
    may_push=False,
)
ACCOUNTS = (PUSHER, PULLER)


def find_account(name: str, password: str) -> Account | None:
    """The account with that name and password."""
    return next(
        (account for account in ACCOUNTS if (account.name, account.password) == (name, password)),
        None,
    )


def find_by_identity_token(token: str) -> Account | None:
    """The account whose refresh token that is."""
    return next((account for account in ACCOUNTS if account.identity_token == token), None)


def granted(account: Account | None, scopes: Iterable[str]) -> list[dict[str, Any]]:
    """What a token says that its owner may do, of all that is asked for
    ("repository:NAME:pull,push")."""
    access = []
    for scope in scopes:
        kind, _colon, rest = scope.partition(":")
        name, _colon, actions = rest.rpartition(":")
        allowed = (
            {"pull", "push", "delete"}
            if account and account.may_push
            else {"pull"}
            if account
            else set()
        )
        if name.startswith(PUBLIC):
            allowed |= {"pull"}
        if given := sorted(allowed & set(actions.split(","))):
            access.append({"type": kind, "name": name, "actions": given})
    return access
