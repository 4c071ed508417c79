# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has made what is in a namespace that goes: by labels, by owners, by what every namespace has."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    MANAGED_BY_LABEL,
    PART_OF_LABEL,
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.foreign_objects import (
    ForeignObjects,
    RemovalScope,
    foreign_in_namespaces,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

SCOPE = RemovalScope("toy", "applyset-toy")
OURS = {"labels": {PART_OF_LABEL: "applyset-toy"}}
PLURALS = {
    "ConfigMap": "configmaps",
    "DaemonSet": "daemonsets",
    "Event": "events",
    "Pod": "pods",
    "Secret": "secrets",
    "ServiceAccount": "serviceaccounts",
}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A cluster with an empty namespace "toy"."""
    return ScriptedCluster(fake)


def put(cluster: ScriptedCluster, kind: str, name: str, **metadata: Any) -> None:
    """An object in the namespace."""
    api_version = "apps/v1" if kind == "DaemonSet" else "v1"
    metadata = {"name": name, "namespace": "toy", "uid": f"{kind}-{name}", **metadata}
    obj = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    cluster.put(PLURALS[kind], obj)


def owned_by(kind: str, name: str, uid: str = "", api_version: str = "v1") -> dict[str, Any]:
    """The metadata of what an object owns."""
    uid = uid or f"{kind}-{name}"
    reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid}
    return {"ownerReferences": [reference]}


def foreign(fake: FakeServer, scope: RemovalScope = SCOPE) -> list[str]:
    """What others have made in the namespace."""
    return [str(key) for key in foreign_in_namespaces(fake.client(), ["toy"], scope)["toy"].objects]


@pytest.mark.parametrize(
    ("kind", "name", "metadata", "is_foreign"),
    [
        ("Secret", "pull", {}, True),
        ("Secret", "pull", OURS, False),
        ("Secret", "pull", {"labels": {PART_OF_LABEL: "applyset-other"}}, True),
        ("Secret", "pull", {"labels": {RECIPE_LABEL: "toy"}}, False),
        ("Secret", "pull", {"labels": {RECIPE_LABEL: "other"}}, True),
        ("Secret", "pull", {"labels": {MANAGED_BY_LABEL: "hardware-enablement.io"}}, False),
        ("Secret", "pull", {"labels": {MANAGED_BY_LABEL: "Helm"}}, True),
        ("Secret", "pull", {"deletionTimestamp": "2026-01-01T00:00:00Z"}, False),
        ("ServiceAccount", "default", {}, False),
        ("ServiceAccount", "mine", {}, True),
        ("ConfigMap", "kube-root-ca.crt", {}, False),
        ("ConfigMap", "openshift-service-ca.crt", {}, False),
        ("Secret", "kube-root-ca.crt", {}, True),
        ("Event", "started", {}, False),
        ("ConfigMap", "copy", {"labels": {"olm.copiedFrom": "openshift-nfd"}}, False),
    ],
)
def test_whose_an_object_is(
    fake: FakeServer,
    cluster: ScriptedCluster,
    kind: str,
    name: str,
    metadata: dict[str, Any],
    is_foreign: bool,
) -> None:
    put(cluster, kind, name, **metadata)
    assert foreign(fake) == ([f"{kind} toy/{name}"] if is_foreign else [])


@pytest.mark.parametrize("chain", [["DaemonSet"], ["DaemonSet", "Secret", "ConfigMap"]])
@pytest.mark.parametrize("ours", [True, False])
def test_owners_are_followed(
    fake: FakeServer, cluster: ScriptedCluster, chain: list[str], ours: bool
) -> None:
    put(cluster, chain[0], "root", **(OURS if ours else {}))
    for owner, kind in zip(chain, [*chain[1:], "Pod"], strict=True):
        api_version = "apps/v1" if owner == "DaemonSet" else "v1"
        put(cluster, kind, "root", **owned_by(owner, "root", api_version=api_version))
    named = sorted(f"{kind} toy/root" for kind in [*chain, "Pod"])
    assert sorted(foreign(fake)) == ([] if ours else named)


def test_an_owner_elsewhere_is_read(fake: FakeServer, cluster: ScriptedCluster) -> None:
    # Only what lives in no namespace may own what lives in one of another name.
    put(cluster, "Secret", "made", **owned_by("Node", "n1", "uid-n1"))
    cluster.put("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", **OURS}})
    assert foreign(fake) == []
    cluster.objects["nodes"]["n1"]["metadata"]["labels"] = {}
    assert foreign(fake) == ["Secret toy/made"]


@pytest.mark.parametrize("uid", ["of-one-before", "Secret-gone"])
def test_what_has_lost_its_owner_goes_anyway(
    fake: FakeServer, cluster: ScriptedCluster, uid: str
) -> None:
    name = "gone" if uid == "Secret-gone" else "there"
    put(cluster, "Secret", "there", **OURS)
    put(cluster, "ConfigMap", "made", **owned_by("Secret", name, uid))
    assert foreign(fake) == []


def test_an_owner_of_whom_nobody_knows_is_somebody_else(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    put(cluster, "Secret", "a", **owned_by("Gone", "x", "u", "example.com/v1"))
    put(cluster, "Secret", "b", **owned_by("Node", "n1", "uid-n1"))
    cluster.refuse = _forbid_nodes
    assert foreign(fake) == ["Secret toy/a", "Secret toy/b"]


def _forbid_nodes(asked: Asked) -> Answer | None:
    """Nobody may read nodes."""
    return refusal(403, "Forbidden") if "/nodes" in asked.path else None


def test_owners_of_each_other_are_somebody_elses(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    put(cluster, "Secret", "a", **owned_by("Secret", "b"))
    put(cluster, "Secret", "b", **owned_by("Secret", "a"))
    assert foreign(fake) == ["Secret toy/a", "Secret toy/b"]


def test_an_owner_of_ours_beside_another_one_is_not_enough(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    put(cluster, "Secret", "ours", **OURS)
    put(cluster, "Secret", "theirs")
    references = [owned_by("Secret", name)["ownerReferences"][0] for name in ("ours", "theirs")]
    put(cluster, "ConfigMap", "made", ownerReferences=references)
    assert foreign(fake) == ["ConfigMap toy/made", "Secret toy/theirs"]


@pytest.mark.parametrize("account", ["default", "ours", "gone", "theirs"])
def test_the_token_of_an_account_is_whose_the_account_is(
    fake: FakeServer, cluster: ScriptedCluster, account: str
) -> None:
    put(cluster, "ServiceAccount", "default")
    put(cluster, "ServiceAccount", "ours", **OURS)
    put(cluster, "ServiceAccount", "theirs")
    put(cluster, "Secret", "token", annotations={"kubernetes.io/service-account.name": account})
    assert ("Secret toy/token" in foreign(fake)) is (account == "theirs")


def test_what_goes_before_and_what_is_given_back_is_as_the_removal_says(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    put(cluster, "Secret", "going")
    put(cluster, "Secret", "back", **OURS)
    going, back = (ObjectKey("v1", "Secret", "toy", name) for name in ("going", "back"))
    scope = RemovalScope("toy", "applyset-toy", frozenset({going}), frozenset({back}))
    assert foreign(fake, scope) == ["Secret toy/back"]


def test_no_namespace_costs_no_request(fake: FakeServer) -> None:
    assert foreign_in_namespaces(fake.client(), [], SCOPE) == {}
    assert fake.asked == []


def test_many_objects_are_not_all_named() -> None:
    found = ForeignObjects([ObjectKey("v1", "Secret", "toy", f"s{number}") for number in range(7)])
    assert found.reason.endswith("Secret toy/s4 and 2 more")
    assert not ForeignObjects()


def test_what_is_not_known_is_named_with_what_ends_that() -> None:
    found = ForeignObjects(forbidden=["secrets"], silent=["metrics.k8s.io/v1beta1"])
    assert found.reason == (
        "of which it is not known what would go with it: this user may not list secrets; "
        "of which it is not known what would go with it: the API of metrics.k8s.io/v1beta1 does not answer"
    )
    assert found.todo == (
        "have these rights granted (docs/admin/rights.md), or see yourself, repair or remove that API"
    )
