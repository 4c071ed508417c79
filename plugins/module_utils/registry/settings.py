# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How registries are reached: credentials, whom to trust, proxies, mirrors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils.registry.proxies import Proxies
from ansible_collections.hardware.enablement.plugins.module_utils.registry.references import Reference, parse


@dataclass(frozen=True)
class Mirror:
    """Other places for what lies under a prefix.

    prefix: host[:port], optionally with the beginning of a path ("docker.io/library"); "*.example.com" is any host
    under example.com. locations: what takes the prefix's place, in the order in which they are asked. source: whether
    the place itself is asked, too, after all of them.
    """

    prefix: str
    locations: Sequence[str]
    source: bool = True


@dataclass(frozen=True)
class Settings:
    """Whom to talk to, and how.

    ca: PEM of authorities to trust beside the system's. verify: whether certificates are checked at all. plain_http:
    registries (host[:port]) that are asked without TLS; no other ever is.
    """

    keyring: Keyring = field(default_factory=Keyring)
    ca: str = ""
    verify: bool = True
    mirrors: Sequence[Mirror] = ()
    proxies: Proxies = field(default_factory=Proxies)
    plain_http: frozenset[str] = frozenset()


def places(reference: Reference, mirrors: Sequence[Mirror]) -> list[Reference]:
    """Where to ask for an image, in order. The mirror with the longest prefix counts; without one it is the source."""
    matching = [mirror for mirror in mirrors if _remainder(reference.name, mirror.prefix) is not None]
    if not matching:
        return [reference]
    mirror = max(matching, key=lambda mirror: len(mirror.prefix.removeprefix("*.")))
    rest = _remainder(reference.name, mirror.prefix) or ""
    found = [_at(location, rest, reference) for location in mirror.locations]
    return [*found, reference] if mirror.source else found


def push_place(reference: Reference, mirrors: Sequence[Mirror]) -> Reference:
    """Where to push: to the image's own registry, or, where that is never asked, to the first that stands for it."""
    found = places(reference, mirrors)
    return reference if reference in found or not found else found[0]


def _remainder(name: str, prefix: str) -> str | None:
    """What follows the prefix ("" or "/..."); None where it does not match. It ends where a part of the name ends."""
    if prefix.startswith("*."):
        registry, slash, repository = name.partition("/")
        return f"{slash}{repository}" if registry.partition(":")[0].endswith(prefix[1:]) else None
    rest = name.removeprefix(prefix)
    return rest if name.startswith(prefix) and rest[:1] in ("", "/") else None


def _at(location: str, rest: str, reference: Reference) -> Reference:
    try:
        place = parse(f"{location.rstrip('/')}{rest}")
        why = "" if place.name.startswith(location.rstrip("/")) else "its first part is no host"
    except InvalidInput as error:
        why = error.why
    if why:
        todo = "write its location as host[:port][/path], the host with a dot or a port"
        raise InvalidInput(f'Cannot use the mirror "{location}"', why=why, todo=todo)
    return Reference(place.registry, place.repository, reference.tag, reference.digest)
