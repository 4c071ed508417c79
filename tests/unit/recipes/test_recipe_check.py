# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_check: mistakes of all kinds are found in one go, with file and line; what is right is not
complained of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._authoring import check_core
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.check_core import (
    RecipeCheckRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_reading import (
    read_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    Checked,
    check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from tests.unit.plugins.module_utils.charts.fake_helm import put_on_path
from tests.unit.recipes.checks import TYPES, check_once

REPO = Path(__file__).resolve().parents[3]
RECIPES = REPO / "tests" / "recipes"

# File and line of each mistake, and what is said of it.
MISTAKES = {
    ("driver/group-id-not-in-name.yaml.j2", 5): "would be the same object for every group of nodes",
    ("driver/name-too-long.yaml.j2", 4): "characters, of which a Service may have 63",
    ("driver/unknown-variable.yaml.j2", 6): "there is no variable kernell, did you mean kernel?",
    ("plugin/bad-yaml.yaml.j2", 9): "this is not YAML",
    ("plugin/job.yaml.j2", 7): "restartPolicy of a Job has to be OnFailure or Never, and is Always",
    ("plugin/job.yaml.j2", 11): "has to be a quantity such as 500m or 64Mi, and is '64Mo'",
    ("plugin/job.yaml.j2", 12): "containerPort has to be a number from 1 to 65535, and is 94000",
    ("plugin/job.yaml.j2", 13): "containers[1] has the name job, which is there already",
    ("plugin/kind-misspelt.yaml.j2", 2): "there is no apps/v1 Daemonset, did you mean DaemonSet?",
    ("plugin/not-its-own-pods.yaml.j2", 7): "spec.selector wants app=not-its-own-pods",
    ("plugin/secret.yaml.j2", 6): "data.password has to be base64",
    ("plugin/two-at-once.yaml.j2", 4): "ConfigMap two-at-once is made twice",
    (
        "plugin/two-at-once.yaml.j2",
        5,
    ): "an object of this kind has no field imutable, did you mean immutable?",
    ("plugin/field-missing.yaml.j2", 5): "spec lacks the field selector",
    ("plugin/field-misspelt.yaml.j2", 15): "has no field toleration, did you mean tolerations?",
    (
        "plugin/include-missing.yaml.j2",
        6,
    ): "no file common/lables.j2 in the recipe, did you mean common/labels.j2?",
    ("plugin/namespace-on-cluster-scope.yaml.j2", 4): "must not have a namespace",
    ("plugin/object-of-another-state.yaml.j2", 4): "ServiceAccount shared belongs to two states",
    ("plugin/only-with-an-option.yaml.j2", 9): "spec.ports[0].port has to be a whole number",
    ("plugin/option-misspelt.yaml.j2", 6): "options has no verbos, did you mean verbose?",
    ("plugin/syntax.yaml.j2", 6): "expected token 'end of statement block'",
    (
        "plugin/type-wrong.yaml.j2",
        6,
    ): "spec.replicas has to be a whole number (without quotes), and is '3'",
    ("plugin/unknown-filter.yaml.j2", 6): "there is no filter to_jsn, did you mean to_json?",
    ("plugin/uppercase-name.yaml.j2", 4): "the name Uppercase-Name is no DNS name",
    ("recipe.yml", 25): "options has no verbos, did you mean verbose?",
    ("validation/pod.yaml.j2", 8): "there is no variable noed, did you mean node?",
}


def checked(folder: Path, options: Mapping[str, Any] | None = None) -> Checked:
    return check_once(read_bundle(folder), folder.name, options or {}, TYPES, read=read_recipe)


def test_one_that_extends_another_is_checked_with_it(tmp_path: Path) -> None:
    (tmp_path / "recipe.yml").write_text(
        "apiVersion: hardware-enablement.io/v1\nname: site\nextends: simple-kmod\n"
        "states: {driver: {timeot: 5}}\n"
    )

    def found() -> Checked:
        return check(read_bundle(tmp_path, REPO / "recipes"), "site", {}, TYPES)

    assert [(each.file, each.line) for each in found().errors] == [("recipe.yml", 4)]
    (tmp_path / "recipe.yml").write_text(
        "apiVersion: hardware-enablement.io/v1\nname: site\nextends: simple-kmod\n"
        "options: {extra: {type: str, default: a}}\n"
    )
    (tmp_path / "mine.j2").write_text("unused")
    assert not found().errors
    assert sorted((each.file, each.line) for each in found().warnings) == [
        ("mine.j2", 0),
        ("recipe.yml", 4),
    ]


def small(
    tmp_path: Path, template: str, recipe: Mapping[str, Any] | None = None, **more: str
) -> Checked:
    """A recipe of one state and one file."""
    state = {"role": "state", "assets": ["all/*.j2"], "validate": [{"rollout": {}}]}
    raw = {
        "apiVersion": "hardware-enablement.io/v1",
        "name": "small",
        "namespace": "small",
        "selector": {"any_of": [{"example.com/card": None}]},
        "states": {"plugin": state},
        **(recipe or {}),
    }
    files = {"recipe.yml": json.dumps(raw), "all/it.j2": template, **more}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return checked(tmp_path)


def test_a_proof_of_a_resource_that_is_none_of_the_recipes(tmp_path: Path) -> None:
    state = {"role": "state", "assets": ["all/*.j2"]}
    resources = ["example.com/card", "example.com/part-*"]
    proven = ["example.com/card", "example.com/part-1", "example.com/*", "example.com/crad"]
    state["validate"] = [{"allocatable": {"resource": name}} for name in proven]
    given = {"states": {"plugin": state}, "resources": resources}
    template = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
    (said,) = small(tmp_path, template, given).warnings
    assert said.message == (
        "example.com/crad is proven here and is none of the recipe's resources, did you mean example.com/card?"
    )
    depends = {**given, "depends": ["nfd"]}
    assert small(tmp_path, template, depends).warnings == []


def test_every_mistake_is_found_in_one_go() -> None:
    found = {
        (finding.file, finding.line): finding.message
        for finding in checked(RECIPES / "mistakes").errors
    }
    assert found.keys() == MISTAKES.keys()
    for place, words in MISTAKES.items():
        assert words in found[place]


def test_what_enable_takes_is_no_mistake() -> None:
    (finding,) = (
        each for each in checked(RECIPES / "mistakes").warnings if "without-tag" in each.file
    )
    assert (finding.file, finding.line) == ("plugin/image-without-tag.yaml.j2", 14)
    assert finding.message.endswith("registry.example.com:5000/plugin has neither tag nor digest")


NO_FIELD = "an object of this kind has no field"


def test_a_field_of_a_kind_that_is_known_in_part_is_not_called_wrong(tmp_path: Path) -> None:
    certificate = """\
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: it}
spec: {secretName: it, renewBefore: 1h, dnsNames: it, privateKey: {encoding: PKCS8}}
anotations: {a: b}
"""
    assert [finding.message for finding in small(tmp_path, certificate).errors] == [
        "Certificate it: spec lacks the field issuerRef, which has to be there",
        "Certificate it: spec.dnsNames has to be a list, and is 'it'",
        f"Certificate it: {NO_FIELD} anotations (known: apiVersion, kind, metadata, spec)",
    ]


def test_what_a_chart_has_to_do_without_is_warned_of_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path(tmp_path, monkeypatch)
    folder = tmp_path / "dropped"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: dropped\nversion: 0.1.0\n")
    (folder / "templates" / "0000-a.yaml").write_text(
        """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: a
  namespace: b
rulez: []
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  a: 1
  a: "2"
  b:
"""
    )
    found = checked(folder)
    assert found.errors == []
    assert [(each.file, each.line, each.message) for each in found.warnings] == [
        (
            "templates/0000-a.yaml",
            5,
            "ClusterRole a: an object of this kind has no field metadata.namespace: it is left out",
        ),
        (
            "templates/0000-a.yaml",
            6,
            f"ClusterRole a: {NO_FIELD} rulez, did you mean rules?: it is left out",
        ),
        (
            "templates/0000-a.yaml",
            13,
            "the key a is there twice, and the last one counts",
        ),
    ]


def test_files_that_nothing_names_are_warned_of() -> None:
    warnings = [
        (finding.file, finding.message) for finding in checked(RECIPES / "mistakes").warnings
    ]
    text = "no asset names this file, and no other file includes it"
    assert warnings[:2] == [("common/labels.j2", text), ("driver/unread.yaml", text)]


def test_what_only_an_option_brings_is_named_with_it() -> None:
    (finding,) = [each for each in checked(RECIPES / "mistakes").errors if "only-with" in each.file]
    assert finding.seen_with == "extra=true"


@pytest.mark.parametrize("name", sorted(folder.name for folder in (REPO / "recipes").iterdir()))
def test_shipped_recipes_have_no_mistake_and_an_example_for_every_option(name: str) -> None:
    found = checked(REPO / "recipes" / name)
    assert [str(finding) for finding in (*found.errors, *found.warnings)] == []
    assert found.unsampled == []
    assert found.left_out == 0
    assert found.tried > 10


def test_it_says_which_role_gives_back_first(tmp_path: Path) -> None:
    said: list[str] = []
    for role in ("acme.cards.give_back", "give_back"):
        small(tmp_path, "", {"release_role": role})
        request = RecipeCheckRequest("small", bundle=read_bundle(tmp_path))
        result = check_core.run(request, RunContext(progress=said.append), TYPES)
        assert result["release_role"] == ("" if result["errors"] else role)
    assert "disable first runs the role acme.cards.give_back" in said
    assert "release_role: expected a role's full name, found 'give_back'" in "".join(said)


@pytest.mark.parametrize("name", ["two-states", "with-secret"])
def test_recipes_of_tests_have_no_mistake(name: str) -> None:
    assert checked(RECIPES / name).errors == []


@pytest.mark.parametrize("name", ["amd-like", "nic-like"])
def test_other_vendors_need_300_lines_at_most_and_nothing_special(name: str) -> None:
    found = checked(RECIPES / name)
    assert [str(finding) for finding in (*found.errors, *found.warnings)] == []
    assert found.unsampled == []
    assert sum(len(text.splitlines()) for text in read_bundle(RECIPES / name).values()) <= 300


def test_numbers_of_proofs_may_be_templates(tmp_path: Path) -> None:
    def findings(number: object, default: int = 4) -> list[str]:
        state = {
            "role": "state",
            "assets": ["all/it.j2"],
            "validate": [{"allocatable": {"resource": "example.com/card", "at_least": number}}],
        }
        options = {"cards": {"type": "int", "default": default, "description": "How many"}}
        found = small(tmp_path, "", {"options": options, "states": {"plugin": state}})
        return [finding.message for finding in found.errors if "at_least" in finding.message]

    assert findings("{{ options.cards }}") == []
    assert (
        "expected a whole number from 0 to 1000000"
        in findings("{{ options.cards }}", default=-1)[0]
    )
    assert "expected a whole number from 0 to 1000000" in findings("{{ options.cards }} cards")[0]
    assert "expected a whole number from 0 to 1000000" in findings("4")[0]


def test_what_is_wrong_with_the_yaml_comes_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "recipe.yml").write_text("options: {<<: {a: 1}}\n")
    (finding,) = checked(tmp_path).errors
    assert finding.message == "merge keys (<<) are not supported; write the keys out"


def test_a_key_that_is_there_twice_has_its_line(tmp_path: Path) -> None:
    template = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: it}
