# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task says who builds images and how. All of it counts where a build has failed: with another
value the same inputs are tried again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from .._schema.requests import ParameterGroup
from .registry_policy import RegistryAccessRequest


@dataclass(frozen=True)
class CredentialRequest(ParameterGroup):
    """registry_auth_file: a configuration of docker here. The others are names of Secrets."""

    registry_auth_file: Optional[str] = None
    push_secret: Optional[str] = None
    entitlement_secret: Optional[str] = None


@dataclass(frozen=True)
class BuilderRequest(ParameterGroup):
    """Who builds, where, and for how many seconds (build_timeout) at most."""

    builder: Literal["auto", "kubernetes", "openshift", "controller", "none"] = "auto"
    build_namespace: Optional[str] = None
    build_node_selector: Mapping[str, Any] = field(default_factory=dict)
    build_timeout: int = 1800


@dataclass(frozen=True)
class BuildahRequest(ParameterGroup):
    """The container of a Job that runs buildah, see BuildahSettings."""

    builder_image: Optional[str] = None
    build_host_network: bool = False
    build_apparmor: str = "Unconfined"
    build_seccomp: str = "Unconfined"
    build_capabilities: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True)
class BuildRequest(ParameterGroup):
    """All that a build depends on beside its inputs, as far as a task says it."""

    registry: RegistryAccessRequest
    credentials: CredentialRequest
    builder: BuilderRequest
    buildah: BuildahRequest
