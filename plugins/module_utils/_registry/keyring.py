# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials from pull secrets, found for an image as the kubelet finds them. Pure.

The rules are those of Kubernetes' documentation ("Interpretation of config.json"): a key is a host,
with an optional port and path; each part of the host may be a glob; the path is a prefix; of
several keys that match, the longest path wins.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput
from .._json import parse_json
from .account import Credentials
from .credential_helpers import CredentialHelpers
from .image_names import DOCKER_HUB, Reference

# What pull secrets call Docker Hub: its own name, and the one that `docker login` writes.
_HUB_KEYS = (DOCKER_HUB, "index.docker.io", "registry-1.docker.io", "https://index.docker.io/v1/")
_TODO = "write the secret anew, for example with kubectl create secret docker-registry"


@dataclass(frozen=True)
class _Key:
    """One entry's key, taken apart: "*.example.com:5000/team"."""

    host: tuple[str, ...]
    port: str
    path: str

    def matches(self, host: str, path: str) -> bool:
        name, _colon, port = host.partition(":")
        parts = name.split(".")
        return (
            port == self.port
            and len(parts) == len(self.host)
            and path.startswith(self.path)
            and all(
                fnmatch.fnmatchcase(part, glob) for part, glob in zip(parts, self.host, strict=True)
            )
        )

    @property
    def rank(self) -> tuple[int, bool]:
        """Sorts the most special key first: by its path's length, then one without globs."""
        return -len(self.path), any(set("*?[") & set(part) for part in self.host)


class Keyring:
    """The credentials of any number of pull secrets; of equal keys the one that came first counts."""

    def __init__(
        self,
        entries: Sequence[tuple[str, Credentials]] = (),
        helpers: CredentialHelpers | None = None,
    ) -> None:
        """entries: (key as a pull secret writes it, credentials). helpers: what else knows
        credentials."""
        self.entries = tuple(entries)
        self._helpers = helpers or CredentialHelpers({}, set())
        keyed = [(_key(text), credentials) for text, credentials in entries]
        self._sorted = sorted(keyed, key=lambda entry: entry[0].rank)

    @classmethod
    def from_configs(
        cls, texts: Sequence[str], helpers: CredentialHelpers | None = None
    ) -> Keyring:
        """Read the texts of .dockerconfigjson or (older) .dockercfg secrets. Raises InvalidInput,
        without the text."""
        return cls([entry for text in texts for entry in _entries(text)], helpers)

    def before(self, *others: Keyring) -> Keyring:
        """This one, then the entries of others; helpers are this one's."""
        return Keyring(
            [*self.entries, *(entry for other in others for entry in other.entries)], self._helpers
        )

    def __repr__(self) -> str:
        return f"Keyring({len(self.entries)} entries)"

    def find(self, reference: Reference) -> Credentials | None:
        """The credentials for an image; None if there are none.

        A helper that is named for the host is asked first, one for all hosts last.
        """
        hosts = _HUB_KEYS if reference.registry == DOCKER_HUB else (reference.registry,)
        ways = (
            self._helpers.named,
            lambda host: self._entry(host, reference),
            self._helpers.stored,
        )
        return next(filter(None, (way(host) for way in ways for host in hosts)), None)

    def _entry(self, host: str, reference: Reference) -> Credentials | None:
        fitting = (
            credentials
            for key, credentials in self._sorted
            if key.matches(host, f"/{reference.repository}")
        )
        return next(fitting, None)

    @property
    def secrets(self) -> frozenset[str]:
        """All texts that must not be shown."""
        return frozenset(
            secret for _key, credentials in self.entries for secret in credentials.secrets
        )


def _key(text: str) -> _Key:
    address = text.partition("://")[2] or text
    host, slash, rest = address.partition("/")
    # Keys of old: https://index.docker.io/v1/
    path = f"{slash}{rest}"
    for version in ("/v1/", "/v2/"):
        if path.startswith(version):
            path = path[len(version) - 1 :]
    name, _colon, port = host.partition(":")
    return _Key(tuple(name.split(".")), port, path if path != "/" else "")


def _entries(text: str) -> list[tuple[str, Credentials]]:
    try:
        document = parse_json(text)
    except ValueError:
        # The parser's message may quote the text.
        raise _invalid("it is not JSON") from None
    if not isinstance(document, Mapping):
        raise _invalid("it is not a mapping")
    # The older format has the entries at the top, the newer one under "auths" beside other
    # settings.
    auths = document.get("auths", {}) if _is_config(document) else document
    if not isinstance(auths, Mapping):
        raise _invalid('"auths" is not a mapping')
    found = [(str(key), _credentials(str(key), entry)) for key, entry in auths.items()]
    return [(key, credentials) for key, credentials in found if credentials is not None]


def _is_config(document: Mapping[str, Any]) -> bool:
    known = {"auths", "credHelpers", "credsStore", "HttpHeaders", "currentContext", "proxies"}
    return not document or bool(known & set(document))


def _credentials(key: str, entry: Any) -> Credentials | None:
    """One entry; None for an empty one, which says that a credential helper of somebody's desktop
    has the password."""
    if not isinstance(entry, Mapping):
        raise _invalid(f"the entry {key} is not a mapping")
    username, password = str(entry.get("username") or ""), str(entry.get("password") or "")
    token = str(entry.get("identitytoken") or "")
    if entry.get("auth"):
        username, password = _decode(key, str(entry["auth"]))
    return Credentials(username, password, token) if username or password or token else None


def _decode(key: str, auth: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(auth, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise _invalid(f"auth of the entry {key} is not base64") from None
    username, colon, password = text.partition(":")
    if not colon:
        raise _invalid(f"auth of the entry {key} is not username:password in base64")
    # Some tools pad with zero bytes.
    return username, password.rstrip("\0")


def _invalid(why: str) -> InvalidInput:
    return InvalidInput("Cannot read a pull secret", why=why, todo=_TODO)
