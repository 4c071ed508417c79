# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loading: what a good recipe becomes, and what is said of a bad one."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import FACETS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.kinds.workload import (
    WorkloadSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
    Rival,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)


def problems_of(files: dict[str, str]) -> str:
    """What is said of a recipe, without the frame of the sentence."""
    with pytest.raises(InvalidInput) as caught:
        load(files, "toy")
    text = str(caught.value)
    assert text.startswith("the recipe cannot be used: ")
    assert text.endswith("; correct it and run again.")
    problems = text.removeprefix("the recipe cannot be used: ").removesuffix(
        "; correct it and run again."
    )
    assert problems.startswith("toy/recipe.yml")
    return problems.replace("toy/recipe.yml, ", "")


def test_a_good_recipe(recipe: Recipe) -> None:
    assert (recipe.name, recipe.namespace, recipe.source.folder) == (
        "toy-gpu",
        "toy",
        "toys/toy-gpu",
    )
    assert recipe.nodes.selector == (
        {"feature.node.kubernetes.io/pci-0302_10de.present": "true"},
        {"toy.io/here": None},
    )
    assert list(recipe.states) == ["build", "driver", "plugin"]
    driver = recipe.states["driver"]
    assert (driver.per, driver.proofs.timeout, driver.enabled) == (
        ("kernel",),
        900,
        "driver_enabled",
    )
    assert [(asset.files, asset.needs_api) for asset in driver.assets] == [
        (("driver/account.yaml.j2", "driver/daemonset.yaml.j2"), ""),
        (("driver/scc.yaml.j2",), "security.openshift.io/v1/SecurityContextConstraints"),
    ]
    assert recipe.states["plugin"].proofs.timeout == 600


def test_proofs_have_their_defaults(recipe: Recipe) -> None:
    rollout, workload = recipe.states["plugin"].proofs.validate
    assert (rollout.kind, rollout.spec) == ("rollout", {})
    assert KINDS["workload"].settings_of(workload) == WorkloadSettings(
        pod="validation/check.yaml.j2",
        resource="toy.io/gpu",
        sampling="all",
        parallel=None,
        timeout=300,
    )


