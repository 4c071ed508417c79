# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From rendered states to what is looked at on nodes of different groups."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.switches import (
    enabled_states,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.state_plans import (
    make_plans,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    DAEMONSET,
    FILES,
    Bench,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world


def plans_of(bench: Bench) -> dict[str, StatePlan]:
    """State -> plan."""
    found = make_plans(
        bench.recipe,
        enabled_states(bench.recipe, bench.facts),
        check_recipe(bench.recipe, bench.facts),
        {},
        lambda per: bench.grouping.coarse(bench.groups, per),
    )
    return {plan.name: plan for plan in found}


def test_each_node_is_served_by_the_daemonsets_of_its_states_own_groups() -> None:
    bench = Bench(
        {**FILES, "driver/helper.yaml.j2": DAEMONSET.format(name="helper", image="i")},
        pool={"version": "2"},
    )
    plans = plans_of(bench)

    def served(state: str, node: str) -> set[str]:
        return {key.name for key in plans[state].daemonsets_for(bench.of(node).id)}

    assert served("driver", "host") == set()
    assert served("driver", "plain") == {
        f"driver-{bench.of('plain').narrowed(('kernel',)).id}",
        "helper",
    }
    assert len(served("driver", "pooled") | served("driver", "plain")) == 3
    assert served("driver", "crio") == served("driver", "plain")
    assert not served("hook", "crio") & served("hook", "plain")


def test_an_author_keeps_a_daemonset_off_nodes_and_our_labels_do_not() -> None:
    selector = '{card: "new", hardware-enablement.io/other.driver: ready}'
    helper = DAEMONSET.format(name="helper", image="i")
    chosen = helper.replace("spec: {containers", f"spec: {{nodeSelector: {selector}, containers")
    assert chosen != helper
    bench = Bench({**FILES, "driver/helper.yaml.j2": chosen})
    plan = plans_of(bench)["driver"]
    (key,) = plan.groups.affinities
    assert key.name == "helper"
    node = world.node(labels={"card": "new"})
    assert plan.is_wanted(key, node)
    assert plan.why_unwanted(key, world.node()) == "it wants card=new, and the node has no card"
    # Others of the state are for it anyway.
    group = bench.of("plain").id
    assert plan.serves(group, world.node())
    others = replace(plan, groups=replace(plan.groups, daemonsets={"": (key,)}))
    assert not others.serves(group, world.node())
    assert others.serves(group, node)


def test_proofs_count_where_they_belong() -> None:
    bench = Bench()
    driver = plans_of(bench)["driver"]

    assert [proof.kind for proof in driver.proofs] == ["rollout", "workload"]
    kinds = {
        name: [proof.kind for _index, proof in driver.proofs_for(bench.of(name).id)]
        for name in ("plain", "host")
    }
    assert kinds == {"plain": ["rollout"], "host": ["workload"]}
    assert [index for index, _proof in driver.proofs_for(bench.of("host").id)] == [1]
    assert len(driver.proofs_for("")) == 2


def test_rows_are_the_states_own_groups_and_kernels_for_a_state_of_the_cluster() -> None:
    bench = Bench(pool={})
    plans = plans_of(bench)

    assert {group.title for group in plans["hook"].rows} == {
        "containerd 2",
        "containerd 2, pool new",
        "cri-o 1",
    }
    assert {group.title for group in plans["plugin"].rows} == {"others", "pool new"}


def test_all_dependants_wait_for_a_state_that_is_off_on_some_nodes() -> None:
    plans = plans_of(Bench())
    assert plans["hook"].requires == ("driver",)
    assert plans["driver"].gated
