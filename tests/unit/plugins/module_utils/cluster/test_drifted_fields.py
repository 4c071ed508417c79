# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is others' doing at an object of ours, and what is nobody's drift: managedFields as a real API
server writes them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.drifted_fields import (
    Drift,
    added,
    taken,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    FIELD_MANAGER,
    PART_OF_LABEL,
)

Obj = dict[str, Any]

THEN, NOW = "2026-11-26T21:00:00Z", "2026-11-26T21:30:00Z"
WANTED: Obj = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "x", "namespace": "y", "labels": {"app": "x", "of": "us"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "x"}},
        "template": {
            "spec": {
                "nodeSelector": {},
                "containers": [
                    {
                        "name": "main",
                        "image": "ours:1",
                        "args": ["-v"],
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"cpu": "1000m"}},
                    }
                ],
            }
        },
    },
}
PORT = 'k:{"containerPort":80,"protocol":"TCP"}'
OURS: Obj = {
    "f:metadata": {"f:labels": {"f:app": {}, "f:of": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    'k:{"name":"main"}': {
                        ".": {},
                        "f:name": {},
                        "f:image": {},
                        "f:args": {},
                        "f:ports": {PORT: {".": {}, "f:containerPort": {}}},
                        "f:resources": {"f:limits": {"f:cpu": {}}},
                    }
                }
            }
        },
    },
}
CONTAINERS = ("f:spec", "f:template", "f:spec", "f:containers")
MAIN = (*CONTAINERS, 'k:{"name":"main"}')


def entry(manager: str, fields: Obj, time: str = THEN, **more: str) -> Obj:
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **more}