def test_standard_options_are_there_and_may_get_another_default(files: dict[str, str]) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace(
        "options:\n", "options:\n  priority_class: {default: ''}\n"
    )

    options = load(files, "toy").options

    assert options.keys() >= STANDARD_OPTIONS.keys()
    assert options["priority_class"].default == ""
    assert options["priority_class"].description == STANDARD_OPTIONS["priority_class"].description


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "role: state_driver\n",
            "role: state_drivers\n",
            (
                "states.driver.role: expected a role of this collection, or another one's full name, "
                "found 'state_drivers', did you mean state_driver?"
            ),
        ),
        (
            "timeout: 900",
            "timout: 900",
            "states.driver: expected only known keys, found timout, did you mean timeout?",
        ),
        (
            "timeout: 900",
            "timeout: soon",
            "states.driver.timeout: expected a number of seconds from 1 to 86400, found 'soon'",
        ),
        (
            "timeout: 900",
            "timeout: true",
            "states.driver.timeout: expected a number of seconds from 1 to 86400, found true",
        ),
        (
            "name: toy-gpu",
            "name: Toy",
            "name: expected a DNS label, found 'Toy'",
        ),
        (
            "name: toy-gpu",
            "name: state",
            "name: expected a name that is not taken, found 'state'",
        ),
        (
            "name: toy-gpu",
            "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "name: expected at most 30 characters, found 31 in 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
        ),
        (
            "name: toy-gpu\n",
            "",
            "name: expected a value, found nothing",
        ),
        (
            "/v1\n",
            "/v2\n",
            "apiVersion: expected one of hardware-enablement.io/v1, found 'hardware-enablement.io/v2'",
        ),
        (
            '"toy.io/gpu", ',
            '"gpu", ',
            "resources[0]: expected example.com/device, in which * may stand, found 'gpu'",
        ),
        (
            'present: "true"',
            "present: true",
            (
                "selector.any_of[0].feature.node.kubernetes.io/pci-0302_10de.present: expected a label's value in "
                "quotes, or null for any, found true (put it in quotes)"
            ),
        ),
        (
            "  driver:\n",
            "  Driver:\n",
            (
                "states.Driver: expected lower-case letters, digits and _, a letter first, found 'Driver'; "
                "states.plugin.requires[0]: expected a state of the recipe, found driver, did you mean Driver?"
            ),
        ),
        (
            "  build:\n",
            "  kernel:\n",
            (
                "states.kernel: expected a name that is not taken, found 'kernel'; states.driver.requires[0]: expected "
                "a state of the recipe, found build (known: driver, kernel, plugin)"
            ),
        ),
        (
            "states:\n",
            "remedies: {states: [drivers], steps: [restart, rebot]}\nstates:\n",
            (
                "remedies.states[0]: expected a state of the recipe, found drivers, did you mean driver?; "
                "remedies.steps[1]: expected restart, reboot, or a file of the recipe, found rebot, did you mean "
                "reboot?"
            ),
        ),
        (
            "enabled: driver_enabled",
            "enabled: driver_enable",
            "states.driver.enabled: expected an option of type bool, found driver_enable, did you mean driver_enabled?",
        ),
        (
            "enabled: driver_enabled",
            "enabled: version",
            "states.driver.enabled: expected an option of type bool, found version, which is of type str",
        ),
        (
            "    enabled: driver_enabled\n",
            "",
            "states.driver.disabled_validate: expected enabled with it, since this state is always on, found none",
        ),
        (
            "plugin/*.yaml.j2",
            "plugins/*.yaml.j2",
            "states.plugin.assets[0]: expected a file of the recipe, found plugins/*.yaml.j2",
        ),
        (
            "plugin/*.yaml.j2",
            "../*.yaml.j2",
            (
                "states.plugin.assets[0]: expected a path inside the recipe's folder, found '../*.yaml.j2'; "
                "states.plugin.assets[0]: expected a file of the recipe, found ../*.yaml.j2"
            ),
        ),
        (
            "pod: validation/check.yaml.j2, resource",
            "pod: validation/chek.yaml.j2, resource",
            (
                "states.plugin.validate[1].workload.pod: expected a file of the recipe, found validation/chek.yaml.j2, "
                "did you mean validation/check.yaml.j2?"
            ),
        ),
        (
            "      - workload: {pod: validation/check.yaml.j2, resource",
            "      - workloads: {pod: validation/check.yaml.j2, resource",
            "states.plugin.validate[1]: expected a kind of proof, found workloads, did you mean workload?",
        ),
        (
            "requires: [build]",
            "requires: [plugin]",
            "states.plugin.requires: expected no cycle of requirements, found plugin -> driver -> plugin",
        ),
        (
            "requires: [build]",
            "requires: [driver]",
            "states.driver.requires: expected no cycle of requirements, found driver -> driver",
        ),
        (
            "    per: kernel\n    image",
            "    image",
            "states.build.image: expected per: kernel, since an image is resolved per kernel, found per: cluster",
        ),
        (
            "per: kernel\n    enabled",
            "per: node\n    enabled",
            f"states.driver.per: expected cluster, or one or several of {', '.join(FACETS)}, found 'node'",
        ),
        (
            "type: int, default: 1",
            "type: int, default: '1'",
            "options.replicas.default: expected type int, found '1'",
        ),
        (
            "type: int, default: 1",
            "type: integer",
            "options.replicas.type: expected one of str, int, bool, list, dict, found 'integer'",
        ),
        (
            'default: "1.0"',
            "default: 1.0",
            "options.version.default: expected text (in quotes), found the number 1.0",
        ),
        (
            "default: slow",
            "default: medium",
            "options.mode.default: expected one of slow, fast, found 'medium'",
        ),
        (
            "choices: [slow, fast]",
            "choices: [slow, yes]",
            "options.mode.choices[1]: expected text (in quotes), found true",
        ),
        (
            "elements: int, default: []",
            "elements: int, default: [a]",
            "options.ports.default: expected a whole number as item 1, which is 'a', found a list",
        ),
        (
            "no_log: true",
            "required: true",
            "options.password.default: expected none for a required option, found ''",
        ),
        (
            "options:\n",
            "options:\n  env: {type: dict}\n",
            "options.env.type: expected nothing but a default, since every recipe has this option, found type",
        ),
    ],
)
def test_one_mistake(files: dict[str, str], old: str, new: str, said: str) -> None:
    assert old in files["recipe.yml"]
    files["recipe.yml"] = files["recipe.yml"].replace(old, new, 1)

    assert problems_of(files) == said


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        (
            "rollout: {patience: 1}",
            "rollout: expected only known keys, found patience",
        ),
        (
            "workload: {}",
            "workload.pod: expected a value, found nothing",
        ),
        (
            "workload: {pod: validation/check.yaml.j2, sampling: some}",
            "workload.sampling: expected all, per_group or a number of nodes, found 'some'",
        ),
        (
            "workload: {pod: validation/check.yaml.j2, parallel: 0}",
            "workload.parallel: expected a whole number from 1 to 1000, found the number 0",
        ),
        (
            "allocatable: {at_least: 1}",
            "allocatable.resource: expected a value, found nothing",
        ),
        (
            "allocatable: {resource: gpu}",
            "allocatable.resource: expected the name of an extended resource (example.com/device), found 'gpu'",
        ),
        (
            'logs: {match: "(("}',
            "logs.match: expected a regular expression, found '((' (missing ), unterminated subpattern at position 1)",
        ),
        (
            "logs: {match: x, tail: many}",
            "logs.tail: expected a whole number from 1 to 10000, found 'many'",
        ),
        (
            "node_labels: {present: toy.io/product}",
            "node_labels.present: expected a list, found 'toy.io/product'",
        ),
        (
            "node_labels: {equal: {toy.io/ok: true}}",
            "node_labels.equal.toy.io/ok: expected a label's value in quotes, found true (put it in quotes)",
        ),
        (
            "resource: {api_version: v1, kind: service, name: x}",
            "resource.kind: expected a kind, found 'service'",
        ),
        (
            "resource: {api_version: v1, kind: Service, name: x, condition: {type: Ready, status: true}}",
            "resource.condition.status: expected one of True, False, Unknown, found true",
        ),
        (
            "resource: {api_version: v1, kind: Service, name: x, field: {path: status.phase}}",
            "resource.field.equals: expected a value, found nothing",
        ),
        (
            "metrics: {port: 94000, series: [up]}",
            "metrics.port: expected a whole number from 1 to 65535, found the number 94000",
        ),
        (
            "metrics: {port: 9400, series: []}",
            "metrics.series: expected a list of at least 1, found an empty list",
        ),
        (
            "metrics: {port: 9400, series: [up], enabled: driver_enabledd}",
            (
                "metrics.enabled: expected an option of type bool, found driver_enabledd, did you mean driver_enabled?"
            ),
        ),
        (
            "rollout: {enabled: version}",
            "rollout.enabled: expected an option of type bool, found version, which is of type str",
        ),
    ],
)
def test_a_mistake_in_a_proof(files: dict[str, str], proof: str, said: str) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace(
        "      - rollout: {}\n", f"      - {proof}\n", 1
    )

    assert problems_of(files).startswith(f"states.plugin.validate[0].{said}")


