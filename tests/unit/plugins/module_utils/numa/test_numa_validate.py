# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""numa_validate as a whole task: a cluster where all is well, and each way in which it may not be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
import xmlschema
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NUMA_VALIDATE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa import numa_validate
from ansible_collections.hardware.enablement.plugins.module_utils._numa.numa_checks import CHECKS
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)
from ansible_collections.hardware.enablement.tests.scenes import numa
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)

# ansible-test runs unit tests with a Python of its own, which need not have it.
pytest.importorskip("xxhash")

JUNIT = str(Path(__file__).parents[5] / "docs" / "admin" / "junit.xsd")
__all__ = ["fake"]

Obj = dict[str, Any]
# Long after all that is in the cluster.
NOW = 1_800_000_000.0
MINOR = 36
_RESOURCES = {
    "pods": ("v1", "Pod"),
    "nodes": ("v1", "Node"),
    "configmaps": ("v1", "ConfigMap"),
    "daemonsets": ("apps/v1", "DaemonSet"),
    "deployments": ("apps/v1", "Deployment"),
    "leases": ("coordination.k8s.io/v1", "Lease"),
    "customresourcedefinitions": ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    "noderesourcetopologies": ("topology.node.k8s.io/v1alpha2", "NodeResourceTopology"),
}
_HASH = "pod-template-hash"
_OWNERS: dict[str, Obj] = {
    "exporter": {"kind": "DaemonSet", "name": "numa-exporter", "uid": "e", "controller": True},
    "scheduler": {
        "kind": "ReplicaSet",
        "name": "numa-scheduler-5d8f",
        "uid": "s",
        "controller": True,
    },
}
_READY = [{"type": "Ready", "status": "True"}]
_ARROW = re.compile(r"namespaces/([^/]+)/")


