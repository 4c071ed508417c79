# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RMD deployed on simulated nodes: found by the rule, refused beside the operator, proven over TLS,
renewed, removed.

What answers as RMD of a node shows the certificate that the run made for that node."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.conftest import grant, name_of
from tests.integration.plays import REPO, Played, Runner
from tests.integration.rmd.kept_certificates import KeptCertificates
from tests.integration.waiting import wait_until
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses

pytestmark = pytest.mark.rmd

Obj = dict[str, Any]

NAMESPACE, IMAGE = "intel-rmd", "registry.example.org/rmd:0.3.1"
LABEL = "feature.node.kubernetes.io/cpu-rdt.RDTL3CA"
SUMMARY = "hardware-enablement.io/intel-rmd"
NODES = ["rdt-1", "rdt-2", "rdt-3"]
# The port is the role's; so that two runs on one machine do not meet, the addresses are of this
# process.
NETWORK = (80 + os.getpid() % 170, 0)


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster with NFD, 3 nodes that can divide their L3 cache, as their raw features say, and
    one that cannot."""
    with Cluster.up(name_of(request)) as started:
        started.add_nodes(3, profile="cpu-only", prefix="rdt")
        started.add_nodes(1, profile="cpu-only-arm64", prefix="arm")
        yield started


class Site(KeptCertificates):
    """How the tests look at the cluster, and the servers that answer for the daemons."""

    def __init__(self, cluster: Cluster, runner: Runner, folder: Path) -> None:
        super().__init__(cluster, folder)
        self.runner = runner

    def play(self, *arguments: str, **variables: Any) -> Played:
        return self.runner.play("rmd", *arguments, **{"rmd_image": IMAGE, **variables})

    def names(self, kind: str, *selection: str) -> set[str]:
        listed = json.loads(self.cluster.kubectl("get", kind, "-o", "json", *selection))
        return {item["metadata"]["name"] for item in listed["items"]}

    def template(self) -> Obj:
        return dict(self.get("daemonset", "intel-rmd")["spec"]["template"])

    @contextmanager
    def daemons(self, nodes: list[str]) -> Iterator[Fleet]:
        """A server for each node, at the address that its pod has."""
        with Fleet(nodes, tls=self.tls, port=8443, network=NETWORK) as fleet:
            give_addresses(self.cluster, fleet)
            self.cluster.kubectl(
                "delete", "pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=daemon"
            )
            yield fleet


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Plays as somebody with the documented rights, and no more."""
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    grant(cluster, "runner", "hardware-enablement-runner")
    grant(cluster, "viewer", "hardware-enablement-viewer")
    runner = Runner(cluster, "runner", tmp_path_factory.mktemp("runner"))
    return Site(cluster, runner, tmp_path_factory.mktemp("pki"))


def deployment(name: str, replicas: int) -> Obj:
    labels = {"name": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": name, "image": name}]},
            },
        },
    }


def said(played: Played) -> str:
    """The sentences of the tasks that failed, each once."""
    assert played.code != 0, played.output
    assert "Traceback" not in played.output
    return "\n".join({line for line in played.output.splitlines() if line.startswith("fatal:")})


def test_without_an_image_nothing_begins(site: Site) -> None:
    mark = site.cluster.mark()
    named = {"rmd_image": "", "hardware_enablement_options": {"backend": "rmd"}}
    assert "rmd_image: expected a value" in said(site.play(**named))
    assert site.runner.writes(mark) == []


def test_the_original_operator_is_found_named_and_refused(site: Site) -> None:
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(deployment("intel-rmd-operator", 1)))
    mark = site.cluster.mark()
    text = said(site.play())
    assert (
        "Somebody else in this cluster does what intel-rmd is to do (Deployment default/intel-rmd-operator)"
        in text
    )
    assert site.runner.writes(mark) == []
    # Ended, but its daemons still run.
    site.cluster.kubectl("scale", "deployment", "intel-rmd-operator", "--replicas=0")
    site.cluster.kubectl("run", "rmd-rdt-1", "--image=rmd:latest", "--labels=name=rmd-pod")
    wait_until(lambda: "rmd-rdt-1" in site.names("pods"), "pod rmd-rdt-1 is there")
    assert "(Pod default/rmd-rdt-1)" in said(site.play("--check"))
    site.cluster.kubectl("delete", "pod", "rmd-rdt-1", "--now")


