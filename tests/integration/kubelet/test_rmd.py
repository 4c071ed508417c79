# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RMD on a real node whose kubelet gives pods CPUs of their own: configured there, reached by
port-forward, verified.

The daemon is the tests' own server, packed as an image; what it divides is a folder that looks like
resctrl. The kubelet, its CPU manager, cgroups, volumes and the agent are real."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.conftest import grant
from tests.integration.kubelet.bench import Obj, pod_spec
from tests.integration.plays import REPO, Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until
from tests.rmd.image import make_image
from tests.rmd.machine import Machine
from tests.rmd.resctrl import Resctrl

pytestmark = pytest.mark.kubelet

NAMESPACE = "intel-rmd"
# On the node; /sys is the machine's, and most machines have no resctrl.
TREE = "/srv/resctrl"
RESERVED = "0"


@dataclass
class Site:
    """A cluster, the real node with RMD, and how to play."""

    cluster: Cluster
    node: str
    runner: Runner
    machine: Machine

    @property
    def tree(self) -> Path:
        """The node's stand-in for resctrl, from outside."""
        return self.cluster.real_node(self.node).root / TREE.lstrip("/")

    def play(
        self, playbook: str = "rmd", *arguments: str, rmd_renew: str = "auto", **options: Any
    ) -> Played:
        settings: Obj = {
            "rmd_renew": rmd_renew,
            "hardware_enablement_rmd_image": "localhost/rmd:1",
            "hardware_enablement_rmd_endpoint": "port_forward",
            # Longer than a log may need that is not there yet just after a container has ended.
            "hardware_enablement_failure_grace": 10,
            "hardware_enablement_options": {
                "agent_image": "localhost/python-base:1",
                "agent_interval": 1,
                "resctrl_path": TREE,
                "hardware_labels": [{"rmd": "wanted"}],
                # The one CPU that is not reserved is for the pod.
                "resources": {state: {"requests": {"cpu": "0"}} for state in ("daemon", "agent")},
                **options,
            },
        }
        if playbook != "rmd":
            settings = {"hardware_enablement_rmd_endpoint": "port_forward", **options}
        return self.runner.play(playbook, *arguments, **settings)

    def pod(self, component: str) -> str:
        labels = f"app.kubernetes.io/name=intel-rmd,app.kubernetes.io/component={component}"
        found = json.loads(
            self.cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", labels, "-o", "json")
        )["items"]
        (name,) = [
            pod["metadata"]["name"] for pod in found if "deletionTimestamp" not in pod["metadata"]
        ]
        return str(name)

    def report(self) -> Obj:
        """The agent's last line."""
        return dict(
            json.loads(self.cluster.kubectl("logs", "-n", NAMESPACE, self.pod("agent"), "--tail=1"))
        )

    def run(self, component: str, *command: str) -> str:
        """Run a command in a pod of ours."""
        return self.cluster.kubectl("exec", "-n", NAMESPACE, self.pod(component), "--", *command)

    def asked(self) -> set[str]:
        """The methods of the requests that the daemon has had since it began."""
        log = self.cluster.kubectl(
            "logs", "-n", NAMESPACE, self.pod("daemon"), "-c", "rmd"
        ).splitlines()
        return {line.split()[0] for line in log if " /v1/" in line}

    def get(self, kind: str, name: str, namespace: str = "default") -> Obj:
        return dict(
            json.loads(self.cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json"))
        )


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One of the two nodes gives out CPUs, but for the first one, and has what looks like a mounted
    resctrl."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("there is no CPU besides the reserved one")
    node = cluster.workers[0]
    machine = Machine(sockets=1, cpus=os.cpu_count() or 2, ways=11)
    folder = tmp_path_factory.mktemp("rmd")
    cluster.real_node(node).load(make_image(folder / "rmd.tar", {"machine": asdict(machine)}))
    cluster.set_exclusive_cpus(node, RESERVED)
    # Where most kubelets keep their own key; these nodes have theirs elsewhere.
    kept = cluster.real_node(node).root / "var/lib/kubelet/pki"
    kept.mkdir(exist_ok=True)
    (kept / "kubelet-client-current.pem").write_text("nobody's business")
    cluster.kubectl("label", "node", node, "rmd=wanted")
    cluster.kubectl(
        "apply",
        "-f",
        str(REPO / "manifests" / "rbac.yaml"),
        "-f",
        str(REPO / "manifests" / "rmd-crds.yaml"),
    )
    grant(cluster, "rmd-run", "hardware-enablement-runner")
    site = Site(cluster, node, Runner(cluster, "rmd-run", folder), machine)
    yield site
    cluster.kubectl("delete", "pod", "cached", "--ignore-not-found", "--now")
    cluster.kubectl("label", "node", node, "rmd-")
    cluster.set_exclusive_cpus(node, "")


def a_node_without_resctrl_says_so(site: Site) -> None:
    (site.tree / "info").mkdir(parents=True)
    played = site.play()
    assert played.code != 0
    assert (
        f"RMD is not started on {site.node}: resctrl is not mounted at {TREE}; mount it"
        in played.output
    )


def pools_that_do_not_fit_are_refused_there(site: Site) -> None:
    Resctrl(site.machine, site.tree).reset()
    played = site.play(guaranteed_ways=10, besteffort_ways=7, shared_ways=2)
    assert played.code != 0
    assert "hold 20 ways, but the L3 cache has 11" in played.output, played.output


def rmd_is_configured_on_the_node_and_answers_through_the_api_server(site: Site) -> None:
    site.play().check()
    site.play().unchanged()
    configuration = site.run("daemon", "cat", "/etc/rmd-node/rmd.toml")
    assert "guarantee = 7" in configuration
    assert (site.cluster.real_node(site.node).root / "var/lib/intel-rmd").is_dir()


def nobody_sees_more_than_they_need(site: Site) -> None:
    files = site.run("daemon", "find", "/etc/rmd-node", "-name", "*.pem").split()
    assert sorted(Path(file).name for file in files) == [
        "ca.pem",
        "ca.pem",
        "client.pem",
        "rmd-cert.pem",
        "rmd-key.pem",
    ]
    assert "tmpfs" in site.run("daemon", "sh", "-c", "grep ' /etc/rmd-node ' /proc/mounts")
    # Hidden: the pods' volumes, with the certificates of all nodes among them, and the kubelet's
    # own key.
    assert site.run("agent", "sh", "-c", "ls -A /host/kubelet/pods /host/kubelet/pki").split() == [
        "/host/kubelet/pki:",
        "/host/kubelet/pods:",
    ]
    refused = site.run(
        "agent", "sh", "-c", "touch /host/kubelet/x /host/cgroup/x /program/x 2>&1; true"
    )
    assert refused.count("Read-only file system") == 3


def the_agent_sees_the_node(site: Site) -> None:
    found = site.report()
    assert found["problems"] == []
    assert found["cpu_manager"] == {"policy": "static", "entries": {}}
    assert found["resctrl"]["cbm_mask"] == "7ff"
    cpus = Path("/sys/devices/system/cpu/cpu0/cache/index3")
    assert (
        found["l3"][(cpus / "id").read_text().strip()]
        == (cpus / "shared_cpu_list").read_text().strip()
    )


def a_pod_with_a_cpu_of_its_own_is_seen_in_both_ways(site: Site) -> None:
    site.play("rmd_workloads").check()
    node = wait_until(lambda: offering(site), "the node offers cache ways")
    assert node["status"]["allocatable"]["intel.com/l3_cache_ways"] == "7"
    amounts = {"cpu": "1", "memory": "32Mi", "intel.com/l3_cache_ways": "2"}
    sleeper = "import time; time.sleep(3600)"
    spec = pod_spec(
        sleeper, container={"name": "main", "resources": {"requests": amounts, "limits": amounts}}
    )
    spec["nodeSelector"] = {"kubernetes.io/hostname": site.node}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "cached", "namespace": "default"},
        "spec": spec,
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    site.cluster.kubectl("wait", "pod/cached", "--for=condition=Ready", PATIENTLY)
    pod = site.get("pod", "cached")
    uid = pod["metadata"]["uid"]
    container = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
    found = wait_until(lambda: told(site, uid), "the agent tells of the pod's CPU")
    cpu = found["cpu_manager"]["entries"][uid]["main"]
    assert cpu != RESERVED
    assert found["cgroups"][uid] == {container: cpu}
    assert (
        site.cluster.kubectl(
            "exec", "cached", "-n", "default", "--", "taskset", "-cp", "1"
        ).split()[-1]
        == cpu
    )


