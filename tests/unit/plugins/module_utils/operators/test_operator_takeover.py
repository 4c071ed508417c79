# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A takeover as a whole task: what is refused before the first write, what comes before what, and what is
left where a node is not proven."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    LockHeld,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    OPERATOR_TAKEOVER,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators import (
    operator_takeover,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]

DEPLOY = "nvidia.com/gpu.deploy."
ON = {f"{DEPLOY}driver": "pre-installed", f"{DEPLOY}device-plugin": "true"}
RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
resources: [toy.io/card]
states:
  driver:
    role: state_driver
    per: kernel
    assets: [driver.yaml.j2]
    validate: [{node_labels: {present: [works]}}]
  plugin:
    role: state
    assets: [plugin.yaml.j2]
    validate: [{node_labels: {present: [works]}}]
"""
DAEMONSET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: "{name}"}}
spec:
  updateStrategy: {{type: {strategy}}}
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec: {{containers: [{{name: main, image: i}}]}}
"""
OTHERS = """\
---
apiVersion: v1
kind: Service
metadata: {name: plugin}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: report}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: somebodys}
"""
FILES = {
    "recipe.yml": RECIPE,
    "driver.yaml.j2": DAEMONSET.format(
        name="driver-{{ group.id }}", strategy="OnDelete", app="driver"
    ),
    "plugin.yaml.j2": DAEMONSET.format(name="plugin", strategy="RollingUpdate", app="plugin")
    + OTHERS,
}
OWNED = [
    {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "name": "p",
        "uid": "uid-p",
        "controller": True,
    }
]
OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "uid-x"}


class Site:
    """The operator serves two nodes: a driver, which stays, and a device plugin, of whose name we have one.

    stopped_at: how many writes there were when its program had ended. on_write: called with each.
    """

    def __init__(self, fake: FakeServer) -> None:
        nodes = [
            {**runs.card_node(name, card="yes", works="yes", **ON), "spec": {}}
            for name in ("n1", "n2")
        ]
        self.fake = fake
        self.cluster = ScriptedCluster(fake, *nodes)
        self.denied: Obj = {}
        self.stopped_at = 0
        self._looks = 0
        self.on_write: Callable[[Asked], None] = lambda _asked: None
        put = self.cluster.put
        put("namespaces", {"metadata": {"name": "toy"}})
        put("clusterpolicies", {"metadata": {"name": "p"}, "spec": {}})
        put("deployments", self._deployment())
        put("pods", _pod("operator", "", app="gpu-operator"))
        for name, labels in (
            ("theirs", {"app.kubernetes.io/component": "nvidia-driver"}),
            ("plugin", {"app": "plugin"}),
        ):
            template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
            put("daemonsets", _of_policy(name, {"template": template}))
            for node in ("n1", "n2"):
                put("pods", _pod(f"{name}-{node}", node, name))
        put("controllerrevisions", _owned_by("theirs", {"name": "old", "namespace": "toy"}))
        put("controllerrevisions", _owned_by("another", {"name": "kept", "namespace": "toy"}))
        put("services", _of_policy("plugin", {}))
        put("configmaps", _of_policy("report", {}))
        self.cluster.objects["configmaps"]["report"]["metadata"]["ownerReferences"].append(OTHER)
        self.cluster.refuse = self._control

    def _deployment(self) -> Obj:
        labels = {"app": "gpu-operator"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
        selector = {"matchLabels": {"app": "gpu-operator"}}
        spec = {"replicas": 1, "selector": selector, "template": template}
        return {"metadata": {"name": "gpu-operator", "namespace": "toy"}, "spec": spec}

    def _control(self, asked: Asked) -> Answer | None:
        """What rights the user has; and the operator's program ends when it is scaled to nothing."""
        path = asked.path.split("?")[0]
        if path.endswith("selfsubjectaccessreviews"):
            about = json.loads(asked.body)["spec"]["resourceAttributes"]
            lacks = self.denied and self.denied.items() <= about.items()
            return 201, {}, {"status": {"allowed": not lacks}}
        if asked.method == "GET" and "gpu-operator" in asked.path and path.endswith("/pods"):
            # It takes its time.
            self._looks += 1
            if self._looks == 2:
                self.cluster.remove("pods", "operator")
                self.stopped_at = len(self.cluster.writes)
        if asked.method != "GET":
            self.on_write(asked)
        return None

    def take(self, context: RunContext | None = None, **given: Any) -> Obj:
        """What comes of it."""
        given = {"stop_operator": True, "bundle": FILES, "timeout": 1, **given}
        made = context or RunContext(run_id="run-1")
        return runs.run(operator_takeover.TASK, OPERATOR_TAKEOVER, self.fake, made, **given)

    def names(self, plural: str) -> set[str]:
        """What there is of a kind."""
        return {*self.cluster.objects[plural]}


def _of_policy(name: str, spec: Obj) -> Obj:
    """An object that goes with the custom resource."""
    metadata = {"name": name, "namespace": "toy", "ownerReferences": [dict(OWNED[0])]}
    return {"metadata": metadata, "spec": spec}


def _owned_by(daemonset: str, metadata: Obj) -> Obj:
    owner = {"kind": "DaemonSet", "uid": f"uid-{daemonset}", "controller": True}
    return {"metadata": {**metadata, "ownerReferences": [owner]}}


def _pod(name: str, node: str, daemonset: str = "", **labels: str) -> Obj:
    metadata = {"name": name, "namespace": "toy", "labels": labels}
    owned = _owned_by(daemonset, metadata) if daemonset else {"metadata": metadata}
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "i"}]}
    return {**owned, "spec": spec, "status": {"phase": "Running"}}


