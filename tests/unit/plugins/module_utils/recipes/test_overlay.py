# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe that is another one with changes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.overlay import (
    extended_by,
    overlaid,
    place_of,
    with_base,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.versions import (
    versions,
)

HEAD = "apiVersion: hardware-enablement.io/v1\nname: site-gpu\nextends: toy-gpu\n"


def extended(base: dict[str, str], changes: str, **own: str) -> Recipe:
    """The toy with changes in YAML."""
    return load(with_base({"recipe.yml": HEAD + changes, **own}, "toy-gpu", base), "site-gpu")


def refused(base: dict[str, str], changes: str) -> str:
    """What is said of changes."""
    with pytest.raises(InvalidInput) as caught:
        extended(base, changes)
    return str(caught.value)


def test_what_is_not_said_is_the_bases(recipe: Recipe, files: dict[str, str]) -> None:
    found = extended(files, "")

    assert (found.name, found.source.name, found.source.folder) == (
        "site-gpu",
        "site-gpu",
        "site-gpu",
    )
    for key in ("namespace", "devices", "nodes", "options", "states"):
        assert getattr(found, key) == getattr(recipe, key)


def test_a_glob_matches_no_file_where_the_bases_lie(files: dict[str, str]) -> None:
    found = extended(
        files, "states: {driver: {assets: ['*/*/*', 'driver/*.j2']}}\n", **{"a/b/c": ""}
    )

    assert ".extends/toy-gpu/recipe.yml" in found.source.files
    assert found.states["driver"].assets[0].files == ("a/b/c",)


def test_top_level_keys_take_the_place_of_the_bases(files: dict[str, str]) -> None:
    found = extended(
        files, 'namespace: site\nresources: null\nselector: {any_of: [{site.io/here: "yes"}]}\n'
    )

    assert (found.namespace, found.devices.resources) == ("site", ())
    assert found.nodes.selector == ({"site.io/here": "yes"},)


def test_options_change_by_their_keys(files: dict[str, str]) -> None:
    options = extended(
        files,
        'options: {version: {default: "2.0"}, ports: null, extra: {type: bool, default: false}}\n',
    ).options

    assert (options["version"].default, options["version"].description) == (
        "2.0",
        "Version of the driver",
    )
    assert "ports" not in options
    assert options["extra"].type == "bool"
    assert options["mode"].choices == ("slow", "fast")


def test_a_key_of_a_state_changes_alone(files: dict[str, str], recipe: Recipe) -> None:
    found = extended(
        files, "states: {driver: {timeout: 1200, enabled: null, disabled_validate: null}}\n"
    )

    driver, before = found.states["driver"], recipe.states["driver"]
    assert (driver.proofs.timeout, driver.enabled) == (1200, "")
    assert (driver.assets, driver.order, driver.proofs.validate) == (
        before.assets,
        before.order,
        before.proofs.validate,
    )


def test_a_state_with_a_role_is_a_new_one(files: dict[str, str]) -> None:
    found = extended(
        files,
        "states:\n"
        "  driver: {role: state_driver, assets: [mine/one.yaml.j2], validate: [{rollout: {}}]}\n"
        "  more: {role: state, requires: [plugin], assets: [mine/one.yaml.j2],"
        " validate: [{rollout: {}}]}\n",
        **{"mine/one.yaml.j2": "kind: DaemonSet"},
    )

    assert found.states["driver"].order.requires == ()
    assert found.states["driver"].proofs.timeout == 600
    assert list(found.states)[-1] == "more"


def test_a_state_goes_with_null(files: dict[str, str]) -> None:
    found = extended(files, "states: {plugin: {requires: []}, driver: null, build: null}\n")

    assert list(found.states) == ["plugin"]