def offering(site: Site) -> Obj | None:
    node = site.get("node", site.node)
    return node if "intel.com/l3_cache_ways" in node["status"]["allocatable"] else None


def told(site: Site, uid: str) -> Obj | None:
    report = site.report()
    return report if uid in report["cgroups"] and uid in report["cpu_manager"]["entries"] else None


def it_becomes_a_workload_that_the_kernel_agrees_with(site: Site) -> None:
    site.play("rmd_workloads").check()
    workload = site.get("rmdworkload", "cached-rmd-workload-main")
    (owner,) = workload["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Pod", "cached")
    state = workload["status"]["workloadStates"][site.node]
    assert state["status"] == "Successful"
    cpus = (site.tree / state["cosName"] / "cpus_list").read_text().strip()
    assert cpus == ",".join(workload["spec"]["coreIds"])
    masks = (site.tree / state["cosName"] / "schemata").read_text()
    (mask,) = [
        line.partition("=")[2] for line in masks.splitlines() if line.strip().startswith("L3:")
    ]
    assert bin(int(mask, 16)).count("1") == 2


def what_the_kernel_has_otherwise_is_made_true(site: Site) -> None:
    name = "cached-rmd-workload-main"
    state = site.get("rmdworkload", name)["status"]["workloadStates"][site.node]
    schemata = site.tree / state["cosName"] / "schemata"
    before, reported = schemata.read_text(), site.report()
    schemata.write_text(before.replace("L3:0=", "L3:0=1"))
    wait_until(lambda: site.report() != reported, "the agent sees it")
    told = site.play("rmd_workloads", "--check", "--diff").check().output
    assert "it has 3 ways of cache 0 instead of 2" in told, told
    site.play("rmd_workloads").check()
    status = site.get("rmdworkload", name)["status"]
    assert status["workloadStates"][site.node]["enforced"] is True
    site.play("rmd_workloads").unchanged()


