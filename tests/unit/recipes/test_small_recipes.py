# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes that other tests work with: the small one renders, each broken one is broken in the
way that it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput

BROKEN = Path(__file__).resolve().parents[2] / "recipes" / "broken"
SAYS = {
    "unknown-key": ("recipe.yml", "states.first", "require"),
    "wrong-type": ("recipe.yml", "states.first.timeout", "soon"),
    "missing-file": ("recipe.yml", "states.first.assets", "first/daemonset.yaml.j2"),
    "template-error": ("first/configmap.yaml.j2", "line 6", "imagge"),
    "cycle": ("recipe.yml", "requires", "first"),
    "object-in-two-states": ("first/configmap.yaml.j2", "second/configmap.yaml.j2", "ConfigMap"),
    "no-kind": ("first/configmap.yaml.j2", "kind"),
}


def test_two_states(two_states: Any) -> None:
    rendering = two_states()
    daemonsets = {item["metadata"]["name"]: item for item in rendering.objects("DaemonSet")}
    assert daemonsets.keys() == {
        "driver-6-8-0-60-generic-11aa22",
        "driver-5-15-0-1-33bb44",
        "plugin",
    }
    gate = "hardware-enablement.io/two-states.driver"
    assert gate in json.dumps(daemonsets["plugin"]["spec"]["template"]["spec"]["affinity"])
    assert gate not in json.dumps(
        daemonsets["driver-5-15-0-1-33bb44"]["spec"]["template"]["spec"]["affinity"]
    )


def test_every_broken_recipe_has_its_place_here() -> None:
    assert {folder.name for folder in BROKEN.iterdir()} == SAYS.keys()


@pytest.mark.parametrize("case", sorted(SAYS))
def test_broken(render_folder: Any, case: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        render_folder(BROKEN / case)()
    for words in SAYS[case]:
        assert words in str(caught.value)
