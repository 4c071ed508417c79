# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is not ours is not touched, what cannot be told is not judged, what users run is not
restarted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from docs.reference.fleet_dashboard import PANELS
from tests.cluster import Cluster, processes
from tests.cluster.ports import free_ports
from tests.cluster.programs import STATE_METRICS_MODULES, ensure_programs
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.conftest import grant
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.faults

Obj = dict[str, Any]

GPU_NODES = ("gpu-old-1", "gpu-old-2", "gpu-new-1")
NODE, KERNEL = "gpu-old-1", "6.8.0-60-generic"
PREINSTALLED = "sim.hardware-enablement.io/preinstalled"
ENFORCE = "pod-security.kubernetes.io/enforce"
OPEN_MODULES = {"driver_kernel_module_type": "open"}


def apply(cluster: Cluster, *objects: Obj) -> None:
    """Make objects as somebody else."""
    cluster.kubectl(
        "apply",
        "-f",
        "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}),
    )


def foreign_plugin() -> Obj:
    """A device plugin as its own project deploys it."""
    folder = {"name": "plugins", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}
    container = {
        "name": "plugin",
        "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0",
        "volumeMounts": [{"name": "plugins", "mountPath": folder["hostPath"]["path"]}],  # type: ignore[index]
    }
    labels = {"name": "nvidia-device-plugin-ds"}
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": NODE},
        "containers": [container],
        "volumes": [folder],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def user_pod(node: str) -> Obj:
    """A user's pod that holds all devices of a node."""
    container = {
        "name": "c",
        "image": "example.com/user:1",
        "resources": {"limits": {"nvidia.com/gpu": 8}},
    }
    spec = {"nodeSelector": {"kubernetes.io/hostname": node}, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"}, "spec": spec}


def restarts(cluster: Cluster) -> dict[str, str]:
    """node -> the states that wait for a restart there, of those that have any."""
    name = "nvidia-gpu.restart-pending"
    return {node: own[name] for node, own in sight.marks(cluster).items() if name in own}


def gpus(cluster: Cluster, node: str) -> str:
    """The devices that a node offers."""
    return str(sight.nodes(cluster)[node]["status"]["allocatable"].get("nvidia.com/gpu", "0"))


def sentence(played: Played) -> str:
    """The text of the one task that failed."""
    texts = [line for line in played.output.splitlines() if line.startswith("fatal:")]
    assert len(texts) == 1, played.output
    assert "Traceback" not in played.output
    return texts[0]


def all_ready(cluster: Cluster) -> bool:
    """Whether every label of ours on every GPU node says so."""
    return all(set(sight.gates(cluster, node).values()) == {"ready"} for node in GPU_NODES)


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner) -> None:
    """Everything is ready; a test that finds it so does not pay for a run."""
    if not all_ready(cluster):
        runner.play("enable_gpu").check()
        assert all_ready(cluster)


def changes_nothing(cluster: Cluster, runner: Runner, **variables: Any) -> None:
    """A further run writes nothing."""
    mark = cluster.mark()
    again = runner.play("enable_gpu", **variables).check()
    assert (again.changed, runner.writes(mark)) == (0, []), again.output


def theirs(cluster: Cluster) -> tuple[dict[str, str], dict[str, str]]:
    """Data and labels of the ConfigMap of somebody else."""
    path = f"/api/v1/namespaces/{sight.NAMESPACE}/configmaps/nvidia-device-plugin"
    found = cluster.api.get(path)
    return found["data"], found["metadata"]["labels"]


def namespace_labels(cluster: Cluster) -> dict[str, str]:
    """The labels of the recipe's namespace."""
    labels: dict[str, str] = cluster.api.get(f"/api/v1/namespaces/{sight.NAMESPACE}")["metadata"][
        "labels"
    ]
    return labels


