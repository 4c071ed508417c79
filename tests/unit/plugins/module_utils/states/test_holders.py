# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds devices: whatever is bound to a node, has not ended, and asks for one in any way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.object_shapes import (
    named_part,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    DeviceAccess,
    RecipeDevices,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.claiming_pods import (
    ClaimingPods,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.holders import (
    find_holders,
    in_words,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    Bench,
)

RECIPE = replace(Bench().recipe, devices=RecipeDevices(resources=("toy.example.com/*",)))
PREPARED = Prepared(RECIPE, Intent(resolve(RECIPE, {}), "toy"), "applyset")
DEVICE = {"resources": {"limits": {"toy.example.com/card": "1"}}}
REQUEST = {"resources": {"requests": {"toy.example.com/card": "1"}}}
CLAIM = ("resource.k8s.io/v1", "ResourceClaim")
CLAIMING = replace(
    PREPARED,
    recipe=replace(
        RECIPE,
        devices=replace(RECIPE.devices, access=DeviceAccess(dra_drivers=("toy.example.com",))),
    ),
)
NOTHING = {"resources": {"limits": {"cpu": "1", "toy.example.com/card": "0"}}}


def pod(
    name: str, node: str = "n", labels: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A pod as the API server lists it."""
    return {
        "metadata": {"namespace": "a", "name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"nodeName": node, **spec},
    }


class Pods:
    """Pods of a cluster, of which the API server has left out what has ended or is not bound."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.pods = pods
        self.fields = ""
        self.claims: tuple[dict[str, Any], ...] = ()
        self.asked = 0

    def kind(self, *names: str) -> tuple[str, ...]:
        return names

    def serves(self, *names: str) -> bool:
        return self.kind(*names) == CLAIM and bool(self.claims)

    def list(self, kind: object, fields: str = "", kept: Mapping[str, Any] | None = None) -> Any:
        if kind == CLAIM:
            self.asked += 1
            return SimpleNamespace(items=list(self.claims))
        self.fields = fields
        # A cluster has more of them than fit into memory as a whole.
        assert kept
        return SimpleNamespace(items=[named_part(pod, kept) for pod in self.pods])


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ({"containers": [DEVICE]}, True),
        ({"containers": [NOTHING, REQUEST]}, True),
        ({"containers": [{}], "initContainers": [DEVICE]}, True),
        ({"containers": [{}], "initContainers": [{**REQUEST, "restartPolicy": "Always"}]}, True),
        ({"containers": [NOTHING], "ephemeralContainers": [DEVICE]}, False),
    ],
)
def test_any_container_counts_but_ephemeral_ones(spec: dict[str, Any], holds: bool) -> None:
    client = Pods(pod("p", **spec))
    assert find_holders(cast(Client, client), PREPARED) == ({"n": ["a/p"]} if holds else {})
    assert client.fields == "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="


def test_only_the_nodes_that_are_asked_about_and_no_validator_of_ours() -> None:
    own = {"hardware-enablement.io/recipe": RECIPE.name}
    held = {"containers": [DEVICE]}
    ours = pod("own", "n", own, **held)
    ours["metadata"]["namespace"] = "toy"
    client = Pods(pod("p", "n", **held), pod("q", "m", **held), ours)
    assert find_holders(cast(Client, client), PREPARED, {"n", "o"}) == {"n": ["a/p"]}
    assert find_holders(cast(Client, client), PREPARED, {"m"}) == {"m": ["a/q"]}
    assert client.fields.endswith("spec.nodeName=m")
    assert find_holders(cast(Client, None), PREPARED, set()) == {}


def test_a_pod_of_another_namespace_that_only_has_the_label_holds_its_device() -> None:
    labelled = {"hardware-enablement.io/recipe": RECIPE.name}
    client = Pods(pod("p", "n", labelled, containers=[DEVICE]))
    assert find_holders(cast(Client, client), PREPARED) == {"n": ["a/p"]}


def test_in_words() -> None:
    assert in_words(["b", "a"]) == "pods a, b"
    assert in_words(["a"]) == "pod a"
    assert in_words("abcde") == "pods a, b, c and 2 more"


def claim(driver: str, *pods: str) -> dict[str, Any]:
    """A ResourceClaim with a device of a driver, reserved for these pods; one that is not allocated
    has neither."""
    results = {"allocation": {"devices": {"results": [{"driver": driver}]}}} if driver else {}
    return {"status": {**results, "reservedFor": [{"uid": f"uid-{name}"} for name in pods]}}


def test_pods_that_have_claimed_a_device_of_the_drivers_hold_it() -> None:
    claims = {"containers": [{}], "resourceClaims": [{"name": "card"}]}
    client = Pods(pod("p", **claims), pod("q", **claims), pod("r", containers=[{}]))
    client.claims = (claim("toy.example.com", "p"), claim("other.example.com", "q"), claim("", "r"))
    assert find_holders(cast(Client, client), CLAIMING) == {"n": ["a/p"]}
    assert find_holders(cast(Client, client), PREPARED) == {}
    assert client.asked == 1


def test_claims_are_read_again_where_a_pod_with_claims_is_new() -> None:
    old, new = (pod(name, resourceClaims=[{"name": "card"}]) for name in ("p", "q"))
    client = Pods()
    client.claims = (claim("toy.example.com", "p", "q"),)
    claiming = ClaimingPods(cast(Client, client), ["toy.example.com"])
    assert claiming.among([pod("r")]) == frozenset()
    assert claiming.among([old]) >= {"uid-p"}
    claiming.among([old])
    assert client.asked == 1
    claiming.among([old, new])
    assert client.asked == 2


def test_a_pod_whose_resource_is_of_a_device_class_has_a_claim_by_its_status() -> None:
    told = {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "p-extended"}}}
    client = Pods({**pod("p", containers=[{}]), **told})
    client.claims = (claim("toy.example.com", "p"),)
    assert find_holders(cast(Client, client), CLAIMING) == {"n": ["a/p"]}


def test_where_no_claims_are_served_nobody_has_any() -> None:
    client = Pods(pod("p", resourceClaims=[{"name": "card"}]))
    assert find_holders(cast(Client, client), CLAIMING) == {}
    assert client.asked == 0
