# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes that extend others, that depend on others, and that lie in the cluster or in a registry."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration.plays import Runner
from tests.integration.registry_bed import Bed

pytestmark = pytest.mark.recipes

RECIPES = Path(__file__).parents[1] / "recipes"
HEAD: dict[str, Any] = {"apiVersion": "hardware-enablement.io/v1"}
GPUS = {"any_of": [{"feature.node.kubernetes.io/pci-0302_10de.present": None}]}
CONFIGMAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: colour}
data: {colour: {{ options.colour }}}
"""
FILES = ("recipe.yml", "all/configmap.yaml.j2", "all/namespace.yaml.j2")
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: {{ namespace }}}\n"


def colours(name: str, wanted: str = "{{ options.colour }}", **more: Any) -> dict[str, Any]:
    """A recipe of a ConfigMap, proven by its content."""
    field = {"path": "data.colour", "equals": wanted}
    proof = {"api_version": "v1", "kind": "ConfigMap", "name": "colour", "field": field}
    state = {"role": "state", "assets": ["all/*.j2"], "timeout": 3}
    return {
        **HEAD,
        "name": name,
        "namespace": name,
        "selector": GPUS,
        "options": {"colour": {"type": "str", "default": "blue"}},
        "states": {"colour": {**state, "validate": [{"resource": proof}]}},
        **more,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """site extends two-states, and depends on settings, which depends on base; needy on broken."""
    made = tmp_path_factory.mktemp("recipes")
    shutil.copytree(RECIPES / "two-states", made / "two-states")
    site = {
        **HEAD,
        "name": "site",
        "extends": "two-states",
        "namespace": "site",
        "depends": ["settings"],
        "options": {"plugin_version": {"default": "9.9"}},
    }
    base = {"name": "base", "options": {"colour": "green"}}
    recipes = [
        site,
        colours("settings", depends=[base]),
        colours("base"),
        colours("broken", wanted="none of these"),
        colours("needy", depends=["broken"]),
    ]
    for recipe in recipes:
        own = made / recipe["name"]
        (own / "all").mkdir(parents=True)
        (own / "recipe.yml").write_text(yaml.safe_dump(recipe, sort_keys=False))
        if "extends" not in recipe:
            (own / "all" / "configmap.yaml.j2").write_text(CONFIGMAP)
            (own / "all" / "namespace.yaml.j2").write_text(NAMESPACE)
    return made


@pytest.fixture(scope="module")
def variables(folder: Path) -> dict[str, Any]:
    """What every play gets."""
    return {"hardware_enablement_recipe_dir": str(folder)}


def records(cluster: Cluster) -> dict[str, Any]:
    """The records by name; none before the first run."""
    try:
        found = cluster.kubectl("get", "specialresources.hardware-enablement.io", "-o", "json")
    except ClusterError:
        return {}
    return {item["metadata"]["name"]: item for item in json.loads(found)["items"]}


def test_what_it_depends_on_comes_first(
    cluster: Cluster, runner: Runner, variables: dict[str, Any]
) -> None:
    def play(playbook: str, recipe: str, *arguments: str, **more: Any) -> Any:
        named = {**variables, "hardware_enablement_recipe": recipe, **more}
        return runner.play(playbook, *arguments, **named)

    expected = play("enable", "site", "--check", "--diff").check().output
    assert all(f"SpecialResource {name}" in expected for name in ("base", "settings", "site"))
    assert not records(cluster)

    play("enable", "site").check()
    found = records(cluster)
    assert {name: item["status"]["phase"] for name, item in found.items()} == dict.fromkeys(
        ("base", "settings", "site"), "ready"
    )
    assert {name: item["spec"].get("depends") for name, item in found.items()} == {
        "base": None,
        "settings": ["base"],
        "site": ["settings"],
    }
    assert found["base"]["spec"]["options"] == {"colour": "green"}
    image = "jsonpath={.spec.template.spec.containers[0].image}"
    plugin = cluster.kubectl("get", "daemonset", "plugin", "-n", "site", "-o", image)
    assert plugin.endswith("/plugin:9.9")

    # What is enabled keeps its options, and is proven.
    play("enable", "base", hardware_enablement_options={"colour": "red"}).check()
    play("enable", "site").unchanged()
    assert records(cluster)["base"]["spec"]["options"] == {"colour": "red"}

    refused = play("disable", "base")
    assert refused.code, refused.output
    assert "base is not removed: settings depends on it" in refused.output
    said = play("disable", "site").check().output
    assert "stays: SpecialResource settings, which this one depends on" in said
    assert "hardware_enablement_recipe=settings" in said
    play("disable", "settings").check()
    play("disable", "base").check()


def test_what_fails_stops_what_depends_on_it(
    cluster: Cluster, runner: Runner, variables: dict[str, Any]
) -> None:
    played = runner.play(
        "enable",
        hardware_enablement_recipe="needy",
        hardware_enablement_failure_grace=1,
        **variables,
    )

    assert played.code, played.output
    assert "needy is not enabled, since broken, which it depends on, is not ready" in played.output
    assert "needy" not in records(cluster)
    runner.play("disable", hardware_enablement_recipe="broken", **variables).check()


def test_recipes_in_a_configmap(cluster: Cluster, runner: Runner, folder: Path) -> None:
    """The files of one recipe, / written as __. What it extends is the collection's."""
    files = [f"--from-file={name.replace('/', '__')}={folder}/base/{name}" for name in FILES]
    cluster.kubectl("create", "configmap", "base", "-n", "default", *files)
    given = {
        "hardware_enablement_recipe": "base",
        "hardware_enablement_recipe_dir": "cm://default/base",
    }
    runner.play("enable", **given).check()
    assert records(cluster)["base"]["status"]["phase"] == "ready"
    runner.play("enable", **given).unchanged()
    runner.play("disable", **given).check()

    cluster.kubectl("delete", "configmap", "base", "-n", "default")
    said = runner.play("enable", **given).output
    assert (
        "there are no recipes at cm://default/base: ConfigMap default/base does not exist" in said
    )


def test_recipes_in_a_registry(cluster: Cluster, runner: Runner, folder: Path, bed: Bed) -> None:
    """A folder of recipes as oras pushes it, pinned by digest; the account is that of a file."""
    content = {f"base/{name}": (folder / "base" / name).read_bytes() for name in FILES}
    digest = bed.images.push("team/recipes", "1.0", files=content)
    auth = folder.parent / "auth.json"
    auth.write_text(bed.registry.dockerconfig())
    given = {
        "hardware_enablement_recipe": "base",
        "hardware_enablement_recipe_dir": f"oci://{bed.registry.address}/team/recipes@{digest}",
        "hardware_enablement_registry_ca": bed.registry.ca,
        "hardware_enablement_registry_auth_file": str(auth),
    }

    runner.play("enable", **given).check()
    assert records(cluster)["base"]["status"]["phase"] == "ready"
    runner.play("disable", **given).check()

    given["hardware_enablement_recipe"] = "bsae"
    assert (
        f"there is no recipe bsae (oci://{bed.registry.address}"
        in runner.play("enable", **given).output
    )
