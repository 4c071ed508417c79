# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What driver_container is asked: whose images, where to look for them, who builds them and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Optional

from .._cluster.api_client.connection_request import ConnectionRequest
from .._schema.requests import ParameterGroup
from .._states.preparation.prepare import StateChoice
from .._states.preparation.recipe_request import RecipeRequest
from .registry_policy import RegistryAccessRequest


@dataclass(frozen=True)
class CredentialRequest(ParameterGroup):
    """registry_auth_file: a configuration of docker here. The others are names of Secrets."""

    registry_auth_file: Optional[str] = None
    push_secret: Optional[str] = None
    entitlement_secret: Optional[str] = None


@dataclass(frozen=True)
class BuilderRequest(ParameterGroup):
    """Who builds, and where."""

    builder: Literal["auto", "kubernetes", "openshift", "controller", "none"] = "auto"
    build_namespace: Optional[str] = None
    build_node_selector: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildahRequest(ParameterGroup):
    """The container of a Job that runs buildah, see BuildahSettings."""

    builder_image: Optional[str] = None
    build_host_network: bool = False
    build_apparmor: str = "Unconfined"
    build_seccomp: str = "Unconfined"
    build_capabilities: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True)
class BuildPaceRequest(ParameterGroup):
    """How long a build may take (build_timeout) and may be in trouble (failure_grace), in seconds;
    how many run at once; rebuild: whether what has failed with the same inputs is tried again."""

    build_timeout: int = 1800
    failure_grace: int = 30
    parallel: int = 2
    rebuild: bool = False


@dataclass(frozen=True)
class BuildRequest(ParameterGroup):
    """How images are built."""

    registry: RegistryAccessRequest
    credentials: CredentialRequest
    builder: BuilderRequest
    buildah: BuildahRequest
    pace: BuildPaceRequest

    @property
    def counted(self) -> dict[str, Any]:
        """The parameters with which a build may end otherwise. How many run at once, and how often,
        changes no build."""
        made_by = (self.registry, self.credentials, self.builder, self.buildah)
        named = {name: value for group in made_by for name, value in asdict(group).items()}
        return {**named, "build_timeout": self.pace.build_timeout}


@dataclass(frozen=True)
class LookupRequest(ParameterGroup):
    """What is known before. discovery: the result of nfd_info. images: what a person says, by group.
    outcomes: how orders ended that an earlier task has handed out. lookup_from: who asks registries,
    where the states do not say it."""

    discovery: Optional[Mapping[str, Any]] = None
    images: Optional[Mapping[str, str]] = None
    outcomes: Sequence[Mapping[str, Any]] = field(default_factory=list)
    lookup_from: Optional[Literal["controller", "imagestream", "node"]] = None


@dataclass(frozen=True)
class DriverContainerRequest:
    """Whose images to find or build. wait: whether the lock is given back at the end."""

    connection: ConnectionRequest
    given: RecipeRequest
    choice: StateChoice
    lookup: LookupRequest
    build: BuildRequest
    run_id: Optional[str] = None
    wait: bool = False
