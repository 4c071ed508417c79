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
class BuildSettings:
    """Where and with what images are built.

    namespace: where builds run. image: of the builder. push_secret: Secret
    (kubernetes.io/dockerconfigjson) for pulling bases and pushing. pull_secrets: for the builder's
    own image. proxy: variables HTTP_PROXY, HTTPS_PROXY, NO_PROXY. timeout: seconds per build.
    parallel: builds at once. grace: seconds that trouble of a build's pod may last. apparmor,
    seccomp: profiles of buildah's container, "Unconfined", "RuntimeDefault" or "Localhost/NAME".
    capabilities: what it gets besides.
    """

    recipe: str
    state: str
    namespace: str
    image: str = ""
    push_secret: str = ""
    pull_secrets: Sequence[str] = ()
    entitlement_secret: str = ""
    proxy: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False
    timeout: int = 1800
    parallel: int = 2
    grace: float = 30.0
    apparmor: str = "Unconfined"
    seccomp: str = "Unconfined"
    capabilities: Sequence[str] = ()

    @property
    def labels(self) -> dict[str, str]:
        """What finds all objects of the builds of this state again."""
        return {RECIPE_LABEL: self.recipe, BUILD_LABEL: self.state}

    @property
    def selector(self) -> str:
        """The same as a label selector."""
        return ",".join(f"{name}={value}" for name, value in sorted(self.labels.items()))


def build_settings(params: Mapping[str, Any], prepared: Prepared, state: State) -> BuildSettings:
    """The settings from a task's parameters and the recipe's options."""
    options = prepared.options
    return BuildSettings(
        recipe=prepared.recipe.name,
        state=state.name,
        namespace=params.get("build_namespace") or prepared.namespace,
        image=params.get("builder_image") or "",
        push_secret=params.get("push_secret") or "",
        pull_secrets=tuple(options["image_pull_secrets"]),
        entitlement_secret=params.get("entitlement_secret") or "",
        proxy={_PROXY[key]: str(value) for key, value in options["proxy"].items()},
        tolerations=tuple(options["tolerations"]),
        node_selector={
            str(name): string(value)
            for name, value in (params.get("build_node_selector") or {}).items()
        },
        host_network=bool(params["build_host_network"]),
        timeout=int(params["build_timeout"]),
        parallel=int(params["parallel"]),
        grace=float(params["failure_grace"]),
        apparmor=_profile(params, "build_apparmor"),
        seccomp=_profile(params, "build_seccomp"),
        capabilities=tuple(params["build_capabilities"]),
    )


def _profile(params: Mapping[str, Any], name: str) -> str:
    value = str(params[name])
    if not _PROFILE.fullmatch(value):
        todo = "set it to Unconfined, RuntimeDefault, or Localhost/ and the name of a profile on the nodes"
        raise InvalidInput(f"{name} cannot be {value}", todo=todo)
    return value
