# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering for groups of nodes: what differs between them, what need not, and what cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
    render_pod,
    render_state,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    DAEMONSET,
    FILES,
    Bench,
    Obj,
    changed,
    node,
)


def test_two_versions_by_pools_are_two_daemonsets_of_one_kernel() -> None:
    images = Bench(pool={"version": "2"}).images("driver")

    outside, inside = sorted(images, key=lambda name: "new" in name)
    assert outside == f"driver-{Bench().of('plain').narrowed(('kernel',)).id}"
    assert inside.startswith("driver-new-6-8-0-")
    assert (images[outside], images[inside]) == ("r.io/driver:1-6.8.0", "r.io/driver:2-6.8.0")


def test_two_runtimes_are_two_daemonsets() -> None:
    assert set(Bench().images("hook").values()) == {"hook:containerd-2", "hook:cri-o-1"}


def test_where_nothing_is_special_names_are_as_without_groups() -> None:
    assert list(Bench().made("plugin", "ConfigMap")) == ["plugin"]
    assert list(Bench(pool={}).made("plugin", "ConfigMap")) == [
        "plugin",
        f"plugin-{Bench(pool={}).of('pooled').narrowed(('pool',)).id}",
    ]


def test_a_preinstalled_driver_is_proven_beside_nodes_that_get_one() -> None:
    bench = Bench()
    state = render_state(bench.recipe, "driver", bench.facts)
    host = bench.of("host").id

    kinds = {
        group: [state.proofs[index].kind for index in counted]
        for group, counted in state.proofs_on.items()
    }
    assert kinds.pop(host) == ["workload"]
    assert set(map(tuple, kinds.values())) == {("rollout",)}
    assert state.enabled
    assert state.enabled_on == {group.id for group in bench.groups} - {host}
    assert len({state.hashes[group.id] for group in bench.groups}) == 2
    assert not any("preinstalled" in name for name in bench.made("driver"))


def test_a_daemonset_that_is_made_once_keeps_off_nodes_where_the_state_is_off() -> None:
    files = {**FILES, "driver/helper.yaml.j2": DAEMONSET.format(name="helper", image="i")}
    helper = Bench(files).made("driver")["helper"]

    affinity = helper["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert all(
        {"key": "driver", "operator": "NotIn", "values": ["host"]} in term["matchExpressions"]
        for term in terms
    )


def test_switched_off_everywhere_by_its_option() -> None:
    state = render_state(Bench().recipe, "driver", Bench(given={"deploy": False}).facts)

    assert (state.enabled, state.objects, state.enabled_on) == (False, (), frozenset())


def test_without_nodes_the_options_say_whether_a_state_is_on() -> None:
    assert render_state(Bench().recipe, "driver", Bench(nodes=()).facts).enabled
    assert not render_state(
        Bench().recipe, "driver", Bench(nodes=(), given={"deploy": False}).facts
    ).enabled


def test_proofs_and_validation_pods_go_by_the_nodes_pool_and_facts() -> None:
    bench = Bench(pool={"mode": "fast", "version": "2", "deploy": False})
    plugin = render_state(bench.recipe, "plugin", bench.facts)
    (allocatable,) = plugin.proofs
    for name, resource in (("pooled", "toy.io/fast"), ("plain", "toy.io/slow")):
        assert allocatable.spec_for(bench.of(name).id, name)["resource"] == resource
    assert plugin.hashes[bench.of("pooled").id] != plugin.hashes[bench.of("plain").id]

    driver = render_state(bench.recipe, "driver", bench.facts)
    (check,) = [proof for proof in driver.proofs if proof.kind == "workload"]
    pod = render_pod(bench.recipe, "driver", check, bench.facts, bench.of("pooled"), "pooled")
    own = bench.of("pooled").narrowed(("kernel", "driver")).id
    assert pod["spec"]["containers"][0]["args"] == ["2", "containerd", own]


