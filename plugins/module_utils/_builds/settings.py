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
from .._recipes.loading.recipe import State
from .._recipes.templates.filters import string
from .._states.preparation.prepare import Prepared

_PROXY = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY", "no": "NO_PROXY"}
_PROFILE = re.compile(r"Unconfined|RuntimeDefault|Localhost/[^/\s]\S*")


@dataclass(frozen=True)
class BuildPlace:
    """Whose builds they are, and the namespace that they run in."""

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
class BuildLimits:
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

    place: BuildPlace
    pods: PodSettings = field(default_factory=PodSettings)
    limits: BuildLimits = field(default_factory=BuildLimits)
    buildah: BuildahSettings = field(default_factory=BuildahSettings)
    push_secret: str = ""
    entitlement_secret: str = ""
    proxy: Mapping[str, str] = field(default_factory=dict)


def build_settings(params: Mapping[str, Any], prepared: Prepared, state: State) -> BuildSettings:
    """The settings from a task's parameters and the recipe's options."""
    options = prepared.options
    node_selector = params.get("build_node_selector") or {}
    return BuildSettings(
        BuildPlace(
            prepared.recipe.name,
            state.name,
            params.get("build_namespace") or prepared.namespace,
        ),
        PodSettings(
            tolerations=tuple(options["tolerations"]),
            node_selector={str(name): string(value) for name, value in node_selector.items()},
            pull_secrets=tuple(options["image_pull_secrets"]),
        ),
        BuildLimits(
            timeout=int(params["build_timeout"]),
            parallel=int(params["parallel"]),
            grace=float(params["failure_grace"]),
        ),
        BuildahSettings(
            image=params.get("builder_image") or "",
            host_network=bool(params["build_host_network"]),
            apparmor=_profile(params, "build_apparmor"),
            seccomp=_profile(params, "build_seccomp"),
            capabilities=tuple(params["build_capabilities"]),
        ),
        push_secret=params.get("push_secret") or "",
        entitlement_secret=params.get("entitlement_secret") or "",
        proxy={_PROXY[key]: str(value) for key, value in options["proxy"].items()},
    )


def _profile(params: Mapping[str, Any], name: str) -> str:
    value = str(params[name])
    if not _PROFILE.fullmatch(value):
        todo = "set it to Unconfined, RuntimeDefault, or Localhost/ and the name of a profile on the nodes"
        raise InvalidInput(f"{name} cannot be {value}", todo=todo)
    return value