data:
  {% for name in ("x", "y") %}
  {{ name }}: "1"
  {% endfor %}
  y: "2"
"""
    (finding,) = small(tmp_path, template).errors
    assert (finding.file, finding.line) == ("all/it.j2", 8)
    assert "the key y is there twice; remove one of them" in finding.message
    recipe = "apiVersion: hardware-enablement.io/v1\nname: small\nstates: {}\nname: large\n"
    (tmp_path / "recipe.yml").write_text(recipe)
    (finding,) = checked(tmp_path).errors
    assert (finding.file, finding.line) == ("recipe.yml", 4)


def test_only_the_status_of_an_object_is_no_field() -> None:
    assert TYPES.resolve(TYPES.type_of("v1", "Pod"))["fields"].keys() >= {"metadata", "spec"}
    assert "status" not in TYPES.resolve(TYPES.type_of("v1", "Pod"))["fields"]
    crd = TYPES.type_of("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for field in ("spec", "versions", "subresources"):
        crd = TYPES.resolve(crd)["fields"][field]
        crd = TYPES.resolve(crd).get("list", crd) if "list" in TYPES.resolve(crd) else crd
    assert TYPES.resolve(crd)["fields"].keys() == {"scale", "status"}


def test_images_are_listed() -> None:
    bundle = read_bundle(REPO / "recipes" / "nvidia-gpu")
    images = check(bundle, "nvidia-gpu", {"driver_version": "570.1"}, TYPES, combine=False).images
    assert "nvcr.io/nvidia/driver:570.1-ubuntu24.04" in images
    assert any(image.startswith("nvcr.io/nvidia/k8s-device-plugin:") for image in images)
    # Each cluster has its own.
    assert not [image for image in images if "driver-toolkit" in image]


def test_oc_mirror_is_told_the_same_images() -> None:
    request = RecipeCheckRequest(
        "nvidia-gpu-dra", bundle=read_bundle(REPO / "recipes" / "nvidia-gpu-dra")
    )
    result = check_core.run(request, RunContext(), TYPES)
    names = [each["name"] for each in result["image_set"]["mirror"]["additionalImages"]]
    assert names == result["images"] != []
    assert result["image_set"]["apiVersion"] == "mirror.openshift.io/v2alpha1"


def test_a_missing_file_hides_no_other_mistake(tmp_path: Path) -> None:
    state = {"role": "state", "assets": ["all/it.j2", "all/none.j2"], "validate": [{"rollout": {}}]}
    found = small(tmp_path, "a: {{ options.imgae }}", {"states": {"plugin": state}})
    assert [(finding.file, finding.line) for finding in found.errors] == [
        ("all/it.j2", 1),
        ("recipe.yml", 1),
    ]
    assert "states.plugin.assets[1]: expected a file of the recipe" in found.errors[1].message


def test_what_is_wrong_with_recipe_yml_hides_nothing_in_its_files(tmp_path: Path) -> None:
    state = {
        "role": "stat",
        "timout": 60,
        "per": "kernel",
        "enabled": "{{ options.onn }}",
        "image": "registry/driver:{{ kernel.rwa }}",
        "assets": ["all/it.j2"],
        "validate": [
            {"rollot": {}},
            {"allocatable": {"resource": "example.com/card", "at_least": "{{ 'many' }}"}},
        ],
    }
    small(
        tmp_path,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, dat: {}}",
        {"states": {"plugin": state}},
    )
    recipe = tmp_path / "recipe.yml"
    recipe.write_text(json.dumps(json.loads(recipe.read_text()), indent=1))
    text = "; ".join(finding.message for finding in checked(tmp_path).errors)
    for words in (
        "did you mean state?",
        "did you mean timeout?",
        "no onn",
        "no rwa",
        "did you mean rollout?",
        "from 0 to",
        "no field dat",
    ):
        assert words in text


def test_every_wrong_key_of_recipe_yml_has_its_line() -> None:
    (finding,) = checked(RECIPES / "broken" / "unknown-key").errors
    text = (RECIPES / "broken" / "unknown-key" / "recipe.yml").read_text().splitlines()
    assert finding.file == "recipe.yml"
    assert text[finding.line - 1].strip().startswith("require:")


def test_a_template_in_recipe_yml_has_its_line(tmp_path: Path) -> None:
    state = {
        "role": "state_driver_container",
        "per": "kernel",
        "image": "registry/driver:{{ kernel.rwa }}",
    }
    found = small(tmp_path, "", {"states": {"driver": state}})
    assert [finding.message for finding in found.errors] == ["kernel has no rwa, did you mean raw?"]


@pytest.mark.parametrize("text", ["{{ options.level", "{{ options.levle }}"])
def test_a_version_that_cannot_be_rendered_has_its_line(tmp_path: Path, text: str) -> None:
    options = {"level": {"type": "str", "default": "1", "description": "A level."}}
    (found,) = small(tmp_path, "", {"driver_version": text, "options": options}).errors
    assert found.file == "recipe.yml"
    assert found.line


def test_a_reason_that_cannot_be_rendered_has_its_line_and_one_that_can_is_no_mistake(
    tmp_path: Path,
) -> None:
    state = {"role": "state", "assets": ["all/*.j2"], "per": "runtime"}
    reasons = {"lacking": "{{ runtime.versoin }}", "good": "{{ runtime.name }} cannot"}
    states = {name: {**state, "unsupported": why} for name, why in reasons.items()}
    found = small(tmp_path, "", {"states": states})
    assert [finding.message for finding in found.errors] == [
        "runtime has no versoin, did you mean version?"
    ]


def test_crds_of_the_recipe_say_which_fields_there_are(tmp_path: Path) -> None:
    crd = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: integer}
                parts: {type: array, items: {properties: {kind: {type: string}, status: {type: string}}}}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: it}
spec: {siez: 1, parts: [{kind: a, status: b}]}
status: {}
"""
    messages = [finding.message for finding in small(tmp_path, crd).errors]
    assert messages == [
        "Thing it: spec has no field siez, did you mean size?",
        "Thing it: spec lacks the field size, which has to be there",
    ]


