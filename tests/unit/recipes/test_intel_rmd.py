# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What intel-rmd deploys with which options, and that the programs arrive in the pods as they were
written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.recipes.conftest import REPO, Render, renderer
from tests.unit.recipes.looking import all_containers, container, host_paths, names, pod_spec
from tests.unit.rmd.agent import trees

FOLDER = REPO / "recipes" / "intel-rmd"
NFD = frozenset({"nfd.k8s-sigs.io/v1alpha1/NodeFeatureRule"})
OPENSHIFT = frozenset({"security.openshift.io/v1/SecurityContextConstraints"})
IMAGE = "registry.example.org/rmd:0.3.1"


@pytest.fixture(scope="module")
def rmd() -> Render:
    """Renders recipes/intel-rmd with RMD, unless another back end is named."""
    render = renderer(FOLDER)
    return lambda **options: render(**{"rmd_image": IMAGE, "backend": "rmd", **options})


def mounts(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {mount["mountPath"]: mount for mount in found["volumeMounts"]}


@pytest.mark.parametrize(
    ("config_map", "programs"),
    [
        (
            "intel-rmd",
            {"cpusets.py", "declared.py", "resctrl.py", "pools.py", "configure.py", "take_back.py"},
        ),
        (
            "intel-rmd-agent",
            {path.name for path in (FOLDER / "program").glob("*.py")}
            - {"configure.py", "take_back.py"},
        ),
    ],
)
def test_programs_arrive_as_they_are(rmd: Render, config_map: str, programs: set[str]) -> None:
    data = dict(rmd().one("ConfigMap", config_map)["data"])
    data.pop("settings.json", None)
    assert {name: text.rstrip() for name, text in data.items()} == {
        name: (FOLDER / "program" / name).read_text().rstrip() for name in programs
    }


def test_rmd_is_there_for_those_who_name_it() -> None:
    found = renderer(FOLDER)(rmd_image="")
    assert names(found, "DaemonSet") == {"intel-rmd-agent"}
    labels = found.one("DaemonSet", "intel-rmd-agent")["spec"]["template"]["metadata"]["labels"]
    assert labels["hardware-enablement.io/rmd-backend"] == "resctrl"


def test_every_program_is_in_a_pod(rmd: Render) -> None:
    data = [entry["data"] for entry in rmd().objects("ConfigMap")]
    assert {path.name for path in (FOLDER / "program").glob("*.py")} <= {
        name for each in data for name in each
    }


def test_what_the_config_map_holds_makes_a_configuration(rmd: Render, tmp_path: Path) -> None:
    """As the init container does it: the programs and the settings from one folder."""
    data = rmd(os_ways=2, log_level="debug").one("ConfigMap", "intel-rmd")["data"]
    trees.write(tmp_path / "program", data)
    trees.write(
        tmp_path,
        {"certificates/n1": "key and certificate", "trust/ca.crt": "a", "trust/client.crt": "b"},
    )
    resctrl = trees.resctrl_tree(tmp_path / "resctrl")
    words = [f"--{name}={tmp_path / name}" for name in ("certificates", "trust", "out")]
    words += [
        "--node=n1",
        f"--settings={tmp_path / 'program' / 'settings.json'}",
        f"--resctrl={resctrl}",
    ]
    done = started(tmp_path / "program" / "configure.py", *words)
    assert done.stdout.startswith(
        "RMD is configured for n1: Pools(os=2, guaranteed=6, besteffort=2, shared=1, infra=0)\n"
    ), done.stderr
    assert 'level = "debug"' in (tmp_path / "out" / "rmd.toml").read_text()


def test_what_the_config_map_holds_takes_back(rmd: Render, tmp_path: Path) -> None:
    trees.write(tmp_path / "program", rmd().one("ConfigMap", "intel-rmd")["data"])
    resctrl = trees.resctrl_tree(tmp_path / "resctrl")
    words = ["--node=n1", f"--resctrl={resctrl}"]
    done = started(tmp_path / "program" / "take_back.py", *words)
    assert done.stdout == "No group of the back end resctrl is left on n1\n", done.stderr


def started(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(program), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_tls_is_the_default(rmd: Render) -> None:
    rendering = rmd()
    daemon = container(pod_spec(rendering, "intel-rmd"), "rmd")
    assert daemon["ports"] == [{"name": "rmd-tls", "containerPort": 8443}]
    assert daemon["readinessProbe"]["tcpSocket"] == {"port": "rmd-tls"}
    assert (daemon["image"], daemon["command"], daemon["args"]) == (
        IMAGE,
        ["/usr/bin/rmd"],
        ["--conf-dir", "/etc/rmd-node"],
    )
    assert rendering.one("NetworkPolicy", "intel-rmd")["spec"]["ingress"] == [
        {"ports": [{"protocol": "TCP", "port": 8443}]}
    ]


def test_debug_only_when_asked_for(rmd: Render) -> None:
    spec = pod_spec(rmd(debug=True), "intel-rmd")
    assert container(spec, "rmd")["ports"] == [{"name": "rmd-debug", "containerPort": 8081}]
    assert {volume["name"] for volume in spec["volumes"]} == {
        "program",
        "configuration",
        "resctrl",
        "database",
    }


def test_rmd_sees_its_own_certificate_only(rmd: Render) -> None:
    spec = pod_spec(rmd(), "intel-rmd")
    (certificates,) = [volume for volume in spec["volumes"] if volume["name"] == "certificates"]
    sources = [source["secret"]["name"] for source in certificates["projected"]["sources"]]
    assert sources == [f"intel-rmd-server-{shard}" for shard in range(8)]
    assert "/certificates" in mounts(container(spec, "configure", "initContainers"))
    assert mounts(container(spec, "rmd")).keys() == {
        "/etc/rmd-node",
        "/var/lib/rmd",
        "/sys/fs/resctrl",
    }
    (configuration,) = [volume for volume in spec["volumes"] if volume["name"] == "configuration"]
    assert configuration["emptyDir"]["medium"] == "Memory"


def test_one_certificate_for_all(rmd: Render) -> None:
    spec = pod_spec(rmd(server_secret="ours"), "intel-rmd")
    (certificates,) = [volume for volume in spec["volumes"] if volume["name"] == "certificates"]
    assert certificates["secret"]["secretName"] == "ours"


def test_no_certificate_and_no_key_of_a_client_reaches_a_node(rmd: Render) -> None:
    assert "intel-rmd-client" not in json.dumps(rmd().objects())
    assert "intel-rmd-ca" not in json.dumps(rmd().objects())


@pytest.mark.parametrize(
    "change", [{"os_ways": 2}, {"certificates": "other"}, {"policy": "[skylake]"}]
)
def test_what_rmd_reads_at_its_start_starts_it_anew(rmd: Render, change: dict[str, Any]) -> None:
    before, after = (
        rmd(**options).one("DaemonSet", "intel-rmd")["spec"]["template"]["metadata"]["annotations"]
        for options in ({}, change)
    )
    assert before != after


def test_host_port_and_paths(rmd: Render) -> None:
    options = {"host_port": 18443, "database_path": "/srv/rmd", "resctrl_path": "/mnt/resctrl"}
    rendering = rmd(platform="openshift", apis=OPENSHIFT, **options)
    spec = pod_spec(rendering, "intel-rmd")
    assert container(spec, "rmd")["ports"][0]["hostPort"] == 18443
    assert host_paths(spec) == {"resctrl": "/mnt/resctrl", "database": "/srv/rmd"}
    for init in ("configure", "take-back"):
        assert "--resctrl=/mnt/resctrl" in container(spec, init, "initContainers")["args"]
    assert mounts(container(spec, "rmd"))["/mnt/resctrl"]["name"] == "resctrl"
    assert rendering.one("SecurityContextConstraints", "intel-rmd")["allowHostPorts"] is True


def test_a_processor_that_rmd_does_not_know(rmd: Render) -> None:
    found = mounts(container(pod_spec(rmd(microarchitecture="skylake"), "intel-rmd"), "rmd"))
    assert found["/etc/rmd/cpu_map.toml"]["subPath"] == "cpu_map.toml"


def test_least_privilege(rmd: Render) -> None:
    rendering = rmd(platform="openshift", apis=OPENSHIFT)
    for daemonset in ("intel-rmd", "intel-rmd-agent"):
        spec = pod_spec(rendering, daemonset)
        assert spec["automountServiceAccountToken"] is False
        assert not any(spec.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
        constraints = rendering.one("SecurityContextConstraints", daemonset)
        for found in all_containers(spec):
            security = found["securityContext"]
            assert not security.get("privileged")
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"]["drop"] == ["ALL"]
            assert set(security["capabilities"].get("add", [])) <= set(
                constraints["allowedCapabilities"]
            )


def writes_on_the_host(spec: dict[str, Any]) -> dict[str, set[str]]:
    """Container -> the paths of the host where it may write; without those that may nowhere."""
    of_host = set(host_paths(spec))
    found = {
        each["name"]: {
            path
            for path, mount in mounts(each).items()
            if mount["name"] in of_host and not mount.get("readOnly")
        }
        for each in all_containers(spec)
    }
    return {name: paths for name, paths in found.items() if paths}


UNCONFINED = {"type": "Unconfined"}


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"rmd_image": "", "backend": "resctrl"}])
def test_who_writes_to_resctrl_is_unconfined_and_nobody_else(
    rmd: Render, options: dict[str, Any]
) -> None:
    rendering = rmd(**options)
    for daemonset in names(rendering, "DaemonSet"):
        spec = pod_spec(rendering, daemonset)
        writers = {
            name for name, paths in writes_on_the_host(spec).items() if "/sys/fs/resctrl" in paths
        }
        assert writers == {
            each["name"]
            for each in all_containers(spec)
            if each["securityContext"].get("appArmorProfile") == UNCONFINED
        }


