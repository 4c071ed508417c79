# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest with the rights of a takeover has those of the code."""

from __future__ import annotations

from pathlib import Path

import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._authoring import kmm_core
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights.roles import (
    rules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.operator_takeover import (
    RIGHTS,
)

MANIFEST = Path(__file__).parents[5] / "manifests" / "operator-import-rbac.yaml"


def test_the_manifest_grants_what_is_needed_and_no_more() -> None:
    role = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    assert role["rules"] == rules([*RIGHTS, *kmm_core.RIGHTS])
