# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_new: what it writes is short and without a mistake; nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from yamllint import linter
from yamllint.config import YamlLintConfig

from ansible_collections.hardware.enablement.plugins.module_utils._authoring import new_core
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    read_api_types,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext

REPO = Path(__file__).resolve().parents[3]


def params(folder: Path, **changed: str) -> dict[str, str]:
    given = {
        "name": "acme-fpga",
        "label": "feature.node.kubernetes.io/pci-1200_10ee.present",
        "resource": "acme.example/fpga",
    }
    return {**given, "recipe_dir": str(folder), **changed}


def test_the_scaffold_is_short_and_has_no_mistake(tmp_path: Path) -> None:
    result = new_core.TASK.run(params(tmp_path), RunContext())
    bundle = read_bundle(tmp_path / "acme-fpga")
    assert sorted(bundle) == result["files"]
    assert sum(len(text.splitlines()) for text in bundle.values()) < 260
    checked = check(bundle, "acme-fpga", {}, read_api_types())
    assert [str(finding) for finding in (*checked.errors, *checked.warnings)] == []
    assert checked.unsampled == []
    rules = YamlLintConfig(file=str(REPO / ".yamllint"))
    assert list(linter.run(bundle["recipe.yml"], rules)) == []
    assert checked.recipe is not None
    assert "# yaml-language-server: $schema=https://" in bundle["recipe.yml"].splitlines()[0]
    assert "acme.example/fpga" in bundle["README.md"]
    for file in ("molecule.yml", "converge.yml"):
        assert list(linter.run(bundle[f"molecule/default/{file}"], rules)) == []
    (play,) = yaml.safe_load(bundle["molecule/default/converge.yml"])
    assert play["vars"]["hardware_enablement_recipe"] == "acme-fpga"
    (used,) = checked.recipe.states["device_plugin_validation"].proofs.validate
    assert (used.kind, used.spec["resource"]) == ("workload", "acme.example/fpga")
    assert checked.recipe.nodes.selector == (
        {"feature.node.kubernetes.io/pci-1200_10ee.present": "true"},
    )


def test_a_label_may_have_a_value(tmp_path: Path) -> None:
    new_core.TASK.run(params(tmp_path, label="example.com/card=x7"), RunContext())
    assert '{example.com/card: "x7"}' in (tmp_path / "acme-fpga" / "recipe.yml").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "acme-fpga").mkdir()
    with pytest.raises(InvalidInput, match="nothing is overwritten"):
        new_core.TASK.run(params(tmp_path), RunContext())
    assert list((tmp_path / "acme-fpga").iterdir()) == []


def test_check_mode_writes_nothing(tmp_path: Path) -> None:
    assert new_core.TASK.run(params(tmp_path), RunContext(check_mode=True))["changed"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "changed", [{"name": "Acme"}, {"name": "../acme"}, {"resource": "fpga"}, {"label": "a b"}]
)
def test_names_that_do_not_fit_are_refused(tmp_path: Path, changed: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        new_core.TASK.run(params(tmp_path, **changed), RunContext())
    assert list(tmp_path.iterdir()) == []