class Live:
    """The object as the API server keeps it: with defaults, a number written otherwise, an annotation of
    a controller, a status."""

    def __init__(self) -> None:
        self.obj = copy.deepcopy(WANTED)
        self.obj["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
        self.obj["spec"]["strategy"] = {"type": "RollingUpdate"}
        self.main["resources"] = {"limits": {"cpu": "1"}}
        self.main["ports"] = [{"containerPort": 80, "protocol": "TCP"}]
        self.obj["status"] = {"replicas": 2}
        self.ours = copy.deepcopy(OURS)
        controller = "kube-controller-manager"
        revision = {"f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}}}
        self.entries = [
            entry(controller, revision),
            entry(controller, {"f:status": {"f:replicas": {}}}, NOW, subresource="status"),
        ]

    @property
    def main(self) -> Obj:
        found: Obj = self.obj["spec"]["template"]["spec"]["containers"][0]
        return found

    def hand_over(self, path: tuple[str, ...], manager: str = "", **more: str) -> Live:
        """A field is no longer ours; it is another manager's, or nobody's."""
        tree: Any = self.ours
        for step in path[:-1]:
            tree = tree[step]
        del tree[path[-1]]
        if manager:
            fields: Obj = {}
            for step in reversed(path):
                fields = {step: fields}
            self.entries.append(entry(manager, fields, NOW, **more))
        return self

    def read(self) -> Obj:
        entries = [entry(FIELD_MANAGER, self.ours) | {"operation": "Apply"}, *self.entries]
        return {**self.obj, "metadata": {**self.obj["metadata"], "managedFields": entries}}


def test_defaults_other_notations_status_and_controllers_notes_are_no_drift() -> None:
    live = Live().read()
    assert (taken(live, WANTED), added(live)) == (None, None)


def test_a_field_that_is_still_ours_and_would_be_another_is_no_drift() -> None:
    newer = copy.deepcopy(WANTED)
    newer["spec"]["template"]["spec"]["containers"][0]["image"] = "ours:2"
    assert taken(Live().read(), newer) is None


def test_what_a_field_manager_has_changed_is_named_with_it_and_when() -> None:
    live = Live().hand_over((*MAIN, "f:image"), "flux").hand_over((*MAIN, "f:args"), "flux")
    live.main.update(image="theirs:1", args=["-q"])
    fields = (
        "spec.template.spec.containers[main].image",
        "spec.template.spec.containers[main].args",
    )
    assert taken(live.read(), WANTED) == Drift(fields, "flux", NOW)


@pytest.mark.parametrize("path", [(*MAIN, "f:image"), (*MAIN, "f:ports", PORT)])
def test_a_field_that_somebody_else_wants_as_we_do_is_no_drift(path: tuple[str, ...]) -> None:
    live = Live().hand_over(path, "flux")
    other = copy.deepcopy(WANTED)
    other["spec"]["template"]["spec"]["containers"][0]["ports"].append({"containerPort": 81})
    ports = live.ours["f:spec"]["f:template"]["f:spec"]["f:containers"][MAIN[-1]]["f:ports"]
    ports['k:{"containerPort":81,"protocol":"TCP"}'] = {".": {}, "f:containerPort": {}}
    live.main["ports"].insert(0, {"containerPort": 81, "protocol": "TCP"})
    assert taken(live.read(), other) is None


@pytest.mark.parametrize("writer", ["argocd-controller", ""])
def test_a_label_that_is_gone_is_told_with_who_wrote_the_object_last(writer: str) -> None:
    live = Live().hand_over(("f:metadata", "f:labels", "f:of"))
    del live.obj["metadata"]["labels"]["of"]
    if writer:
        live.entries.append(entry(writer, {"f:spec": {"f:paused": {}}}, NOW))
    found = taken(live.read(), WANTED)
    assert found == Drift(("metadata.labels.of",), writer, NOW if writer else "")
    assert taken(live.read(), WANTED, lenient=True) is None


def test_an_item_that_is_gone_from_a_list_is_named() -> None:
    live = Live().hand_over((*MAIN, "f:ports", PORT))
    live.ours["f:spec"]["f:template"]["f:spec"]["f:containers"][MAIN[-1]]["f:ports"] = {
        'k:{"containerPort":81,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}
    }
    live.main["ports"] = [{"containerPort": 81, "protocol": "TCP"}]
    found = taken(live.read(), WANTED)
    assert found
    assert found.fields == ("spec.template.spec.containers[main].ports[80]",)


@pytest.mark.parametrize(
    ("manager", "counts"), [("kube-controller-manager", False), ("kubectl", True)]
)
def test_replicas_that_an_autoscaler_has_set_are_no_drift_and_those_of_a_person_are(
    manager: str, counts: bool
) -> None:
    live = Live().hand_over(("f:spec", "f:replicas"), manager, subresource="scale")
    live.obj["spec"]["replicas"] = 5
    assert bool(taken(live.read(), WANTED)) is counts


def test_what_is_added_is_told_apart_from_what_is_taken() -> None:
    live = Live()
    live.obj["spec"]["template"]["spec"]["containers"].append({"name": "sidecar", "image": "s"})
    sidecar = {'k:{"name":"sidecar"}': {".": {}, "f:image": {}}}
    fields = {
        "f:metadata": {"f:annotations": {"f:note": {}}, "f:labels": {"f:team": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:containers": sidecar}}},
    }
    live.entries.append(entry("argocd-controller", fields, NOW))
    assert taken(live.read(), WANTED) is None
    names = ("metadata.labels.team", "spec.template.spec.containers[sidecar].image")
    assert added(live.read()) == Drift(names, "argocd-controller", NOW)


def test_the_label_that_each_namespace_has_is_nobodys() -> None:
    live = Live()
    name = {"f:metadata": {"f:labels": {"f:kubernetes.io/metadata.name": {}}}}
    live.entries.append(entry("kubectl-create", name))
    assert added(live.read()) is None


def of_a_folder(manager: str, operation: str) -> tuple[Live, Obj]:
    """An object of ours that somebody has applied, and no run has written; and as it is wanted. Its
    limits are stored in another notation."""
    live, wanted = Live(), copy.deepcopy(WANTED)
    for obj in (live.obj, wanted):
        obj["metadata"]["labels"][PART_OF_LABEL] = "applyset-x"
    fields = copy.deepcopy(OURS)
    fields["f:metadata"]["f:labels"][f"f:{PART_OF_LABEL}"] = {}
    live.obj["metadata"]["managedFields"] = [entry(manager, fields, operation=operation)]
    return live, wanted


@pytest.mark.parametrize(
    ("manager", "operation", "deploys"),
    [
        ("kubectl-client-side-apply", "Update", True),
        ("kustomize-controller", "Apply", True),
        ("argocd-controller", "Update", True),
        ("velero", "Update", False),
    ],
)
def test_who_applies_our_manifests_is_as_we_are_and_who_restores_is_not(
    manager: str, operation: str, *, deploys: bool
) -> None:
    live, wanted = of_a_folder(manager, operation)
    assert (taken(live.obj, wanted) is None) is deploys
    live.main["image"] = "theirs:1"
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {MAIN[-1]: {"f:image": {}}}}}}}
    entries = live.obj["metadata"]["managedFields"]
    mine = entries[0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"][MAIN[-1]]
    del mine["f:image"]
    entries.append(entry("kubectl-edit", fields, NOW))
    found = taken(live.obj, wanted)
    assert found
    assert found.by == "kubectl-edit"


def test_an_object_that_somebody_has_made_anew_is_compared_as_a_whole() -> None:
    live = Live()
    live.main["image"] = "theirs:1"
    live.obj["metadata"]["managedFields"] = [entry("velero", OURS, NOW)]
    found = taken(live.obj, WANTED)
    assert found
    assert found.by == "velero"
    assert "spec.template.spec.containers" in " ".join(found.fields)


@pytest.mark.parametrize(
    "odd", [None, [None], [{"manager": "x"}], [{"manager": FIELD_MANAGER, "fieldsV1": {"k:{": {}}}]]
)
def test_managed_fields_without_their_shape_end_nothing(odd: Any) -> None:
    live = Live().obj
    live["metadata"]["managedFields"] = odd
    live["spec"]["replicas"] = 3
    assert taken(live, WANTED)
    assert added(live) is None