@pytest.mark.parametrize(
    "proof",
    [
        "rollout:",
        "workload: {pod: validation/check.yaml.j2, resource: null, sampling: 3}",
        "workload: {pod: validation/check.yaml.j2, resource: '{{ options.version }}', sampling: per_group}",
        "allocatable: {resource: 'toy.io/part-*', equals: 4}",
        "allocatable: {resource: '{{ options.version }}'}",
        "logs: {match: '^ready', container: main, tail: 5}",
        "node_labels: {present: [toy.io/product], equal: {toy.io/ok: 'yes'}}",
        "resource: {api_version: apps/v1, kind: Deployment, name: x, namespace: y, condition: {type: Available}}",
        "metrics: {port: 9400, path: /metrics, series: [up, a:b]}",
        "rollout: {enabled: driver_enabled}",
    ],
)
def test_good_proofs(files: dict[str, str], proof: str) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace(
        "      - rollout: {}\n", f"      - {proof}\n", 1
    )

    assert load(files, "toy").states["plugin"].proofs.validate[0].kind == proof.partition(":")[0]


def test_all_mistakes_are_said_at_once_but_not_more_than_ten(files: dict[str, str]) -> None:
    bad = "\n".join(f"  bad{number}: {{type: text}}" for number in range(12))
    files["recipe.yml"] = files["recipe.yml"].replace("options:\n", f"options:\n{bad}\n")

    said = problems_of(files)

    assert said.count("expected one of str, int, bool, list, dict") == 10
    assert said.endswith("and 2 more")


def test_rivals(files: dict[str, str]) -> None:
    files["recipe.yml"] += (
        "rivals:\n  - {api_version: apps/v1, kind: Deployment, name: other-operator}\n"
    )
    files["recipe.yml"] += "  - {api_version: v1, kind: Pod, labels: {app: other, theirs: null}}\n"
    files["recipe.yml"] += (
        "  - {api_version: example.com/v1, kind: OtherPolicy, enabled: driver_enabled}\n"
    )

    assert load(files, "toy").devices.rivals == (
        Rival("apps/v1", "Deployment", name="other-operator"),
        Rival("v1", "Pod", labels={"app": "other", "theirs": None}),
        Rival("example.com/v1", "OtherPolicy", enabled="driver_enabled"),
    )


