# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Injection: ownership, namespace, standard options, and the nodes that pods are kept to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taints import Taint
from ansible_collections.hardware.enablement.plugins.module_utils._recipes import affinity
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.inject import (
    Context,
    Ownership,
    Placement,
    inject,
    tolerations,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
    builtin_scope,
)

MakeFacts = Callable[..., RenderFacts]

HERE = {
    "key": "feature.node.kubernetes.io/pci-0302_10de.present",
    "operator": "In",
    "values": ["true"],
}
TOY = {"key": "toy.io/here", "operator": "Exists"}
GATE = {"key": "hardware-enablement.io/toy-gpu.driver", "operator": "Exists"}
ENABLED = {"key": "hardware-enablement.io/toy-gpu.node-kernel", "operator": "Exists"}
LOST = [
    {
        "key": "feature.node.kubernetes.io/pci-0302_10de.present",
        "operator": "NotIn",
        "values": ["true"],
    },
    {"key": "toy.io/here", "operator": "DoesNotExist"},
]


def context(*, taints: Sequence[Taint] = (), **changes: Any) -> Context:
    """What injects into an object of state "one"; changes are of any part of it."""
    defaults = {name: option.default for name, option in STANDARD_OPTIONS.items()}
    options = {**defaults, **changes.pop("options", {})}
    owner = Ownership(recipe="toy-gpu", state="one", group="", applyset_id="applyset-toy")
    placement = Placement(label_sets=({"toy.io/here": None},), chosen={}, gates=(), group_terms=())
    resources = changes.pop("resources", ("toy.io/gpu", "toy.io/part-*"))

    def changed(part: Any) -> Any:
        own = {each.name: changes.pop(each.name) for each in fields(part) if each.name in changes}
        return replace(part, **own)

    base = Context(
        owner=changed(owner),
        placement=changed(placement),
        namespace="toy",
        namespaced=builtin_scope,
        options=options,
        tolerations=tolerations("toy-gpu", resources, taints, options),
    )
    return replace(base, **changes)


def workload(kind: str, spec: dict[str, Any] | None = None) -> dict[str, Any]:
    """A workload of one container."""
    pod: dict[str, Any] = spec if spec is not None else {"containers": [{"name": "main"}]}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": pod}
    group = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    body: dict[str, Any] = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    if kind == "CronJob":
        body = {"jobTemplate": {"spec": {"template": template}}}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": pod}
    return {"apiVersion": group, "kind": kind, "metadata": {"name": "x"}, "spec": body}


def pod_spec(manifest: dict[str, Any]) -> dict[str, Any]:
    """The pod spec of a workload."""
    spec: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return spec


