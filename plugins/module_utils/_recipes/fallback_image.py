# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that build a driver's image in the cluster, for kernels whose image nobody has. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .._nodes.groups import NodeGroup
from .loading.recipe import Recipe, State
from .templates.render_facts import RenderFacts
from .variables import cluster_variables, variables_of


def images_before_building(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup
) -> Sequence[str]:
    """The images that a fallback state is there for, of one of its own groups; none where it builds
    nothing for it. Raises InvalidInput with file and line."""
    if recipe.source.format is None:
        return ()
    variables = variables_of(cluster_variables(recipe, state, facts), group, facts)
    paths = [path for asset in state.assets for path in asset.files]
    return recipe.source.format.images(paths, variables, facts)
