# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy for registries of one task: what a person says, then what the cluster says, with the
credentials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._errors import InvalidInput
from .._http.proxies import Proxies
from .._registry.credential_helpers import CredentialHelpers
from .._registry.keyring import Keyring
from .._registry.policy import RegistryMirror, RegistryPolicy, Trust
from .cluster_registries import ClusterRegistries

_PROXIES = {"http": "http", "https": "https", "no": "exceptions"}


def given_policy(params: Mapping[str, Any]) -> RegistryPolicy:
    """What the parameters of a task say, without any credentials. Raises InvalidInput."""
    return RegistryPolicy(
        ca=params.get("registry_ca") or "",
        verify=bool(params["registry_verify"]),
        mirrors=[
            RegistryMirror(entry["prefix"], tuple(entry["locations"]), entry["source"])
            for entry in params.get("registry_mirrors") or []
        ],
        trusts=[
            Trust(entry["host"], entry.get("ca") or "", entry["verify"], entry["plain_http"])
            for entry in params.get("registries") or []
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
        config = json.loads(text)
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
