# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options: types as surveys send them, and what is said of wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
    secret_texts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Option,
    Recipe,
    RecipeNodes,
    StateProofs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.requirements import (
    node_label_sets,
    required_states,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.switches import (
    enabled_states,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)

MakeFacts = Callable[..., RenderFacts]


class Tagged(str):
    """Text as newer versions of Ansible hand it over: a subclass."""

    __slots__ = ()


def said(recipe: Recipe, given: dict[str, Any]) -> str:
    """What is said of bad options, without the frame of the sentence."""
    with pytest.raises(InvalidInput) as caught:
        resolve(recipe, given)
    text = str(caught.value).removeprefix("the options of recipe toy-gpu cannot be used: ")
    return text.replace("options of recipe toy-gpu, ", "")


def test_defaults(recipe: Recipe) -> None:
    found = resolve(recipe, None)

    assert found.keys() == recipe.options.keys() >= STANDARD_OPTIONS.keys()
    assert found["version"] == "1.0"
    assert found["priority_class"] == "system-node-critical"


def test_defaults_are_nobody_elses(recipe: Recipe) -> None:
    resolve(recipe, {})["ports"].append(1)

    assert resolve(recipe, {})["ports"] == []


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("driver_enabled", "yes", True),
        ("driver_enabled", "False", False),
        ("driver_enabled", 0, False),
        ("replicas", " 5", 5),
        ("replicas", 5.0, 5),
        ("version", 580, "580"),
        ("version", Tagged("2.0"), "2.0"),
        ("version", None, "1.0"),
        ("ports", "1, 2", [1, 2]),
        ("ports", "[1, 2]", [1, 2]),
        ("ports", (1, "2"), [1, 2]),
        ("ports", "", []),
        ("node_selector", '{"a": "b"}', {"a": "b"}),
        ("node_selector", "", {}),
        ("env", {"driver": {Tagged("A"): True}}, {"driver": {"A": True}}),
        ("image_pull_secrets", "one", ["one"]),
        ("tolerations", '[{"key": "a"}]', [{"key": "a"}]),
    ],
)
def test_conversions(recipe: Recipe, name: str, given: object, value: object) -> None:
    found = resolve(recipe, {name: given})[name]

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"versoin": 1},
            "expected only options that the recipe has, found versoin, did you mean version?",
        ),
        ({"driver_enabled": "perhaps"}, "driver_enabled: expected true or false, found 'perhaps'"),
        ({"driver_enabled": 2}, "driver_enabled: expected true or false, found the number 2"),
        ({"replicas": "5.5"}, "replicas: expected a whole number, found '5.5'"),
        ({"replicas": True}, "replicas: expected a whole number, found true"),
        ({"version": 550.10}, "version: expected text (in quotes), found the number 550.1"),
        ({"version": {"a": 1}}, "version: expected text (in quotes), found a mapping"),
        ({"mode": "medium"}, "mode: expected one of slow, fast, found 'medium'"),
        ({"ports": "[1,"}, "ports: expected a list, or one written as JSON, found '[1,'"),
        (
            {"ports": [1, "x"]},
            "ports: expected a whole number as item 2, which is 'x', found a list",
        ),
        ({"env": "[]"}, "env: expected a mapping, found '[]'"),
        (
            {"env": {"drvier": {}}},
            "env: expected names of states, found drvier, did you mean driver?",
        ),
        ({"env": {"driver": {"A": [1]}}}, "env.driver.A: expected text (in quotes), found a list"),
        ({"resources": {"driver": "1"}}, "resources.driver: expected a mapping, found '1'"),
        (
            {"proxy": {"htps": "x"}},
            "proxy: expected only the keys http, https and no, found htps, did you mean https?",
        ),
        (
            {"proxy": {"https": "http://me:s3cret@proxy.test:1"}},
            "proxy.https: expected no name and password, which pods and the record would show, found them",
        ),
        (
            {"node_selector": {"a": None}},
            "node_selector.a: expected text (in quotes), found nothing",
        ),
        (
            {"password": {"secret": "s3cret"}},
            "password: expected str, found something else (not shown)",
        ),
    ],
)
def test_what_is_refused(recipe: Recipe, given: dict[str, Any], text: str) -> None:
    found = said(recipe, given)

    assert text in found
    assert "s3cret" not in found


def test_all_at_once(recipe: Recipe) -> None:
    found = said(recipe, {"replicas": "x", "mode": "y", "nothing": 1})

    assert found.count("expected") == 3


def test_required(recipe: Recipe) -> None:
    key = Option("key", required=True, description="The key")
    strict = replace(recipe, options={**recipe.options, "key": key})

    assert said(strict, {}) == "key: expected a value (The key), found nothing."
    assert resolve(strict, {"key": "x"})["key"] == "x"
    assert resolve(strict, {}, complete=False)["key"] is None