def test_a_file_of_its_own_takes_the_place_of_the_bases(files: dict[str, str]) -> None:
    found = extended(files, "", **{"driver/daemonset.yaml.j2": "mine"})

    assert found.source.files["driver/daemonset.yaml.j2"] == "mine"
    assert found.source.files["driver/account.yaml.j2"] == files["driver/account.yaml.j2"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            "states: {driver: null}\n",
            "site-gpu/recipe.yml, states.plugin.requires[0]: expected a state of the recipe",
        ),
        (
            "states: {drivr: null}\n",
            (
                "site-gpu/recipe.yml, states.drivr: expected a name that the base has, since null takes"
                " it away, found drivr, did you mean driver?"
            ),
        ),
        (
            "options: {versoin: null}\n",
            (
                "options.versoin: expected a name that the base has, since null takes it away,"
                " found versoin, did you mean version?"
            ),
        ),
        ("remedies: null\n", "remedies: expected remedies in toy-gpu, since null takes it away"),
        ("states: {more: {timeout: 5}}\n", "states.more.role: expected a value, found nothing"),
        (
            "options: {version: {default: 3}}\n",
            "site-gpu/recipe.yml, options.version.default: expected",
        ),
        ("namespaec: x\n", "expected only known keys, found namespaec, did you mean namespace?"),
        ("selector: null\n", "selector"),
        ("states: {driver: {requires: [plugin]}}\n", "no cycle of requirements"),
    ],
)
def test_what_is_wrong_with_changes(files: dict[str, str], changes: str, said: str) -> None:
    assert said in refused(files, changes)


def test_what_is_wrong_with_the_base_is_said_of_its_file(files: dict[str, str]) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace("role: state_driver\n", "role: drivr\n")

    assert "toy-gpu/recipe.yml, states.driver.role" in refused(files, "states: {driver: null}\n")


def test_at_any_depth(files: dict[str, str]) -> None:
    middle = with_base(
        {"recipe.yml": HEAD + "options: {version: {default: '2'}, mode: {default: fast}}\n"},
        "toy-gpu",
        files,
    )
    own = HEAD.replace("site-gpu", "rack-gpu").replace("toy-gpu", "site-gpu")
    bundle = with_base(
        {"recipe.yml": own + "options: {version: {default: '3'}}\n"}, "site-gpu", middle
    )

    found = load(bundle, "rack-gpu")

    assert {name: found.options[name].default for name in ("version", "mode", "replicas")} == {
        "version": "3",
        "mode": "fast",
        "replicas": 1,
    }


def test_the_digest_knows_of_the_base(files: dict[str, str]) -> None:
    options: dict[str, Any] = {}
    before = versions(extended(files, ""), options)
    files["recipe.yml"] = files["recipe.yml"].replace('default: "1.0"', 'default: "1.1"')

    assert versions(extended(files, ""), options)["recipe"] != before["recipe"]


@pytest.mark.parametrize("text", ["", "a: [", "- list", "extends: 3", "extends: [a]"])
def test_what_cannot_be_read_extends_nothing(text: str) -> None:
    assert extended_by({"recipe.yml": text}) == ""


def test_a_file_is_named_in_the_folder_where_it_is() -> None:
    """gpu extends middle, which extends base; each replaces one file of what it extends."""
    base = {"recipe.yml": "", "a.j2": "", "b.j2": "", "c.j2": ""}
    middle = overlaid({"recipe.yml": "", "b.j2": "", "c.j2": ""}, "base", base)
    files = overlaid({"recipe.yml": "", "c.j2": "", "d.j2": ""}, "middle", middle)

    found = {path: place_of(files, "gpu/", path) for path in ("a.j2", "b.j2", "c.j2", "d.j2")}

    assert found == {
        "a.j2": "base/a.j2",
        "b.j2": "middle/b.j2",
        "c.j2": "gpu/c.j2",
        "d.j2": "gpu/d.j2",
    }
    assert place_of(files, "gpu", "recipe.yml") == "gpu/recipe.yml"
    # A change to any of them makes another digest.
    assert {path for path in files if path.endswith("recipe.yml")} == {
        "recipe.yml",
        ".extends/middle/recipe.yml",
        ".extends/base/recipe.yml",
    }


def test_an_error_in_a_template_of_the_base_names_the_bases_folder(files: dict[str, str]) -> None:
    path = next(path for path in files if path.endswith(".j2"))
    found = extended({**files, path: "{{ nothing.at.all }}"}, "")
    with pytest.raises(InvalidInput) as caught:
        found.source.templates.render(path, {})
    assert caught.value.where == f"toy-gpu/{path}, line 1"
