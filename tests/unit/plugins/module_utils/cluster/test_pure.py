# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure parts: names, noise, secrets, kinds, ranks, comparisons, managers, ApplySet ids."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects import labels
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    as_stored,
    contains,
    overlaid,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.managers import (
    foreign_fields,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.object_fields import (
    dotted,
    path_to,
    unknown_in,
    without,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
    key_of,
    redact,
    without_noise,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.ranks import (
    by_rank,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.applyset import (
    applyset_id,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError


def daemonset(image: str = "x:1", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "driver", "namespace": "gpu", **metadata},
        "spec": {
            "template": {
                "spec": {"containers": [{"name": "a", "image": "y"}, {"name": "b", "image": image}]}
            }
        },
    }


TEMPLATE_PATH = ("spec", "template", "spec", "containers")


def test_names_on_nodes_and_objects() -> None:
    assert labels.gate_label("nvidia-gpu", "driver") == "hardware-enablement.io/nvidia-gpu.driver"
    assert labels.summary_label("nvidia-gpu") == "hardware-enablement.io/nvidia-gpu"
    assert labels.proofs_annotation("nvidia-gpu") == "hardware-enablement.io/nvidia-gpu.proofs"
    assert labels.PART_OF_LABEL == "applyset.kubernetes.io/part-of"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({}, "It broke."),
        ({"where": "node a", "why": "no power."}, "It broke (node a): no power."),
        ({"why": "no power", "todo": "plug it in."}, "It broke: no power; plug it in."),
    ],
)
def test_an_error_is_one_sentence(parts: dict[str, str], text: str) -> None:
    assert str(EnablementError("It broke.", **parts)) == text


def test_keys_sort_and_read_well() -> None:
    assert str(key_of(daemonset())) == "DaemonSet gpu/driver"
    assert str(ObjectKey("v1", "Namespace", "", "gpu")) == "Namespace gpu"
    assert key_of(daemonset()) == ObjectKey("apps/v1", "DaemonSet", "gpu", "driver")


def test_noise_is_left_out_and_nothing_is_changed() -> None:
    noisy = daemonset(
        uid="1",
        resourceVersion="2",
        generation=3,
        creationTimestamp="now",
        managedFields=[{}],
        labels={"a": "b"},
        annotations={"deprecated.daemonset.template.generation": "4", "mine": "5"},
    )
    noisy["status"] = {"ready": 1}
    before = copy.deepcopy(noisy)
    assert without_noise(noisy) == daemonset(labels={"a": "b"}, annotations={"mine": "5"})
    assert noisy == before
    # An annotations field that holds only noise is as good as none.
    only = daemonset(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"})
    assert without_noise(only) == daemonset()


def test_secrets_show_that_they_change_but_not_what() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "cGFzcw==", "odd": "not base64!"}}
    hidden = redact(secret)
    assert hidden["data"]["a"] == "REDACTED sha256:d74ff0ee"
    assert "not base64" not in str(hidden)
    plain = redact({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "pass"}})
    assert plain["stringData"]["a"] == hidden["data"]["a"]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
    assert redact(config) == config


@pytest.mark.parametrize(
    ("api_version", "name", "path"),
    [
        ("v1", "Node", "/api/v1/nodes/x"),
        ("v1", "Endpoints", "/api/v1/namespaces/n/endpoints/x"),
        (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "/apis/networking.k8s.io/v1/namespaces/n/networkpolicies/x",
        ),
        ("networking.k8s.io/v1", "IngressClass", "/apis/networking.k8s.io/v1/ingressclasses/x"),
        ("storage.k8s.io/v1", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses/x"),
        ("scheduling.k8s.io/v1", "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses/x"),
        (
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/x",
        ),
    ],
)
def test_paths_of_built_in_kinds(api_version: str, name: str, path: str) -> None:
    kind = builtin(api_version, name)
    assert kind is not None
    assert kind.path("n", "x") == path
    assert kind.api_version == api_version


def test_group_kinds_and_unknown_kinds() -> None:
    daemonsets, pods = builtin("apps/v1", "DaemonSet"), builtin("v1", "Pod")
    assert daemonsets is not None
    assert pods is not None
    assert (daemonsets.group_kind, pods.group_kind) == ("DaemonSet.apps", "Pod")
    assert pods.path() == "/api/v1/pods"
    assert pods.path("n", "a/b", "status") == "/api/v1/namespaces/n/pods/a%2Fb/status"
    assert builtin("apps/v1", "Nonsense") is None


def test_ranks() -> None:
    kinds = [
        "ServiceMonitor",
        "DaemonSet",
        "Secret",
        "ServiceAccount",
        "CustomResourceDefinition",
        "Service",
        "Role",
        "Namespace",
    ]
    kinds.insert(0, "RoleBinding")
    found = by_rank(kinds, str)
    assert [batch for _rank, batch in found] == [
        ["Namespace"],
        ["CustomResourceDefinition"],
        ["ServiceAccount"],
        ["Secret", "Role"],
        ["RoleBinding"],
        ["DaemonSet"],
        ["ServiceMonitor", "Service"],
    ]
    assert [batch for _rank, batch in by_rank(kinds, str, reverse=True)] == [
        batch for _rank, batch in reversed(found)
    ]


@pytest.mark.parametrize(
    ("live", "wanted", "same"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ([{"name": "x", "more": 1}], [{"name": "x"}], True),
        ([{"name": "x"}, {"name": "y"}], [{"name": "x"}], False),
        ([1, 2], [2, 1], False),
        ({}, {"hostNetwork": False, "volumes": [], "labels": {}, "x": None}, True),
        ({}, {"hostNetwork": True}, False),
        ({"a": "1"}, {"a": {"b": 1}}, False),
        ({"a": 1}, {"a": [1]}, False),
    ],
)
def test_what_we_set_is_what_is_compared(live: Any, wanted: Any, same: bool) -> None:
    assert contains(live, wanted) is same
    assert contains(overlaid(live, wanted), wanted)


def test_a_secret_is_compared_as_it_is_stored() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"b": "Yg=="},
        "stringData": {"a": "pass"},
    }
    assert as_stored(secret)["data"] == {"a": "cGFzcw==", "b": "Yg=="}
    assert "stringData" not in as_stored(secret)
    assert as_stored(daemonset()) == daemonset()


