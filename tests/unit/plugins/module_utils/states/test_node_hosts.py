# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of an API server for an inventory, and what becomes of what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Forbidden,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.node_hosts import (
    find_hosts,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
    refusal,
)

MARK = "hardware-enablement.io/toy.node-kernel"


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.fixture
def cluster(api: FakeServer) -> ScriptedCluster:
    nodes = [world.node_object(f"n{number}", labels={MARK: "6-1"}) for number in range(50)]
    scripted = ScriptedCluster(api, *nodes, world.node_object("plain"))
    scripted.put(
        "nodefeatures",
        {
            "metadata": {
                "name": "n1",
                "namespace": "nfd",
                "labels": {"nfd.node.kubernetes.io/node-name": "n1"},
            },
            "spec": {
                "features": {
                    "attributes": {
                        "kernel.version": {"elements": {"full": "6.1"}},
                        "kernel.config": {"elements": {"NO_HZ": "y"}},
                    }
                }
            },
        },
    )
    record = {
        "metadata": {"name": "toy"},
        "spec": {
            "pools": [
                {
                    "name": "old",
                    "selector": {"matchExpressions": [{"key": MARK, "operator": "Exists"}]},
                    "options": {"version": "1"},
                    "secretOptions": ["token"],
                }
            ]
        },
        "status": {"problems": [{"node": "n1", "state": "driver", "reason": "Crashing"}]},
    }
    scripted.put("specialresources", record)
    return scripted


def found(api: FakeServer, **asked: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The hosts, and the warnings."""
    warnings: list[str] = []
    wanted = {"label_selector": "", "recipes": [], "features": ["kernel.version"], **asked}
    return find_hosts(api.client(), warn=warnings.append, **wanted), warnings


@pytest.mark.usefixtures("cluster")
def test_there_is_one_list_for_each_kind_whatever_the_number_of_nodes(api: FakeServer) -> None:
    hosts, warnings = found(api)
    assert (len(hosts), warnings) == (51, [])
    assert [(asked.method, urlsplit(asked.path).path) for asked in api.asked] == [
        ("GET", "/api/v1/nodes"),
        ("GET", "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeatures"),
        ("GET", "/apis/hardware-enablement.io/v1/specialresources"),
    ]
    assert hosts["n1"]["features"]["attributes"] == {"kernel.version": {"full": "6.1"}}
    told = hosts["n1"]["recipes"]["toy"]
    assert (told["reason"], told["pool"]) == ("Crashing", "old")
    assert hosts["n2"]["recipes"]["toy"]["reason"] == ""


@pytest.mark.usefixtures("cluster")
def test_the_server_selects_by_labels_and_by_recipe(api: FakeServer) -> None:
    hosts, _warnings = found(api, label_selector="zone!=a", recipes=["toy", "other"], features=[])
    assert (len(hosts), "plain" in hosts) == (50, False)
    queries = [parse_qs(urlsplit(asked.path).query) for asked in api.asked]
    other = MARK.replace("toy", "other")
    assert [query.get("labelSelector") for query in queries] == [
        [f"zone!=a,{MARK}"],
        [f"zone!=a,{other}"],
        None,
    ]


@pytest.mark.usefixtures("cluster")
def test_features_by_a_star_are_all(api: FakeServer) -> None:
    hosts, _warnings = found(api, features=["*"])
    assert "kernel.config" in hosts["n1"]["features"]["attributes"]


@pytest.mark.parametrize("plural", ["nodefeatures", "specialresources"])
@pytest.mark.parametrize("code", [403, 404])
def test_what_may_not_be_read_is_said_and_left_out_and_what_is_not_there_is_left_out(
    api: FakeServer, cluster: ScriptedCluster, plural: str, code: int
) -> None:
    answer = refusal(code, {403: "Forbidden", 404: "NotFound"}[code], "not for you")
    cluster.refuse = lambda asked: answer if plural in asked.path else None
    hosts, warnings = found(api)
    assert len(hosts) == 51
    assert [text.partition(":")[0] for text in warnings] == (
        [f"The hosts are told without {plural}"] if code == 403 else []
    )


def test_nodes_that_may_not_be_read_are_an_error(api: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.refuse = lambda _asked: refusal(403, "Forbidden", "not for you")
    with pytest.raises(Forbidden):
        found(api)


def test_pools_that_are_not_understood_are_said_and_left_out(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.objects["specialresources"]["toy"]["spec"]["pools"][0]["selector"] = {"mad": True}
    hosts, (warning,) = found(api)
    assert warning.startswith("The hosts are told without the pools of toy: the pools cannot be")
    assert hosts["n1"]["recipes"]["toy"]["pool"] == ""


def test_a_node_whose_name_no_host_can_have_is_said_and_left_out(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.put("nodes", world.node_object("{{ lookup('pipe', 'id') }}"))
    hosts, (warning,) = found(api)
    assert (len(hosts), warning.partition(" ")[0]) == (51, "1")


def test_features_that_are_none_cost_their_own_node_alone(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    odd = cluster.objects["nodefeatures"]["n1"]
    spec = {"features": {"attributes": {"kernel.version": {"elements": {"full": "6.2"}}}}}
    labels = {"nfd.node.kubernetes.io/node-name": "n2"}
    cluster.put(
        "nodefeatures",
        {"metadata": {"name": "n2", "namespace": "nfd", "labels": labels}, "spec": spec},
    )
    odd["spec"]["features"]["attributes"]["kernel.version"]["elements"] = ["6.1"]
    hosts, (warning,) = found(api)
    assert warning == (
        "The hosts are told without NodeFeature n1: spec.features.attributes.kernel.version.elements"
        " is a list, where a mapping is due"
    )
    assert "kernel.version" not in hosts["n1"]["features"].get("attributes", {})
    assert hosts["n2"]["features"]["attributes"]["kernel.version"] == {"full": "6.2"}
