# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of the Special Resource Operator: what is enabled for them, and what cannot be."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.documents import (
    parse,
)
from ansible_collections.hardware.enablement.plugins.module_utils._sro.sro_resource import (
    DISABLE,
    ENABLE,
    LEAVE,
    SroRequest,
    request_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._sro.sro_source import SroSource

WHOLE = """\
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: site-kmod}
spec:
  debug: true
  namespace: kmod
  managementState: Managed
  chart:
    name: simple-kmod
    version: 0.0.1
    repository: {name: charts, url: "file:///charts/example", username: me, password: hunter22}
  set:
    kind: Values
    apiVersion: sro.openshift.io/v1beta1
    kmodNames: [simple-kmod, simple-procfs-kmod]
  nodeSelector: {example.org/card: "true"}
  dependencies:
    - chart: {name: base, version: 0.0.1}
      set: {kind: Values, colour: green}
"""


# Folders, each with the recipe that it holds.
FOLDERS = {("/src/charts/example", "simple-kmod"), ("/src/charts/other", "base")}


def asked(text: str, recipe_dir: str = "", file: str = "/home/me/cr.yaml") -> SroRequest:
    """What a text asks for."""
    source = SroSource(PurePosixPath(file), recipe_dir, lambda *found: found in FOLDERS)
    return request_of(parse(text, "cr.yaml"), "cr.yaml", source)


def refused(text: str, recipe_dir: str = "") -> str:
    """What is said of one that cannot be."""
    with pytest.raises(InvalidInput) as caught:
        asked(text, recipe_dir)
    return str(caught.value)


def test_a_whole_one() -> None:
    found = asked(WHOLE)

    assert (found.name, found.recipe, found.action) == ("site-kmod", "simple-kmod", ENABLE)
    assert (found.namespace, found.recipe_dir) == ("kmod", "/charts/example")
    assert found.options == {
        "set": {"kmodNames": ["simple-kmod", "simple-procfs-kmod"]},
        "node_selector": {"example.org/card": "true"},
        "custom_resource": {
            "spec": {
                "debug": True,
                "managementState": "Managed",
                "chart": {
                    "name": "simple-kmod",
                    "version": "0.0.1",
                    "repository": {
                        "name": "charts",
                        "url": "file:///charts/example",
                        "username": "me",
                    },
                },
                "dependencies": [
                    {
                        "chart": {"name": "base", "version": "0.0.1"},
                        "set": {"kind": "Values", "colour": "green"},
                    }
                ],
            }
        },
    }
    assert found.depends == (
        {
            "name": "base",
            "recipe_dir": "/charts/example",
            "options": {"set": {"colour": "green"}},
        },
    )
    assert found.secrets == {"hunter22"}
    assert "hunter22" not in str((found.notes, found.options, found.depends))
    assert [each.split(":")[0] for each in found.notes] == [
        "chart.version",
        "debug",
        "repository",
    ]


@pytest.mark.parametrize(
    ("state", "action"),
    [("", ENABLE), ("Force", ENABLE), ("Unmanaged", LEAVE), ("Removed", DISABLE)],
)
def test_management_states(state: str, action: str) -> None:
    text = WHOLE.replace("managementState: Managed", f"managementState: '{state}'")
    assert asked(text).action == action


def test_a_chart_from_elsewhere_has_to_be_fetched_beforehand() -> None:
    text = WHOLE.replace("file:///charts/example", "http://charts.example.org")

    said = refused(text)
    assert "spec.chart.repository.url: expected file:///..." in said
    assert "hunter22" not in said
    assert asked(text, "/charts").recipe_dir == "/charts"


def test_the_image_of_the_operator_is_looked_for_around_the_file() -> None:
    other = "repository: {name: x, url: 'file:///charts/other/'}"
    text = WHOLE.replace("base, version: 0.0.1", f"base, version: 0.0.1, {other}")
    found = asked(text, file="/src/charts/example/simple-kmod-0.0.1/simple-kmod.yaml")
    assert found.recipe_dir == "/src/charts/example"
    assert [each["recipe_dir"] for each in found.depends] == ["/src/charts/other"]
    # What a person names is meant for all.
    found = asked(text, "/mine", "/src/charts/example/simple-kmod-0.0.1/simple-kmod.yaml")
    assert (found.recipe_dir, found.depends[0]["recipe_dir"]) == ("/mine", "/mine")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("file:///charts/", "/charts"),
        ("cm://a/b", "cm://a/b#0.0.1"),
        ("https://charts.example.org/x/", "https://charts.example.org/x#0.0.1"),
        ("oci://registry.example.org/charts", "oci://registry.example.org/charts/kmod:0.0.1"),
    ],
)
def test_where_charts_are_found(url: str, place: str) -> None:
    chart = {"name": "kmod", "version": "0.0.1", "repository": {"name": "x", "url": url}}
    spec = {"namespace": "kmod", "chart": chart}
    text = WHOLE[: WHOLE.index("spec:")] + f"spec: {spec!r}\n"

    found = asked(text)

    assert found.recipe_dir == place
    assert len(found.notes) == (1 if place == "/charts" else 0)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  namespace: kmod\n", "", "spec.namespace: expected a value"),
        ("    name: simple-kmod\n", "", "spec.chart.name: expected a value"),
        ("name: simple-kmod", "name: Simple", "spec.chart.name: expected the name of a recipe"),
        ("Managed", "Paused", "spec.managementState: expected"),
        ("v1beta1\nkind", "v1\nkind", "found SpecialResource (sro.openshift.io/v1)"),
        ("{name: charts, url:", "x # {", "spec.chart.repository: expected a mapping"),
        ("chart: {name: base, version: 0.0.1}", "name: base", "dependencies[0].chart: expected a"),
        ("{name: site-kmod}", "{name: site-kmod, namespace: A_B}", "metadata.namespace: expected"),
    ],
)
def test_what_cannot_be_honoured(old: str, new: str, said: str) -> None:
    assert old in WHOLE
    assert said in refused(WHOLE.replace(old, new))


