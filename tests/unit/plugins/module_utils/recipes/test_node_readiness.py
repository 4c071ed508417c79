# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is rendered of a recipe whose nodes say themselves what is proven on them."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    MACROS_PATH,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.expressions import (
    Expression,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import NodeGroup
from ansible_collections.hardware.enablement.plugins.module_utils._recipes import renderer
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.configuration import (
    AgentConfiguration,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_conditions import (
    matches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_readiness import (
    ReadinessError,
    with_node_agent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.overlay import (
    MACROS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderedState,
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.conftest import (
    NEW,
    OLD,
    MakeFacts,
)

Obj = dict[str, Any]

NFD = {"readiness": "nfd"}
PREFIX = "hardware-enablement.io/toy-gpu"


class ByNodes:
    """A recipe with the option."""

    def __init__(self, recipe: Recipe, facts_for: MakeFacts, **others: Any) -> None:
        given = {**NFD, **others.pop("given", {})}
        self.recipe = with_node_agent(recipe, resolve(recipe, given), {})
        self.facts: RenderFacts = facts_for(recipe, given, **others)

    def state(self, name: str) -> RenderedState:
        """A state as it is rendered."""
        return render_state(self.recipe, name, self.facts)

    def made(self, name: str) -> dict[str, Obj]:
        """ "Kind/name" -> object."""
        found = [item.manifest for item in self.state(name).objects]
        return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}

    @property
    def configuration(self) -> AgentConfiguration:
        """What the agent reads."""
        data = self.made("node_agent")["ConfigMap/toy-gpu-node-agent"]["data"]
        return AgentConfiguration.from_text(data["configuration.json"])


@pytest.fixture(name="by_nodes")
def _by_nodes(recipe: Recipe, facts_for: MakeFacts) -> ByNodes:
    """The recipe on nodes with the same kernel."""
    return ByNodes(recipe, facts_for, groups=(NEW,))


def terms_of(daemonset: Obj) -> list[Obj]:
    """Which nodes it is for."""
    affinity = daemonset["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms: list[Obj] = affinity["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    return terms


def test_a_run_that_says_it_leaves_the_recipe_as_it_is(recipe: Recipe) -> None:
    assert with_node_agent(recipe, resolve(recipe, {}), {}) is recipe


def test_the_agent_comes_before_all_that_stands_on_others(by_nodes: ByNodes) -> None:
    states = by_nodes.recipe.states

    assert list(states)[:2] == ["build", "node_agent"]
    assert states["build"].order.requires == ()
    assert states["driver"].order.requires == ("build", "node_agent")
    assert states["plugin"].order.requires == ("driver", "node_agent")


def test_nobody_waits_for_a_label_of_the_agent(by_nodes: ByNodes) -> None:
    (daemonset,) = (
        each for name, each in by_nodes.made("driver").items() if name.startswith("DaemonSet/")
    )

    assert "node_agent" not in json.dumps(terms_of(daemonset))


def test_pools_cannot_differ_in_it(recipe: Recipe) -> None:
    every = resolve(recipe, NFD)

    with pytest.raises(InvalidInput, match="readiness cannot be run in pool new"):
        with_node_agent(recipe, every, {"new": resolve(recipe, {})})


def test_a_state_of_that_name_is_refused(recipe: Recipe) -> None:
    states = {**recipe.states, "node_agent": replace(recipe.states["build"], name="node_agent")}

    with pytest.raises(InvalidInput, match="has a state node_agent of its own"):
        with_node_agent(replace(recipe, states=states), resolve(recipe, NFD), {})


def test_states_are_proven_by_the_nodes_label(by_nodes: ByNodes) -> None:
    for name in ("driver", "plugin"):
        first, second = by_nodes.state(name).proofs
        assert first.kind == "rollout"
        assert (second.kind, second.spec["equal"]) == (
            "node_labels",
            {f"{PREFIX}.{name}": "ready"},
        )


class TestValidator:
    """The DaemonSet that stands for a validation pod."""

    def test_wants_nodes_that_have_not_proven_the_state(self, by_nodes: ByNodes) -> None:
        for term in terms_of(by_nodes.made("plugin")["DaemonSet/validate-plugin"]):
            gates = [each for each in term["matchExpressions"] if each["key"].startswith(PREFIX)]
            assert {"key": f"{PREFIX}.plugin", "operator": "NotIn", "values": ["ready"]} in gates
            # It waits for what the state requires, as any pod of that state does.
            assert {each["key"] for each in gates} >= {f"{PREFIX}.driver", f"{PREFIX}.plugin"}

    def test_proves_first_and_is_ready_then(self, by_nodes: ByNodes) -> None:
        spec = by_nodes.made("plugin")["DaemonSet/validate-plugin"]["spec"]["template"]["spec"]

        (proving,) = spec["initContainers"]
        assert proving["args"] == ["$(NODE_NAME)", NEW.system.kernel]
        assert proving["env"][0]["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
        assert proving["resources"]["limits"] == {"toy.io/gpu": 1}
        assert [each["name"] for each in spec["containers"]] == ["proven"]
        assert "restartPolicy" not in spec

    @pytest.mark.parametrize("group", ["", "a100", "containerd-2-6-8-0-60-gen-736dae"])
    def test_has_a_name_that_fits_a_label(self, group: str) -> None:
        states = ("device_plugin_validation", "device_plugin_validations_of_mine")
        names = [renderer._validator_name(state, 1, group) for state in states]
        assert len(set(names)) == len(states)
        for name in names:
            assert len(name) <= 63
            assert name.endswith(group)

    def test_is_nobodys_validation_pod(self, by_nodes: ByNodes) -> None:
        daemonset = by_nodes.made("plugin")["DaemonSet/validate-plugin"]
        labels = daemonset["spec"]["template"]["metadata"]["labels"]

        assert "hardware-enablement.io/validation" not in labels
        assert labels["hardware-enablement.io/validator"] == "plugin"
        selector = daemonset["spec"]["selector"]["matchLabels"]
        assert selector.items() <= labels.items()
        # So that pruning finds it.
        assert daemonset["metadata"]["labels"]["applyset.kubernetes.io/part-of"] == "applyset-toy"

    def test_is_one_per_group_where_validation_differs(
        self, recipe: Recipe, facts_for: MakeFacts
    ) -> None:
        made = ByNodes(recipe, facts_for, groups=(OLD, NEW)).made("plugin")

        found = sorted(name for name in made if "validate" in name)
        assert found == [f"DaemonSet/validate-plugin-{group.id}" for group in (OLD, NEW)]

    def test_validates_a_state_that_is_off(self, recipe: Recipe, facts_for: MakeFacts) -> None:
        off = ByNodes(recipe, facts_for, groups=(NEW,), given={"driver_enabled": False})

        assert list(off.made("driver")) == ["DaemonSet/validate-driver"]


class TestAgent:
    """The agent's own objects."""

    def test_is_told_of_all_other_states(self, by_nodes: ByNodes) -> None:
        configuration = by_nodes.configuration
        found = {state.name: state for state in configuration.states}

        assert list(found) == ["build", "driver", "plugin"]
        assert found["plugin"].requires == ["driver"]
        assert not found["build"].gate
        assert [(each.name, each.validator) for each in found["plugin"].daemonsets] == [
            ("plugin", False),
            ("validate-plugin", True),
        ]

    def test_has_the_probes_that_recipes_have(self, by_nodes: ByNodes) -> None:
        made = by_nodes.made("node_agent")["DaemonSet/toy-gpu-node-agent"]
        (agent,) = made["spec"]["template"]["spec"]["containers"]
        command = agent["readinessProbe"]["exec"]["command"]
        text = f'{{% from "{MACROS}" import ready_while with context %}}{{{{ ready_while({command}) }}}}'
        files = {"it": text, MACROS: MACROS_PATH.read_text(encoding="utf-8")}
        macro = yaml.safe_load(Templates(files, "").render("it", {}))

        assert {name: probe for name, probe in agent.items() if name.endswith("Probe")} == macro

    def test_its_terms_are_without_what_it_writes_itself(self, by_nodes: ByNodes) -> None:
        states = by_nodes.configuration.states
        keys = {
            expression["key"]
            for state in states
            for daemonset in state.daemonsets
            for term in daemonset.terms
            for expression in term.get("matchExpressions") or ()
        }

        assert keys
        assert not {f"{PREFIX}.{state.name}" for state in states} & keys

    def test_knows_what_nodes_of_each_group_have_to_show(
        self, files: dict[str, str], facts_for: MakeFacts
    ) -> None:
        offers = "      - allocatable: {resource: toy.io/gpu, at_least: '{{ options.replicas }}'}\n"
        files["recipe.yml"] = files["recipe.yml"].replace(
            "      - rollout: {}\n      - workload",
            f"      - rollout: {{}}\n{offers}      - workload",
        )
        recipe = load(files, "toys/toy-gpu")
        configuration = ByNodes(
            recipe, facts_for, groups=(NEW, OLD), given={"replicas": 3}
        ).configuration

        assert [group.terms for group in configuration.groups] == [list(OLD.terms), list(NEW.terms)]
        for group in configuration.groups:
            # What the node is to say itself is no condition for saying so.
            ((state, (condition,)),) = group.conditions.items()
            assert (state, condition.kind) == ("plugin", "allocatable")
            assert condition.settings == {
                "resource": "toy.io/gpu",
                "at_least": 3,
                "equals": None,
                "unhealthy_allowed": 0,
                "counted_by": "",
            }

    def test_a_node_between_two_ways_of_giving_devices_is_known(
        self, recipe: Recipe, facts_for: MakeFacts
    ) -> None:
        label = f"{PREFIX}.device-allocation"
        others = Expression(label, "NotIn", ("dra", "none"))
        wanted = replace(NEW, terms=({"matchExpressions": [others.to_dict()]},))
        (group,) = ByNodes(recipe, facts_for, groups=(wanted,)).configuration.groups
        between: Obj = {"metadata": {"name": "n", "labels": {label: "none"}}}
        assert matches(between, group.terms)
        between["metadata"]["labels"] = {label: "dra"}
        assert not matches(between, group.terms)

    def test_labels_say_by_which_configuration(self, by_nodes: ByNodes) -> None:
        proof = by_nodes.state("node_agent").proofs[-1]

        assert proof.spec["equal"] == {f"{PREFIX}.agent-configuration": by_nodes.configuration.hash}

    def test_another_template_is_another_configuration(
        self, by_nodes: ByNodes, recipe: Recipe, facts_for: MakeFacts
    ) -> None:
        fast = ByNodes(recipe, facts_for, groups=(NEW,), given={"mode": "fast"})

        assert fast.configuration.hash != by_nodes.configuration.hash

    def test_runs_the_program_that_is_tested(self, by_nodes: ByNodes) -> None:
        data = by_nodes.made("node_agent")["ConfigMap/toy-gpu-node-agent"]["data"]

        folder = Path(inspect.getfile(AgentConfiguration)).parent
        program = {file.name: file.read_text("utf-8") for file in folder.glob("[!_]*.py")}
        assert data == {**program, "configuration.json": data["configuration.json"]}
        for name, text in program.items():
            compile(text, name, "exec")

    def test_its_files_stand_in_a_folder_as_they_do_here(self, by_nodes: ByNodes) -> None:
        made = by_nodes.made("node_agent")
        spec = made["DaemonSet/toy-gpu-node-agent"]["spec"]["template"]["spec"]
        (volume,) = (each for each in spec["volumes"] if each["name"] == "configuration")
        items = {each["key"]: each["path"] for each in volume["configMap"]["items"]}

        data = made["ConfigMap/toy-gpu-node-agent"]["data"]
        assert items.keys() == data.keys()
        assert items.pop("configuration.json") == "configuration.json"
        assert items == {name: f"node_agent/{name}" for name in items}
        assert spec["containers"][0]["command"][-1] == "node_agent.agent"

    def test_may_only_look(self, by_nodes: ByNodes) -> None:
        made = by_nodes.made("node_agent")
        rules = [
            (rule["resources"], rule["verbs"], rule.get("resourceNames"))
            for name, each in made.items()
            for rule in each.get("rules") or ()
            if name
        ]

        assert rules == [
            (["pods"], ["list", "watch"], None),
            (["daemonsets"], ["get"], ["toy-gpu-node-agent"]),
            (["nodes"], ["list", "watch"], None),
        ]

    def test_its_pod_may_do_nothing_but_write_that_folder(self, by_nodes: ByNodes) -> None:
        spec = by_nodes.made("node_agent")["DaemonSet/toy-gpu-node-agent"]["spec"]["template"][
            "spec"
        ]
        (container,) = spec["containers"]

        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["securityContext"]["readOnlyRootFilesystem"]
        paths = [each["hostPath"]["path"] for each in spec["volumes"] if "hostPath" in each]
        assert paths == ["/etc/kubernetes/node-feature-discovery"]
        assert not {"hostNetwork", "hostPID"} & spec.keys()

    def test_on_openshift_has_constraints_of_its_own(
        self, recipe: Recipe, facts_for: MakeFacts
    ) -> None:
        openshift = ByNodes(recipe, facts_for, groups=(NEW,), cluster={"platform": "openshift"})
        made = openshift.made("node_agent")["SecurityContextConstraints/toy-gpu-node-agent"]

        assert made["users"] == ["system:serviceaccount:toy:toy-gpu-node-agent"]
        assert not made["allowPrivilegedContainer"]


def test_a_state_that_runs_nothing_on_nodes_cannot_be_waited_for(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    files["driver/daemonset.yaml.j2"] = files["driver/account.yaml.j2"].replace("driver", "other")
    recipe = load(files, "toys/toy-gpu")

    with pytest.raises(ReadinessError, match="wait for state driver, which runs none"):
        ByNodes(recipe, facts_for, groups=(NEW,)).state("node_agent")


@pytest.mark.parametrize(("built", "known"), [((), ()), ((NEW,), (NEW,)), ((OLD, NEW), (OLD, NEW))])
def test_of_nodes_whose_driver_is_not_built_yet_nothing_is_known(
    recipe: Recipe, facts_for: MakeFacts, built: tuple[NodeGroup, ...], known: tuple[NodeGroup, ...]
) -> None:
    build = recipe.states["build"]
    looked_up = replace(build, images=replace(build.images, lookup="controller"))
    recipe = replace(recipe, states={**recipe.states, "build": looked_up})
    resolved = {"build": {group.id: "registry.io/driver@sha256:0" for group in built}}
    found = ByNodes(recipe, facts_for, resolved=resolved).configuration
    assert [group.terms for group in found.groups] == [
        [dict(term) for term in group.terms] for group in known
    ]


def test_a_node_selector_is_told_to_the_agent_as_affinity_is(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    files["plugin/daemonset.yaml.j2"] = files["plugin/daemonset.yaml.j2"].replace(
        "      containers:", "      nodeSelector: {card: new}\n      containers:"
    )
    found = ByNodes(load(files, "toys/toy-gpu"), facts_for, groups=(NEW,)).configuration
    daemonsets = [each for state in found.states for each in state.daemonsets]
    plugin = next(each for each in daemonsets if each.name == "plugin")
    chosen = {"key": "card", "operator": "In", "values": ["new"]}
    assert all(chosen in term["matchExpressions"] for term in plugin.terms)