class World:
    """An API server with objects by path, as far as numa_validate asks for them. dumps: lines of the
    scheduler's log. forbidden: what paths must not match."""

    def __init__(self, fake: FakeServer) -> None:
        self.fake = fake
        self.objects: dict[str, Obj] = {}
        self.log = ""
        self.forbidden = ""
        self.version: Obj = {"major": "1", "minor": str(MINOR)}
        fake.answer = self._answer
        for node in numa.NODES:
            self.put("/api/v1/nodes", _node(node))
            self.put(numa.TOPOLOGIES, _aged(numa.topology(node)))
            self.put("/api/v1/pods", _running(numa.pod(*numa.PODS[node], node=node)))
        here = f"namespaces/{numa.NAMESPACE}"
        for component, config in (
            ("exporter", numa.exporter_config()),
            ("scheduler", numa.scheduler_config()),
        ):
            self.put(f"/api/v1/{here}/configmaps", numa.config_map(f"numa-{component}", config))
            for number, node in enumerate(numa.NODES, start=1):
                made = numa.pod(numa.NAMESPACE, f"numa-{component}-{number}", node, "")
                made["spec"]["containers"][0] |= {"resources": {}}
                made["metadata"]["labels"] = {**numa.labels(component), _HASH: "5d8f"}
                made["metadata"]["ownerReferences"] = [_OWNERS[component]]
                self.put("/api/v1/pods", _running(made, qos="BestEffort"))
        counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady")
        exporter = _complete(numa.exporter(), counts)
        exporter["metadata"]["uid"] = _OWNERS["exporter"]["uid"]
        self.put(f"/apis/apps/v1/{here}/daemonsets", exporter)
        counts = ("replicas", "updatedReplicas", "availableReplicas")
        self.put(f"/apis/apps/v1/{here}/deployments", _complete(numa.scheduler(MINOR), counts))
        self.put(
            f"/apis/coordination.k8s.io/v1/{here}/leases", numa.lease("2027-01-15T07:59:00.000000Z")
        )
        self.put(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            {
                "metadata": {"name": "noderesourcetopologies.topology.node.k8s.io"},
                "spec": {"group": "topology.node.k8s.io", "names": {}, "versions": []},
                "status": {"storedVersions": ["v1alpha2"]},
            },
        )

    def put(self, collection: str, obj: Obj) -> None:
        """Make an object."""
        namespace = obj["metadata"].get("namespace")
        if namespace and "namespaces/" not in collection:
            head, _slash, plural = collection.rpartition("/")
            collection = f"{head}/namespaces/{namespace}/{plural}"
        self.objects[f"{collection}/{obj['metadata']['name']}"] = deepcopy(obj)

    def get(self, path: str) -> Obj:
        """The one object whose path ends so."""
        (found,) = (obj for each, obj in self.objects.items() if each.endswith(path))
        return found

    def seed(self, seed: numa.Seed) -> None:
        """Make a misconfiguration."""
        if seed.body is None:
            del self.objects[seed.path]
        elif seed.makes:
            self.put(seed.path, {**seed.body, "status": _status({"spec": {}, **seed.body})})
        else:
            _merge(self.objects[seed.path], seed.body)

    def run(
        self,
        *,
        check: bool = False,
        clock: Callable[[], float] = lambda: NOW,
        sleep: Callable[[float], None] = float,
        **given: Any,
    ) -> Obj:
        """The task's result."""
        params = {"host": self.fake.url, "api_key": "secret", "settle": 0, "fail_on": "none"}
        checked = ArgumentSpecValidator(dict(NUMA_VALIDATE)).validate({**params, **given})
        assert not checked.error_messages
        context = RunContext(check_mode=check, clock=clock)
        request = make_request(numa_validate.NumaValidateRequest, checked.validated_parameters)
        return numa_validate.run(request, context, sleep)

    def ids(self, **given: Any) -> set[str]:
        """What is found."""
        return {finding["id"] for finding in self.run(**given)["findings"]}

    def _answer(self, asked: Asked) -> tuple[int, dict[str, str], Any]:
        url = urlsplit(asked.path)
        if self.forbidden and re.search(self.forbidden, url.path):
            return _status_of(403, "Forbidden")
        if url.path == "/version":
            return 200, {}, self.version
        if url.path.endswith("/log"):
            return 200, {"Content-Type": "text/plain"}, self.log.encode()
        if url.path.endswith("/proxy/configz"):
            node = self.objects[url.path.removesuffix("/proxy/configz")]
            told = json.loads(node["metadata"]["annotations"][numa.ANNOTATION])
            return 200, {}, {"kubeletconfig": told["kubelet"]}
        if url.path == numa.TOPOLOGIES.rpartition("/")[0]:
            return self._kinds()
        if url.path in self.objects:
            return 200, {}, self.objects[url.path]
        plural = url.path.rpartition("/")[2]
        if plural in _RESOURCES:
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            items = [
                obj
                for path, obj in self.objects.items()
                if re.sub(_ARROW, "", path).startswith(re.sub(_ARROW, "", url.path) + "/")
                and all(found in path for found in _ARROW.findall(url.path))
                and _selected(obj, query)
            ]
            kind = f"{_RESOURCES[plural][1]}List"
            return 200, {}, {"kind": kind, "metadata": {}, "items": items}
        return _status_of(404, "NotFound")

    def _kinds(self) -> tuple[int, dict[str, str], Any]:
        served = any(path.startswith(numa.TOPOLOGIES) for path in self.objects)
        kinds = [
            {"name": "noderesourcetopologies", "kind": "NodeResourceTopology", "namespaced": False}
        ]
        return 200, {}, {"kind": "APIResourceList", "resources": kinds if served else []}


def _status_of(code: int, reason: str) -> tuple[int, dict[str, str], Any]:
    return code, {}, {"kind": "Status", "code": code, "reason": reason, "message": reason}


def _selected(obj: Obj, query: Mapping[str, str]) -> bool:
    labels = {f"{name}={value}" for name, value in (obj["metadata"].get("labels") or {}).items()}
    known = labels | {label.partition("=")[0] for label in labels} | {""}
    succeeded = (obj.get("status") or {}).get("phase") == "Succeeded"
    wanted = query.get("labelSelector", "").split(",")
    return known.issuperset(wanted) and not ("fieldSelector" in query and succeeded)


