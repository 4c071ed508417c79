# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What preflight is asked: whose images, for which kernels, and what of it is done now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

from .._builds.build_request import BuildRequest, DriverContainerRequest, LookupRequest
from .._cluster.api_client.connection_request import ConnectionRequest
from .._json import Obj
from .._schema.requests import ParameterGroup
from .._states.preparation.discover import OptionalRecipe
from .._states.preparation.prepare import StateChoice
from .._states.preparation.recipe_request import RecipeRequest


@dataclass(frozen=True)
class KernelRequest(ParameterGroup):
    """kernels: those that nodes will run; None asks for those that they run, or that are staged.
    releases: images of OpenShift's releases, whose kernels are meant, too.
    build: whether missing images are built now. stage: whether the record has these kernels from now
    on, so that enable deploys for them."""

    kernels: Optional[Sequence[Union[str, Mapping[str, Any]]]] = None
    releases: Sequence[str] = ()
    build: bool = False
    stage: bool = False


@dataclass(frozen=True)
class PreflightRequest:
    """Without a recipe, bundles has the files of all, by name. images, lookup_from: see LookupRequest.
    pull: whether nodes are asked for images, by pulling them. adopt, options_replace: as enable will be
    told. show: whether a person is shown the table."""

    connection: ConnectionRequest
    given: OptionalRecipe
    ahead: KernelRequest
    building: BuildRequest
    bundles: Optional[Mapping[str, Mapping[str, str]]] = None
    images: Optional[Mapping[str, str]] = None
    lookup_from: Optional[Literal["controller", "imagestream", "node"]] = None
    pull: bool = False
    adopt: bool = False
    options_replace: bool = False
    show: bool = False
    run_id: Optional[str] = None

    def of_images(self, given: RecipeRequest, found: Obj) -> DriverContainerRequest:
        """The request for all images of the recipe. found: the result of nfd_info."""
        lookup = LookupRequest(found, self.images, (), self.lookup_from)
        return DriverContainerRequest(
            self.connection, given, StateChoice(), lookup, self.building, self.run_id
        )
