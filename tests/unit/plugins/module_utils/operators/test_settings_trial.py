# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What enable would refuse of an import's result, found without a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.settings_trial import (
    refusal,
)

Obj = dict[str, Any]
BUNDLE = read_bundle(Path(__file__).parents[5] / "recipes" / "amd-gpu")


def pool(name: str, **options: Any) -> Obj:
    """A pool by a label of its name."""
    return {"name": name, "selector": {"matchLabels": {"a": name}}, "options": options}


def test_what_can_be_enabled_is_not_refused() -> None:
    pools = [pool("a", exporter_enabled=False), pool("b", labeller_image="l:1")]
    assert refusal(BUNDLE, "amd-gpu", {"resource_naming_strategy": "mixed"}, pools) is None


@pytest.mark.parametrize(
    ("options", "pools", "why"),
    [
        ({"nosuch": 1}, [], "only options that the recipe has"),
        ({}, [pool("a", nosuch=1)], "only options that the recipe has"),
        ({}, [pool("a"), pool("a")], "another pool has the same name"),
        ({}, [pool("A Name")], "its name is no DNS label"),
        ({}, [pool("a", node_selector={"b": "c"})], "it says which nodes have the hardware at all"),
        ({"hardware_labels": [{}]}, [], "one of its label sets is empty"),
        ({}, [pool("a", exporter_health=False)], "makes one object of it for all nodes"),
        ({}, [pool("a", driver_build=True)], "elsewhere"),
        ({"driver_enabled": True}, [], "nothing names one"),
        ({"driver_enabled": True, "driver_repository": "a b"}, [], "is no image reference"),
    ],
)
def test_what_cannot_be_enabled_is_refused_with_the_same_sentence(
    options: Obj, pools: list[Obj], why: str
) -> None:
    refused = refusal(BUNDLE, "amd-gpu", options, pools)
    assert refused is not None
    assert why in refused.why
