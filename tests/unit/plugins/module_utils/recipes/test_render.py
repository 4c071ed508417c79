# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering a state: objects, groups, what is left out, hashes, validation pods, and errors."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
    render_images,
    render_pod,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    ClusterApi,
    RenderFacts,
)

MakeFacts = Callable[..., RenderFacts]

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: toys.toy.io
spec:
  group: toy.io
  scope: Namespaced
  names: {kind: Toy, plural: toys}
---
apiVersion: toy.io/v1
kind: Toy
metadata:
  name: bear
"""


def named(state: Any) -> list[tuple[str, str, str]]:
    """(kind, name, group) of a rendered state's objects."""
    return [
        (item.manifest["kind"], item.manifest["metadata"]["name"], item.group)
        for item in state.objects
    ]


def refusal(
    files: dict[str, str], facts_for: MakeFacts, given: dict[str, Any] | None = None
) -> str:
    """What is said when this recipe is checked."""
    recipe = load(files, "toy")
    with pytest.raises(InvalidInput) as caught:
        check_recipe(recipe, facts_for(recipe, given))
    return str(caught.value)


def test_a_per_kernel_state(recipe: Recipe, facts_for: MakeFacts) -> None:
    state = render_state(recipe, "driver", facts_for(recipe))

    assert named(state) == [
        ("ServiceAccount", "driver", ""),
        ("DaemonSet", "driver-5-15-0-1-aaaaaa", "5-15-0-1-aaaaaa"),
        ("DaemonSet", "driver-6-8-0-2-bbbbbb", "6-8-0-2-bbbbbb"),
    ]
    assert [item.source for item in state.objects][:2] == [
        "toys/toy-gpu/driver/account.yaml.j2",
        "toys/toy-gpu/driver/daemonset.yaml.j2",
    ]
    images = [
        item.manifest["spec"]["template"]["spec"]["containers"][0]["image"]
        for item in state.objects[1:]
    ]
    assert images == [
        "registry.io/driver:1.0-5.15.0-1_fips-8980bb",
        "registry.io/driver:1.0-6.8.0-2-generic",
    ]
    assert [(skipped.source, skipped.reason) for skipped in state.skipped] == [
        (
            "toys/toy-gpu/driver/scc.yaml.j2",
            "the cluster does not serve security.openshift.io/v1/SecurityContextConstraints",
        )
    ]


def test_an_api_that_is_served(recipe: Recipe, facts_for: MakeFacts) -> None:
    api = "security.openshift.io/v1/SecurityContextConstraints"
    for apis in (frozenset({api}), lambda asked: asked == api):
        state = render_state(recipe, "driver", facts_for(recipe, api=ClusterApi(apis)))
        assert ("SecurityContextConstraints", "driver", "") in named(state)
        assert state.skipped == ()


def test_no_kernel_group(recipe: Recipe, facts_for: MakeFacts) -> None:
    state = render_state(recipe, "driver", facts_for(recipe, groups=()))

    assert named(state) == [("ServiceAccount", "driver", "")]
    assert state.hashes.keys() == {""}


def test_a_disabled_state_has_no_objects_but_proofs(recipe: Recipe, facts_for: MakeFacts) -> None:
    on = render_state(recipe, "driver", facts_for(recipe))
    off = render_state(recipe, "driver", facts_for(recipe, {"driver_enabled": False}))

    assert (off.enabled, off.objects, off.skipped) == (False, (), ())
    assert [proof.kind for proof in off.proofs] == ["workload"]
    assert [proof.kind for proof in on.proofs] == ["rollout"]
    assert all(off.hashes[group] != on.hashes[group] for group in on.hashes)


def test_what_a_state_says_nodes_cannot_have_is_refused_only_where_it_is_enabled(
    recipe: Recipe, facts_for: MakeFacts
) -> None:
    why = "{% if kernel.major < 6 %}kernel {{ kernel.raw }} is too old; renew it{% endif %}"
    states = {**recipe.states, "driver": replace(recipe.states["driver"], unsupported=why)}
    recipe = replace(recipe, states=states)
    check_recipe(recipe, facts_for(recipe, {"driver_enabled": False}))
    # A state that is only looked at, or removed, may be where it could not be had.
    assert render_state(recipe, "driver", facts_for(recipe)).objects
    with pytest.raises(InvalidInput) as refusal:
        check_recipe(recipe, facts_for(recipe))
    assert "state driver of toy-gpu cannot be had" in str(refusal.value)
    assert "is too old; renew it." in str(refusal.value)


