# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One policy for all that asks registries: where instead, whom to trust, as whom. Pure.

Words and order are those of containers-registries.conf(5), which registries_conf.py writes it as.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._errors import InvalidInput
from .._http.proxies import Proxies
from .image_names import Reference, parse
from .keyring import Keyring


@dataclass(frozen=True)
class RegistryMirror:
    """Where images under a prefix are asked for instead.

    - prefix: host[:port], optionally with the beginning of a path ("docker.io/library");
      "*.example.com" is any host under example.com
    - locations: the places that are asked, in this order; each takes the place of the prefix
    - source: whether the prefix itself is asked as well, after all of them
    - pulls: the images that this is for: "all", or those named by "digest" or by "tag"
    - of_cluster: the cluster has this setting and applies it without us
    """

    prefix: str
    locations: Sequence[str]
    source: bool = True
    pulls: str = "all"
    of_cluster: bool = False


@dataclass(frozen=True)
class Trust:
    """How one registry is spoken to.

    - host: host[:port], or "*.example.com" for all hosts below
    - ca: PEM of authorities that are trusted besides the others
    - verify: whether its certificate is checked
    - plain_http: it is asked without TLS
    - of_cluster: the setting comes from the cluster
    """

    host: str
    ca: str = ""
    verify: bool = True
    plain_http: bool = False
    of_cluster: bool = False


@dataclass(frozen=True)
class RegistryPolicy:
    """Which registries are asked, and how.

    - keyring: all credentials; for_builds: those that every build may have, whatever it pulls
    - ca, verify: for all registries: PEM of authorities that are trusted besides the system's, and
      whether certificates are checked
    - trusts: what is different for single registries; of several for one host the first counts
    """

    keyring: Keyring = field(default_factory=Keyring)
    for_builds: Keyring = field(default_factory=Keyring)
    ca: str = ""
    verify: bool = True
    mirrors: Sequence[RegistryMirror] = ()
    trusts: Sequence[Trust] = ()
    proxies: Proxies = field(default_factory=Proxies)

    def __post_init__(self) -> None:
        """Raise InvalidInput for what nothing could keep to."""
        for trust in self.trusts:
            if trust.host.startswith("*.") and (trust.ca or trust.plain_http):
                why, todo = "an authority and plain HTTP are for one host", "name each host"
                raise InvalidInput(f'Cannot use the registry "{trust.host}"', why=why, todo=todo)
        for mirror in self.mirrors:
            for location in mirror.locations:
                _at(location, "/a", Reference("a.invalid", "a", "a"))

    @property
    def plain_http(self) -> frozenset[str]:
        """The registries (host[:port]) that are asked without TLS; no other ever is."""
        return frozenset(trust.host for trust in self.trusts if trust.plain_http)

    def trust(self, host: str) -> Trust:
        """How a registry (host[:port]) is spoken to, all considered."""
        fitting = [trust for trust in self.trusts if _is_of(host, trust.host)]
        found = max(
            fitting, key=lambda trust: len(trust.host.removeprefix("*.")), default=Trust(host)
        )
        authorities = "\n".join(filter(None, [self.ca, found.ca]))
        return Trust(
            host, authorities, self.verify and found.verify, found.plain_http, found.of_cluster
        )

    def mirrors_of(self, name: str) -> list[RegistryMirror]:
        """What holds for a repository or a prefix: those of the longest prefix."""
        matching = [
            mirror for mirror in self.mirrors if _remainder(name, mirror.prefix) is not None
        ]
        longest = max((len(mirror.prefix.removeprefix("*.")) for mirror in matching), default=0)
        return [mirror for mirror in matching if len(mirror.prefix.removeprefix("*.")) == longest]

    def places(self, reference: Reference) -> list[Reference]:
        """Where to ask for an image, in order; without a mirror it is the source. None where nobody
        may be asked."""
        mirrors = self.mirrors_of(reference.name)
        kind = "digest" if reference.digest else "tag"
        found = [
            _at(location, _remainder(reference.name, mirror.prefix) or "", reference)
            for mirror in mirrors
            if mirror.pulls in ("all", kind)
            for location in mirror.locations
        ]
        asked = [*found, reference] if all(mirror.source for mirror in mirrors) else found
        return list(dict.fromkeys(asked))

    def push_place(self, reference: Reference) -> Reference:
        """Where to push: to the image's own registry, or to the first that stands for it where that
        is never asked."""
        found = self.places(reference)
        return reference if reference in found or not found else found[0]


def _is_of(host: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return host.partition(":")[0].endswith(pattern[1:])
    return host == pattern


def _remainder(name: str, prefix: str) -> str | None:
    """What follows the prefix ("" or "/..."); None where it does not match. It ends where a part of
    the name ends."""
    if prefix.startswith("*."):
        registry, slash, repository = name.partition("/")
        return f"{slash}{repository}" if _is_of(registry, prefix) else None
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