def test_what_is_not_ours_is_refused_or_adopted_and_given_back_as_it_was(
    cluster: Cluster, runner: Runner
) -> None:
    if any(sight.marks(cluster).values()):
        runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
        wait_until(lambda: gpus(cluster, NODE) == "0", "allocatable 0")
    cluster.kubectl("annotate", "node", NODE, f"{PREINSTALLED}=driver,toolkit")
    apply(cluster, foreign_plugin())
    wait_until(lambda: gpus(cluster, NODE) == "8", "allocatable 8")
    mark = cluster.mark()
    played = runner.play("enable_gpu")
    assert played.code != 0
    text = sentence(played)
    assert "nvidia.com/gpu is already served" in text
    assert "DaemonSet kube-system/nvidia-device-plugin-daemonset" in text
    assert runner.writes(mark) == []
    cluster.kubectl("delete", "daemonset", "-n", "kube-system", "nvidia-device-plugin-daemonset")
    cluster.kubectl("annotate", "node", NODE, f"{PREINSTALLED}-")
    wait_until(lambda: gpus(cluster, NODE) == "0", "allocatable 0")

    data, labels = {"theirs": "kept"}, {"owner": "somebody"}
    metadata = {"name": "nvidia-device-plugin", "namespace": sight.NAMESPACE, "labels": labels}
    restricted = {"name": sight.NAMESPACE, "labels": {ENFORCE: "restricted", "team": "theirs"}}
    apply(
        cluster,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": restricted},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
    )
    before = namespace_labels(cluster)
    played = runner.play("enable_gpu", "--tags", "device_plugin")
    assert played.code != 0
    assert "ConfigMap nvidia-gpu/nvidia-device-plugin" in sentence(played)
    assert "Namespace nvidia-gpu" in sentence(
        runner.play("enable_gpu", "--tags", "driver_container")
    )
    assert namespace_labels(cluster) == before
    assert theirs(cluster) == (data, labels)

    runner.play("enable_gpu", hardware_enablement_adopt=True).check()
    adopted, ours = theirs(cluster)
    assert ours[sight.STATE_LABEL] == "device_plugin"
    assert "config.yaml" in adopted
    assert namespace_labels(cluster)[ENFORCE] == "privileged"
    assert all_ready(cluster)
    changes_nothing(cluster, runner)

    cluster.kubectl("label", "namespace", sight.NAMESPACE, "since=then")
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    name = {"kubernetes.io/metadata.name": sight.NAMESPACE}
    assert namespace_labels(cluster) == {
        **name,
        ENFORCE: "restricted",
        "team": "theirs",
        "since": "then",
    }
    assert theirs(cluster) == (data, labels)
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").unchanged()
    cluster.kubectl("delete", "namespace", sight.NAMESPACE)


