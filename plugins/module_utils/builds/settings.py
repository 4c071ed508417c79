# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a cluster builds: what a person sets once for all images of a recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import BUILD_LABEL, RECIPE_LABEL


@dataclass(frozen=True)
class BuildSettings:
    """Where and with what images are built.

    image: of the builder. push_secret: Secret (kubernetes.io/dockerconfigjson) for pulling bases and pushing.
    pull_secrets: for the builder's own image. ca: PEM of the authority of the registries, "" for the system's. proxy:
    variables HTTP_PROXY, HTTPS_PROXY, NO_PROXY. timeout: seconds per build. parallel: builds at once. grace: seconds
    that trouble of a build's pod may last.
    """

    recipe: str
    state: str
    namespace: str
    image: str = ""
    push_secret: str = ""
    pull_secrets: Sequence[str] = ()
    entitlement_secret: str = ""
    ca: str = ""
    proxy: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False
    timeout: int = 1800
    parallel: int = 2
    grace: float = 30.0

    @property
    def labels(self) -> dict[str, str]:
        """What finds all objects of the builds of this state again."""
        return {RECIPE_LABEL: self.recipe, BUILD_LABEL: self.state}

    @property
    def selector(self) -> str:
        """The same as a label selector."""
        return ",".join(f"{name}={value}" for name, value in sorted(self.labels.items()))