def test_images(recipe: Recipe, facts_for: MakeFacts) -> None:
    facts = facts_for(recipe, images={"6-8-0-2-bbbbbb": "mirror.io/built@sha256:0123"})

    assert render_images(recipe, "build", facts) == {
        "5-15-0-1-aaaaaa": "registry.io/driver:1.0-5.15.0-1_fips-8980bb",
        "6-8-0-2-bbbbbb": "mirror.io/built@sha256:0123",
    }
    assert render_images(recipe, "driver", facts) == {}
    driver = render_state(recipe, "driver", facts).objects[2].manifest
    assert (
        driver["spec"]["template"]["spec"]["containers"][0]["image"]
        == "mirror.io/built@sha256:0123"
    )


def test_the_image_is_also_there_under_its_states_name(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    files["driver/daemonset.yaml.j2"] = files["driver/daemonset.yaml.j2"].replace(
        "{{ image", "{{ build.image"
    )
    recipe = load(files, "toy")

    assert len(render_state(recipe, "driver", facts_for(recipe)).objects) == 3


def test_proofs_are_filled_in(files: dict[str, str], facts_for: MakeFacts) -> None:
    proof = "      - allocatable: {resource: 'toy.io/{{ options.mode }}', at_least: 2}\n"
    files["recipe.yml"] = files["recipe.yml"].replace("      - rollout: {}\n", proof, 1)
    recipe = load(files, "toy")

    state = render_state(recipe, "plugin", facts_for(recipe, {"mode": "fast"}))

    assert state.proofs[0].spec == {"resource": "toy.io/fast", "at_least": 2}


def test_a_proof_that_is_turned_off_counts_for_nothing(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    proof = "      - rollout: {}\n"
    files["recipe.yml"] = files["recipe.yml"].replace(
        proof, f"{proof}      - metrics: {{port: 1, series: [up], enabled: driver_enabled}}\n", 1
    )
    recipe = load(files, "toy")

    on = render_state(recipe, "plugin", facts_for(recipe))
    off = render_state(recipe, "plugin", facts_for(recipe, {"driver_enabled": False}))

    assert [proof.kind for proof in on.proofs] == ["rollout", "metrics", "workload"]
    assert "enabled" not in on.proofs[1].spec
    assert [proof.kind for proof in off.proofs] == ["rollout", "workload"]
    assert on.hashes.keys() == off.hashes.keys()
    assert all(off.hashes[group] != on.hashes[group] for group in on.hashes)


def test_a_proof_is_turned_off_by_a_template_and_by_nothing_else(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    proof = "      - rollout: {}\n"
    told = "{{ options.mode == 'fast' }}"
    text = files["recipe.yml"]
    turned = f'{proof}      - metrics: {{port: 1, series: [up], enabled: "{told}"}}\n'
    files["recipe.yml"] = text.replace(proof, turned, 1)
    recipe = load(files, "toy")
    for mode, kinds in (
        ("fast", ["rollout", "metrics", "workload"]),
        ("slow", ["rollout", "workload"]),
    ):
        found = render_state(recipe, "plugin", facts_for(recipe, {"mode": mode}))
        assert [proof.kind for proof in found.proofs] == kinds
    files["recipe.yml"] = files["recipe.yml"].replace(told, "{{ options.mode }}")
    recipe = load(files, "toy")
    with pytest.raises(InvalidInput, match="whether proof metrics of state plugin is enabled"):
        render_state(recipe, "plugin", facts_for(recipe))


def test_proofs_are_checked_again_when_filled_in(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    proof = "      - allocatable: {resource: '{{ options.mode }}'}\n"
    files["recipe.yml"] = files["recipe.yml"].replace("      - rollout: {}\n", proof, 1)

    assert refusal(files, facts_for) == (
        "a proof cannot be used: toy/recipe.yml, states.plugin.validate[0].allocatable.resource: expected the name of"
        " an extended resource (example.com/device), found 'slow'; correct the recipe or its options."
    )


def test_a_proof_may_differ_between_groups_and_nodes(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    name = "{{ recipe }}-{{ kernel.major }}-{{ node }}"
    place = f"name: '{name}', namespace: '{{{{ namespace }}}}'"
    proof = f"      - resource: {{api_version: v1, kind: ConfigMap, {place}}}\n"
    files["recipe.yml"] = files["recipe.yml"].replace("      - rollout: {}\n", proof, 1)
    recipe = load(files, "toy")

    facts = facts_for(recipe)
    state = render_state(recipe, "plugin", facts)

    found = state.proofs[0]
    assert found.varies
    for group in facts.groups:
        assert found.spec_for(group.id, "n1") == {
            "api_version": "v1",
            "kind": "ConfigMap",
            "name": f"toy-gpu-{group.system.kernel.partition('.')[0]}-n1",
            "namespace": "toy",
        }
    assert not render_state(recipe, "driver", facts).proofs[0].varies


def test_what_differs_between_nodes_is_not_about_the_cluster(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    proof = "      - resource: {api_version: v1, kind: Node, name: '{{ node }}', scope: cluster}\n"
    files["recipe.yml"] = files["recipe.yml"].replace("      - rollout: {}\n", proof, 1)

    assert refusal(files, facts_for) == (
        "a proof cannot be used: toy/recipe.yml, states.plugin.validate[0].resource.scope: expected node, since its"
        " texts differ between nodes, found cluster; correct the recipe or its options."
    )


def test_lists_are_flattened(files: dict[str, str], facts_for: MakeFacts) -> None:
    files["plugin/list.yaml.j2"] = (
        "apiVersion: v1\nkind: List\nitems:\n"
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n"
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n"
    )
    recipe = load(files, "toy")

    assert named(render_state(recipe, "plugin", facts_for(recipe)))[1:] == [
        ("ConfigMap", "one", ""),
        ("ConfigMap", "two", ""),
    ]


def test_a_crd_tells_the_scope_of_its_kind(files: dict[str, str], facts_for: MakeFacts) -> None:
    files["plugin/crd.yaml.j2"] = CRD
    recipe = load(files, "toy")

    toy = render_state(recipe, "plugin", facts_for(recipe)).objects[1].manifest

    assert (toy["kind"], toy["metadata"]["namespace"]) == ("Toy", "toy")


def test_a_kind_that_is_served_by_now_makes_no_proof_stale(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    files["plugin/toy.yaml.j2"] = "apiVersion: toy.io/v1\nkind: Toy\nmetadata: {name: bear}\n"
    recipe = load(files, "toy")
    early, late = (
        render_state(
            recipe,
            "plugin",
            facts_for(
                recipe,
                api=ClusterApi(
                    namespaced=lambda _api, kind, found=found: found if kind == "Toy" else True
                ),
            ),
        )
        for found in (None, True)
    )

    def toy(state: Any) -> dict[str, Any]:
        (found,) = [item.manifest for item in state.objects if item.manifest["kind"] == "Toy"]
        return dict(found)

    assert "namespace" not in toy(early)["metadata"]
    assert toy(late)["metadata"]["namespace"] == "toy"
    assert early.hashes == late.hashes


def test_a_validation_pod(recipe: Recipe, facts_for: MakeFacts, groups: tuple[Any, Any]) -> None:
    facts = facts_for(recipe, {"tolerations": [{"operator": "Exists"}]})
    proof = render_state(recipe, "plugin", facts).proofs[1]

    pod = render_pod(recipe, "plugin", proof, facts, groups[0], "node-1")

    assert pod == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": "toy",
            "labels": {
                "app.kubernetes.io/managed-by": "hardware-enablement",
                "hardware-enablement.io/kernel-group": "5-15-0-1-aaaaaa",
                "hardware-enablement.io/recipe": "toy-gpu",
                "hardware-enablement.io/state": "plugin",
                "hardware-enablement.io/validation": "plugin",
            },
        },
        "spec": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
                                ]
                            }
                        ]
                    }
                }
            },
            "containers": [
                {
                    "args": ["node-1", "5.15.0-1+fips"],
                    "image": "registry.io/check:1",
                    "name": "check",
                    "resources": {"limits": {"toy.io/gpu": 1}},
                }
            ],
            "restartPolicy": "Never",
            "tolerations": [
                {"key": "toy.io/gpu", "operator": "Exists"},
                {"key": "hardware-enablement.io/toy-gpu", "operator": "Exists"},
                {"operator": "Exists"},
                {
                    "effect": "NoSchedule",
                    "key": "node.kubernetes.io/unschedulable",
                    "operator": "Exists",
                },
            ],
        },
    }