def test_who_writes_on_the_node_sees_no_other_nodes_certificate(rmd: Render) -> None:
    spec = pod_spec(rmd(), "intel-rmd")
    assert writes_on_the_host(spec) == {
        "take-back": {"/sys/fs/resctrl"},
        "rmd": {"/sys/fs/resctrl", "/var/lib/rmd"},
    }
    who = [each["name"] for each in all_containers(spec) if "/certificates" in mounts(each)]
    assert who == ["configure"]
    taking_back = container(spec, "take-back", "initContainers")
    assert mounts(taking_back).keys() == {"/program", "/sys/fs/resctrl"}


def test_the_agent_reads_and_talks_to_nobody(rmd: Render) -> None:
    rendering = rmd()
    spec = pod_spec(rendering, "intel-rmd-agent")
    agent = container(spec, "agent")
    assert agent["securityContext"]["readOnlyRootFilesystem"] is True
    assert [path for path, mount in mounts(agent).items() if not mount.get("readOnly")] == []
    covered = {
        path: mount["name"]
        for path, mount in mounts(agent).items()
        if path.startswith("/host/kubelet/")
    }
    assert covered == {"/host/kubelet/pods": "hidden", "/host/kubelet/pki": "hidden"}
    assert {"name": "hidden", "emptyDir": {}} in spec["volumes"]
    policy = rendering.one("NetworkPolicy", "intel-rmd-agent")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy.keys() == {"podSelector", "policyTypes"}
    assert (
        policy["podSelector"]["matchLabels"]
        == rendering.one("DaemonSet", "intel-rmd-agent")["spec"]["selector"]["matchLabels"]
    )