def _merge(into: Obj, patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def _node(name: str) -> Obj:
    amounts = {"cpu": "16", "memory": "64Gi"}
    return {
        "metadata": {"name": name, "annotations": {numa.ANNOTATION: numa.simulated()}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": _READY},
    }


def _aged(topology: Obj) -> Obj:
    written = [{"manager": "exporter", "time": "2027-01-15T07:59:58Z"}]
    metadata = {
        "creationTimestamp": "2027-01-15T07:40:00Z",
        "generation": 100,
        "managedFields": written,
    }
    return {**topology, "metadata": {**topology["metadata"], **metadata}}


def _status(body: Obj) -> Obj:
    phase = "Running" if body["spec"].get("nodeName") else "Pending"
    given: Obj = body.get("status") or {"phase": phase}
    return {"qosClass": "Guaranteed", **given}


def _running(pod: Obj, qos: str = "Guaranteed") -> Obj:
    status = {
        "phase": "Running",
        "qosClass": qos,
        "conditions": _READY,
        "startTime": "2027-01-15T07:50:00Z",
    }
    return {**pod, "status": status}


def _complete(workload: Obj, counts: tuple[str, ...]) -> Obj:
    status = {"observedGeneration": 1, **dict.fromkeys(counts, 2)}
    return {
        **workload,
        "metadata": {**workload["metadata"], "generation": 1},
        "status": status,
    }


@pytest.fixture
def world(fake: FakeServer) -> World:
    """Two nodes, exporters, the scheduler, and a pod on each node; its cache is not known."""
    made = World(fake)
    containers = made.get("/deployments/numa-scheduler")["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "cache-dumps", "image": "registry.test/exporter:1"})
    return made


def test_where_all_is_well_nothing_is_found(world: World) -> None:
    result = world.run(fail_on="warning")
    assert result["findings"] == []
    assert result["nodes"] == list(numa.NODES)
    assert result["table"] == [
        f"NUMA: 0 errors, 0 warnings, 2 nodes looked at, {len(CHECKS)} of {len(CHECKS)} checks"
    ]
    assert result["summary"]["not_run"] == []
    writes = [asked for asked in world.fake.asked if asked.method != "GET"]
    assert writes == []


@pytest.mark.parametrize("seed", [*numa.KUBELET_SEEDS, *numa.SEEDS], ids=lambda seed: seed.id)
def test_a_misconfiguration_is_found_by_its_id(world: World, seed: numa.Seed) -> None:
    world.seed(seed)
    assert world.ids() == {seed.id, *seed.others}


def workload_status(kind: str, name: str, **status: int) -> Callable[[World], None]:
    return lambda world: world.get(f"/{kind}/{name}")["status"].update(status)


def exporters(**status: int) -> Callable[[World], None]:
    return workload_status("daemonsets", "numa-exporter", **status)


def schedulers(**status: int) -> Callable[[World], None]:
    return workload_status("deployments", "numa-scheduler", **status)


def image(text: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        template = world.get("/deployments/numa-scheduler")["spec"]["template"]
        template["spec"]["containers"][0]["image"] = text

    return change


def pod_status(name: str, **status: Any) -> Callable[[World], None]:
    return lambda world: world.get(f"/pods/{name}")["status"].update(status)


def without_gates(world: World) -> None:
    spec = world.get("/daemonsets/numa-exporter")["spec"]["template"]["spec"]
    spec["containers"][0]["command"] = ["/bin/resource-topology-exporter"]


def a_second_exporter(world: World) -> None:
    other = deepcopy(world.get("/daemonsets/numa-exporter"))
    other["metadata"]["name"] = "numa-exporter-b"
    world.put("/apis/apps/v1/daemonsets", other)


def no_exporter_on_one(world: World) -> None:
    del world.objects[f"/api/v1/namespaces/{numa.NAMESPACE}/pods/numa-exporter-1"]


def no_api(world: World) -> None:
    for node in numa.NODES:
        del world.objects[f"{numa.TOPOLOGIES}/{node}"]


def stored_before(world: World) -> None:
    crd = world.get("/noderesourcetopologies.topology.node.k8s.io")
    crd["status"]["storedVersions"] = ["v1alpha1", "v1alpha2"]


def silent_for_an_hour(world: World) -> None:
    metadata = world.get("/noderesourcetopologies/numa-1")["metadata"]
    metadata["managedFields"][0]["time"] = "2027-01-15T07:58:00Z"


def came_late(world: World) -> None:
    metadata = world.get("/noderesourcetopologies/numa-1")["metadata"]
    metadata["creationTimestamp"] = "2027-01-15T07:55:00Z"


def without_dumps(world: World) -> None:
    world.get("/deployments/numa-scheduler")["spec"]["template"]["spec"]["containers"].pop()


def out_of_sync(world: World) -> None:
    dump = {
        "nodeName": "numa-1",
        "fingerprintExpected": numa.FINGERPRINTS["numa-1"],
        "fingerprintComputed": numa.FINGERPRINTS["numa-2"],
        "pods": [{"Namespace": "default", "Name": "ended"}],
    }
    world.log = f"a line that is cut\n{json.dumps({'node': 'numa-1', 'dump': dump})}\n"


def an_old_cluster(world: World) -> None:
    world.version = {"major": "1", "minor": "20+"}


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        (exporters(observedGeneration=0), {"exporter-rollout"}),
        (exporters(updatedNumberScheduled=1), {"exporter-rollout"}),
        (
            exporters(desiredNumberScheduled=0, updatedNumberScheduled=0),
            {"exporter-selects-nothing"},
        ),
        (schedulers(updatedReplicas=1), {"scheduler-rollout"}),
        (schedulers(availableReplicas=1), {"scheduler-rollout"}),
        (
            schedulers(replicas=1, updatedReplicas=1, availableReplicas=1),
            {"scheduler-rollout"},
        ),
        (pod_status("numa-exporter-1", phase="Pending"), {"exporter-not-ready"}),
        (pod_status("numa-exporter-1", conditions=[]), {"exporter-not-ready"}),
        (pod_status("numa-scheduler-1", conditions=[]), {"scheduler-not-ready"}),
        (without_gates, {"exporter-readiness-gates"}),
        (a_second_exporter, {"exporter-duplicate"}),
        (image("registry.test/kube-scheduler:v1.34.7"), {"scheduler-image-minor"}),
        (image("registry.test/kube-scheduler@sha256:00"), {"scheduler-image-version-unknown"}),
        (stored_before, {"topology-api-stored-version"}),
        (silent_for_an_hour, {"topology-not-refreshed"}),
        (came_late, {"scheduler-older-than-topology"}),
        (without_dumps, {"scheduler-dumps-off"}),
        (out_of_sync, {"scheduler-cache-differs"}),
        (an_old_cluster, {"cluster-version", "scheduler-image-minor"}),
        (no_api, {"topology-api"}),
    ],
)
def test_what_controllers_and_kubelets_say(
    world: World, change: Callable[[World], None], ids: set[str]
) -> None:
    change(world)
    assert world.ids() == ids


def asks(**spec: Any) -> Callable[[World], None]:
    """A pod that waits for the scheduler, with more in its spec."""

    def change(world: World) -> None:
        made = numa.pod("default", "asks")
        made["spec"] |= spec
        world.put(
            "/api/v1/pods", {**made, "status": {"phase": "Pending", "qosClass": "Guaranteed"}}
        )

    return change


def _container(cpu: str, **more: str) -> Obj:
    amounts = {"cpu": cpu, "memory": "1Gi"}
    return {"name": "each", "resources": {"limits": amounts, "requests": amounts}, **more}


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        (asks(), set()),
        (asks(initContainers=[_container("2")]), set()),
        (
            asks(initContainers=[_container("2", restartPolicy="Always")]),
            {"pod-sidecars-not-counted"},
        ),
        (asks(overhead={"cpu": "250m"}), {"pod-overhead-counted"}),
        (asks(containers=[_container("1500m"), _container("500m")]), {"pod-parts-of-cpus"}),
        (asks(containers=[_container("1500m")], schedulerName="default-scheduler"), set()),
    ],
)
def test_what_scheduler_and_kubelet_count_differently(
    world: World, change: Callable[[World], None], ids: set[str]
) -> None:
    change(world)
    assert world.ids() == ids


