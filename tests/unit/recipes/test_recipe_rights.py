# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_rights: what a recipe needs and no more; the shipped manifests are what it gives for the
shipped recipes."""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights import (
    rights_core,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights.object_rights import (
    object_rights,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights.rights_core import (
    RecipeRightsRequest,
    WantedRoles,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights.roles import (
    rules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.rights import (
    CLUSTER,
    Right,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    OWNERSHIP,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._products import PRODUCTS
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.made import (
    Made,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.product import Product
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)
from tests.unit.recipes.checks import TYPES
from tests.unit.recipes.conftest import REPO, renderer

RBAC = "rbac.authorization.k8s.io"


def rights(*recipes: str, **params: Any) -> dict[str, Any]:
    bundles = {name: read_bundle(REPO / "recipes" / name) for name in recipes}
    given = {"recipes": recipes, "bundles": bundles, **params}
    return rights_core.run(make_request(RecipeRightsRequest, given), TYPES)


@cache
def shipped() -> dict[str, Any]:
    """What manifests/rbac.yaml is made of."""
    return rights("nvidia-gpu", "simple-kmod", "intel-rmd", scope="cluster", any_options=True)


def of(
    result: dict[str, Any], kind: str, namespace: str | None = None, role: str = "runner"
) -> list[dict[str, Any]]:
    (found,) = [
        manifest
        for manifest in result["manifests"]
        if manifest["kind"] == kind
        and manifest["metadata"].get("namespace") == namespace
        and manifest["metadata"]["name"].endswith(role)
    ]
    listed: list[dict[str, Any]] = found["rules"]
    return listed


def allowed(
    found: list[dict[str, Any]], group: str, resource: str, verb: str, name: str = "any"
) -> bool:
    return any(
        group in rule["apiGroups"]
        and resource in rule["resources"]
        and verb in rule["verbs"]
        and name in rule.get("resourceNames", [name])
        for rule in found
    )


def test_the_shipped_manifests_are_its_output() -> None:
    """Made by the playbook rights for all recipes with hardware_enablement_rights_scope=cluster and
    _any_options."""
    assert (REPO / "manifests" / "rbac.yaml").read_text() == shipped()["text"]


def test_a_role_in_the_namespace_and_names_for_the_rest() -> None:
    made = rights("nvidia-gpu")
    wide, narrow = of(made, "ClusterRole"), of(made, "Role", "nvidia-gpu")
    assert allowed(narrow, "apps", "daemonsets", "create")
    assert not allowed(wide, "apps", "daemonsets", "create")
    assert allowed(wide, "node.k8s.io", "runtimeclasses", "patch", "nvidia")
    assert not allowed(wide, "node.k8s.io", "runtimeclasses", "patch", "other")
    assert allowed(wide, "hardware-enablement.io", "specialresources", "patch", "nvidia-gpu")
    assert not allowed(wide, "hardware-enablement.io", "specialresources", "patch", "other")
    assert allowed(
        of(made, "Role", "hardware-enablement"),
        "coordination.k8s.io",
        "leases",
        "patch",
        "nvidia-gpu",
    )
    assert not allowed(wide, "", "namespaces", "delete", "nvidia-gpu")


def test_who_removes_a_namespace_may_see_what_is_in_it() -> None:
    made = rights("nvidia-gpu", scope="cluster")
    runner, viewer = (of(made, "ClusterRole", role=role) for role in ("runner", "viewer"))
    assert allowed(runner, "", "namespaces", "delete")
    assert allowed(runner, "", "secrets", "list")
    assert allowed(runner, "apps", "*", "list")
    assert allowed(viewer, "apps", "*", "list")
    assert not allowed(viewer, "", "secrets", "list")
    # All kinds of one group, never those of all groups; and nothing but lists.
    assert not [rule for rule in runner if "*" in rule["apiGroups"]]
    assert {*()}.union(*(rule["verbs"] for rule in runner if "*" in rule["resources"])) == {"list"}
    # Where no run removes namespaces, nobody needs that.
    for kind, namespace in (("ClusterRole", None), ("Role", "nvidia-gpu")):
        found = of(rights("nvidia-gpu"), kind, namespace)
        assert not [rule for rule in found if "*" in rule["resources"]]
        assert not allowed(found, "", "secrets", "list")


def test_options_decide() -> None:
    assert not allowed(of(rights("nvidia-gpu"), "Role", "nvidia-gpu"), "batch", "jobs", "create")
    built = rights(
        "nvidia-gpu",
        options={"driver_build": True, "driver_build_repository": "registry.example.com/driver"},
    )
    assert allowed(of(built, "Role", "nvidia-gpu"), "batch", "jobs", "create")


def test_rights_for_any_options_are_refused_where_not_all_are_tried() -> None:
    options = {f"flag_{number}": {"type": "bool", "default": False} for number in range(40)}
    recipe = {
        "apiVersion": "hardware-enablement.io/v1",
        "name": "small",
        "namespace": "small",
        "selector": {"any_of": [{"example.com/card": None}]},
        "options": options,
        "states": {"plugin": {"role": "state", "assets": ["it.yaml.j2"]}},
    }
    uses = "".join(f"# {{{{ options.{name} }}}}\n" for name in options)
    files = {"recipe.yml": json.dumps(recipe), "it.yaml.j2": uses}
    request = RecipeRightsRequest(["small"], bundles={"small": files}, any_options=True)
    with pytest.raises(InvalidInput, match="combinations of options more than are tried"):
        rights_core.run(request, TYPES)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.recipe)
def test_the_rights_of_a_product_come_with_its_recipe(product: Product) -> None:
    made = of(rights(product.recipe, scope="cluster", any_options=True), "ClusterRole")
    for right in product.rights:
        for resource, verb in itertools.product(right.resources, right.verbs):
            name = right.names[0] if right.names else "any"
            assert allowed(made, right.group, resource, verb, name), (resource, verb)
    assert not allowed(of(rights("simple-kmod"), "ClusterRole"), "", "nodes/status", "patch")


def test_the_viewer_writes_nothing_and_reads_no_secret() -> None:
    for made, where in (
        (shipped(), [None]),
        (rights("nvidia-gpu"), [None, "nvidia-gpu", "hardware-enablement"]),
    ):
        for namespace in where:
            found = of(made, "Role" if namespace else "ClusterRole", namespace, role="viewer")
            assert {verb for rule in found for verb in rule["verbs"]} <= {"get", "list", "watch"}
            assert not any("secrets" in rule["resources"] for rule in found)


def test_another_namespace() -> None:
    made = rights("nvidia-gpu", namespace="gpus")
    assert allowed(of(made, "Role", "gpus"), "apps", "daemonsets", "create")
    spaces = [
        manifest["metadata"] for manifest in made["manifests"] if manifest["kind"] == "Namespace"
    ]
    # As the recipe wants it, since a run uses no other one that is there, and without what would
    # make it ours.
    labels = {
        f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")
    }
    labels["security.openshift.io/scc.podSecurityLabelSync"] = "false"
    labels["openshift.io/cluster-monitoring"] = "true"
    assert spaces == [{"name": "gpus", "labels": labels}, {"name": "hardware-enablement"}]


@pytest.mark.parametrize("platform", ["kubernetes", "openshift"])
@pytest.mark.parametrize(
    ("recipe", "any_options", "options"),
    [("nvidia-gpu", False, {}), ("numa", False, {}), ("intel-rmd", True, {"rmd_image": "rmd:1"})],
)
def test_the_namespace_says_all_that_a_run_would_say(
    recipe: str, any_options: bool, options: dict[str, Any], platform: str
) -> None:
    """No cluster is asked, so what OpenShift alone needs is said for all: a run uses no namespace
    that says less."""
    rendering = renderer(REPO / "recipes" / recipe)(platform=platform, **options)
    labels = rendering.one("Namespace", rendering.recipe.namespace)["metadata"]["labels"]
    made = {name: value for name, value in labels.items() if name not in OWNERSHIP}
    namespace = rights(recipe, options=options, any_options=any_options)["manifests"][0]
    said = namespace["metadata"]["labels"]
    assert made.items() <= said.items()
    # Without what would make it ours.
    assert not OWNERSHIP & said.keys()
    if platform == "openshift":
        assert made == said


def test_an_instance_has_rights_of_its_own() -> None:
    made = rights("nvidia-gpu", instance="gpu-b")
    wide = of(made, "ClusterRole")
    assert allowed(of(made, "Role", "gpu-b"), "apps", "daemonsets", "create")
    assert allowed(wide, "hardware-enablement.io", "specialresources", "patch", "gpu-b")
    assert not allowed(wide, "hardware-enablement.io", "specialresources", "patch", "nvidia-gpu")
    assert allowed(wide, "node.k8s.io", "runtimeclasses", "patch", "nvidia-gpu-b")


def test_subjects_are_bound_in_every_namespace() -> None:
    account = {"kind": "ServiceAccount", "name": "runner", "namespace": "automation"}
    made = rights(
        "simple-kmod", subjects=[account, {"kind": "Group", "name": "admins", "namespace": None}]
    )
    found = [each for each in made["manifests"] if each["kind"].endswith("Binding")]
    places = [(each["kind"], each["metadata"].get("namespace")) for each in found]
    assert places == [
        ("ClusterRoleBinding", None),
        ("RoleBinding", "simple-kmod"),
        ("RoleBinding", "hardware-enablement"),
    ]
    assert {each["roleRef"]["name"] for each in found} == {"hardware-enablement-simple-kmod-runner"}
    assert found[0]["subjects"] == [account, {"apiGroup": RBAC, "kind": "Group", "name": "admins"}]


def test_the_text_is_the_manifests() -> None:
    made = rights("simple-kmod")
    assert yaml.safe_load(made["text"])["items"] == made["manifests"]


def role(name: str, **more: Any) -> Made:
    manifest = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": name}, **more}
    return Made(manifest, per_group=False)


def test_nobody_grants_what_they_do_not_have() -> None:
    granted = {
        "apiGroups": [""],
        "resources": ["endpoints"],
        "verbs": ["list"],
        "resourceNames": ["one"],
    }
    own = role("own", kind="ClusterRole", rules=[granted])
    bound = [
        role(f"b-{name}", kind="ClusterRoleBinding", roleRef={"kind": "ClusterRole", "name": name})
        for name in ("own", "view")
    ]
    found = rules(object_rights([own, *bound], TYPES, "ns"))
    assert allowed(found, "", "endpoints", "list", "one")
    assert not allowed(found, "", "endpoints", "list", "two")
    assert allowed(found, RBAC, "clusterroles", "bind", "view")
    assert not allowed(found, RBAC, "clusterroles", "bind", "own")
    assert not any("escalate" in rule["verbs"] for rule in found)


def test_one_object_for_each_kernel_has_no_name_beforehand() -> None:
    scc = {
        "apiVersion": "security.openshift.io/v1",
        "kind": "SecurityContextConstraints",
        "metadata": {"name": "x-abc"},
    }
    found = rules(object_rights([Made(scc, per_group=True)], TYPES, "ns"))
    assert [rule for rule in found if "resourceNames" in rule] == []


def test_rules_are_as_short_as_they_can_be() -> None:
    found = rules(
        [
            Right("", ("pods",), ("list", "get"), CLUSTER),
            Right("", ("pods", "nodes"), ("get",), CLUSTER),
            Right("", ("nodes",), ("get", "patch"), CLUSTER, ("one",)),
            Right("", ("nodes",), ("patch",), CLUSTER, ("two",)),
            Right("", ("services",), ("get", "list"), CLUSTER),
        ]
    )
    assert found == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
        {
            "apiGroups": [""],
            "resources": ["nodes"],
            "resourceNames": ["one", "two"],
            "verbs": ["patch"],
        },
        {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list"]},
    ]


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one recipe at a time"):
        rights("nvidia-gpu", "simple-kmod")
    with pytest.raises(InvalidInput, match="belong to one recipe"):
        rights("nvidia-gpu", "simple-kmod", scope="cluster", options={"build": True})
    bundles = {"mistakes": read_bundle(REPO / "tests" / "recipes" / "mistakes")}
    with pytest.raises(InvalidInput, match="recipe_check lists"):
        rights_core.run(
            RecipeRightsRequest(["mistakes"], bundles=bundles, wanted=WantedRoles("cluster")), TYPES
        )


def test_who_removes_a_definition_may_see_whose_objects_go_with_it() -> None:
    names = {"kind": "Card", "plural": "cards"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "cards.example.com"},
        "spec": {"group": "example.com", "names": names, "versions": [{"name": "v1"}]},
    }
    found = list(object_rights([Made(crd, per_group=False)], TYPES, "ns"))
    (right,) = (right for right in found if right.group == "example.com")
    assert right == Right("example.com", ("cards",), ("list",), CLUSTER, read_only=("list",))
