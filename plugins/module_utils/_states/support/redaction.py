# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a text others must not see, and what they need not: secrets, and names of a site. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ..._cluster.api_objects.field_changes import HIDDEN
from ..._json import Obj, elements, part
from ..preparation.intent import without_logins

# Shorter values are words such as "true", which would be hidden all over.
_SHORTEST = 6
_BEARER = re.compile(r"(?i)\b(bearer|basic) +[A-Za-z0-9._~+/=-]{8,}")
_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(-----END \1-----|\Z)", re.DOTALL)
# What variables of containers are called that hold a secret.
_SECRET_NAME = re.compile(r"(?i)password|passwd|token|secret|api_?key|private_?key|credential")


def secret_values(secrets: Iterable[Mapping[str, Any]]) -> set[str]:
    """The values of Secrets, as they are and as they are stored."""
    found: set[str] = set()
    for secret in secrets:
        for stored in (part(secret, "data") or {}).values():
            try:
                plain = base64.b64decode(str(stored)).decode()
            except ValueError:
                plain = ""
            found |= {str(stored), plain, *plain.splitlines()}
    return {value for value in found if len(value.strip()) >= _SHORTEST}


def without_secrets(text: str, secrets: Set[str]) -> str:
    """A text with asterisks in the place of secrets that are known, of logins in addresses, of bearer
    tokens and of private keys."""
    known = sorted((secret for secret in secrets if secret), key=len, reverse=True)
    if known:
        text = re.sub("|".join(map(re.escape, known)), HIDDEN, text)
    text = _KEY.sub(HIDDEN, text)
    return _BEARER.sub(rf"\1 {HIDDEN}", without_logins(text))


def without_secret_variables(value: Any) -> Any:
    """An object without the values of containers' variables that are called as secrets are."""
    if isinstance(value, list):
        return [without_secret_variables(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    found: Obj = {key: without_secret_variables(each) for key, each in value.items()}
    if found.get("value") and _SECRET_NAME.search(str(found.get("name") or "")):
        found["value"] = HIDDEN
    return found


def aliases_of(nodes: Sequence[Mapping[str, Any]], images: Iterable[str]) -> dict[str, str]:
    """Name -> another one: nodes with their addresses, repositories of images with their registries."""
    return {**_of_nodes(nodes), **_of_images(images)}


def _of_nodes(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for index, node in enumerate(nodes, 1):
        addresses = elements(node, "status", "addresses")
        for name in (node["metadata"]["name"], *(each.get("address") for each in addresses)):
            found.setdefault(str(name), f"node-{index}")
    return found


def _of_images(images: Iterable[str]) -> dict[str, str]:
    repositories = sorted({_repository(image) for image in images} - {""})
    hosts = {name.partition("/")[0] for name in repositories if "/" in name}
    named = sorted(host for host in hosts if "." in host or ":" in host)
    return {
        **{host: f"registry-{index}" for index, host in enumerate(named, 1)},
        **{name: f"image-{index}" for index, name in enumerate(repositories, 1)},
    }


def _repository(image: str) -> str:
    """An image without tag and digest."""
    name = image.partition("@")[0]
    place, slash, last = name.rpartition("/")
    return f"{place}{slash}{last.partition(':')[0]}"


class Aliases:
    """Puts other names into texts. names: what each is called instead."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        pattern = _any_of(names)
        self._found = re.compile(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])") if names else None

    def put_into(self, text: str) -> str:
        """The text with the other names."""
        if self._found is None:
            return text
        return self._found.sub(lambda found: self._names[found[0]], text)


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of many words, the longest that fits, which reads no letter of a text once for
    each of thousands of words."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    ends = by_letter.pop("", None) is not None
    ways = [f"{re.escape(letter)}{_any_of(rests)}" for letter, rests in sorted(by_letter.items())]
    if not ways:
        return ""
    if len(ways) == 1 and not ends:
        return ways[0]
    return f"(?:{'|'.join(ways)}){'?' if ends else ''}"