@pytest.mark.parametrize(
    ("rival", "said"),
    [
        (
            "{api_version: v1, kind: Pod}",
            "rivals[0]: expected name, labels or host_paths, since every cluster has objects of this kind, found none",
        ),
        ("{kind: Pod, name: a}", "rivals[0].api_version: expected a value, found nothing"),
        (
            "{api_version: v1, kind: Pod, label: {a: b}}",
            "rivals[0]: expected only known keys, found label",
        ),
        (
            "{api_version: v1, kind: Pod, name: a, enabled: nothing}",
            "rivals[0].enabled: expected an option of type bool, found nothing",
        ),
    ],
)
def test_rivals_that_cannot_be_found(files: dict[str, str], rival: str, said: str) -> None:
    files["recipe.yml"] += f"rivals:\n  - {rival}\n"

    assert said in problems_of(files)


def test_ways_to_give_devices_are_the_choices_of_an_option(files: dict[str, str]) -> None:
    files["recipe.yml"] = "allocation: mode\n" + files["recipe.yml"]
    recipe = load(files, "toy")
    assert (recipe.allocations, recipe.usual_allocation) == (("slow", "fast"), "slow")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "allocation: model\n", "allocation: expected an option, found model"),
        ("", "allocation: version\n", "allocation: expected an option with several choices"),
        ("choices: [slow, fast]", "choices: [slow, none]", "options.mode.choices: expected ways"),
        ("choices: [slow, fast]", "choices: [slow, Fast_]", "options.mode.choices: expected ways"),
        (
            "per: kernel",
            "per: [kernel, allocation]",
            "expected allocation in the recipe, by whose option devices are served",
        ),
    ],
)
def test_ways_that_cannot_be_told_apart_are_refused(
    files: dict[str, str], old: str, new: str, said: str
) -> None:
    text = files["recipe.yml"].replace(old, new, 1)
    named = "" if "allocation" in new else "allocation: mode\n"
    files["recipe.yml"] = named + text
    assert said in problems_of(files)


@pytest.mark.parametrize("text", ["", "- a\n", "a: 1\n---\nb: 2\n", "just text"])
def test_not_one_mapping(files: dict[str, str], text: str) -> None:
    files["recipe.yml"] = text

    assert "toy/recipe.yml: expected one document, a mapping, found " in problems_of(files)


@pytest.mark.parametrize(
    "text",
    [
        "selector: []",
        "states: 5",
        "options: [a]",
        "states: {a: 1}",
        "states: {a: {requires: 1, assets: [{}, 5]}}",
    ]
    + [
        "selector: {any_of: [{}]}",
        "states: {a: {validate: [1, {a: 1, b: 2}], image: {}}}",
        "options: {a: b, env: 1}",
    ],
)
def test_wrong_shapes_of_all_kinds_end_in_words(files: dict[str, str], text: str) -> None:
    files["recipe.yml"] = text

    assert "expected" in problems_of(files)


def test_a_folder_without_recipe() -> None:
    with pytest.raises(InvalidInput) as caught:
        load({"README.md": ""}, "somewhere")

    assert (
        str(caught.value)
        == "somewhere is no recipe: it holds no recipe.yml; name a recipe's folder."
    )


@pytest.mark.parametrize(
    ("compile_", "said"),
    [
        (
            "{command: make, output: out, into: /opt}",
            "base: expected one, since build.compile compiles in it, found none",
        ),
        (
            "{command: make, output: ../out, into: /opt}",
            "compile.output: expected a folder of the context, found '../out'",
        ),
        (
            "{command: make, output: out, into: opt}",
            "compile.into: expected an absolute path in the image, found 'opt'",
        ),
        ("{output: out, into: /opt}", "compile.command: expected a value, found nothing"),
        (
            '{command: "a\\nb", output: out, into: /opt}',
            "compile.command: expected a shell command on one line",
        ),
    ],
)
def test_what_is_wrong_with_a_compile_step(files: dict[str, str], compile_: str, said: str) -> None:
    build = f"{{repository: r.example/x, containerfile: recipe.yml, compile: {compile_}}}"
    old = "    per: kernel\n    image"
    assert old in files["recipe.yml"]
    files["recipe.yml"] = files["recipe.yml"].replace(
        old, f"    per: kernel\n    build: {build}\n    image", 1
    )
    assert f"states.build.build.{said}" in problems_of(files)