def test_of_a_sidecar_with_a_part_of_a_cpu_only_the_memory_counts(world: World) -> None:
    asks(initContainers=[_container("500m", restartPolicy="Always")])(world)
    found = {each["id"]: each["detected"] for each in world.run()["findings"]}
    assert found["pod-sidecars-not-counted"] == "memory of sidecars"


def a_profile_for_others(world: World) -> None:
    """A second profile of the scheduler, that looks at no zones."""
    config = world.get("/configmaps/numa-scheduler")["data"]
    told = json.loads(config["config.yaml"])
    told["profiles"].append({"schedulerName": "plain"})
    config["config.yaml"] = json.dumps(told)


def writes_only_what_changes(world: World) -> None:
    """An exporter whose object is as old as it is true."""
    metadata = world.get("/noderesourcetopologies/numa-1")["metadata"]
    metadata["managedFields"][0]["time"] = "2027-01-15T07:58:00Z"
    metadata["generation"] = 21


def in_sync_again(world: World) -> None:
    """The dump is about a fingerprint that is published no more."""
    out_of_sync(world)
    world.log = world.log.replace(numa.FINGERPRINTS["numa-1"], "pfp0v0010000000000000000")


def another_scheduler(world: World) -> None:
    """Pods of a scheduler that others have brought: one is placed, one is new."""
    placed = numa.pod("namespace1", "placed", numa.NODES[0], "others")
    world.put("/api/v1/pods", _running(placed, qos="Burstable"))
    waiting = numa.pod("namespace1", "waiting", scheduler="others")
    world.put("/api/v1/pods", {**waiting, "status": {"phase": "Pending"}})
    world.get("/pods/placed")["spec"]["containers"][0].pop("resources")


