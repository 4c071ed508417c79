# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How git takes credentials out of a folder that has the files of a Secret. Pure; no secret is in
what it returns.

The Secrets are those of type kubernetes.io/basic-auth and kubernetes.io/ssh-auth, with known_hosts,
and ca.crt where the server's authority is private, as OpenShift's builds, Tekton and Flux have
them.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from shlex import quote

from .._errors import InvalidInput

_KEY, _HOSTS, _USER, _PASSWORD, _CA = (
    "ssh-privatekey",
    "known_hosts",
    "username",
    "password",
    "ca.crt",
)
_HTTPS = re.compile(r"https://[^/]+")


def git_environment(url: str, secret: str, keys: AbstractSet[str], folder: str) -> dict[str, str]:
    """Variables for git. secret: its name, for messages; keys: the files that it has in the folder.

    Raises InvalidInput where the Secret does not fit the address.
    """
    host = _HTTPS.match(url)
    needed = {_PASSWORD} if host else {_KEY, _HOSTS}
    if url.startswith("http://"):
        why = "a password would go to that address without TLS"
        raise _unfit(secret, url, why, "name it by https or ssh")
    missing = sorted(needed - keys)
    if missing:
        why = f"it has no {' and no '.join(missing)}"
        raise _unfit(
            secret,
            url,
            why,
            f"give it {' and '.join(sorted(needed))}, which addresses of this kind take",
        )
    if not host:
        options = (
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=yes",
            f"UserKnownHostsFile={folder}/{_HOSTS}",
        )
        command = [
            "ssh",
            "-i",
            f"{folder}/{_KEY}",
            *(part for option in options for part in ("-o", option)),
        ]
        return {"GIT_SSH_COMMAND": " ".join(map(quote, command))}
    user = f"$(cat {quote(f'{folder}/{_USER}')})" if _USER in keys else "git"
    password = f"$(cat {quote(f'{folder}/{_PASSWORD}')})"
    helper = f'!f() {{ test "$1" != get || printf "username=%s\\npassword=%s\\n" "{user}" "{password}"; }}; f'
    found = {
        "GIT_CONFIG_COUNT": "1",
        # For that host only, wherever it redirects to.
        "GIT_CONFIG_KEY_0": f"credential.{host[0]}.helper",
        "GIT_CONFIG_VALUE_0": helper,
    }
    return {**found, **({"GIT_SSL_CAINFO": f"{folder}/{_CA}"} if _CA in keys else {})}


def _unfit(secret: str, url: str, why: str, todo: str) -> InvalidInput:
    return InvalidInput(f"git cannot use Secret {secret} for {url}", why=why, todo=todo)