def test_rendering_is_deterministic(files: dict[str, str], facts_for: MakeFacts) -> None:
    """Whatever the order of files, groups, options and API answers, the result is the same, byte
    for byte."""
    chance = random.Random(5)  # noqa: S311 - shuffles, no secrets
    given = {
        "mode": "fast",
        "env": {"plugin": {"B": "1", "A": "2"}},
        "proxy": {"no": "a", "http": "b"},
    }
    results = set()
    for _round in range(20):
        names = list(files)
        chance.shuffle(names)
        keys = list(given)
        chance.shuffle(keys)
        recipe = load({name: files[name] for name in names}, "toy")
        facts = facts_for(recipe, {key: given[key] for key in keys})
        groups = list(facts.groups)
        chance.shuffle(groups)
        states = check_recipe(recipe, replace(facts, groups=tuple(groups)))
        results.add(
            json.dumps(
                [
                    [
                        name,
                        dict(state.hashes),
                        [(item.manifest, item.group, item.source) for item in state.objects],
                    ]
                    for name, state in states.items()
                ]
            )
        )

    assert len(results) == 1


def test_rendering_leaves_its_input_alone(recipe: Recipe, facts_for: MakeFacts) -> None:
    facts = facts_for(recipe, {"env": {"plugin": {"A": "1"}}, "tolerations": [{"key": "a"}]})
    before = json.dumps([dict(facts.options), [group.terms for group in facts.groups]])

    for state in check_recipe(recipe, facts).values():
        for item in state.objects:
            item.manifest["metadata"]["labels"]["changed"] = "yes"
            item.manifest.get("spec", {}).clear()

    assert json.dumps([dict(facts.options), [group.terms for group in facts.groups]]) == before


