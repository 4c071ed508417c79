# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be given to the driver's container of recipes/nvidia-gpu, and what it does on its node before
it loads anything; its script is run by a real shell."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    Rendering,
    group_of,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    config_maps,
    container,
    env_of,
)
from tests.unit.patience import PATIENCE_S

MAPS = {
    "driver_module_config_map": "my-modules",
    "driver_topology_config_map": "my-topology",
    "driver_repositories_config_map": "my-mirror",
    "driver_certificates_config_map": "my-authorities",
}


def rendered(nvidia_gpu: Any, **options: Any) -> Rendering:
    return nvidia_gpu(**{"groups": GROUPS[:1], **options})


def template(rendering: Rendering) -> Obj:
    (driver,) = rendering.objects("DaemonSet", "driver")
    found: Obj = driver["spec"]["template"]
    return found


def driver_of(rendering: Rendering) -> Obj:
    return container(template(rendering)["spec"], "driver")


def test_what_nobody_has_set_is_no_part_of_what_the_driver_is(nvidia_gpu: Any) -> None:
    found = template(rendered(nvidia_gpu))
    image = container(found["spec"], "driver")["image"]
    as_ever = json.dumps([image, "auto", {}, ""])
    expected = hashlib.sha256(as_ever.encode()).hexdigest()
    assert found["metadata"]["annotations"]["hardware-enablement.io/driver"] == expected


@pytest.mark.parametrize(
    "options",
    [
        *({name: value} for name, value in MAPS.items()),
        {"driver_license_secret": "my-license"},
        {"driver_secret_env": "my-environment"},
        {"driver_module_parameters": ["NVreg_Example=1"]},
        {"driver_args": ["--example"]},
    ],
)
def test_whatever_is_given_is_another_driver(nvidia_gpu: Any, options: dict[str, Any]) -> None:
    def said(**given: Any) -> tuple[str, str]:
        found = template(rendered(nvidia_gpu, **given))
        annotation = found["metadata"]["annotations"]["hardware-enablement.io/driver"]
        return annotation, env_of(container(found["spec"], "driver"))["DRIVER_CONFIG_DIGEST"]

    assert not set(said(**options)) & set(said())


def test_how_it_is_started_is_no_other_driver(nvidia_gpu: Any) -> None:
    rendering = rendered(
        nvidia_gpu,
        driver_host_network=True,
        driver_pull_policy="Always",
        driver_startup_probe={"failureThreshold": 240},
    )
    found, usual = template(rendering), template(rendered(nvidia_gpu))
    assert (found["spec"]["hostNetwork"], found["spec"]["dnsPolicy"]) == (
        True,
        "ClusterFirstWithHostNet",
    )
    driver, before = driver_of(rendering), driver_of(rendered(nvidia_gpu))
    assert (driver["imagePullPolicy"], before["imagePullPolicy"]) == ("Always", "IfNotPresent")
    assert driver["startupProbe"] == {**before["startupProbe"], "failureThreshold": 240}
    key = "hardware-enablement.io/driver"
    assert found["metadata"]["annotations"][key] == usual["metadata"]["annotations"][key]
    with pytest.raises(InvalidInput, match="driver_startup_probe has no failures; give it"):
        rendered(nvidia_gpu, driver_startup_probe={"failures": 3})


def test_files_are_mounted_and_their_secret_is_allowed(nvidia_gpu: Any) -> None:
    rendering = rendered(
        nvidia_gpu, platform="openshift", driver_license_secret="my-license", **MAPS
    )
    spec = template(rendering)["spec"]
    maps = {name: each for name, each in config_maps(spec).items() if name.startswith("given-")}
    assert sorted(maps.values()) == sorted(MAPS.values())
    (secret,) = [each["secret"] for each in spec["volumes"] if "secret" in each]
    assert secret == {"secretName": "my-license"}
    mounted = {
        each["name"]: each["mountPath"]
        for each in driver_of(rendering)["volumeMounts"]
        if each["name"].startswith("given-")
    }
    assert mounted == {
        name: f"/hardware-enablement/{name[6:]}" for name in (*maps, "given-license")
    }
    allowed = rendering.one("SecurityContextConstraints", "nvidia-gpu-driver")["volumes"]
    assert "secret" in allowed
    usual = rendered(nvidia_gpu, platform="openshift")
    assert "secret" not in usual.one("SecurityContextConstraints", "nvidia-gpu-driver")["volumes"]