@pytest.mark.parametrize(
    "change",
    [writes_only_what_changes, in_sync_again, another_scheduler, a_profile_for_others],
    ids=lambda each: each.__name__,
)
def test_what_only_looks_wrong_is_not_found(world: World, change: Callable[[World], None]) -> None:
    change(world)
    assert world.ids() == set()


def test_a_node_that_lost_its_exporter_is_found_where_it_is_asked_for(world: World) -> None:
    no_exporter_on_one(world)
    assert world.run()["nodes"] == ["numa-2"]
    pools = [{"name": "all", "selector": {"matchExpressions": [_HOSTS]}}]
    for node in numa.NODES:
        world.get(f"/nodes/{node}")["metadata"]["labels"] = {"host": node}
    assert world.ids(pools=pools) == {"topology-without-exporter"}
    assert world.ids(selector=[{"host": "numa-1"}]) == {"topology-without-exporter"}


_HOSTS = {"key": "host", "operator": "In", "values": list(numa.NODES)}


def test_where_no_node_is_looked_at_nothing_was_checked(world: World) -> None:
    assert world.ids(selector=[{"host": "none"}]) == {"cluster-nodes"}


def test_what_is_declared_and_does_not_run_is_found(world: World) -> None:
    pool = "hypershift.openshift.io/nodePool"
    for node in numa.NODES:
        world.get(f"/nodes/{node}")["metadata"]["labels"] = {pool: "blue"}
    declared = numa.config_map("kubelets", "")
    declared["metadata"] = {
        "name": "kubelets",
        "namespace": "openshift-config-managed",
        "labels": {pool: "blue", "hypershift.openshift.io/kubeletconfig-config": "true"},
    }
    declared["data"] = {"config": "topologyManagerScope: container"}
    world.put("/api/v1/configmaps", declared)
    found = world.run()["findings"]
    assert {(each["id"], each["pool"]) for each in found} == {("kubelet-declared-differs", "blue")}
    assert found[0]["expected"] == (
        "container, as ConfigMap openshift-config-managed/kubelets declares"
    )


def test_each_check_is_seen_to_fail() -> None:
    seeds = [seed.id for seed in (*numa.KUBELET_SEEDS, *numa.SEEDS)]
    assert len(set(seeds)) > 25
    text = Path(__file__).read_text(encoding="utf-8")
    assert [id_ for id_ in CHECKS if id_ not in seeds and f'"{id_}"' not in text] == []


def test_a_kubelet_that_does_not_answer_is_a_finding(world: World) -> None:
    conditions = [{"type": "Ready", "status": "False", "message": "it is off"}]
    world.get("/nodes/numa-1")["status"]["conditions"] = conditions
    (found,) = world.run()["findings"]
    assert (found["id"], found["node"]) == ("kubelet-not-read", "numa-1")
    assert found["detected"] == "the node is not ready: it is off"


@pytest.mark.parametrize(
    ("forbidden", "what"),
    [
        ("/proxy/configz", "kubelets"),
        ("/configmaps/", "ConfigMaps"),
        ("/leases/", "Leases"),
        ("/customresourcedefinitions/", "the CustomResourceDefinition"),
        ("/log$", "the scheduler's cache"),
    ],
)
def test_what_may_not_be_read_is_said_and_the_rest_is_checked(
    world: World, forbidden: str, what: str
) -> None:
    world.forbidden = forbidden
    result = world.run()
    (found,) = result["findings"]
    assert (found["id"], found["object"], found["severity"]) == (
        "cluster-not-read",
        what,
        "warning",
    )
    assert result["summary"]["not_run"]
    world.seed(next(seed for seed in numa.SEEDS if seed.id == "topology-amounts"))
    assert "topology-amounts" in world.ids()


def test_a_topology_of_other_types_costs_its_own_node_alone(world: World) -> None:
    world.get("/noderesourcetopologies/numa-1")["zones"] = "none"
    findings = world.run()["findings"]
    said = {found["object"]: found["detected"] for found in findings}
    assert said["NodeResourceTopology numa-1"] == "zones is text, where a list is due"
    assert {found["node"] for found in findings} <= {"", "numa-1"}