def test_other_managers_are_named_with_the_fields_that_they_alone_set() -> None:
    containers = {'k:{"name":"a"}': {".": {}, "f:image": {}, "f:args": {}}}
    theirs = {"f:spec": {"f:containers": containers}, "f:metadata": {"f:labels": {"f:x": {}}}}
    ours = {"f:spec": {"f:containers": {'k:{"name":"a"}': {".": {}, "f:image": {}}}}}
    entries = [
        {"manager": "hardware-enablement", "fieldsV1": ours},
        {"manager": "kubectl-edit", "fieldsV1": theirs},
        {"manager": "kube-controller-manager", "fieldsV1": {"f:status": {}}},
        {"manager": "somebody", "subresource": "status", "fieldsV1": {"f:status": {}}},
    ]
    obj = daemonset(managedFields=entries)
    assert (
        foreign_fields(obj) == "kubectl-edit also sets metadata.labels.x, spec.containers[a].args"
    )
    assert foreign_fields(daemonset(managedFields=entries[:1])) == ""
    assert foreign_fields(daemonset()) == ""


def test_the_id_of_an_applyset() -> None:
    found = applyset_id("nvidia-gpu", "", "SpecialResource", "hardware-enablement.io")
    assert found == "applyset-RPGYSBgvyr61wvF1v5eTPq96oT-JorSCGKpE5HH7V_w-v1"


PORTS = [{"port": 80, "nodePort": 1}, {"port": 80, "protocol": "UDP", "x": 2}]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("userNames", ("userNames",)),
        ('spec.template.spec.containers[name="b"].image', (*TEMPLATE_PATH, 1, "image")),
        ("spec.template.spec.containers[0].image", (*TEMPLATE_PATH, 0, "image")),
        (
            "metadata.annotations.example.org/a.b.c",
            ("metadata", "annotations", "example.org/a.b", "c"),
        ),
        ('spec.ports[port=80,protocol="TCP"].nodePort', ("spec", "ports", 0, "nodePort")),
        ('spec.ports[port=80,protocol="UDP"].x', ("spec", "ports", 1, "x")),
        ("spec.nothing", None),
        ("spec.ports[7].x", None),
    ],
)
def test_a_path_of_the_api_server_leads_to_a_field(text: str, path: tuple[Any, ...] | None) -> None:
    annotations = {"example.org/a.b": {"c": 1}, "example.org/a": "no"}
    obj = daemonset(annotations=annotations) | {"userNames": []}
    obj["spec"]["ports"] = PORTS
    assert path_to(obj, text) == path


def test_fields_that_a_kind_does_not_have_are_taken_out_of_a_copy() -> None:
    causes = ['spec.ports[port=80,protocol="UDP"].x: field not declared in schema', "a: expected b"]
    obj = {"spec": {"ports": PORTS}, "b": 1}
    paths = [path for text in unknown_in(causes) if (path := path_to(obj, text))]
    assert [dotted(path) for path in paths] == ["spec.ports[1].x"]
    assert without(obj, paths) == {
        "spec": {"ports": [PORTS[0], {"port": 80, "protocol": "UDP"}]},
        "b": 1,
    }
    assert "x" in PORTS[1]


def test_a_sentence_moves_no_terminal() -> None:
    error = EnablementError("a\x1b[2Jb", why="c\u202ed\x9b0m\x00\u2028e", todo="f\tg\r\nh ü 漢")
    assert str(error) == "a\ufffd[2Jb: c\ufffdd\ufffd0m\ufffd e; f g h ü 漢."