@pytest.mark.parametrize(
    ("os_id", "repositories", "certificates"),
    [
        ("ubuntu", "/etc/apt/sources.list.d", "/usr/local/share/ca-certificates"),
        ("rhel", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem"),
        ("sles", "/etc/zypp/repos.d", "/etc/pki/trust/anchors"),
    ],
)
def test_where_a_system_looks_for_packages(
    nvidia_gpu: Any, os_id: str, repositories: str, certificates: str
) -> None:
    group = group_of("one", "6.4.0-150600", os_id=os_id, os_version="9.6")
    rendering = rendered(nvidia_gpu, groups=(group,), **MAPS)
    script = driver_of(rendering)["args"][0]
    assert f"cp -L /hardware-enablement/repositories/* {repositories}\n" in script
    assert f"cp -L /hardware-enablement/certificates/* {certificates}\n" in script
    # Packages come from there, and the node may have no subscription at all.
    volumes = template(rendering)["spec"]["volumes"]
    assert not any(each["name"].startswith("subscription") for each in volumes)


def test_an_environment_and_arguments(nvidia_gpu: Any) -> None:
    driver = driver_of(
        rendered(nvidia_gpu, driver_secret_env="my-environment", driver_args=["--a", "b $(c)"])
    )
    assert driver["envFrom"] == [{"secretRef": {"name": "my-environment"}}]
    assert driver["args"][0].endswith('exec nvidia-driver init "$@"\n')
    assert driver["args"][1:] == ["nvidia-driver", "--a", "b $(c)"]


def test_a_driver_image_by_another_name(nvidia_gpu: Any) -> None:
    named = rendered(nvidia_gpu, driver_image_name="vgpu-guest", driver_repository="r.example/n")
    assert driver_of(named)["image"] == "r.example/n/vgpu-guest:595.91.07-ubuntu24.04"


class Node:
    """The root of a made-up node, in which the script of the driver's container runs, with its paths
    below that root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.write("bin/nvidia-driver", 'env > "$ROOT/env"\necho "$*" > "$ROOT/started"\n')
        self.write("bin/rmmod", 'rm -r "$ROOT/sys/module/$1"\necho "$1" >> "$ROOT/removed"\n')
        self.write("bin/uname", "echo 6.8.0-60-generic\n")
        self.write("bin/lsmod", "")
        for program in (root / "bin").iterdir():
            program.write_text(f"#!/bin/sh\n{program.read_text()}")
            program.chmod(0o755)

    def write(self, path: str, text: str = "") -> None:
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path: str) -> str:
        file = self._root / path
        return file.read_text() if file.exists() else ""

    def device(self, address: str, vendor: str, driver: str) -> None:
        """A PCI device, and the driver that it is bound to."""
        folder = self._root / "sys/bus/pci/devices" / address
        self.write(f"sys/bus/pci/drivers/{driver}/unbind")
        self.write(f"sys/bus/pci/devices/{address}/vendor", f"{vendor}\n")
        (folder / "driver").symlink_to(f"../../drivers/{driver}")

    def start(self, driver: Obj) -> subprocess.CompletedProcess[str]:
        """Run the container's script."""
        script = driver["args"][0]
        for folder in (
            "/sys/",
            "/run/",
            "/drivers",
            "/hardware-enablement",
            "/etc/",
            "/usr/local/",
        ):
            script = script.replace(f" {folder}", f" $ROOT{folder}").replace(
                f'"{folder}', f'"$ROOT{folder}'
            )
        env = {
            **env_of(driver),
            "ROOT": str(self._root),
            "PATH": f"{self._root / 'bin'}:/usr/bin:/bin",
        }
        return subprocess.run(
            ["/bin/sh", "-c", script, *driver["args"][1:]],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    @property
    def digest(self) -> str:
        """What the driver is told that it is."""
        lines = self.read("env").splitlines()
        return next(line for line in lines if line.startswith("DRIVER_CONFIG_DIGEST="))


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_files_go_where_the_image_looks_and_count_by_their_content(
    nvidia_gpu: Any, node: Node
) -> None:
    driver = driver_of(
        rendered(
            nvidia_gpu,
            driver_license_secret="my-license",
            driver_module_config_map="my-modules",
            driver_module_parameters=["NVreg_One=1", "NVreg_Two=2"],
        )
    )
    node.write("hardware-enablement/modules/nvidia.conf", "NVreg_Zero=0\n")
    node.write("hardware-enablement/license/gridd.conf", "ServerAddress=x\n")
    node.write("hardware-enablement/license/client_configuration_token.tok", "token")
    done = node.start(driver)
    assert (done.returncode, node.read("started")) == (0, "init\n"), done.stdout
    assert node.read("drivers/nvidia.conf") == "NVreg_Zero=0\nNVreg_One=1\nNVreg_Two=2\n"
    assert node.read("drivers/gridd.conf") == "ServerAddress=x\n"
    assert node.read("drivers/ClientConfigToken/client_configuration_token.tok") == "token"
    before = node.digest
    node.start(driver)
    assert node.digest == before
    node.write("hardware-enablement/license/gridd.conf", "ServerAddress=y\n")
    node.start(driver)
    assert node.digest != before


def test_what_uses_another_driver_is_unloaded_and_what_is_taken_over_is_not(
    nvidia_gpu: Any, node: Node
) -> None:
    driver = driver_of(rendered(nvidia_gpu))
    for module in ("nvidia_fs", "gdrdrv"):
        node.write(f"sys/module/{module}/refcnt", "0")
    node.write("run/nvidia/nvidia-driver.state", env_of(driver)["DRIVER_CONFIG_DIGEST"])
    assert node.start(driver).returncode == 0
    assert node.read("removed") == ""
    node.write("run/nvidia/nvidia-driver.state", "another one")
    assert node.start(driver).returncode == 0
    assert node.read("removed") == "nvidia_fs\ngdrdrv\n"


def test_gpus_of_virtual_machines_are_taken_back(nvidia_gpu: Any, node: Node) -> None:
    node.device("0000:01:00.0", "0x10de", "vfio-pci")
    node.device("0000:02:00.0", "0x10de", "nvidia")
    node.device("0000:03:00.0", "0x15b3", "vfio-pci")
    assert node.start(driver_of(rendered(nvidia_gpu))).returncode == 0
    assert node.read("sys/bus/pci/drivers/vfio-pci/unbind") == "0000:01:00.0\n"
    assert node.read("sys/bus/pci/devices/0000:01:00.0/driver_override") == "\n"
    assert node.read("sys/bus/pci/drivers/nvidia/unbind") == ""


def test_both_marks_go_with_the_pod(nvidia_gpu: Any) -> None:
    said = driver_of(rendered(nvidia_gpu))["lifecycle"]["preStop"]["exec"]["command"][-1]
    marks = "/run/nvidia/validations"
    assert said == f"rm -f {marks}/.driver-ctr-ready {marks}/.driver-daemons-status"


@pytest.mark.parametrize(("strategy", "passed"), [(["envvar"], "true"), (["cdi-cri"], None)])
def test_device_nodes_are_named_to_the_kubelet_without_cdi(
    nvidia_gpu: Any, strategy: list[str], passed: str | None
) -> None:
    rendering = rendered(nvidia_gpu, device_list_strategy=strategy)
    spec = rendering.one("DaemonSet", "nvidia-device-plugin")["spec"]["template"]["spec"]
    assert env_of(container(spec, "device-plugin")).get("PASS_DEVICE_SPECS") == passed