def test_enabled_and_required_states(recipe: Recipe, facts_for: MakeFacts) -> None:
    on = enabled_states(recipe, facts_for(recipe))
    off = enabled_states(recipe, facts_for(recipe, {"driver_enabled": "no"}))

    assert (on["driver"], off["driver"]) == ({True}, {False})
    assert required_states(recipe, on, "driver") == ()  # build proves nothing
    assert required_states(recipe, on, "plugin") == ("driver",)
    assert required_states(recipe, off, "plugin") == ("driver",)  # proven while disabled


def test_a_disabled_state_without_proof_stands_in_nobodys_way(
    recipe: Recipe, facts_for: MakeFacts
) -> None:
    states = dict(recipe.states)
    proofs = states["driver"].proofs
    states["driver"] = replace(states["driver"], proofs=StateProofs(proofs.validate))
    states["build"] = replace(states["build"], proofs=StateProofs(proofs.validate))
    changed = replace(recipe, states=states)
    off = enabled_states(changed, facts_for(changed, {"driver_enabled": False}))

    assert required_states(changed, off, "plugin") == ("build",)


def test_who_waits_for_a_state_does_not_wait_once_more_for_what_that_one_stands_on(
    recipe: Recipe, facts_for: MakeFacts
) -> None:
    """By way of a state that nobody has: its gate would be one more write for each node."""
    states = dict(recipe.states)
    plugin = states["plugin"]
    other = replace(plugin, name="other", proofs=StateProofs())
    last_order = replace(plugin.order, requires=("plugin", "other"))
    last = replace(plugin, name="last", order=last_order)
    changed = replace(recipe, states={**states, "other": other, "last": last})
    on = enabled_states(changed, facts_for(changed))
    assert required_states(changed, on, "other") == ("driver",)
    assert required_states(changed, on, "last") == ("plugin",)


def test_node_label_sets(recipe: Recipe) -> None:
    here = "feature.node.kubernetes.io/pci-0302_10de.present"

    assert node_label_sets(recipe, resolve(recipe, {})) == ({here: "true"}, {"toy.io/here": None})
    assert node_label_sets(recipe, resolve(recipe, {"node_selector": {"pool": "a"}})) == (
        {here: "true", "pool": "a"},
        {"toy.io/here": None, "pool": "a"},
    )
    assert node_label_sets(
        recipe, resolve(recipe, {"node_selector": {"toy.io/here": 7, here: False}})
    ) == ({"toy.io/here": "7", here: "false"},)


def test_node_label_sets_that_leave_no_node(recipe: Recipe) -> None:
    here = "feature.node.kubernetes.io/pci-0302_10de.present"
    narrow = replace(recipe, nodes=RecipeNodes(selector=({here: "true"},)))

    with pytest.raises(
        InvalidInput, match="option node_selector leaves no node: it contradicts the selector"
    ):
        node_label_sets(narrow, resolve(narrow, {"node_selector": {here: "false"}}))


def test_node_label_sets_of_the_users_own(recipe: Recipe) -> None:
    own = [{"rmd": "true"}, {"toy.io/by-hand": None, "size": 7}]

    assert node_label_sets(
        recipe, resolve(recipe, {"hardware_labels": own, "node_selector": {"pool": "a"}})
    ) == (
        {"rmd": "true", "pool": "a"},
        {"toy.io/by-hand": None, "size": "7", "pool": "a"},
    )
    with pytest.raises(InvalidInput, match="it contradicts the option hardware_labels"):
        node_label_sets(
            recipe, resolve(recipe, {"hardware_labels": own[:1], "node_selector": {"rmd": "no"}})
        )
    with pytest.raises(
        InvalidInput, match="hardware_labels would take every node: one of its label sets is empty"
    ):
        node_label_sets(recipe, resolve(recipe, {"hardware_labels": [*own, {}]}))


def test_secret_texts(recipe: Recipe) -> None:
    options = {
        "key": Option(name="key", type="str", default="", no_log=True),
        "logins": Option(name="logins", type="dict", default={}, no_log=True),
        "unset": Option(name="unset", type="str", default="public default", no_log=True),
    }
    secretive = replace(recipe, options={**recipe.options, **options})
    key = "-----BEGIN-----\nabcdefgh12345\nend\n"
    given = {"key": key, "logins": {"user": ["s3cret", 4711, True, None, ""]}, "version": "9"}

    found = secret_texts(secretive, resolve(secretive, given))

    assert found >= {key, "abcdefgh12345", "-----BEGIN-----", "s3cret", "4711", "czNjcmV0"}
    assert not found & {"", "end", "True", "None", "public default", "9"}