def secret(name: str, **metadata: Any) -> Obj:
    """A Secret that an administrator puts beside our objects."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": sight.NAMESPACE, **metadata},
        "stringData": {"token": "theirs"},
    }


def owned_by_ours(cluster: Cluster) -> Obj:
    """The owner reference of what a controller makes of a ConfigMap of ours."""
    path = f"/api/v1/namespaces/{sight.NAMESPACE}/configmaps/nvidia-device-plugin"
    found = cluster.api.get(path)["metadata"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": found["name"], "uid": found["uid"]}


@pytest.mark.usefixtures("enabled")
def test_a_secret_of_somebody_else_keeps_the_namespace_that_enabling_made(
    cluster: Cluster, runner: Runner
) -> None:
    recipe = {"hardware_enablement_recipe": "nvidia-gpu"}
    stays = (
        "stays: Namespace nvidia-gpu, with which would go what others have made: "
        "Secret nvidia-gpu/pull; to remove it: keep elsewhere what is needed of it; then run "
        "disable again, or at once with -e hardware_enablement_delete_others=true"
    )
    secrets = f"/api/v1/namespaces/{sight.NAMESPACE}/secrets/"
    apply(cluster, secret("pull"), secret("made", ownerReferences=[owned_by_ours(cluster)]))

    mark = cluster.mark()
    checked = runner.play("disable", "--check", **recipe).check().output
    assert stays in checked, checked
    assert runner.writes(mark) == []
    assert stays in runner.play("disable", **recipe).check().output
    assert cluster.api.get(f"{secrets}pull")["data"]
    left = cluster.kubectl("get", "daemonsets,configmaps,serviceaccounts,pods", "-n", "nvidia-gpu")
    assert "nvidia" not in left
    mark = cluster.mark()
    assert stays in runner.play("disable", **recipe).unchanged().output
    assert runner.writes(mark) == []

    # It is ours all the same: used again, and gone as soon as nothing of theirs is in it.
    runner.play("enable_gpu").check()
    changes_nothing(cluster, runner)
    assert stays in runner.play("disable", **recipe).check().output
    assert cluster.api.get(f"{secrets}pull")["data"]
    others = {**recipe, "hardware_enablement_delete_others": True}
    lost = "with it what others had made: Secret nvidia-gpu/pull"
    assert f"would remove {lost}" in runner.play("disable", "--check", **others).check().output
    assert f"removed {lost}" in runner.play("disable", **others).check().output
    assert "nvidia-gpu" not in cluster.kubectl("get", "namespaces")
    runner.play("disable", **recipe).unchanged()


@pytest.mark.usefixtures("enabled")
def test_a_foreign_device_plugin_that_comes_later_is_refused_too(
    cluster: Cluster, runner: Runner
) -> None:
    apply(cluster, foreign_plugin())
    mark = cluster.mark()
    text = sentence(runner.play("enable_gpu"))
    assert (
        "nvidia.com/gpu, nvidia.com/mig-* is served on these nodes by another device plugin, too"
        in text
    )
    assert "DaemonSet kube-system/nvidia-device-plugin-daemonset" in text
    assert runner.writes(mark) == []
    # Whoever only looks is told as well.
    assert (
        "! DaemonSet kube-system/nvidia-device-plugin-daemonset serves"
        in runner.play("status").output
    )
    cluster.kubectl("delete", "daemonset", "-n", "kube-system", "nvidia-device-plugin-daemonset")
    wait_until(
        lambda: (
            gpus(cluster, NODE) == "8" and all(map(sight.is_ready, sight.pods(cluster).values()))
        ),
        "allocatable 8, and all pods are ready",
    )


@pytest.mark.usefixtures("enabled")
def test_a_node_that_is_not_ready_is_unknown_and_nothing_is_written_to_nodes(
    cluster: Cluster, runner: Runner
) -> None:
    before = sight.marks(cluster)
    cluster.set_ready(NODE, ready=False)
    mark = cluster.mark()
    played = runner.play("enable_gpu", hardware_enablement_failure_grace=3).check()
    assert f"! node {NODE}, driver unknown" in played.output
    assert "the node is NotReady" in played.output
    assert list(sight.problems(cluster)) == [(NODE, "driver")]
    assert sight.record(cluster)["phase"] == "unknown"
    assert sight.marks(cluster) == before
    assert [
        request for request in runner.writes(mark) if "/nodes" in request or "/pods" in request
    ] == []
    cluster.set_ready(NODE, ready=True)
    wait_until(
        lambda: all(sight.is_ready(pod) for pod in sight.pods(cluster).values()),
        "all pods are ready",
    )


@pytest.mark.usefixtures("enabled")
def test_who_looks_after_a_failed_run_learns_what_that_has_seen(
    cluster: Cluster, runner: Runner
) -> None:
    cluster.kubectl("create", "quota", "few", "-n", sight.NAMESPACE, "--hard=pods=1")
    sight.delete_pod(cluster, NODE, "device_plugin")
    failed = runner.play("enable_gpu", hardware_enablement_failure_grace=1)
    assert "exceeded quota: few" in sentence(failed)
    looked = runner.play("status", hardware_enablement_failure_grace=1).output
    assert f"! node {NODE}, device_plugin degraded" in looked
    assert "would change" not in looked
    assert "exceeded quota: few" in looked
    told = runner.play(
        "status", hardware_enablement_node=NODE, hardware_enablement_failure_grace=1
    ).output
    assert f"nvidia-gpu: node {NODE}, " in told
    assert "! device_plugin degraded: " in told
    # An hour later nothing else knows it.
    cluster.kubectl("delete", "events", "--all", "-n", sight.NAMESPACE)
    cluster.kubectl("delete", "quota", "few", "-n", sight.NAMESPACE)
    proofs = sight.proofs(cluster, GPU_NODES[2])
    del proofs["driver_validation"]
    cluster.kubectl(
        "annotate", "node", GPU_NODES[2], f"{sight.PROOFS}={json.dumps(proofs)}", "--overwrite"
    )
    mark = cluster.mark()
    output = runner.play("status").output
    assert runner.writes(mark) == []
    assert (
        f"! node {GPU_NODES[2]}, driver_validation waiting: what is deployed is not proven"
        in output
    )
    assert "  -> run the playbook that enables it" in output
    assert "this passes by itself" not in output
    # Its controller tries again later each time, but for what is news to it.
    cluster.kubectl(
        "annotate", "daemonset", "-n", sight.NAMESPACE, "nvidia-device-plugin", "try=again"
    )
    runner.play("enable_gpu").check()


def rewrite(cluster: Cluster, manager: str, *change: str) -> None:
    """Change something of ours as another field manager."""
    verb, *rest = change
    cluster.kubectl(verb, *rest, "-n", sight.NAMESPACE, f"--field-manager={manager}")


@pytest.mark.usefixtures("enabled")
def test_what_others_make_of_what_is_deployed_is_told_with_who_and_put_back(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    grant(cluster, "viewer", "hardware-enablement-viewer")
    viewer = Runner(cluster, "viewer", tmp_path)
    runner.play("enable_gpu").check()
    plugin, exporter = "daemonset/nvidia-device-plugin", "daemonset/nvidia-dcgm-exporter"
    rewrite(cluster, "argocd-controller", "label", plugin, "argocd.argoproj.io/instance=gpu")
    mark = cluster.mark()
    output = viewer.play("status").check().output
    assert "nvidia-gpu: ready, 3/3 nodes" in output
    assert "~ DaemonSet nvidia-gpu/nvidia-device-plugin extended by argocd-controller" in output
    runner.play("enable_gpu").unchanged()
    assert runner.writes(mark) == []

    # Which rolls nothing out.
    name = "app.kubernetes.io/managed-by"
    rewrite(cluster, "flux", "label", exporter, f"{name}=flux", "--overwrite")
    cluster.kubectl("delete", "configmap", "-n", sight.NAMESPACE, "nvidia-gpu-dashboard")
    mark = cluster.mark()
    looked = viewer.play("status")
    assert "nvidia-gpu: drifted, 3/3 nodes" in looked.output
    assert "! ConfigMap nvidia-gpu/nvidia-gpu-dashboard missing" in looked.output
    assert "! DaemonSet nvidia-gpu/nvidia-dcgm-exporter changed by flux" in looked.output
    assert "nvidia-gpu: drifted, 3/3 nodes" in sentence(looked)
    asked = cluster.audit(user="viewer", since=mark)
    assert {event["verb"] for event in asked} <= {"get", "list", "watch"}

    # All pods of ours run on, and each of a user's is refused.
    cluster.kubectl("delete", "runtimeclass", "nvidia")
    looked = viewer.play("status")
    assert looked.code == 2
    assert "RuntimeClass nvidia is not in the cluster, and no pod that needs it" in looked.output
    assert "nvidia-gpu: ready" not in looked.output

    runner.play("enable_gpu").check()
    assert sight.record(cluster)["drift"]["count"] == 3
    assert "by flux" not in viewer.play("status").check().output
    runner.play("enable_gpu").unchanged()
    events = cluster.kubectl("get", "events", "-A", "--field-selector=reason=HardwareDrifted")
    assert "managed-by, flux)" in events


Series = dict[tuple[str, frozenset[str]], float]
RECORD_METRIC = re.compile(
    r"^hardware_enablement_special_resource_(\w+)\{(.*)\} (\S+)$", re.MULTILINE
)

DASHBOARD_METRIC = re.compile(r"hardware_enablement_special_resource_(\w+)")


RECORD_METRICS = {"hardware_enablement_recipe": "record-metrics"}


@pytest.fixture
def admin(cluster: Cluster, tmp_path: Path) -> Runner:
    """Plays as who may do all."""
    grant(cluster, "admin", "cluster-admin")
    return Runner(cluster, "admin", tmp_path)


@pytest.fixture
def metrics(cluster: Cluster, admin: Runner, tmp_path: Path) -> Iterator[Callable[[], Series]]:
    """The series that kube-state-metrics has of a record, with the configuration that the recipe
    deploys and no right but the one that it gives: by name without prefix and by label=value, but for the
    labels that all have."""
    program = ensure_programs(modules=STATE_METRICS_MODULES)["kube-state-metrics"]
    admin.play("enable", **RECORD_METRICS).check()
    place = ("configmap", "record-metrics", "-n", "hardware-enablement-metrics")
    deployed = json.loads(cluster.kubectl("get", *place, "-o", "json"))["data"]
    (tmp_path / "config.yaml").write_text(deployed["config.yaml"])
    grant(cluster, "metrics", "record-metrics")
    port, telemetry_port = free_ports(2)
    arguments = {
        "kubeconfig": cluster.kubeconfig_for("metrics"),
        "custom-resource-state-config-file": tmp_path / "config.yaml",
        "custom-resource-state-only": "true",
        "host": "127.0.0.1",
        "port": port,
        "telemetry-host": "127.0.0.1",
        "telemetry-port": telemetry_port,
    }

    def read() -> Series:
        try:
            return _series(requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5).text)
        except requests.ConnectionError:
            return {}

    with (tmp_path / "kube-state-metrics.log").open("w") as log:
        command = [program, *(f"--{name}={value}" for name, value in arguments.items())]
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield read
    finally:
        server.terminate()
        server.wait(timeout=30)


def _series(text: str) -> Series:
    return {
        (name, _own_labels(labels)): float(value)
        for name, labels, value in RECORD_METRIC.findall(text)
        if 'name="record-metrics"' not in labels
    }


def _own_labels(text: str) -> frozenset[str]:
    labels = dict(re.findall(r'(\w+)="([^"]*)"', text))
    assert labels.pop("name") == "nvidia-gpu"
    return frozenset(
        f"{name}={value}"
        for name, value in labels.items()
        if name != "cluster" and not name.startswith("customresource_")
    )


@pytest.mark.usefixtures("enabled")
def test_the_record_is_metrics_of_kube_state_metrics(
    cluster: Cluster,
    runner: Runner,
    admin: Runner,
    metrics: Callable[[], Series],
    tmp_path: Path,
) -> None:
    none: frozenset[str] = frozenset()
    admin.play("enable", **RECORD_METRICS).unchanged()
    cluster.kubectl("delete", "configmap", "-n", sight.NAMESPACE, "nvidia-gpu-dashboard")
    runner.play("enable_gpu").check()
    record = sight.record(cluster)
    seen = sight.seconds(record["drift"]["seen"])
    wait_until(
        lambda: metrics().get(("drift_seen_timestamp_seconds", none)) == seen,
        "the drift is served",
        instead=metrics,
    )
    found = metrics()
    file = tmp_path / "record.prom"
    runner.play("status", hardware_enablement_metrics_file=str(file)).check()
    assert _series(file.read_text()) == found
    assert found["drifted_objects", none] == 1
    assert found["last_run_timestamp_seconds", none] == sight.seconds(record["lastChecked"])
    assert found["last_run_duration_seconds", none] == record["lastRunSeconds"]
    assert found["nodes", none] == found["nodes_ready", none] == len(GPU_NODES)
    assert found["nodes_restart_pending", none] == 0
    phases = {labels: value for (name, labels), value in found.items() if name == "phase"}
    assert [labels for labels, value in phases.items() if value] == [{"phase=ready"}]
    assert len(phases) > 1
    for state in record["states"]:
        labels = frozenset({f"state={state['name']}"})
        assert found["state_nodes", labels] == state["total"]
        assert found["state_nodes_ready", labels] == state["ready"]
    # A node that is exchanged and a cause are of other moments.
    shown = {name for panel in PANELS for name in DASHBOARD_METRIC.findall(panel.expression)}
    of_moments = {"cause_nodes", "node_upgrade_since_timestamp_seconds"}
    assert shown - {name for name, _labels in found} == of_moments
    (info,) = [labels for name, labels in found if name == "info"]
    assert {"recipe=nvidia-gpu", f"driver={record['versions']['driver']}"} < info

    cluster.set_ready(NODE, ready=False)
    runner.play("enable_gpu", hardware_enablement_failure_grace=3).check()
    cause = frozenset({"state=driver", "phase=unknown", "reason=NodeNotReady"})
    wait_until(lambda: metrics().get(("cause_nodes", cause)) == 1, "the cause", instead=metrics)
    assert metrics()["phase", frozenset({"phase=unknown"})] == 1
    cluster.set_ready(NODE, ready=True)
    runner.play("enable_gpu").check()
    wait_until(lambda: ("cause_nodes", cause) not in metrics(), "no cause", instead=metrics)
    admin.play("disable", **RECORD_METRICS).check()
    left = cluster.kubectl("get", "clusterroles,nodes", "-o", "json")
    assert f"{sight.DOMAIN}/record-metrics" not in left
    assert '"name": "record-metrics"' not in left


@pytest.mark.usefixtures("enabled")
def test_devices_that_are_all_in_use_are_told_from_broken_ones(
    cluster: Cluster, runner: Runner
) -> None:
    apply(cluster, user_pod(NODE))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/user", PATIENTLY)
    proofs = sight.proofs(cluster, NODE)
    del proofs["device_plugin_validation"]
    cluster.kubectl("annotate", "node", NODE, f"{sight.PROOFS}={json.dumps(proofs)}", "--overwrite")
    before = sight.uids(cluster)
    played = runner.play("enable_gpu", hardware_enablement_failure_grace=3).check()
    assert f"! node {NODE}, device_plugin_validation unknown" in played.output
    problem = sight.problems(cluster)[(NODE, "device_plugin_validation")]
    assert (problem["phase"], problem["reason"]) == ("unknown", "DevicesBusy")
    gates = sight.gates(cluster, NODE)
    assert (gates[""], gates["device_plugin_validation"]) == ("ready", "stale")
    assert restarts(cluster) == {}
    assert "degraded" not in gates.values()
    assert sight.uids(cluster) == before
    cluster.kubectl("delete", "pod", "user", "--now")
    runner.play("enable_gpu").check()
    assert all_ready(cluster)


def in_use(cluster: Cluster) -> bool:
    """Whether the driver of NODE says that it cannot be loaded."""
    pod = sight.pods(cluster).get((NODE, "driver"), {})
    containers = pod.get("status", {}).get("containerStatuses", [])
    if not any(container["restartCount"] for container in containers):
        return False
    name = pod["metadata"]["name"]
    return "driver is in use" in cluster.kubectl("logs", "-n", sight.NAMESPACE, name)


@pytest.mark.usefixtures("enabled")
def test_a_changed_driver_waits_for_its_restart_and_is_proven_then(
    cluster: Cluster, runner: Runner
) -> None:
    before = sight.uids(cluster)
    played = runner.play("enable_gpu", hardware_enablement_options=OPEN_MODULES).check()
    assert "3 nodes run the driver version before, until the playbook upgrade" in played.output
    assert sight.uids(cluster) == before
    for node in GPU_NODES:
        gates = sight.gates(cluster, node)
        assert (gates[""], gates["driver"]) == ("ready", "stale")
    assert restarts(cluster) == dict.fromkeys(GPU_NODES, "driver")
    again = runner.play("enable_gpu", hardware_enablement_options=OPEN_MODULES).check()
    again.unchanged()
    assert "3 nodes run the driver version before" in again.output

    proof = sight.proofs(cluster, NODE)["driver"]
    # By hand it does not start: what stands on the one before is in its way.
    sight.delete_pod(cluster, NODE, "driver")
    wait_until(lambda: in_use(cluster), "the new driver finds the one before in use")
    runner.play("upgrade", hardware_enablement_recipe="nvidia-gpu").check()
    assert all_ready(cluster)
    assert restarts(cluster) == {}
    changes_nothing(cluster, runner, hardware_enablement_options=OPEN_MODULES)
    assert sight.proofs(cluster, NODE)["driver"]["hash"] != proof["hash"]


@pytest.mark.usefixtures("enabled")
def test_a_namespace_that_an_api_that_is_down_holds_says_so_and_goes_by_the_advice(
    cluster: Cluster, runner: Runner
) -> None:
    metrics = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1beta1.metrics.k8s.io"},
        "spec": {
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"name": "metrics-server", "namespace": "kube-system"},
        },
    }
    apply(cluster, metrics)
    log, advice = runner.folder / "disable.log", "mend or delete APIService v1beta1.metrics.k8s.io"
    everything = {
        "hardware_enablement_recipe": "nvidia-gpu",
        "hardware_enablement_delete_others": True,
    }
    kept = runner.play("disable", "--check", hardware_enablement_recipe="nvidia-gpu").output
    assert "the API of metrics.k8s.io/v1beta1 does not answer" in kept
    run = runner.start("disable", **everything)
    try:
        wait_until(
            lambda: "waits until Namespace nvidia-gpu is gone: Disc" in log.read_text(),
            "disable says what holds the namespace",
        )
        text = sentence(runner.play("enable_gpu"))
        assert "Namespace nvidia-gpu is being deleted: Discovery failed" in text
        assert advice in text
        assert "metrics.k8s.io/v1beta1" in log.read_text()
        cluster.kubectl("delete", "apiservice", "v1beta1.metrics.k8s.io")
        assert run.wait(timeout=120) == 0, log.read_text()
    finally:
        cluster.kubectl("delete", "apiservice", "v1beta1.metrics.k8s.io", "--ignore-not-found")
        if run.poll() is None:
            run.kill()
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").unchanged()


@pytest.mark.slow
@pytest.mark.usefixtures("enabled")
def test_an_api_server_that_stops_answering_changes_no_label(
    cluster: Cluster, runner: Runner
) -> None:
    server = next(
        item for item in processes.noted(cluster.folder) if item.program == "kube-apiserver"
    )
    set_fault(cluster.kubeconfig, NODE, "driver", "slow", seconds=300)
    # After a reboot everything on the node has to be proven again: the run has written and holds
    # the lock.
    cluster.reboot(NODE, KERNEL)
    run = runner.start("enable_gpu")
    try:
        wait_until(
            lambda: sight.gates(cluster, NODE)["driver"] == "stale" or run.poll() is not None,
            "the driver's gate is stale",
        )
        before = sight.marks(cluster)
        server.send(signal.SIGSTOP)
        stopped = time.monotonic()
        code = run.wait(timeout=120)
        print(f"the run ended {time.monotonic() - stopped:.0f} s after the API server had stopped")
    finally:
        server.send(signal.SIGCONT)
        if run.poll() is None:
            run.kill()
    output = (runner.folder / "enable_gpu.log").read_text()
    assert code != 0
    assert "the API server does not answer in time" in output
    assert "Traceback" not in output
    assert sight.marks(cluster) == before
    clear_faults(cluster.kubeconfig)
    # What the run could not give back would be held for up to a minute.
    cluster.kubectl("delete", "lease", "nvidia-gpu", "-n", "hardware-enablement")
    runner.play("enable_gpu").check()
    assert all_ready(cluster)