@pytest.fixture
def site(fake: FakeServer) -> Site:
    return Site(fake)


def test_a_node_after_the_other_is_taken_and_what_asked_for_it_goes_last(site: Site) -> None:
    result = site.take()
    assert result["taken"] == ["n1", "n2"]
    writes = site.cluster.writes
    lock, stopped, marked, adopted, gone = (
        writes.index(each)
        for each in (
            "POST leases/toy",
            "PATCH deployments/gpu-operator",
            "PATCH clusterpolicies/p",
            "PATCH pods/theirs-n1",
            "DELETE clusterpolicies/p",
        )
    )
    first_removed = next(place for place, each in enumerate(writes) if each.startswith("DELETE"))
    assert lock < stopped < site.stopped_at <= marked < first_removed
    # Drivers' pods are ours before their DaemonSet goes, which would else make others.
    assert marked < adopted < writes.index("DELETE daemonsets/theirs") < gone
    assert [each for each in writes[gone + 1 :] if each.startswith("DELETE")] == []
    assert site.names("clusterpolicies") == set()
    # No driver restarts; what served devices has gone; what has our name is ours.
    assert site.names("pods") == {"theirs-n1", "theirs-n2"}
    report = site.cluster.objects["configmaps"]["report"]["metadata"]
    assert report["ownerReferences"] == [OTHER]
    assert site.cluster.objects["leases"]["toy"]["spec"]["holderIdentity"] == ""


def test_what_is_deleted_is_what_was_seen_and_pods_outlive_their_daemonsets(site: Site) -> None:
    site.take()
    removals = {
        asked.path.split("?")[0].rpartition("/")[2]: json.loads(asked.body)
        for asked in site.fake.asked
        if asked.method == "DELETE"
    }
    assert removals.keys() == {"p", "theirs", "plugin", "old", "plugin-n1", "plugin-n2"}
    for name, options in removals.items():
        assert options["preconditions"]["uid"] == f"uid-{name}", name
    deleted = {
        asked.path.split("?")[0]: json.loads(asked.body)["propagationPolicy"]
        for asked in site.fake.asked
        if asked.method == "DELETE" and "/daemonsets/" in asked.path
    }
    assert set(deleted.values()) == {"Orphan"}


@pytest.mark.parametrize("given", [{"stop_operator": False}, {}], ids=("plan", "check mode"))
def test_a_plan_takes_no_node_over(site: Site, given: Obj) -> None:
    checking = RunContext(check_mode=not given, run_id="run-1")
    result = site.take(checking, **given)
    assert [row["node"] for row in result["plan"]] == ["n1", "n2"]
    assert site.cluster.writes == []


@pytest.mark.parametrize("check_mode", [False, True])
def test_what_is_in_the_way_is_refused_before_anything_is_written(
    site: Site, check_mode: bool
) -> None:
    labels = site.cluster.objects["nodes"]["n2"]["metadata"]["labels"]
    labels["nvidia.com/gpu-driver-upgrade-state"] = "drain-required"
    with pytest.raises(EnablementError) as caught:
        site.take(RunContext(check_mode=check_mode, run_id="run-1"))
    assert caught.value.why.startswith("the operator is exchanging the driver of node n2")
    assert site.cluster.writes == []


