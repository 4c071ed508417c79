# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

from tests.cluster.simulation.model import NORMAL
from tests.cluster.simulation.store import Store
from tests.unit.cluster.simulation.objects import DRIVER, TABLE, node_object, pod_object


def test_only_what_matters_and_is_newer_is_a_change() -> None:
    store = Store(TABLE)
    assert store.put_node(node_object()) == "gpu-1"
    assert store.put_node(node_object(version=2)) is None
    assert store.put_node(node_object(version=1, boot_id="old")) is None
    assert store.put_pod(pod_object(DRIVER)) == "gpu-1"
    assert store.put_pod(pod_object(DRIVER)) is None
    real = node_object("real")
    del real["metadata"]["annotations"]["kwok.x-k8s.io/node"]
    assert store.put_node(real) is None


def test_another_boot_id_is_a_reboot_of_all_pods() -> None:
    store = Store(TABLE)
    store.put_node(node_object())
    store.put_pod(pod_object(DRIVER))
    store.put_node(node_object(version=2, boot_id="b2"))
    assert store.remember("uid-pod").rebooted


def test_faults_are_found_by_name_role_and_star() -> None:
    store = Store(TABLE)
    faults = {
        "driver": {"behaviour": "slow", "seconds": 60},
        "*": {"behaviour": "dead"},
        "exporter": {"behaviour": "never-scheduled"},
    }
    store.put_node(node_object(simulation={"faults": json.dumps(faults)}))
    store.put_pod(pod_object(DRIVER))
    node, pod = store.nodes["gpu-1"], store.pods["gpu-1"]["uid-pod"]
    assert (node.behaviour_for(pod).name, node.behaviour_for(pod).seconds) == ("slow", 60)
    assert set(node.faults) == {"driver", "*"}
    store.put_node(node_object(version=2))
    assert store.nodes["gpu-1"].behaviour_for(pod) is NORMAL


def test_unreadable_annotations_do_not_lose_the_node() -> None:
    store = Store(TABLE)
    assert store.put_node(node_object(simulation={"faults": "{not json"})) == "gpu-1"
    assert store.nodes["gpu-1"].faults == {}


def test_a_full_list_removes_what_is_gone() -> None:
    store = Store(TABLE)
    store.put_node(node_object())
    store.put_pod(pod_object(DRIVER))
    assert store.replace_pods([]) == {"gpu-1"}
    assert store.names == {}
    assert store.replace_nodes([]) == {"gpu-1"}
    assert store.removed == {"gpu-1"}


def test_node_features_are_known_by_their_node() -> None:
    store = Store(TABLE)
    feature = {
        "metadata": {"name": "f", "labels": {"nfd.node.kubernetes.io/node-name": "gpu-1"}},
        "spec": {},
    }
    assert store.put_feature({**feature, "spec": {"labels": {"a": "1"}}}) == "gpu-1"
    assert store.features == {"gpu-1": {"f": {"a": "1"}}}
    assert store.remove_feature(feature) == "gpu-1"
    assert store.features == {"gpu-1": {}}
    assert store.put_feature({"metadata": {"name": "of nobody"}, "spec": {}}) == ""
    assert store.replace_features([feature]) == {"", "gpu-1"}
    assert store.features == {"gpu-1": {"f": {}}}