def terms_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The required node selector terms of a pod."""
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms: list[dict[str, Any]] = required["nodeSelectorTerms"]
    return terms


def test_ownership_and_namespace() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "labels": {"mine": "1"}},
    }

    assert inject(manifest, context(group="g1"))["metadata"] == {
        "name": "a",
        "namespace": "toy",
        "labels": {
            "mine": "1",
            "app.kubernetes.io/managed-by": "hardware-enablement",
            "applyset.kubernetes.io/part-of": "applyset-toy",
            "hardware-enablement.io/kernel-group": "g1",
            "hardware-enablement.io/recipe": "toy-gpu",
            "hardware-enablement.io/state": "one",
        },
    }
    assert manifest["metadata"] == {"name": "a", "labels": {"mine": "1"}}


@pytest.mark.parametrize(
    ("api_version", "kind", "given", "namespace"),
    [
        ("v1", "Service", None, "toy"),
        ("v1", "Service", "other", "other"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", None, None),
        ("example.com/v1", "Unknown", None, None),
        ("example.com/v1", "Unknown", "other", "other"),
    ],
)
def test_namespaces(api_version: str, kind: str, given: str | None, namespace: str | None) -> None:
    metadata = {"name": "a", "namespace": given} if given else {"name": "a"}

    found = inject({"apiVersion": api_version, "kind": kind, "metadata": metadata}, context())

    assert found["metadata"].get("namespace") == namespace


def test_no_group_and_no_applyset_mean_no_label() -> None:
    labels = inject(workload("Deployment"), context(applyset_id=""))["metadata"]["labels"]

    assert labels.keys() == {
        "app.kubernetes.io/managed-by",
        "hardware-enablement.io/recipe",
        "hardware-enablement.io/state",
    }


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment"])
def test_only_a_daemonset_keeps_to_the_hardware_where_the_state_is_placed_anywhere(
    kind: str,
) -> None:
    spec = pod_spec(inject(workload(kind), context(anywhere=True)))
    assert ("affinity" in spec) == ("tolerations" in spec) == (kind == "DaemonSet")


@pytest.mark.parametrize(
    "kind", ["DaemonSet", "Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Pod"]
)
def test_pods_of_all_kinds(kind: str) -> None:
    options = {
        "image_pull_secrets": ["one"],
        "env": {"one": {"A": 1}},
        "proxy": {"https": "http://p:1"},
    }

    found = inject(workload(kind), context(options=options, group="g1"))

    template = (
        found["spec"]["jobTemplate"]["spec"]["template"]
        if kind == "CronJob"
        else found["spec"].get("template")
    )
    labels = (template or found)["metadata"]["labels"]
    assert labels["hardware-enablement.io/state"] == "one"
    assert labels["hardware-enablement.io/recipe"] == "toy-gpu"
    assert labels["hardware-enablement.io/kernel-group"] == "g1"
    spec = (template or found)["spec"]
    assert spec["imagePullSecrets"] == [{"name": "one"}]
    assert spec["containers"][0]["env"] == [
        {"name": "HTTPS_PROXY", "value": "http://p:1"},
        {"name": "https_proxy", "value": "http://p:1"},
        {"name": "A", "value": "1"},
    ]
    assert "affinity" in spec
    assert ("priorityClassName" in spec) == (kind == "DaemonSet")
    if template and kind != "CronJob":
        assert found["spec"]["selector"] == {"matchLabels": {"app": "x"}}
        assert labels["app"] == "x"
        assert "applyset.kubernetes.io/part-of" not in labels


def test_a_kind_of_the_same_name_in_another_group_is_left_alone() -> None:
    manifest = {
        "apiVersion": "other.io/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "x"},
        "spec": {"a": 1},
    }

    assert inject(manifest, context())["spec"] == {"a": 1}


def test_priority_pull_secrets_and_tolerations_of_the_template_stay() -> None:
    own = {
        "containers": [],
        "priorityClassName": "mine",
        "imagePullSecrets": [{"name": "a"}],
        "tolerations": [{"key": "toy.io/gpu", "operator": "Exists"}],
    }
    options = {"image_pull_secrets": ["a", "b"], "tolerations": [{"key": "t"}]}
    # The first is tolerated already, as all taints named like the resource are.
    taints = (Taint("toy.io/gpu", "x", "NoExecute"), Taint("a/b", "", "NoSchedule"))

    partitioned = context(options=options, taints=taints)
    spec = pod_spec(inject(workload("DaemonSet", own), partitioned))

    assert spec["priorityClassName"] == "mine"
    assert spec["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]
    assert spec["tolerations"] == [
        *own["tolerations"],
        {"key": f"hardware-enablement.io/{context().owner.recipe}", "operator": "Exists"},
        {"key": "a/b", "operator": "Equal", "value": "", "effect": "NoSchedule"},
        {"key": "t"},
    ]
    plain = pod_spec(inject(workload("DaemonSet"), context()))
    assert plain["priorityClassName"] == "system-node-critical"
    assert "priorityClassName" not in pod_spec(
        inject(workload("DaemonSet"), context(options={"priority_class": ""}))
    )


def test_proxy_and_environment(recipe: Recipe, facts_for: MakeFacts) -> None:
    given = {
        "proxy": {"http": "http://p:1", "no": ".svc"},
        "env": {"plugin": {"MODE": "mine", "NEW": True}},
    }

    (item,) = render_state(recipe, "plugin", facts_for(recipe, given)).objects
    spec = pod_spec(item.manifest)
    first, second = spec["containers"]

    def env(container: dict[str, Any]) -> dict[str, str]:
        return {entry["name"]: entry["value"] for entry in container["env"]}

    proxy = {
        "HTTP_PROXY": "http://p:1",
        "http_proxy": "http://p:1",
        "NO_PROXY": ".svc",
        "no_proxy": ".svc",
    }
    assert env(spec["initContainers"][0]) == proxy
    assert env(first) == {**proxy, "NO_PROXY": "kept", "MODE": "mine", "NEW": "true"}
    assert env(second) == {**proxy, "MODE": "mine", "NEW": "true"}
    assert len(first["env"]) == len(env(first))


def test_resources_are_those_of_the_first_container(recipe: Recipe, facts_for: MakeFacts) -> None:
    given = {"resources": {"plugin": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}}

    (item,) = render_state(recipe, "plugin", facts_for(recipe, given)).objects
    first, second = pod_spec(item.manifest)["containers"]

    assert first["resources"] == {
        "requests": {"cpu": "1", "memory": "16Mi"},
        "limits": {"memory": "1Gi"},
    }
    assert "resources" not in second


class TestAffinity:
    """Terms are ORed, the expressions in each are ANDed."""

    def test_hardware_groups_and_gates(self, recipe: Recipe, facts_for: MakeFacts) -> None:
        facts = facts_for(recipe)

        plugin = render_state(recipe, "plugin", facts).objects[0].manifest
        driver = render_state(recipe, "driver", facts).objects[1].manifest

        kernel = {
            "key": "feature.node.kubernetes.io/kernel-version.full",
            "operator": "In",
            "values": ["5.15.0-1_fips"],
        }
        assert terms_of(pod_spec(plugin)) == [
            {"matchExpressions": [HERE, GATE]},
            {"matchExpressions": [TOY, GATE]},
            {"matchExpressions": [ENABLED, *LOST, GATE]},
        ]
        assert terms_of(pod_spec(driver)) == [
            {"matchExpressions": [HERE, kernel]},
            {"matchExpressions": [TOY, kernel]},
        ]

    def test_node_selector(self, recipe: Recipe, facts_for: MakeFacts) -> None:
        facts = facts_for(recipe, {"node_selector": {"pool": "a"}})

        plugin = render_state(recipe, "plugin", facts).objects[0].manifest

        pool = {"key": "pool", "operator": "In", "values": ["a"]}
        assert terms_of(pod_spec(plugin)) == [
            {"matchExpressions": [HERE, pool, GATE]},
            {"matchExpressions": [pool, TOY, GATE]},
            {"matchExpressions": [pool, ENABLED, *LOST, GATE]},
        ]

    def test_on_a_node_that_lost_all_labels_of_the_hardware_only_daemonsets_stay(self) -> None:
        ours = {"matchExpressions": [ENABLED]}
        given = context(
            label_sets=({"a": "1", "z": "x"}, {"b": None, "z": "x"}), chosen={"z": "x"}, held=[ours]
        )

        stays = terms_of(pod_spec(inject(workload("DaemonSet", {"containers": []}), given)))
        goes = terms_of(pod_spec(inject(workload("Deployment", {"containers": []}), given)))

        lost = [
            {"key": "a", "operator": "NotIn", "values": ["1"]},
            {"key": "b", "operator": "DoesNotExist"},
        ]
        zone = {"key": "z", "operator": "In", "values": ["x"]}
        assert stays == [*goes, {"matchExpressions": [zone, ENABLED, *lost]}]

    def test_nodes_by_name_are_not_asked_for_hardware_again(self) -> None:
        name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}

        assert affinity.hardware_terms(
            [{"a": "1"}, {"b": None}], [{"matchFields": [name]}], ["gate"]
        ) == [{"matchExpressions": [{"key": "gate", "operator": "Exists"}], "matchFields": [name]}]

    def test_the_templates_own_affinity_holds_too(self) -> None:
        zones = [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
            for zone in ("east", "west")
        ]
        own = {
            "podAntiAffinity": {"kept": True},
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": ["kept"],
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": zones},
            },
        }
        manifest = workload("DaemonSet", {"containers": [], "affinity": own})

        spec = pod_spec(inject(manifest, context(label_sets=({"a": "1"}, {"b": None}))))

        a = {"key": "a", "operator": "In", "values": ["1"]}
        b = {"key": "b", "operator": "Exists"}
        assert terms_of(spec) == [
            {"matchExpressions": [*zone["matchExpressions"], other]}
            for zone in zones
            for other in (a, b)
        ]
        assert spec["affinity"]["podAntiAffinity"] == {"kept": True}
        assert spec["affinity"]["nodeAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"
        ] == ["kept"]


def test_the_users_namespace_is_used_everywhere(
    files: dict[str, str], facts_for: MakeFacts
) -> None:
    recipe = load(files, "toy")

    state = render_state(recipe, "driver", facts_for(recipe, namespace="elsewhere"))

    assert {item.manifest["metadata"]["namespace"] for item in state.objects} == {"elsewhere"}