def the_pod_takes_its_workload_with_it(site: Site) -> None:
    name = site.get("rmdworkload", "cached-rmd-workload-main")["status"]["workloadStates"][
        site.node
    ]["cosName"]
    site.cluster.kubectl("delete", "pod", "cached", "-n", "default", "--now")
    site.play("rmd_workloads").check()
    assert (
        not (site.tree / name).exists()
        or (site.tree / name / "cpus_list").read_text().strip() == ""
    )
    wait_until(
        lambda: site.report()["cpu_manager"]["entries"] == {},
        "the agent sees that it is gone",
    )


def workloads_outlive_the_daemons_pod(site: Site) -> None:
    body = {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdWorkload",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {"coreIds": ["1"], "rdt": {"cache": {"max": 3, "min": 3}}, "nodes": [site.node]},
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    site.play("rmd_workloads").check()
    site.cluster.kubectl("delete", "pod", "-n", NAMESPACE, site.pod("daemon"), "--now")
    site.play().check()
    site.play("rmd_workloads").check()
    assert site.asked() == {"GET"}


def renewed_certificates_start_the_daemon_anew_and_what_it_has_lost_is_posted_again(
    site: Site,
) -> None:
    show = ("find", "/etc/rmd-node", "-name", "rmd-cert.pem", "-exec", "cat", "{}", "+")
    daemon, before = site.pod("daemon"), site.run("daemon", *show)
    database = site.cluster.real_node(site.node).root / "var/lib/intel-rmd"
    for file in database.iterdir():
        file.unlink()
    site.play(rmd_renew="certificates").check()
    assert site.pod("daemon") != daemon
    assert site.run("daemon", *show) != before
    # Over TLS with the new certificates of both sides.
    site.play("rmd_workloads").check()
    assert site.asked() == {"GET", "POST"}
    state = site.get("rmdworkload", "kept")["status"]["workloadStates"][site.node]
    assert state["status"] == "Successful"
    assert (site.tree / state["cosName"] / "cpus_list").read_text().strip() == "1"
    site.play("rmd_workloads").unchanged()


def removed_the_node_has_its_cache_again(site: Site) -> None:
    site.play("rmd_remove").check()
    assert "intel.com/l3_cache_ways" not in site.get("node", site.node)["status"]["capacity"]
    masks = {
        line.strip() for line in (site.tree / "schemata").read_text().splitlines() if "L3" in line
    }
    assert masks == {"L3:0=7ff"}
    site.cluster.kubectl("delete", "rmdworkload", "kept", "-n", "default", PATIENTLY)


def test_cache_allocation_on_a_node_from_no_resctrl_to_removed(site: Site) -> None:
    """One story: each step goes on from the one before."""
    a_node_without_resctrl_says_so(site)
    pools_that_do_not_fit_are_refused_there(site)
    rmd_is_configured_on_the_node_and_answers_through_the_api_server(site)
    nobody_sees_more_than_they_need(site)
    the_agent_sees_the_node(site)
    a_pod_with_a_cpu_of_its_own_is_seen_in_both_ways(site)
    it_becomes_a_workload_that_the_kernel_agrees_with(site)
    what_the_kernel_has_otherwise_is_made_true(site)
    the_pod_takes_its_workload_with_it(site)
    workloads_outlive_the_daemons_pod(site)
    renewed_certificates_start_the_daemon_anew_and_what_it_has_lost_is_posted_again(site)
    removed_the_node_has_its_cache_again(site)
