# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy as buildah and podman read it: registries.conf, certs.d and an authfile. Pure.

Sources: containers-registries.conf(5) version 2, containers-certs.d(5), containers-auth.json(5). Of
these programs a registry that is not verified may also be asked without TLS: they know one word for
both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from .image_names import DOCKER_HUB, Reference
from .policy import RegistryMirror, RegistryPolicy

# Where programs in Go look for authorities by themselves (crypto/x509/root_linux.go); SSL_CERT_DIR
# takes its place.
SYSTEM_AUTHORITIES = "/etc/ssl/certs:/etc/pki/tls/certs"
# A name without a registry is Docker Hub's, as everywhere here, and nobody is asked about it.
_HEAD = f'unqualified-search-registries = ["{DOCKER_HUB}"]\nshort-name-mode = "disabled"\n'


def registries_conf(policy: RegistryPolicy) -> str:
    """The text of registries.conf."""
    prefixes = dict.fromkeys(mirror.prefix for mirror in policy.mirrors)
    hosts = dict.fromkeys(
        trust.host for trust in policy.trusts if not policy.trust(trust.host).verify
    )
    hosts |= dict.fromkeys(policy.plain_http)
    blocks = [_registry(policy, prefix) for prefix in prefixes]
    blocks += [_registry(policy, host) for host in hosts if host not in prefixes]
    return "\n".join([_HEAD, *blocks])


def certificates(policy: RegistryPolicy) -> dict[str, str]:
    """Paths below certs.d, with the authorities (PEM) of single registries; those for all are not
    among them."""
    return {f"{trust.host}/ca.crt": trust.ca for trust in reversed(policy.trusts) if trust.ca}


def authorities(policy: RegistryPolicy) -> str:
    """All authorities in one text, for who cannot tell registries apart; "" for none."""
    return "\n".join(filter(None, [policy.ca, *certificates(policy).values()]))


def authfile(policy: RegistryPolicy, references: Iterable[Reference]) -> str:
    """The authfile of a build of these images, with what builds may have and what else these need;
    "" without any."""
    auths = {key: credentials.entry for key, credentials in reversed(policy.for_builds.entries)}
    for place in (place for reference in references for place in policy.places(reference)):
        credentials = policy.keyring.find(place)
        if credentials:
            auths[place.name] = credentials.entry
    return json.dumps({"auths": auths}, sort_keys=True) if auths else ""


def _registry(policy: RegistryPolicy, prefix: str) -> str:
    mirrors = [mirror for mirror in policy.mirrors if mirror.prefix == prefix]
    lines = ["[[registry]]", f"prefix = {_text(prefix)}"]
    if not prefix.startswith("*."):
        lines.append(f"location = {_text(prefix)}")
    lines += _insecure(policy, prefix)
    if not all(mirror.source for mirror in mirrors):
        lines.append("blocked = true")
    lines += [
        line
        for mirror in mirrors
        for location in mirror.locations
        for line in _mirror(policy, mirror, location)
    ]
    return "\n".join([*lines, ""])


def _mirror(policy: RegistryPolicy, mirror: RegistryMirror, location: str) -> list[str]:
    pulls = [] if mirror.pulls == "all" else [f"pull-from-mirror = {_text(f'{mirror.pulls}-only')}"]
    place = location.rstrip("/")
    return ["[[registry.mirror]]", f"location = {_text(place)}", *_insecure(policy, place), *pulls]


def _insecure(policy: RegistryPolicy, place: str) -> list[str]:
    host = place.partition("/")[0]
    trust = policy.trust(host)
    return ["insecure = true"] if trust.plain_http or not trust.verify else []


def _text(value: str) -> str:
    """A basic string of TOML, which is one of JSON."""
    return json.dumps(value)