class TestHashes:
    """What makes a proof run again, and what does not."""

    def test_they_do_not_depend_on_other_groups_or_on_nodes(
        self, recipe: Recipe, facts_for: MakeFacts
    ) -> None:
        both = facts_for(recipe)
        for state in recipe.states:
            together = render_state(recipe, state, both).hashes
            for group in both.groups:
                named_terms = (
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
                )
                moved = _Moved(group, named_terms)
                alone = render_state(recipe, state, replace(both, groups=(moved,))).hashes
                assert alone == {"": together[""], group.id: together[group.id]}

    @pytest.mark.parametrize(
        ("given", "changed"),
        [
            ({"version": "2.0"}, {"driver"}),
            ({"mode": "fast"}, {"plugin"}),
            ({"env": {"plugin": {"A": "1"}}}, {"plugin"}),
            ({"replicas": 7}, set()),
            ({"tolerations": [{"key": "a"}]}, set()),
            ({"node_selector": {"pool": "a"}}, set()),
            ({"priority_class": ""}, {"driver", "plugin"}),
        ],
    )
    def test_options(
        self, recipe: Recipe, facts_for: MakeFacts, given: dict[str, Any], changed: set[str]
    ) -> None:
        group = "6-8-0-2-bbbbbb"
        before = check_recipe(recipe, facts_for(recipe))
        after = check_recipe(recipe, facts_for(recipe, given))

        assert {
            name for name in before if before[name].hashes[group] != after[name].hashes[group]
        } == changed

    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("recipe.yml", "resource: toy.io/gpu}", "resource: toy.io/gpu, parallel: 3}"),
            ("validation/check.yaml.j2", "check:1", "check:2"),
        ],
    )
    def test_a_changed_validation(
        self, files: dict[str, str], facts_for: MakeFacts, file: str, old: str, new: str
    ) -> None:
        recipe = load(files, "toy")
        before = render_state(recipe, "plugin", facts_for(recipe)).hashes
        assert old in files[file]
        changed = load({**files, file: files[file].replace(old, new)}, "toy")

        after = render_state(changed, "plugin", facts_for(changed)).hashes

        assert all(before[group.id] != after[group.id] for group in facts_for(recipe).groups)

    def test_their_form(self, recipe: Recipe, facts_for: MakeFacts) -> None:
        hashes = render_state(recipe, "driver", facts_for(recipe)).hashes

        assert hashes.keys() == {"", "5-15-0-1-aaaaaa", "6-8-0-2-bbbbbb"}
        assert all(len(value) == 16 and int(value, 16) >= 0 for value in hashes.values())