def test_kubelets_need_not_be_asked(world: World) -> None:
    result = world.run(kubelets=False)
    assert [finding["id"] for finding in result["findings"]] == ["kubelets-not-asked"]
    assert "kubelet-cpu-manager-policy" in result["summary"]["not_run"]
    assert not any("configz" in asked.path for asked in world.fake.asked)


def test_errors_make_it_fail_and_files_are_written_before(world: World, tmp_path: Path) -> None:
    world.seed(next(seed for seed in numa.SEEDS if seed.id == "topology-stale-node"))
    seed = next(seed for seed in numa.SEEDS if seed.id == "topology-amounts")
    files = {"json": str(tmp_path / "found.json"), "junit": str(tmp_path / "found.xml")}
    assert len(world.run(fail_on="error")["findings"]) == 1
    with pytest.raises(EnablementError, match=r"1 warning: topology-stale-node \(1\); do what"):
        world.run(fail_on="warning")
    world.seed(seed)
    with pytest.raises(EnablementError) as caught:
        world.run(check=True, fail_on="error", **files)
    assert list(tmp_path.iterdir()) == []
    assert caught.value.result["summary"]["errors"] == 1
    with pytest.raises(
        EnablementError, match=r"looked at\): 1 error: topology-amounts \(1\); do what"
    ):
        world.run(fail_on="error", **files)
    told = json.loads(Path(files["json"]).read_text())
    assert [entry["id"] for entry in told["findings"]] == [
        "topology-amounts",
        "topology-stale-node",
    ]
    suite = ElementTree.parse(files["junit"]).getroot()  # noqa: S314 - it is our own
    xmlschema.validate(files["junit"], JUNIT)
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "error"
    assert int(suite.get("tests", 0)) == len(CHECKS)
    names = [case.get("name") for case in suite.iter("testcase")]
    assert "topology-amounts [numa-1]" in names
    with pytest.raises(InvalidInput, match="name a file in a folder that is there"):
        world.run(json=str(tmp_path / "no" / "file"))


def test_the_table_has_nodes_of_one_finding_in_one_line(world: World) -> None:
    for node in numa.NODES:
        del world.objects[f"/api/v1/namespaces/{numa.PODS[node][0]}/pods/{numa.PODS[node][1]}"]
        world.get(f"/noderesourcetopologies/{node}")["zones"] = []
    lines = world.run(kubelets=False)["table"]
    row = next(line for line in lines if "topology-zones" in line)
    assert "numa-1, numa-2" in row
    assert sum(line.startswith("-> topology-zones: ") for line in lines) == 1


def test_what_passes_by_itself_is_looked_at_again(world: World) -> None:
    (seed,) = (seed for seed in numa.SEEDS if seed.path.endswith("pods") and "unseen" in str(seed))
    world.seed(seed)
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds
        if passed[0] > 3:
            world.objects.pop("/api/v1/namespaces/default/pods/unseen", None)

    def clock() -> float:
        return NOW + passed[0]

    assert world.run(settle=10, clock=clock, sleep=sleep)["findings"] == []
    assert passed[0] == 4
    asked = [each.path for each in world.fake.asked if "configz" in each.path]
    assert len(asked) == len(numa.NODES)
    world.seed(seed)
    passed[0] = -100
    found = world.run(settle=10, clock=clock, sleep=sleep)["findings"]
    assert [finding["id"] for finding in found] == ["fingerprint-differs"]


def test_a_pod_that_only_has_the_labels_stands_for_no_exporter(world: World) -> None:
    del world.get("/pods/numa-exporter-1")["metadata"]["ownerReferences"]
    world.get("/pods/numa-exporter-1")["status"]["conditions"] = []
    assert world.ids() == set()


def test_a_pod_that_only_has_the_labels_is_not_believed_what_the_scheduler_thinks(
    world: World,
) -> None:
    """Its log would be taken for the scheduler's."""
    world.run()
    assert any(asked.path.partition("?")[0].endswith("/log") for asked in world.fake.asked)
    world.fake.asked.clear()
    for number in range(1, len(numa.NODES) + 1):
        del world.get(f"/pods/numa-scheduler-{number}")["metadata"]["ownerReferences"]
    world.run()
    assert not any(asked.path.partition("?")[0].endswith("/log") for asked in world.fake.asked)
