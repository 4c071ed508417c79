# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which device plugins of others serve what ours do, and which only stand beside them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation import foreign
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

Obj = dict[str, Any]

RECIPE = cast(Recipe, SimpleNamespace(resources=["example.com/gpu", "example.com/mig-*"]))
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
    return foreign.rivals_of([OURS], others, RECIPE, lambda: NODES)


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
    foreign.refuse_rival_plugins(RECIPE, [])
    with pytest.raises(EnablementError, match=r"DaemonSet theirs/other.*set adopt"):
        foreign.refuse_rival_plugins(RECIPE, ["DaemonSet theirs/other"])