def a_first_look_writes_nothing(site: Site) -> None:
    mark = site.cluster.mark()
    played = site.play("--check", "--diff").check()
    assert "create NodeFeatureRule intel-rmd" in played.output
    assert "create DaemonSet intel-rmd/intel-rmd" in played.output
    assert "PRIVATE KEY" not in played.output
    assert site.runner.writes(mark) == []


def the_rule_finds_the_nodes_and_a_daemon_that_does_not_answer_is_no_success(
    site: Site,
) -> None:
    text = said(site.play())
    assert site.names("nodes", "-l", f"{LABEL}=true") == set(NODES)
    assert "RMD does not answer on 3 of 3 nodes" in text
    assert set(site.certificates()) == set(NODES)


def each_daemon_answers_over_tls_for_its_own_node(site: Site) -> None:
    with site.daemons(NODES) as fleet:
        site.play().check()
        assert {
            node: [seen.status for seen in log] for node, log in fleet.requests().items() if not log
        } == {}
        mark, logged = site.cluster.mark(), fleet.mark()
        site.play().unchanged()
        assert site.runner.writes(mark) == []
        methods = {seen.method for log in fleet.requests(logged).values() for seen in log}
        assert methods == {"GET"}
    labels = {
        node: site.get("node", node)["metadata"]["labels"].get(SUMMARY)
        for node in [*NODES, "arm-1"]
    }
    assert labels == {**dict.fromkeys(NODES, "ready"), "arm-1": None}


def a_certificate_of_another_node_is_refused(site: Site) -> None:
    with site.daemons(NODES) as fleet:
        for node, other in (("rdt-1", "rdt-2"),):
            fleet[node].tls = site.tls(other, "")
            fleet[node].restart()
        text = said(site.play())
    assert "RMD does not answer on 1 of 3 nodes" in text
    assert "node rdt-1, " in text
    assert "certificate" in text


def what_a_run_says_and_keeps_holds_no_key(site: Site) -> None:
    keys = [
        text.partition("-----BEGIN CERTIFICATE-----")[0] for text in site.certificates().values()
    ]
    keys += [site.secret("intel-rmd-client")["tls.key"], site.secret("intel-rmd-ca")["ca.key"]]
    lines = {line for text in keys for line in text.splitlines() if len(line) > 40}
    kept = site.cluster.kubectl(
        "get", "configmaps,pods,daemonsets,sr", "-n", NAMESPACE, "-o", "json"
    )
    played = site.play("--check", "--diff", "-vvv", rmd_renew="authority")
    assert [line for line in lines if line in kept or line in played.output] == []


def a_viewer_may_predict(site: Site) -> None:
    viewer = Runner(site.cluster, "viewer", site.folder)
    same = viewer.run_program("rmd", "--check", rmd_image=IMAGE)
    assert "Secrets may not be read" in same.unchanged().output
    other = viewer.play(
        "rmd", "--check", "--diff", rmd_image=IMAGE, hardware_enablement_options={"os_ways": 2}
    )
    assert "update ConfigMap intel-rmd/intel-rmd" in other.check().output


def a_node_that_joins_gets_its_certificate_and_nobody_starts_anew(site: Site) -> None:
    before, template = site.certificates(), site.template()
    site.cluster.add_nodes(1, profile="cpu-only", prefix="late")
    with site.daemons([*NODES, "late-1"] if "late-1" in before else NODES):
        played = site.play()
    assert "node late-1" in said(played)
    assert {node: text for node, text in site.certificates().items() if node != "late-1"} == before
    assert site.template() == template
    with site.daemons([*NODES, "late-1"]):
        site.play().unchanged()
        site.cluster.remove_nodes("late-1")
        site.play().check()
    assert site.certificates() == before


