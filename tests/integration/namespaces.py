# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Namespaces that somebody makes before a run does."""

from __future__ import annotations

import json

from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights import (
    rights_core,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights.rights_core import (
    RecipeRightsRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    read_api_types,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from tests.cluster import Cluster
from tests.integration.plays import REPO


def make_namespace(cluster: Cluster, name: str, recipe: str = "simple-kmod") -> None:
    """Make a namespace before a run does, as the playbook rights writes it for a recipe, so that it
    is used as it is (docs/admin/rights.md)."""
    bundles = {recipe: read_bundle(REPO / "recipes" / recipe)}
    request = RecipeRightsRequest([recipe], bundles=bundles, namespace=name)
    made = rights_core.run(request, read_api_types())
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(made["manifests"][0]))
