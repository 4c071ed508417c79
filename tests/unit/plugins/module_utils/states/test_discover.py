# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nfd_info tells the tasks that follow, besides the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NFD_INFO,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation import (
    discover,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
options:
  pinned: {type: bool, default: false}
states:
  images:
    role: state_driver_container
    per: kernel
    image: registry.test/driver:1
    lookup: "{{ 'controller' if options.pinned else 'never' }}"
  report:
    role: state
    requires: [images]
"""


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.mark.parametrize(("pinned", "looked_up"), [(False, []), (True, ["images"])])
def test_it_says_whose_images_are_looked_up_since_only_then_there_is_a_task_for_it(
    api: FakeServer, pinned: bool, looked_up: list[str]
) -> None:
    ScriptedCluster(api, runs.card_node(card="yes"))
    given = {"bundle": {"recipe.yml": RECIPE}, "options": {"pinned": pinned}}
    assert runs.run(discover.TASK, NFD_INFO, api, **given)["image_states"] == looked_up


@pytest.mark.parametrize("pinned", [False, True])
def test_who_wants_nodes_for_images_alone_has_none_listed_where_no_image_is_looked_up(
    api: FakeServer, pinned: bool
) -> None:
    ScriptedCluster(api, runs.card_node(card="yes"))
    given = {"bundle": {"recipe.yml": RECIPE}, "options": {"pinned": pinned}}
    found = runs.run(discover.TASK, NFD_INFO, api, only_for_images=True, **given)
    lists = [each for each in api.asked if each.path.startswith("/api/v1/nodes?")]
    assert (len(lists), found.get("matched")) == ((1, 1) if pinned else (0, None))
    assert found["depends"] == []


def worker(**changed: str) -> dict[str, Any]:
    """NFD's worker, with another name, image, command or folder of the node."""
    given = {
        "name": "nfd-worker",
        "image": "registry.k8s.io/nfd/node-feature-discovery:v0.18",
        "command": "nfd-worker",
        "path": "/etc/kubernetes/node-feature-discovery/features.d/",
        **changed,
    }
    container = {"name": "w", "image": given["image"], "command": [given["command"]]}
    volume = {"name": "f", "hostPath": {"path": given["path"]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": given["name"], "namespace": "some"},
        "spec": {"template": {"spec": {"containers": [container], "volumes": [volume]}}},
    }


@pytest.mark.parametrize(
    ("daemonset", "is_there"),
    [
        (worker(), True),
        (worker(name="renamed", image="mirror.test/nfd@sha256:0123"), True),
        (worker(name="renamed", command="/usr/bin/start"), True),
        # Anybody may call theirs so.
        (worker(path="/var/lib/theirs"), False),
        (worker(name="nfd-worker", image="nginx", command="sleep"), False),
    ],
)
def test_nfd_is_there_by_what_it_does_on_nodes_and_not_by_its_name(
    api: FakeServer, daemonset: dict[str, Any], is_there: bool
) -> None:
    """Where it is there, the role nfd does not deploy it."""
    node = runs.card_node()
    node["metadata"]["labels"] = {}
    cluster = ScriptedCluster(api, node)
    cluster.put("daemonsets", daemonset)
    found = runs.run(discover.TASK, NFD_INFO, api, bundle={"recipe.yml": RECIPE}, recipe="toy")
    assert found["nfd"]["present"] is is_there


def test_it_says_of_which_distribution_most_nodes_are(api: FakeServer) -> None:
    nodes = []
    for name, kubelet in (("a", "v1.34.1+k3s1"), ("b", "v1.34.1+k3s1"), ("c", "v1.34.1+k0s")):
        node = runs.card_node(card="yes")
        node["metadata"] = {**node["metadata"], "name": name, "uid": name}
        node["status"]["nodeInfo"]["kubeletVersion"] = kubelet
        nodes.append(node)
    ScriptedCluster(api, *nodes)
    found = runs.run(discover.TASK, NFD_INFO, api, bundle={"recipe.yml": RECIPE}, recipe="toy")
    assert (found["matched"], found["cluster"]["distribution"]) == (3, "k3s")