def renewal_starts_all_daemons_anew_once(site: Site) -> None:
    before, template, trust = (
        site.certificates(),
        site.template(),
        site.get("configmap", "intel-rmd-trust")["data"],
    )
    played = site.play(rmd_renew="certificates")
    # These servers do not start anew by themselves, and know the client of before only.
    assert "does not answer on 3 of 3" in said(played)
    after = site.get("configmap", "intel-rmd-trust")["data"]
    assert (after["ca.crt"] == trust["ca.crt"], after["client.crt"] == trust["client.crt"]) == (
        True,
        False,
    )
    assert all(site.certificates()[node] != before[node] for node in NODES)
    changed = {
        key
        for key, value in site.template()["metadata"]["annotations"].items()
        if template["metadata"]["annotations"].get(key) != value
    }
    assert changed == {"hardware-enablement.io/certificates"}
    with site.daemons(NODES):
        site.play().unchanged()


def a_node_where_rmd_would_not_work_says_why(site: Site) -> None:
    why = "RMD is not started on rdt-2: resctrl is not mounted at /sys/fs/resctrl; mount it"
    set_fault(site.cluster.kubeconfig, "rdt-2", "*", "crash", message=why)
    try:
        text = said(site.play(hardware_enablement_failure_grace=3))
    finally:
        clear_faults(site.cluster.kubeconfig)
    assert "resctrl is not mounted at /sys/fs/resctrl; mount it" in text
    assert "rdt-2" in text
    wait_until(
        lambda: site.get("daemonset", "intel-rmd")["status"].get("numberReady") == 3,
        "all daemons are ready",
    )


def the_clusters_rmdconfig_says_what_is_deployed(site: Site) -> None:
    config = {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdConfig",
        "metadata": {"name": "rmdconfig", "namespace": "default"},
        "spec": {
            "rmdImage": "registry.example.org/rmd:7",
            "rmdNodeSelector": {"rmd": "yes"},
            "deployNodeAgent": False,
        },
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(config))
    site.cluster.kubectl("label", "nodes", "rdt-1", "arm-1", "rmd=yes")
    failed = said(site.play(rmd_image=""))
    assert "node arm-1" in failed
    status = site.get("rmdconfig", "rmdconfig", "default")["status"]
    assert status["nodes"] == ["arm-1", "rdt-1"]
    (ready,) = status["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "False")
    assert "node arm-1" in ready["message"]
    # The agent is there whatever it says, since it tells what is in force.
    assert site.names("daemonsets", "-n", NAMESPACE) == {"intel-rmd", "intel-rmd-agent"}
    with site.daemons(["arm-1", "rdt-1"]):
        site.play(rmd_image="").check()
        site.play(rmd_image="").unchanged()
    assert site.template()["spec"]["containers"][0]["image"] == "registry.example.org/rmd:7"
    (ready,) = site.get("rmdconfig", "rmdconfig", "default")["status"]["conditions"]
    assert ready["status"] == "True"
    # What is said in the run wins.
    with site.daemons(["arm-1", "rdt-1"]):
        site.play(hardware_enablement_options={"agent_interval": 7}).check()
    agent = site.get("daemonset", "intel-rmd-agent")["spec"]["template"]["spec"]["containers"][0]
    assert "--interval=7" in agent["args"]
    assert site.template()["spec"]["containers"][0]["image"] == IMAGE
    site.cluster.kubectl("delete", "rmdconfig", "rmdconfig")
    site.cluster.kubectl("label", "nodes", "rdt-1", "arm-1", "rmd-")


def certificates_of_ones_own(site: Site) -> None:
    client = site.secret("intel-rmd-client")
    node = site.certificates()["rdt-1"].partition("-----BEGIN CERTIFICATE-----")
    variables: Obj = {
        "rmd_certificates": "provided",
        "hardware_enablement_options": {
            "server_secret": "ours",
            "node_selector": {"kubernetes.io/hostname": "rdt-1"},
        },
    }
    text = said(site.play(**variables))
    assert (
        "The certificates that are to be used are not there (Secret intel-rmd/ours): there is no such Secret"
        in text
    )
    shared = {"ca.crt": client["ca.crt"], "tls.crt": node[1] + node[2], "tls.key": node[0]}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "ours", "namespace": NAMESPACE},
        "stringData": shared,
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(secret))
    with site.daemons(["rdt-1"]):
        site.play(**variables).check()
        site.play(**variables).unchanged()
    volumes = {volume["name"]: volume for volume in site.template()["spec"]["volumes"]}
    assert volumes["certificates"]["secret"]["secretName"] == "ours"


