# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts inside charts: what helm calls their files, and which of them are installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.chart_recipe import (
    read_chart,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.subcharts import (
    helm_names,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    RenderFacts,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.sample import (
    SAMPLE_GROUPS,
)

Obj = dict[str, Any]

HEAD = "apiVersion: v2\nname: {name}\nversion: 0.1.0\n"
DEPENDS = HEAD.format(name="outer") + (
    "dependencies:\n- {name: inner, version: 0.1.0, alias: other, condition: other.enabled}\n"
)
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "cards.example.org"},
    "spec": {"group": "example.org", "names": {"kind": "Card"}, "scope": "Namespaced"},
}
CARD = {"apiVersion": "example.org/v1", "kind": "Card", "metadata": {"name": "card"}}
FILES = {
    "Chart.yaml": DEPENDS,
    "values.yaml": "platform: {openshift: false}\nproxy: none\n",
    "templates/a.yaml": "{{ .Values.platform }}{{ .Values.proxy }}{{ .Values.clusterVersion }}",
    "charts/inner-0.1.0/Chart.yaml": HEAD.format(name="inner"),
    "charts/inner-0.1.0/templates/card.yaml": "x",
    "charts/inner-0.1.0/crds/card.yaml": json.dumps(CRD),
}


@pytest.mark.parametrize(
    ("chart", "names"),
    [
        (HEAD.format(name="outer"), {"inner"}),
        (DEPENDS, {"inner", "other"}),
        # What cannot be read is for helm to tell.
        ("a: [", {"inner"}),
        ("dependencies: x", {"inner"}),
    ],
)
def test_a_chart_inside_is_called_by_its_name_and_its_aliases(chart: str, names: set[str]) -> None:
    found = helm_names({**FILES, "Chart.yaml": chart})
    assert {path.split("/")[1] for path in found if path.startswith("charts/")} == names
    assert found["charts/inner/templates/card.yaml"] == "x"


def test_names_of_the_first_version_and_of_charts_inside_of_those_inside() -> None:
    inside = {f"charts/deep/{path}": text for path, text in FILES.items() if path != "Chart.yaml"}
    files = {
        **inside,
        "Chart.yaml": HEAD.format(name="outer"),
        "requirements.yaml": "dependencies: [{name: middle, alias: m}]",
        "charts/deep/Chart.yaml": HEAD.format(name="middle"),
        "charts/README.md": "no chart",
    }
    found = helm_names(files)
    assert "charts/m/charts/inner/crds/card.yaml" in found
    assert found["charts/README.md"] == "no chart"


class Helm:
    """Renders a card of the chart inside, under its alias, or nothing of it."""

    def __init__(self, *, enabled: bool) -> None:
        self.values: list[Obj] = []
        self.enabled = enabled

    def __call__(self, arguments: list[str], files: Mapping[str, str]) -> tuple[str, str]:
        assert "--include-crds" in arguments
        assert "chart/charts/inner-0.1.0/crds/card.yaml" in files
        self.values = [json.loads(files[f"values-{number}.json"]) for number in (0, 1)]
        if not self.enabled:
            return "---\n# Source: outer/templates/a.yaml\n", ""
        # A definition that helm itself has written says so.
        crd = f"---\n# Source: cards/crds/x.yaml\n{json.dumps(CRD)}"
        parts = {"charts/other/crds/card.yaml": crd}
        parts["charts/other/templates/card.yaml"] = json.dumps(CARD)
        return "".join(f"---\n# Source: outer/{path}\n{text}\n" for path, text in parts.items()), ""


def rendered(helm: Helm) -> dict[str, list[Obj]]:
    """The objects of the states."""
    recipe = read_chart(FILES, "outer", helm)
    cluster = {
        "platform": "kubernetes",
        "kubernetes_version": "",
        "openshift_version": "4.19",
        "proxy": {},
        "trusted_ca": "",
    }
    facts = RenderFacts(
        "outer", resolve(recipe, {}), SAMPLE_GROUPS[:1], "", cluster=cluster, resolved={}
    )
    return {
        name: [item.manifest for item in render_state(recipe, name, facts).objects]
        for name in recipe.states
    }


def test_what_helm_installs_under_an_alias_is_there() -> None:
    found = rendered(Helm(enabled=True))
    assert [each["metadata"]["name"] for each in found["crds"]] == ["cards.example.org"]
    (card,) = found["templates"]
    # Its kind is one that the chart brings.
    assert card["metadata"]["namespace"] == "outer"


def test_a_chart_inside_that_is_switched_off_brings_no_definitions() -> None:
    found = rendered(Helm(enabled=False))
    assert (found["crds"], found["templates"]) == ([], [])


def test_a_runtime_value_does_not_take_the_place_of_a_charts_own_of_another_shape() -> None:
    helm = Helm(enabled=False)
    rendered(helm)
    assert helm.values[1] == {"clusterVersion": "4.19"}


def test_definitions_of_a_folder_are_left_to_who_made_them() -> None:
    recipe = read_chart(FILES, "outer", Helm(enabled=True))
    assert recipe.source.format is not None
    assert recipe.source.format.is_left_alone(CRD)
    assert not recipe.source.format.is_left_alone({**CRD, "metadata": {"name": "ards.example.org"}})
    assert not recipe.source.format.is_left_alone({**CRD, "kind": "ConfigMap"})
