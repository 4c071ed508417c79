# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's credential helpers: programs of this machine that know the credentials of a registry.

Source: github.com/docker/docker-credential-helpers (docker-credential-NAME get: a host on stdin,
JSON on stdout).
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Mapping
from typing import Any

from .._errors import EnablementError
from .._json import parse_json
from .account import Credentials

TIMEOUT_S = 30
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# The user name that says that the secret is a refresh token.
_TOKEN = "<token>"
_NOT_FOUND = "credentials not found"


class CredentialHelpers:
    """The helpers that a configuration of docker names, each asked once for each host. Safe for
    threads."""

    def __init__(self, config: Mapping[str, Any], secrets: set[str]) -> None:
        """config: of docker, with credHelpers (host -> name) and credsStore (name). secrets: gets
        what is learnt."""
        self._by_host = {
            str(host): str(name) for host, name in (config.get("credHelpers") or {}).items()
        }
        self._store = str(config.get("credsStore") or "")
        self._secrets = secrets
        self._known: dict[tuple[str, str], Credentials | None] = {}
        self._lock = threading.Lock()

    def named(self, host: str) -> Credentials | None:
        """What the helper says that the configuration names for a host; None without one."""
        return self._run(self._by_host[host], host) if host in self._by_host else None

    def stored(self, host: str) -> Credentials | None:
        """What the helper for all other hosts says; None without one."""
        return self._run(self._store, host) if self._store else None

    def _run(self, name: str, host: str) -> Credentials | None:
        with self._lock:
            if (name, host) not in self._known:
                self._known[name, host] = found = _get(name, host)
                if found:
                    self._secrets |= found.secrets
            return self._known[name, host]


def _get(name: str, host: str) -> Credentials | None:
    program = f"docker-credential-{name}"
    if not _NAME.fullmatch(name):
        raise _failed(
            host, f'"{name}" is no name of a credential helper', "correct credHelpers or credsStore"
        )
    try:
        done = subprocess.run(
            [program, "get"],
            input=host,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise _failed(
            host, f"{program} is missing on the machine that runs Ansible", "install it"
        ) from None
    except subprocess.TimeoutExpired:
        raise _failed(
            host, f"{program} took longer than {TIMEOUT_S} s", "log in with it, then run again"
        ) from None
    if done.returncode:
        said = (
            done.stdout.strip() or done.stderr.strip() or f"exit code {done.returncode}"
        ).splitlines()[-1]
        if _NOT_FOUND in said:
            return None
        raise _failed(host, f"{program} says: {said[:200]}", "log in with it, then run again")
    try:
        answer = parse_json(done.stdout)
        username, secret = str(answer["Username"]), str(answer["Secret"])
    except (ValueError, LookupError, TypeError):
        # The text may hold a password.
        raise _failed(
            host, f"{program} does not answer with Username and Secret", "correct it"
        ) from None
    return (
        Credentials("", identity_token=secret)
        if username == _TOKEN
        else Credentials(username, secret)
    )


def _failed(host: str, why: str, todo: str) -> EnablementError:
    return EnablementError(f"Cannot get the credentials for {host}", why=why, todo=todo)