def a_secret_of_somebody_else_is_not_overwritten(site: Site) -> None:
    label = "app.kubernetes.io/component"
    site.cluster.kubectl("label", "secret", "intel-rmd-client", "-n", NAMESPACE, f"{label}-")
    before = site.secret("intel-rmd-client")
    # What the step before has given is to go.
    played = site.play(hardware_enablement_options_replace=True)
    assert "Secret intel-rmd/intel-rmd-client is somebody else's" in said(played)
    assert site.secret("intel-rmd-client") == before
    site.cluster.kubectl(
        "label", "secret", "intel-rmd-client", "-n", NAMESPACE, f"{label}=certificates"
    )


def removed_without_a_trace(site: Site) -> None:
    workload = {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdWorkload",
        "metadata": {
            "name": "left",
            "namespace": "default",
            "finalizers": ["hardware-enablement.io/rmd"],
        },
        "spec": {"coreIds": ["1"], "nodes": ["rdt-1"]},
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(workload))
    ready = {"type": "Ready", "status": "True", "reason": "AllNodes", "message": ""}
    moment = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"status": {"nodes": "1/1", "conditions": [{**ready, **moment}]}}
    place = "/apis/intel.com/v1alpha1/namespaces/default/rmdworkloads/left/status"
    site.cluster.api.patch(place, status)
    # The certificates of somebody else keep the namespace until they are taken away.
    kept = site.runner.play("disable", hardware_enablement_recipe="intel-rmd").check()
    assert "what others have made: Secret intel-rmd/ours;" in kept.output, kept.output
    site.cluster.kubectl("delete", "secret", "ours", "-n", NAMESPACE)
    site.runner.play("disable", hardware_enablement_recipe="intel-rmd").check()
    left = site.get("rmdworkload", "left", "default")
    assert left["metadata"].get("finalizers") is None
    assert (left["status"]["nodes"], left["status"]["conditions"][0]["status"]) == ("0/0", "False")
    with pytest.raises(ClusterError, match="not found"):
        site.cluster.kubectl("get", "namespace", NAMESPACE)
    with pytest.raises(ClusterError, match="not found"):
        site.cluster.kubectl("get", "nodefeaturerule", "intel-rmd")
    nodes = json.loads(site.cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    ours = [
        name
        for node in nodes
        for name in node["metadata"]["labels"]
        if name.startswith("hardware-enablement.io")
    ]
    assert ours == []
    site.runner.run_program("rmd_remove").unchanged()


def test_from_the_first_look_to_nothing_left(site: Site) -> None:
    """One story: each step goes on from the one before."""
    a_first_look_writes_nothing(site)
    the_rule_finds_the_nodes_and_a_daemon_that_does_not_answer_is_no_success(site)
    each_daemon_answers_over_tls_for_its_own_node(site)
    a_certificate_of_another_node_is_refused(site)
    what_a_run_says_and_keeps_holds_no_key(site)
    a_viewer_may_predict(site)
    a_node_that_joins_gets_its_certificate_and_nobody_starts_anew(site)
    renewal_starts_all_daemons_anew_once(site)
    a_node_where_rmd_would_not_work_says_why(site)
    the_clusters_rmdconfig_says_what_is_deployed(site)
    certificates_of_ones_own(site)
    a_secret_of_somebody_else_is_not_overwritten(site)
    removed_without_a_trace(site)
