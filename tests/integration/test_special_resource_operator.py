# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom resource of the Special Resource Operator, and a switch from a running one: what it has
deployed is taken over by name, and no driver restarts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.programs import HELM_MODULES, ensure_programs
from tests.integration import sight
from tests.integration.plays import Runner
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.recipes

GPU = {"feature.node.kubernetes.io/pci-0302_10de.present": "true"}
OWNED = {"specialresource.openshift.io/owned": "true"}
STATE = "specialresource.openshift.io/state-site-kmod-1000"
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "specialresources.sro.openshift.io"},
    "spec": {
        "group": "sro.openshift.io",
        "scope": "Cluster",
        "names": {"kind": "SpecialResource", "plural": "specialresources"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
RIGHTS = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sro-release}
rules:
  - {apiGroups: [sro.openshift.io], resources: ["*"], verbs: [get, list, patch]}
"""
DAEMONSET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: driver
  namespace: kmod
spec:
  selector:
    matchLabels: {app: driver}
  updateStrategy: {type: OnDelete}
  template:
    metadata:
      labels: {app: driver}
    spec:
      containers:
        - name: driver
          image: registry.example.org/two-states/driver:IMAGE
          securityContext: {privileged: true}
"""


def apply(cluster: Cluster, *objects: dict[str, Any]) -> None:
    """As an admin."""
    text = yaml.safe_dump_all(objects)
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)


def get(cluster: Cluster, *what: str) -> Any:
    """An object, or a list of them."""
    return json.loads(cluster.kubectl("get", *what, "-o", "json"))


def pods(cluster: Cluster) -> dict[str, str]:
    """The UIDs of the running driver pods by their node."""
    return {
        pod["spec"]["nodeName"]: pod["metadata"]["uid"]
        for pod in get(cluster, "pods", "-n", "kmod", "-l", "app=driver")["items"]
        if pod["status"].get("phase") == "Running"
    }


@pytest.fixture(autouse=True)
def helm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real program, first on the PATH."""
    folder = Path(ensure_programs(modules=HELM_MODULES)["helm"]).parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    """The repository that the custom resource names, with its chart."""
    folder = tmp_path / "simple"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: simple\nversion: 0.0.1\n")
    (folder / "values.yaml").write_text("image: none\n")
    template = DAEMONSET.replace("IMAGE", "{{ .Values.image }}").replace(
        "  namespace: kmod\n",
        "  annotations: {specialresource.openshift.io/state: driver-container}\n",
    )
    (folder / "templates" / "1000-driver.yaml").write_text(template)
    return tmp_path


@pytest.fixture
def resource(charts: Path) -> dict[str, Any]:
    """The custom resource as its user wrote it."""
    repository = {"name": "x", "url": f"file://{charts}", "password": "hunter22"}
    return {
        "apiVersion": "sro.openshift.io/v1beta1",
        "kind": "SpecialResource",
        "metadata": {"name": "site-kmod"},
        "spec": {
            "namespace": "kmod",
            "chart": {"name": "simple", "version": "0.0.1", "repository": repository},
            "set": {"kind": "Values", "apiVersion": "sro.openshift.io/v1beta1", "image": "1.0"},
            "nodeSelector": GPU,
        },
    }


@pytest.fixture
def operator(cluster: Cluster, runner: Runner, resource: dict[str, Any]) -> dict[str, str]:
    """What the operator has deployed, and itself; gives the driver pods."""
    apply(cluster, CRD, yaml.safe_load(RIGHTS))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/{CRD['metadata']['name']}")
    cluster.kubectl(
        *("create", "clusterrolebinding", "sro", "--clusterrole=sro-release"),
        f"--user={runner.user}",
    )
    finalizers = ["sro.openshift.io/finalizer", "finalizer.sro.openshift.io"]
    metadata = {**resource["metadata"], "finalizers": finalizers}
    apply(cluster, {**resource, "metadata": metadata})
    live = get(cluster, "specialresources.sro.openshift.io", "site-kmod")
    owner = {key: live[key] for key in ("apiVersion", "kind")} | {
        "name": "site-kmod",
        "uid": live["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    marks = {"labels": OWNED, "ownerReferences": [owner]}
    daemonset = yaml.safe_load(DAEMONSET.replace("IMAGE", "1.0"))
    daemonset["metadata"] |= marks | {"annotations": {"specialresource.openshift.io/hash": "7"}}
    daemonset["spec"]["template"]["metadata"]["labels"] |= OWNED
    daemonset["spec"]["template"]["spec"]["nodeSelector"] = GPU
    of_operator = {"control-plane": "sro"}
    controller = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "special-resource-controller-manager", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": of_operator},
            "template": {
                "metadata": {"labels": of_operator},
                "spec": {"containers": [{"name": "manager", "image": "example.org/sro"}]},
            },
        },
    }
    privileged = {"pod-security.kubernetes.io/enforce": "privileged"}
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "kmod", **marks, "labels": {**OWNED, **privileged}},
    }
    apply(cluster, namespace, daemonset, controller)
    for node in ("gpu-old-1", "gpu-old-2", "gpu-new-1"):
        cluster.kubectl("label", "node", node, f"{STATE}=Ready")
    wait_until(lambda: len(pods(cluster)) == 3, "the operator's drivers run")
    return pods(cluster)


def test_a_switch_restarts_no_driver(
    cluster: Cluster,
    runner: Runner,
    resource: dict[str, Any],
    operator: dict[str, str],
    tmp_path: Path,
) -> None:
    file = tmp_path / "cr.yaml"

    def play(*arguments: str, **more: Any) -> Any:
        file.write_text(yaml.safe_dump(resource))
        return runner.run_program(
            "special_resource", *arguments, hardware_enablement_cr=str(file), **more
        )

    refused = play()
    assert refused.code, refused.output
    assert "The Special Resource Operator runs in this cluster" in refused.output
    assert "hardware_enablement_end_operator=true" in refused.output

    switched = play(hardware_enablement_end_operator=True).check()
    assert "hunter22" not in switched.output
    assert pods(cluster) == operator
    daemonset = get(cluster, "daemonset", "driver", "-n", "kmod")
    namespace = get(cluster, "namespace", "kmod")
    for live in (daemonset, namespace):
        assert "ownerReferences" not in live["metadata"]
        assert not OWNED.keys() & live["metadata"]["labels"].keys()
    assert not any(STATE in each["metadata"]["labels"] for each in sight.nodes(cluster).values())
    manager = get(cluster, "deployment", "special-resource-controller-manager")
    assert manager["spec"]["replicas"] == 0
    record = get(cluster, "specialresources.hardware-enablement.io", "site-kmod")
    assert record["spec"]["recipe"] == "simple"
    assert "hunter22" not in json.dumps(record)

    # Nothing hangs on the custom resource any more.
    cluster.kubectl("delete", "specialresources.sro.openshift.io", "site-kmod", PATIENTLY)
    play().unchanged()
    assert pods(cluster) == operator

    resource["spec"]["managementState"] = "Unmanaged"
    assert "site-kmod is Unmanaged: nothing is done" in play().unchanged().output
    resource["spec"]["managementState"] = "Removed"
    play().check()
    assert not get(cluster, "daemonsets", "-n", "kmod")["items"]
