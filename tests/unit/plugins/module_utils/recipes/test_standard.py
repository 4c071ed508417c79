# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A standard option does something: to pods, to the choice of nodes, or in the templates of
recipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes import (
    inject,
    readiness_rules,
    renderer,
    requirements,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness import (
    node_readiness,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes import (
    proven_condition,
)

REPO = Path(__file__).resolve().parents[5]


@pytest.mark.parametrize("name", STANDARD)
def test_every_standard_option_is_read(name: str) -> None:
    entry = STANDARD[name]
    code = "".join(
        Path(str(module.__file__)).read_text(encoding="utf-8")
        for module in (
            inject,
            node_readiness,
            proven_condition,
            readiness_rules,
            renderer,
            requirements,
        )
    )
    templates = "".join(file.read_text(encoding="utf-8") for file in REPO.glob("recipes/**/*.j2"))
    in_code, in_templates = f'options["{name}"]' in code, f"options.{name}" in templates
    assert entry.in_pods or entry.in_daemonsets or in_code or in_templates
