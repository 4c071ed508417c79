# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A state of which everything was left out (needs_api) is not silently fulfilled where another one
requires it."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    ClusterApi,
    RenderedState,
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.state_plans import (
    make_plans,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from tests.unit.plugins.module_utils.states.world import NOW, node

API = "example.com/v1/Policy"
RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{example.com/card: null}]}
options:
  policy_enabled: {type: bool, default: true}
states:
  policy:
    role: state
    enabled: policy_enabled
    assets: [{path: policy/it.yaml.j2, needs_api: example.com/v1/Policy}]
    VALIDATE
  plugin:
    role: state_device_plugin
    requires: [policy]
    assets: [plugin/it.yaml.j2]
    validate: [node_labels: {present: [example.com/card]}]
"""
FILES = {
    "policy/it.yaml.j2": "apiVersion: example.com/v1\nkind: Policy\nmetadata: {name: it}\n",
    "plugin/it.yaml.j2": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\n",
}
PROVEN, UNPROVEN = "validate: [node_labels: {present: [example.com/card]}]", ""


def rendered(
    recipe: Recipe, apis: frozenset[str], options: Mapping[str, bool]
) -> Mapping[str, RenderedState]:
    return check_recipe(
        recipe, RenderFacts("toy", resolve(recipe, options), (), "", api=ClusterApi(apis))
    )


def plans(
    validate: str, apis: frozenset[str] = frozenset(), **options: bool
) -> dict[str, StatePlan]:
    recipe = load({**FILES, "recipe.yml": RECIPE.replace("VALIDATE", validate)}, "toy")
    states = rendered(recipe, apis, options)
    enabled = {name: frozenset([state.enabled]) for name, state in states.items()}
    return {plan.name: plan for plan in make_plans(recipe, enabled, states, {})}


def walked(made: Mapping[str, StatePlan]) -> dict[str, tuple[Phase, str, str]]:
    walker = Walker(list(made.values()), WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    facts = node(labels={"example.com/card": ""})
    walker.snapshot.nodes[facts.name], walker.snapshot.groups[facts.name] = facts, ""
    walker.walk(facts, "", {}, frozenset(), NOW)
    for plan in made.values():
        if not plan.per_node:
            walker.walk_cluster(plan, NOW)
    return {
        state: (each.phase, each.reason, each.message)
        for (_node, state), each in walker.results.items()
    }


def test_it_fails_with_the_api_that_is_missing_and_blocks_what_requires_it() -> None:
    for validate in (PROVEN, UNPROVEN):
        made = plans(validate)
        assert API in made["policy"].left_out
        assert made["plugin"].requires == ("policy",)
        found = walked(made)
        phase, reason, message = found["policy"]
        assert (phase, reason) == (Phase.FAILED, "LeftOut")
        assert message == f"nothing of it can be deployed, since the cluster does not serve {API}"


def test_what_requires_it_is_blocked() -> None:
    assert walked(plans(PROVEN))["plugin"][:2] == (Phase.BLOCKED, "BlockedBy.policy")


def test_where_the_api_is_served_all_is_as_before() -> None:
    made = plans(PROVEN, apis=frozenset({API}))
    assert made["policy"].left_out == ""
    assert {phase for phase, _reason, _message in walked(made).values()} == {Phase.READY}


def test_a_state_that_is_off_or_that_nobody_requires_fails_nothing() -> None:
    assert "policy" not in plans(PROVEN, policy_enabled=False)
    assert plans(PROVEN, policy_enabled=False)["plugin"].requires == ()