class _Moved:
    """A kernel group whose nodes are selected by other terms."""

    def __init__(self, group: Any, terms: tuple[dict[str, Any], ...]) -> None:
        self._group = group
        self.terms = terms

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "kind: ConfigMap\nmetadata: {name: a}\n",
            "document 1): expected apiVersion, found nothing",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\n---\napiVersion: v1\nkind:\n",
            "document 2): expected kind, found nothing",
        ),
        ("apiVersion: v1\nkind: ConfigMap\n", "document 1): expected metadata, found nothing"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\n",
            "document 1): expected metadata.name as text, found nothing",
        ),
        ("- a\n", "document 1): expected a mapping, found a list"),
        (
            "apiVersion: v1\nkind: List\nitems: [5]\n",
            "document 1, item 1): expected a mapping, found the number 5",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {on: yes}}\n",
            "(as rendered), line 3); put it in quotes",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: 1.5}}\n",
            "document 1): expected text (in quotes) as metadata.labels.x, found the number 1.5",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: yes}\n",
            "document 1): expected text (in quotes) as data.x, found true",
        ),
        ("a: [\n", "(toy/plugin/more.yaml.j2 (as rendered), line "),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n",
            "Namespace a must not have a namespace (toy/plugin/more.yaml.j2): a Namespace belongs to the whole cluster",
        ),
        (
            "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\n",
            "DaemonSet a has no pod template (toy/plugin/",
        ),
        (
            "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: plugin}\nspec: {template: {spec: {}}}\n",
            "DaemonSet plugin is made twice (state plugin): once by toy/plugin/daemonset.yaml.j2, once by toy",
        ),
        (
            "{{ kernel.raw }}",
            "more.yaml.j2, line 1): there is no kernel, since state plugin is not made per kernel",
        ),
        (
            "{{ options.versoin }}",
            "(toy/plugin/more.yaml.j2, line 1): options has no versoin, did you mean version?",
        ),
    ],
)
def test_bad_objects(files: dict[str, str], facts_for: MakeFacts, text: str, said: str) -> None:
    files["plugin/more.yaml.j2"] = text

    assert said in refusal(files, facts_for)


def test_an_object_in_two_states(files: dict[str, str], facts_for: MakeFacts) -> None:
    files["plugin/more.yaml.j2"] = files["driver/account.yaml.j2"]

    assert refusal(files, facts_for) == (
        "ServiceAccount driver belongs to two states (toy): toy/driver/account.yaml.j2 makes it for state driver, and"
        " toy/plugin/more.yaml.j2 for state plugin; keep it in one of them."
    )


def test_one_name_for_all_kernels(files: dict[str, str], facts_for: MakeFacts) -> None:
    files["driver/daemonset.yaml.j2"] = files["driver/daemonset.yaml.j2"].replace(
        "driver-{{ group.id }}", "driver"
    )

    assert refusal(files, facts_for) == (
        "DaemonSet driver would be the same object for every group of nodes (toy/driver/daemonset.yaml.j2): its file"
        " uses facts or options that differ between groups, so it is made once for each; put {{ group.suffix }} into"
        " its name, or move it to a file that uses none of them."
    )