@pytest.mark.parametrize(
    ("verb", "resource", "namespace"),
    [
        ("patch", "nodes", ""),
        ("patch", "pods", "toy"),
        ("delete", "pods", "toy"),
        ("delete", "daemonsets", "toy"),
        ("delete", "controllerrevisions", "toy"),
        ("patch", "deployments", "toy"),
        ("patch", "clusterpolicies", ""),
        ("delete", "clusterpolicies", ""),
        ("patch", "specialresources", ""),
        ("patch", "specialresources/status", ""),
    ],
)
def test_each_right_is_asked_for_before_the_operator_is_stopped(
    site: Site, verb: str, resource: str, namespace: str
) -> None:
    resource_name, _slash, subresource = resource.partition("/")
    site.denied = {
        "verb": verb,
        "resource": resource_name,
        "subresource": subresource,
        "namespace": namespace,
    }
    with pytest.raises(EnablementError) as caught:
        site.take()
    assert caught.value.why.startswith(f"may not {verb} {resource}")
    assert site.cluster.writes == []


def test_another_run_s_lock_is_respected(site: Site) -> None:
    spec = {"holderIdentity": "another", "leaseDurationSeconds": 60}
    times = {
        "renewTime": "2999-01-01T00:00:00.000000Z",
        "acquireTime": "2026-01-01T00:00:00.000000Z",
    }
    metadata = {"name": "toy", "namespace": "hardware-enablement"}
    site.cluster.put("namespaces", {"metadata": {"name": "hardware-enablement"}})
    site.cluster.put("leases", {"metadata": metadata, "spec": {**spec, **times}})
    with pytest.raises(LockHeld):
        site.take()
    assert [each for each in site.cluster.writes if "lease" not in each] == []


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("PATCH", "clusterpolicies/p"),
        ("DELETE", "services/plugin"),
        ("DELETE", "pods/plugin-n1"),
    ],
)
def test_a_run_that_has_lost_its_lock_goes_no_further(site: Site, method: str, name: str) -> None:
    def lose(asked: Asked) -> None:
        if asked.method == method and asked.path.split("?")[0].endswith(name):
            lease = site.cluster.objects["leases"]["toy"]
            lease["spec"].update(holderIdentity="another")

    site.on_write = lose
    with pytest.raises(LockHeld):
        site.take()
    assert site.cluster.writes[-1] == f"{method} {name}"


def test_while_a_node_is_left_the_operator_s_resource_stays(site: Site) -> None:
    del site.cluster.objects["nodes"]["n1"]["metadata"]["labels"]["works"]
    with pytest.raises(EnablementError, match=r"n1.*n2 of 2 nodes") as caught:
        site.take(failure_grace=0, timeout=0.5)
    assert "the others are still served by the operator's operands" in caught.value.why
    assert site.names("clusterpolicies") == {"p"}
    labels = site.cluster.objects["nodes"]["n2"]["metadata"]["labels"]
    assert labels[f"{DEPLOY}device-plugin"] == "true"
    assert site.cluster.objects["leases"]["toy"]["spec"]["holderIdentity"] == ""


def test_a_driver_that_the_recipe_has_no_other_one_for_keeps_its_daemonset(site: Site) -> None:
    off = RECIPE.replace('{card: "yes"}', '{card: "yes", other: "yes"}')
    site.cluster.objects["nodes"]["n1"]["metadata"]["labels"]["other"] = "yes"
    with pytest.raises(EnablementError) as caught:
        site.take(bundle={**FILES, "recipe.yml": off})
    assert caught.value.why.startswith("node n2 runs a driver of the operator")
    assert site.cluster.writes == []


def test_an_object_of_somebody_else_is_not_made_room_for(site: Site) -> None:
    site.cluster.put(
        "configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "somebodys", "namespace": "toy"},
        },
    )
    site.take()
    first = site.cluster.writes.index("PATCH configmaps/somebodys")
    # Taken over as enabling does it, once: not for its owners.
    assert site.cluster.writes.index("PATCH specialresources/toy") < first
