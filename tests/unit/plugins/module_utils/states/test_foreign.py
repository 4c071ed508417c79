# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which device plugins of others serve what ours do, and which only stand beside them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.applyset import (
    applyset_id,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
    RecipeDevices,
    RecipeSource,
    Rival,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation import foreign
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import (
    GROUP,
    KIND,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

__all__ = ["fake"]

Obj = dict[str, Any]

RESOURCES = ("example.com/gpu", "example.com/mig-*")
NODES = [world.node(labels={"kubernetes.io/hostname": "n1", "card": "a"})]


def plugin(
    name: str,
    image: str,
    path: str = foreign.PLUGIN_FOLDER,
    pod: Obj | None = None,
    **container: Any,
) -> Obj:
    """A DaemonSet that mounts a folder of the node."""
    spec = {
        "containers": [{"name": "c", "image": image, **container}],
        "volumes": [{"name": "v", "hostPath": {"path": path}}],
        **(pod or {}),
    }
    metadata = {"name": name, "namespace": "theirs"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata,
        "spec": {"template": {"spec": spec}},
    }


OURS = plugin("ours", "registry.test/example/device-plugin:v1")


def rivals(*others: Obj) -> list[str]:
    """The rivals of ours among others."""
    return foreign.rivals_of([OURS], others, RESOURCES, lambda: NODES)


@pytest.mark.parametrize(
    "other",
    [
        plugin("other", "mirror.test:5000/example/device-plugin@sha256:0123"),
        plugin("other", "x/y", args=["--resource=example.com/gpu"]),
        plugin("other", "x/y", command=["serve", "example.com/mig-1g.5gb"]),
        plugin(
            "other",
            "x/y",
            env=[{"name": "RESOURCE", "value": "example.com/gpu"}, {"name": "FROM_FIELD"}],
        ),
    ],
    ids=["image of ours", "argument", "pattern", "environment"],
)
def test_who_serves_the_same_is_a_rival(other: Obj) -> None:
    assert rivals(other) == ["DaemonSet theirs/other"]


@pytest.mark.parametrize(
    "other",
    [
        plugin("other", "rival.test/another/device-plugin:v1"),
        plugin("other", "x/y", args=["--resource=example.com/gpu-memory"]),
        plugin("other", "x/y", args=["--resource=other-example.com/gpu"]),
        plugin(
            "other", "x/y", pod={"tolerations": [{"key": "example.com/gpu", "operator": "Exists"}]}
        ),
    ],
    ids=[
        "another image of this name",
        "another resource",
        "another domain",
        "only tolerates the taint",
    ],
)
def test_who_serves_something_else_is_none(other: Obj) -> None:
    assert rivals(other) == []


def on(**expression: Any) -> Obj:
    """A pod that requires nodes of one expression."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


@pytest.mark.parametrize(
    ("pod", "there"),
    [
        ({"nodeSelector": {"card": "a"}}, True),
        ({"nodeSelector": {"card": "b"}}, False),
        (on(key="card", operator="In", values=["a"]), True),
        (on(key="card", operator="In", values=["b"]), False),
    ],
)
def test_only_who_may_run_on_nodes_that_ours_serve_is_a_rival(pod: Obj, there: bool) -> None:
    assert bool(rivals(plugin("other", "x/example/device-plugin", pod=pod))) is there


def test_our_own_one_is_no_rival_although_somebody_took_its_label_away() -> None:
    assert rivals(OURS) == []


def test_only_what_mounts_the_folder_is_a_device_plugin() -> None:
    assert foreign.is_plugin(plugin("x", "y", path=f"{foreign.PLUGIN_FOLDER}/"))
    assert not foreign.is_plugin(plugin("x", "y", path="/var/lib/kubelet/plugins"))


def test_a_rival_is_refused_with_its_name() -> None:
    foreign.refuse_rival_plugins(RESOURCES, [])
    with pytest.raises(EnablementError, match=r"DaemonSet theirs/other.*set adopt"):
        foreign.refuse_rival_plugins(RESOURCES, ["DaemonSet theirs/other"])


def driver(**changed: Any) -> Obj:
    """A DaemonSet of somebody else that writes where a driver does."""
    mount = {"name": "v", "mountPath": "/run/acme", "mountPropagation": "Bidirectional"}
    found = plugin("theirs", "x/driver", path="/var/run/acme/", volumeMounts=[mount])
    return {**found, "metadata": {**found["metadata"], **changed}}


def mounted_readonly() -> Obj:
    """One that only reads there."""
    found = driver()
    found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"][0]["readOnly"] = True
    return found


def elsewhere() -> Obj:
    """One for other nodes."""
    found = driver()
    found["spec"]["template"]["spec"]["nodeSelector"] = {"card": "b"}
    return found


OPERATORS = Rival("acme.io/v1", "Policy")
WRITES = Rival("apps/v1", "DaemonSet", host_paths=["/run/acme"], enabled="driver_enabled")
RECORDS_OWN = applyset_id("toy", "", KIND, GROUP)


def refused(
    fake: FakeServer,
    found: Obj,
    *,
    enabled: bool = True,
    own: Obj | None = None,
    adopt: bool = False,
) -> str:
    """Why a run is refused beside a DaemonSet, "" where it is not."""
    cluster = ScriptedCluster(fake)
    cluster.put("daemonsets", found)
    recipe = Recipe(
        "toy", "toy", RecipeSource("toy"), devices=RecipeDevices(rivals=(OPERATORS, WRITES))
    )
    beside = foreign.RivalContext(lambda: {key_of(own)} if own else set(), lambda: NODES, adopt)
    options = {"driver_enabled": enabled}
    try:
        foreign.refuse_rivals(fake.client(), recipe, options, beside)
    except EnablementError as error:
        return str(error)
    return ""


def owned_by(api_version: str, kind: str) -> Obj:
    """A driver that a controller has made."""
    owner = {"apiVersion": api_version, "kind": kind, "name": "p", "uid": "u", "controller": True}
    return driver(ownerReferences=[owner])


def test_a_driver_without_the_custom_resource_of_an_operator_is_refused_by_what_it_does(
    fake: FakeServer,
) -> None:
    said = refused(fake, driver())
    assert said == (
        "Somebody else in this cluster does what toy is to do (DaemonSet theirs/theirs, which writes to"
        " /run/acme of the nodes): two would undo each other's work; end or remove the other one first,"
        " or leave it to that one (driver_enabled=false), or set adopt (hardware_enablement_adopt) where"
        " both may be."
    )
    # Of an operator that the recipe does not know, and of another tool's ApplySet.
    assert refused(fake, owned_by("example.com/v1", "Policy")) == said
    assert refused(fake, driver(labels={PART_OF_LABEL: "applyset-of-kubectl"})) == said


@pytest.mark.parametrize(
    "found",
    [
        mounted_readonly(),
        elsewhere(),
        driver(labels={PART_OF_LABEL: RECORDS_OWN, RECIPE_LABEL: "toy"}),
        # Another special resource on the same nodes is refused otherwise.
        driver(labels={PART_OF_LABEL: applyset_id("b", "", KIND, GROUP), RECIPE_LABEL: "b"}),
        owned_by("acme.io/v1", "Policy"),
    ],
    ids=["only reads", "on other nodes", "ours", "another of ours", "told by its custom resource"],
)
def test_what_does_not_write_there_or_is_known_is_no_rival(fake: FakeServer, found: Obj) -> None:
    assert refused(fake, found) == ""


def test_a_driver_that_is_kept_or_taken_over_is_no_rival(fake: FakeServer) -> None:
    assert refused(fake, driver(), enabled=False) == ""
    assert refused(fake, driver(), own=driver()) == ""
    assert refused(fake, driver(), adopt=True) == ""


def test_the_applyset_of_another_tool_hides_no_device_plugin(fake: FakeServer) -> None:
    cluster = ScriptedCluster(fake)
    for name, labels in {
        "theirs": {PART_OF_LABEL: "applyset-of-kubectl"},
        "copied": {PART_OF_LABEL: RECORDS_OWN},
        "ours": {PART_OF_LABEL: RECORDS_OWN, RECIPE_LABEL: "toy"},
    }.items():
        found = plugin(name, "x/y")
        cluster.put(
            "daemonsets",
            {**found, "metadata": {**found["metadata"], "labels": labels, "name": name}},
        )
    names = [each["metadata"]["name"] for each in foreign.foreign_plugins(fake.client())]
    assert names == ["copied", "theirs"]