@pytest.mark.parametrize(
    ("files", "pool", "said"),
    [
        (
            changed("report.yaml.j2", "name: report", "name: report-{{ options.mode }}"),
            {"mode": "fast"},
            "option mode cannot be another one in pool new (toys/toy/report.yaml.j2): state report makes one object of",
        ),
        (
            changed("recipe.yml", "role: state\n", "role: state\n    enabled: deploy\n"),
            {"deploy": False},
            "option deploy cannot be another one in pool new (toys/toy/recipe.yml, states.report.enabled)",
        ),
        (
            {**FILES, "driver/helper.yaml.j2": DAEMONSET.format(name="helper", image="i")},
            {"tolerations": [{"operator": "Exists"}]},
            "option tolerations cannot be another one in pool new",
        ),
        (
            changed("plugin/config.yaml.j2", "{{ group.suffix }}", ""),
            {},
            "ConfigMap plugin would be the same object for every group of nodes",
        ),
        (
            changed("plugin/config.yaml.j2", "{{ group.suffix }}", ""),
            {"mode": "fast"},
            "option mode cannot be another one in pool new (toys/toy/plugin/config.yaml.j2): state plugin makes one",
        ),
        (
            changed("hook/daemonset.yaml.j2", "{{ runtime.name }}", "{{ kernel.raw }}"),
            None,
            "there is no kernel, since state hook is not made per kernel",
        ),
        (
            changed("hook/daemonset.yaml.j2", "{{ runtime.name }}", "{{ image }}"),
            None,
            "state hook cannot use the image of state build (toys/toy): that is made per kernel, and state hook per",
        ),
        (
            changed(
                "recipe.yml",
                "{{ options.deploy and not preinstalled_driver }}",
                "{{ options.mode }}",
            ),
            None,
            "(toys/toy/recipe.yml, states.driver.enabled): its template gives 'slow', and neither true nor false",
        ),
    ],
)
def test_what_cannot_follow_groups_is_refused(files: Obj, pool: Obj | None, said: str) -> None:
    assert said in Bench(files, pool=pool).refusal()


def test_an_option_that_nothing_made_once_reads_may_differ() -> None:
    bench = Bench(
        pool={
            "mode": "fast",
            "version": "2",
            "deploy": False,
            "tolerations": [{"operator": "Exists"}],
        }
    )
    check_recipe(bench.recipe, bench.facts)


@pytest.mark.parametrize("name", ["node_selector", "hardware_labels"])
def test_a_pool_does_not_say_which_nodes_there_are(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"pool new cannot have the option {name}"):
        Bench(pool={name: {}})


def test_a_wrong_option_of_a_pool_is_named_with_the_pool() -> None:
    with pytest.raises(
        InvalidInput, match=r"\(pool new\): .*found versoin, did you mean version\?"
    ):
        Bench(pool={"versoin": "2"})


def test_an_instance_has_a_name_of_its_own() -> None:
    files = changed("report.yaml.j2", "name: report", "name: {{ recipe }}-{{ instance }}")
    assert list(Bench(files).made("report", "ConfigMap")) == ["toy-toy"]
    second = Bench(files, instance="toy-b")
    assert list(second.made("report", "ConfigMap")) == ["toy-toy-b"]
    gates = str(second.made("hook"))
    assert "hardware-enablement.io/toy-b.driver" in gates
    with pytest.raises(
        InvalidInput,
        match="recipe toy cannot be enabled as 'Toy_B': the name of an instance is a DNS",
    ):
        Bench(instance="Toy_B")


FACTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: "facts-{{ group.id }}"}
data:
  build: {{ os.build | quote }}
  toolkit: {{ driver_toolkit.image | quote }}
  version: {{ cluster.openshift_version | quote }}
  proxy: {{ cluster.proxy.https | quote }}
  ca: {{ cluster.trusted_ca | quote }}
  secret: {{ cluster.pull_secret | quote }}
"""


def test_facts_of_the_cluster_and_of_rhcos() -> None:
    build = "416.94.202410211619-0"
    rhcos = node("coreos")
    system = replace(rhcos.system, os_id="rhcos", os_version="4.16", os_build=build)
    rhcos = replace(rhcos, system=system)
    cluster = {
        "platform": "openshift",
        "openshift_version": "4.16.20",
        "proxy": {"https": "http://proxy.example.org:3128"},
        "trusted_ca": "user-ca",
        "pull_secret": "openshift-config/pull-secret",
    }
    bench = Bench(
        {**FILES, "driver/facts.yaml.j2": FACTS},
        nodes=[rhcos],
        cluster=cluster,
        driver_toolkits={build: "quay.io/dtk@sha256:00"},
    )
    ((_name, found),) = bench.made("driver", "ConfigMap").items()
    assert found["data"] == {
        "build": build,
        "toolkit": "quay.io/dtk@sha256:00",
        "version": "4.16.20",
        "proxy": "http://proxy.example.org:3128",
        "ca": "user-ca",
        "secret": "openshift-config/pull-secret",
    }
    plain = Bench({**FILES, "driver/facts.yaml.j2": FACTS}, nodes=[node("plain")])
    ((_name, found),) = plain.made("driver", "ConfigMap").items()
    assert set(found["data"].values()) == {""}


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (
            {"openshift_version": "4.16\nx: y"},
            "cluster.openshift_version of the cluster is not used",
        ),
        ({"proxy": {"http": "http://x\ty"}}, "cluster.proxy.http of the cluster is not used"),
        ({"trusted_ca": "{{ x }}"}, "cluster.trusted_ca of the cluster is not used"),
    ],
)
def test_facts_of_the_cluster_are_looked_at(cluster: Obj, said: str) -> None:
    assert said in Bench(cluster=cluster).refusal()


def test_a_runtime_that_does_not_look_like_one_is_not_used() -> None:
    assert "runtime.name of group" in Bench(nodes=[node("odd", "contain\nerd://1")]).refusal()