def test_what_the_operators_api_dropped_is_told() -> None:
    text = WHOLE.replace("  set:\n", "  sets:\n").replace('card: "true"', "card: ''")
    found = asked(text)
    assert found.options["set"] == {}
    assert found.notes[0].startswith(
        "spec.sets, did you mean set?: the operator's API knew no such"
    )


def test_a_file_holds_one() -> None:
    assert "expected one SpecialResource or SpecialResourceModule, found 2" in refused(
        f"{WHOLE}---\n{WHOLE}"
    )


def test_all_that_is_wrong_is_said_at_once() -> None:
    text = WHOLE.replace("Managed", "Paused").replace("debug: true", "debug: 3")
    said = refused(text)
    assert "spec.managementState" in said
    assert "spec.debug" in said


def test_one_of_the_first_generation() -> None:
    spec: dict[str, Any] = {
        "namespace": "kmod",
        "driverContainer": {"source": {"git": {"ref": "main", "uri": "https://example.org/kmod"}}},
        "node": {"selector": "example.org/card"},
    }
    text = (
        "apiVersion: sro.openshift.io/v1alpha1\nkind: SpecialResource\nmetadata: {name: kmod}\n"
        f"spec: { ({**spec, 'dependsOn': {'name': ['base']}})!r}\n"
    )

    found = asked(text, "/recipes")

    assert (found.recipe, found.namespace) == ("kmod", "kmod")
    assert found.options["set"]["driverContainer"] == spec["driverContainer"]
    assert found.options["node_selector"] == {"example.org/card": "true"}
    assert found.depends == ({"name": "base", "recipe_dir": "/recipes", "options": {}},)
    # The operator looked for a ConfigMap of that name first.
    found = asked(text)
    assert found.recipe_dir == "cm://kmod/kmod"
    assert [each["recipe_dir"] for each in found.depends] == ["cm://kmod/base"]


def test_v1beta1_before_charts() -> None:
    spec = {
        "namespace": "kmod",
        "configuration": [{"name": "NAMES", "value": ["a", "b"]}],
        "dependsOn": [{"name": "base", "imageReference": "true"}],
    }
    head = WHOLE[: WHOLE.index("spec:")].replace("site-kmod", "simple-kmod")
    file = "/src/charts/example/simple-kmod/0000-cr.yaml"
    found = asked(f"{head}spec: { ({**spec, 'metadata': {}})!r}\n", file=file)
    assert (found.recipe, found.recipe_dir) == ("simple-kmod", "/src/charts/example")
    assert found.options == {"set": spec, "node_selector": {}}
    assert [each["name"] for each in found.depends] == ["base"]
    (note,) = found.notes
    assert note.startswith("spec.metadata")
    assert note.endswith("the operator's API knew no such field, and dropped it")


def test_what_a_module_watches_is_told() -> None:
    text = (
        "apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResourceModule\n"
        "metadata: {name: kmod}\nspec:\n  namespace: kmod\n"
        "  chart: {name: kmod, repository: {url: 'file:///charts'}}\n"
        "  watch: [{path: $.status.version, apiVersion: v1, kind: X}]\n"
    )
    assert "docs/admin/events.md" in asked(text).notes[0]
