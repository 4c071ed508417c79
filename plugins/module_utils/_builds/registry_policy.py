# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy for registries of one task: what a person says, then what the cluster says, with the
credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from .._errors import InvalidInput
from .._http.proxies import Proxies
from .._json import parse_json
from .._registry.credential_helpers import CredentialHelpers
from .._registry.keyring import Keyring
from .._registry.policy import RegistryMirror, RegistryPolicy, Trust
from .._schema.requests import ParameterGroup
from .cluster_registries import ClusterRegistries

_PROXIES = {"http": "http", "https": "https", "no": "exceptions"}


@dataclass(frozen=True)
class MirrorRequest:
    """Other places for all images below a prefix. source: whether the prefix itself is asked, too."""

    prefix: str
    locations: Sequence[str]
    source: bool = True


@dataclass(frozen=True)
class TrustRequest:
    """How one registry is spoken to."""

    host: str
    ca: Optional[str] = None
    verify: bool = True
    plain_http: bool = False


@dataclass(frozen=True)
class RegistryAccessRequest(ParameterGroup):
    """registry_ca, registry_verify: for all registries; registries: what is other for some."""

    registry_ca: Optional[str] = None
    registry_verify: bool = True
    registry_mirrors: tuple[MirrorRequest, ...] = field(default_factory=tuple)
    registries: tuple[TrustRequest, ...] = field(default_factory=tuple)


def given_policy(request: RegistryAccessRequest) -> RegistryPolicy:
    """What a task says, without any credentials. Raises InvalidInput."""
    return RegistryPolicy(
        ca=request.registry_ca or "",
        verify=request.registry_verify,
        mirrors=[
            RegistryMirror(mirror.prefix, tuple(mirror.locations), mirror.source)
            for mirror in request.registry_mirrors
        ],
        trusts=[
            Trust(each.host, each.ca or "", each.verify, each.plain_http)
            for each in request.registries
        ],
    )


def whole_policy(
    given: RegistryPolicy,
    cluster: ClusterRegistries,
    own: Keyring,
    named: Keyring,
    proxy: Mapping[str, Any],
) -> RegistryPolicy:
    """What a person says, then what the cluster says.

    own: credentials of this machine. named: those of the Secrets that a person names. proxy: http,
    https, no.
    """
    prefixes = {mirror.prefix for mirror in given.mirrors}
    return replace(
        given,
        keyring=own.before(named, cluster.keyring),
        for_builds=named,
        # Who names mirrors for a prefix means these.
        mirrors=[
            *given.mirrors,
            *(mirror for mirror in cluster.mirrors if mirror.prefix not in prefixes),
        ],
        trusts=[*given.trusts, *cluster.trusts],
        proxies=Proxies(**{_PROXIES[key]: str(value) for key, value in proxy.items()}),
    )


def read_config(path: str, secrets: set[str]) -> Keyring:
    """The credentials of a configuration of docker on this machine, whose helpers are run here and
    nowhere else."""
    if not path:
        return Keyring()
    try:
        text = Path(path).expanduser().read_text()
        config = parse_json(text)
    except OSError as error:
        raise InvalidInput(
            "Cannot read registry_auth_file", where=path, why=str(error.strerror)
        ) from error
    except ValueError:
        # The parser's message may quote the text.
        raise InvalidInput(
            "Cannot read registry_auth_file", where=path, why="it is not JSON"
        ) from None
    if not isinstance(config, dict):
        raise InvalidInput("Cannot read registry_auth_file", where=path, why="it is not a mapping")
    return Keyring.from_configs([text], CredentialHelpers(config, secrets))
