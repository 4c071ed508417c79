# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a cluster builds: what a person sets once for all images of a recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.api_objects.labels import BUILD_LABEL, RECIPE_LABEL
from .._errors import InvalidInput
from .._recipes.templates.filters import string
from .._states.preparation.prepare import Prepared
from .build_request import BuildahRequest, BuildRequest

_PROXY = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY", "no": "NO_PROXY"}
_PROFILE = re.compile(r"Unconfined|RuntimeDefault|Localhost/[^/\s]\S*")


@dataclass(frozen=True)
class BuildScope:
    """Whose builds they are, or whose look-ups, and the namespace that they run in."""

    recipe: str
    state: str
    namespace: str

    @property
    def labels(self) -> dict[str, str]:
        """What finds all objects of the builds of this state again."""
        return {RECIPE_LABEL: self.recipe, BUILD_LABEL: self.state}

    @property
    def selector(self) -> str:
        """The same as a label selector."""
        return ",".join(f"{name}={value}" for name, value in sorted(self.labels.items()))


@dataclass(frozen=True)
class PodSettings:
    """Where pods may run, and the Secrets with which their nodes pull images."""

    tolerations: Sequence[Mapping[str, Any]] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: Sequence[str] = ()


@dataclass(frozen=True)
class BuildPace:
    """timeout: seconds per build. parallel: builds at once. grace: seconds that trouble of a build's
    pod may last."""

    timeout: int = 1800
    parallel: int = 2
    grace: float = 30.0


@dataclass(frozen=True)
class BuildahSettings:
    """The container of a Job that runs buildah.

    image: the one with buildah. apparmor, seccomp: profiles, "Unconfined", "RuntimeDefault" or
    "Localhost/NAME". capabilities: what it gets besides.
    """

    image: str = ""
    host_network: bool = False
    apparmor: str = "Unconfined"
    seccomp: str = "Unconfined"
    capabilities: Sequence[str] = ()


@dataclass(frozen=True)
class BuildSettings:
    """Where and how the images of one state are built.

    push_secret: Secret (kubernetes.io/dockerconfigjson) for pulling bases and pushing.
    entitlement_secret: for packages of RHEL. proxy: variables HTTP_PROXY, HTTPS_PROXY, NO_PROXY.
    """

    scope: BuildScope
    pods: PodSettings = field(default_factory=PodSettings)
    pace: BuildPace = field(default_factory=BuildPace)
    buildah: BuildahSettings = field(default_factory=BuildahSettings)
    push_secret: str = ""
    entitlement_secret: str = ""
    proxy: Mapping[str, str] = field(default_factory=dict)


def build_settings(build: BuildRequest, prepared: Prepared, purpose: str) -> BuildSettings:
    """The settings from a task's request and the recipe's options. purpose: the state whose images they are."""
    options, builder, pace = prepared.options, build.builder, build.pace
    node_selector = builder.build_node_selector
    return BuildSettings(
        BuildScope(
            prepared.recipe.name,
            purpose,
            builder.build_namespace or prepared.namespace,
        ),
        PodSettings(
            tolerations=tuple(options["tolerations"]),
            node_selector={str(name): string(value) for name, value in node_selector.items()},
            pull_secrets=tuple(options["image_pull_secrets"]),
        ),
        BuildPace(pace.build_timeout, pace.parallel, float(pace.failure_grace)),
        _buildah(build.buildah),
        push_secret=build.credentials.push_secret or "",
        entitlement_secret=build.credentials.entitlement_secret or "",
        proxy={_PROXY[key]: str(value) for key, value in options["proxy"].items()},
    )


def _buildah(request: BuildahRequest) -> BuildahSettings:
    return BuildahSettings(
        image=request.builder_image or "",
        host_network=request.build_host_network,
        apparmor=_profile("build_apparmor", request.build_apparmor),
        seccomp=_profile("build_seccomp", request.build_seccomp),
        capabilities=tuple(request.build_capabilities),
    )


def _profile(name: str, value: str) -> str:
    if not _PROFILE.fullmatch(value):
        todo = "set it to Unconfined, RuntimeDefault, or Localhost/ and the name of a profile on the nodes"
        raise InvalidInput(f"{name} cannot be {value}", todo=todo)
    return value