def test_a_running_state_needs_a_proof(files: dict[str, str], facts_for: MakeFacts) -> None:
    head, _validate, _tail = files["recipe.yml"].partition(
        "    validate:\n      - rollout: {}\n      - workload"
    )
    build = files["recipe.yml"].partition("  build:\n")[2]
    files["recipe.yml"] = f"{head}  build:\n{build}"

    assert refusal(files, facts_for) == (
        "state plugin proves nothing, although it runs DaemonSet plugin (toy/plugin/daemonset.yaml.j2); give the state"
        " a proof under validate, at least rollout: {}."
    )


def test_per_kernel_templates_are_tried_even_without_nodes(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    files["driver/daemonset.yaml.j2"] += "{{ kernel.rwa }}"
    recipe = load(files, "toy")

    with pytest.raises(InvalidInput, match="kernel has no rwa, did you mean raw"):
        check_recipe(recipe, facts_for(recipe, groups=()))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kernel", 'x"y'),
        ("kernel", "a b"),
        ("kernel", ""),
        ("os_id", "a\nb: c"),
        ("os_version", "{{ x }}"),
        ("arch", ""),
    ],
)
def test_facts_that_cannot_be_true(
    recipe: Recipe, facts_for: MakeFacts, groups: tuple[Any, Any], field: str, value: str
) -> None:
    system = replace(groups[0].system, **{field: value})
    facts = facts_for(recipe, groups=(replace(groups[0], system=system),))

    with pytest.raises(
        InvalidInput, match=r"of group 5-15-0-1-aaaaaa is not used: .* does not look like one"
    ):
        render_state(recipe, "driver", facts)


def test_an_image_that_is_none(recipe: Recipe, facts_for: MakeFacts) -> None:
    with pytest.raises(InvalidInput) as caught:
        render_images(recipe, "build", facts_for(recipe, {"version": "1 0"}))

    assert str(caught.value) == (
        "state build has no image for group 5-15-0-1-aaaaaa (toys/toy-gpu/recipe.yml, states.build.image):"
        " 'registry.io/driver:1 0-5.15.0-1_fips-8980bb' is no image reference."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "apiVersion: v1\nkind: ConfigMap\n",
            "a workload proof needs a Pod (toy/validation/check.yaml.j2): its file",
        ),
        (
            "",
            "a workload proof needs one Pod (toy/validation/check.yaml.j2): its file holds 0 objects",
        ),
    ],
)
def test_bad_validation_pods(
    files: dict[str, str], facts_for: MakeFacts, text: str, said: str
) -> None:
    files["validation/check.yaml.j2"] = text

    assert refusal(files, facts_for).startswith(said)


def test_an_unknown_state(recipe: Recipe, facts_for: MakeFacts) -> None:
    with pytest.raises(
        InvalidInput, match=r"^recipe toy-gpu has no state drvier, did you mean driver\?"
    ):
        render_state(recipe, "drvier", facts_for(recipe))


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (
            "  name: plugin\n",
            "  name: plugin\n  labels: none\n",
            "expected a mapping as metadata.labels, found",
        ),
        (
            "    metadata:\n      labels: {app: plugin}\n",
            "    metadata: none\n",
            "spec.template.metadata is no mapping",
        ),
    ],
)
def test_metadata_of_a_wrong_kind(
    files: dict[str, str], facts_for: MakeFacts, right: str, wrong: str, words: str
) -> None:
    files["plugin/daemonset.yaml.j2"] = files["plugin/daemonset.yaml.j2"].replace(right, wrong)
    assert words in refusal(files, facts_for)


def test_a_pod_template_whose_metadata_is_null(files: dict[str, str], facts_for: MakeFacts) -> None:
    path, text = "plugin/daemonset.yaml.j2", "    metadata:\n      labels: {app: plugin}\n"
    files[path] = files[path].replace(text, "    metadata: null\n")
    recipe = load(files, "toy")
    state = render_state(recipe, "plugin", facts_for(recipe))
    assert state.objects[0].manifest["spec"]["template"]["metadata"]["labels"]