def test_the_agent_without_the_kubelets_folder_is_nobody(rmd: Render) -> None:
    spec = pod_spec(rmd(agent_cpu_manager=False), "intel-rmd-agent")
    agent = container(spec, "agent")
    assert agent["securityContext"]["runAsNonRoot"] is True
    assert "kubelet" not in host_paths(spec)
    assert [argument for argument in agent["args"] if argument.startswith("--kubelet")] == []


def test_the_rule_makes_the_label_that_the_recipe_selects(rmd: Render) -> None:
    rendering = rmd(apis=NFD)
    (rule,) = rendering.one("NodeFeatureRule", "intel-rmd")["spec"]["rules"]
    assert rule["labels"] == dict(rendering.recipe.nodes.selector[0])
    assert "namespace" not in rendering.one("NodeFeatureRule", "intel-rmd")["metadata"]
    assert names(rmd(), "NodeFeatureRule") == set()


RIGHTS = ("ClusterRole", "ClusterRoleBinding")


def test_the_back_end_resctrl_is_an_agent_that_writes(rmd: Render) -> None:
    rendering = rmd(rmd_image="", backend="resctrl")
    assert names(rendering, "DaemonSet") == {"intel-rmd-agent"}
    spec = pod_spec(rendering, "intel-rmd-agent")
    agent = container(spec, "agent")
    assert "--write" in agent["args"]
    writable = {path for path, mount in mounts(agent).items() if not mount.get("readOnly")}
    assert writable == {"/sys/fs/resctrl", "/var/lib/intel-rmd"}
    assert spec["automountServiceAccountToken"] is True
    (rules,) = [rendering.one("ClusterRole", "intel-rmd-agent")["rules"]]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    egress = rendering.one("NetworkPolicy", "intel-rmd-agent")["spec"]["egress"]
    assert egress == [{"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]}]
    labels = rendering.one("DaemonSet", "intel-rmd-agent")["spec"]["template"]["metadata"]["labels"]
    assert labels["hardware-enablement.io/rmd-backend"] == "resctrl"


def test_the_back_end_rmd_gives_nobody_rights(rmd: Render) -> None:
    rendering = rmd()
    assert [name for kind in RIGHTS for name in names(rendering, kind)] == []
    labels = rendering.one("DaemonSet", "intel-rmd-agent")["spec"]["template"]["metadata"]["labels"]
    assert "hardware-enablement.io/rmd-backend" not in labels


def test_an_image_is_required() -> None:
    with pytest.raises(Exception, match="rmd_image"):
        renderer(FOLDER)()
