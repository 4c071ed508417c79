# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes/record-metrics: it deploys what manifests/ has for an admin, with no more rights."""

from __future__ import annotations

import yaml

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO, renderer
from docs.reference.metrics import configuration, role

RECIPE = renderer(REPO / "recipes" / "record-metrics")


def test_it_deploys_the_configuration_the_alerts_and_the_rights_that_are_shipped() -> None:
    found = RECIPE()
    made = found.one("ConfigMap", "record-metrics")["data"]["config.yaml"]
    assert yaml.safe_load(made) == configuration()
    shipped = yaml.safe_load((REPO / "manifests" / "alerts.yaml").read_text(encoding="utf-8"))
    assert found.one("PrometheusRule", "record-metrics")["spec"] == shipped["spec"]
    assert found.one("ClusterRole", "record-metrics")["rules"] == role()["rules"]