def test_a_kind_that_nobody_knows_is_warned_of(tmp_path: Path) -> None:
    found = small(tmp_path, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: it}\n")
    assert found.errors == []
    assert "example.com/v1 Thing is not known here" in found.warnings[0].message


def test_bounded_and_said_so(tmp_path: Path) -> None:
    options = {f"flag_{number}": {"type": "bool", "default": False} for number in range(40)}
    uses = "".join(f"# {{{{ options.{name} }}}}\n" for name in options)
    found = small(tmp_path, uses, {"options": options})
    assert (found.tried, found.left_out > 0) == (600, True)


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean driver_branch"):
        checked(REPO / "recipes" / "nvidia-gpu", {"driver_brunch": "1"})


def test_the_task_shows_each_mistake_and_fails() -> None:
    said: list[str] = []
    request = RecipeCheckRequest("mistakes", bundle=read_bundle(RECIPES / "mistakes"), options={})
    result = check_core.run(request, RunContext(progress=said.append), TYPES)
    assert result["failed"]
    assert "recipe mistakes has 26 mistakes" in result["msg"]
    assert len(result["errors"]) == len(MISTAKES)
    assert sum(line.startswith("error: mistakes/") for line in said) == len(MISTAKES)
    assert "combinations of options; fields as in Kubernetes 1.36" in said[-1]


def test_what_a_run_may_do_is_told_beside_what_it_runs() -> None:
    told: list[str] = []
    bundle = read_bundle(RECIPES / "two-states")
    found = check_core.run(
        RecipeCheckRequest("two-states", bundle=bundle), RunContext(progress=told.append), TYPES
    )
    daemonsets = [rule for rule in found["rights"] if "daemonsets" in rule["resources"]]
    assert {"create", "patch", "delete"} <= set(daemonsets[0]["verbs"])
    assert "  registry.example.org/two-states/plugin:1.0" in told
    assert any(line.endswith(": daemonsets.apps") and "create" in line for line in told)
