# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-gpu renders on each distribution of Kubernetes, beside what that distribution's own
documentation says (distributions.yml), and what is refused because its runtime cannot do it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.distribution import (
    distribution_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.selectors import matches
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    TOOLKIT,
    Rendering,
    group_of,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)
from tests.unit.patience import PATIENCE_S

KINDS = yaml.safe_load((Path(__file__).parent / "distributions.yml").read_text())
ALL_GPUS = "management.nvidia.com/gpu=all"


def rendered(nvidia_gpu: Any, name: str, **options: Any) -> Rendering:
    """The recipe on nodes of that kind, by what these say of themselves."""
    kind = KINDS[name]
    distribution = distribution_of(kind["kubelet"], kind.get("labels", {}))
    cluster: dict[str, Any] = {"distribution": distribution}
    more: dict[str, Any] = {}
    if kind.get("openshift"):
        cluster["openshift_version"] = "4.19.7"
        more = {
            "platform": "openshift",
            "driver_toolkits": {kind["node"]["os_build"]: "registry.example/toolkit:1"},
        }
    return nvidia_gpu(
        groups=(group_of("kind", **kind["node"]),),
        cluster=cluster,
        **more,
        **{**kind.get("options", {}), **options},
    )


@pytest.mark.parametrize("name", KINDS)
def test_what_the_nodes_say_of_themselves(nvidia_gpu: Any, name: str) -> None:
    kind = KINDS[name]
    node = {
        "metadata": {"name": "n", "labels": kind.get("labels", {})},
        "status": {"nodeInfo": {"kubeletVersion": kind["kubelet"]}},
    }
    assert NodeFacts.from_object(node).system.distribution == kind["distribution"]
    brought = matches(kind.get("labels", {}), nvidia_gpu().recipe.nodes.preinstalled_driver)
    assert brought == (name == "gke-cos")


@pytest.mark.parametrize("name", KINDS)
def test_as_its_documentation_says(nvidia_gpu: Any, name: str) -> None:
    kind, rendering = KINDS[name], rendered(nvidia_gpu, name)
    drivers = rendering.objects("DaemonSet", "driver")
    specs = [item["spec"]["template"]["spec"] for item in drivers]
    assert [container(spec, "driver")["image"] for spec in specs] == [kind["image"]] * len(specs)
    assert bool(specs) == bool(kind["image"])
    if "subscription" in kind:
        mounted = "/etc/pki/entitlement" in host_paths(specs[0]).values()
        assert mounted == kind["subscription"]
    assert bool(rendering.objects("RuntimeClass")) == ("runtime_class" not in kind)
    if "env" not in kind:
        assert TOOLKIT not in names(rendering, "DaemonSet")
        return
    spec = pod_spec(rendering, TOOLKIT)
    item, paths = container(spec, "toolkit"), host_paths(spec)
    env = env_of(item)
    mounts = {
        each["mountPath"]: paths.get(each["name"])
        for each in item["volumeMounts"]
        if each["name"] in paths
    }
    assert {variable: env.get(variable) for variable in kind["env"]} == kind["env"]
    assert {path: mounts.get(path) for path in kind["mounts"]} == kind["mounts"]


def test_with_nri_our_own_pods_get_the_gpus_by_their_annotation(nvidia_gpu: Any) -> None:
    rendering = rendered(
        nvidia_gpu, "rke2-nri", mps_replicas=2, mig_strategy="none", dcgm_enabled=True
    )
    template = {
        name: rendering.one("DaemonSet", name)["spec"]["template"]
        for name in names(rendering, "DaemonSet")
    }
    given = {
        (name, key.partition("/container.")[2])
        for name, each in template.items()
        for key, value in each["metadata"].get("annotations", {}).items()
        if key.startswith("nvidia.cdi.k8s.io/container.") and value == ALL_GPUS
    }
    assert given == {
        ("gpu-feature-discovery", "feature-discovery"),
        ("nvidia-dcgm", "dcgm"),
        ("nvidia-dcgm-exporter", "exporter"),
        ("nvidia-device-plugin", "device-plugin"),
        ("nvidia-mps-control-daemon", "mps-control-daemon"),
    }
    for name, containers in given:
        assert container(template[name]["spec"], containers)
    assert not any("runtimeClassName" in spec for _state, spec in rendering.pod_specs())
    proof = rendering.pod("driver_validation")["metadata"]["annotations"]
    assert proof["nvidia.cdi.k8s.io/container.vector-add"] == ALL_GPUS
    toolkit = container(pod_spec(rendering, TOOLKIT), "toolkit")
    # The plugin lives in the installer.
    assert "--no-daemon" not in toolkit["args"][0]
    namespace = [each for each in toolkit["env"] if each["name"] == "NRI_NAMESPACE"]
    assert namespace[0]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.namespace"


def test_the_mark_comes_with_the_plugin_and_goes_with_it(nvidia_gpu: Any, tmp_path: Path) -> None:
    """The script of the toolkit's container, by a real shell; the installer starts its plugin, and
    fails when it is told to."""
    toolkit = container(pod_spec(rendered(nvidia_gpu, "rke2-nri"), TOOLKIT), "toolkit")
    script = (
        toolkit["args"][0].replace("/run/nvidia", f"{tmp_path}/run").replace("/host-dev", "/no")
    )
    installer = tmp_path / "nvidia-ctk-installer"
    installer.write_text(
        f"""#!/bin/sh
echo $$ > "$TOOLKIT_PID_FILE"
ls {tmp_path}/run/validations/toolkit-ready && echo early > {tmp_path}/early
echo "Waiting for signal"
until [ -e {tmp_path}/fail ]; do sleep 0.1; done
"""
    )
    installer.chmod(0o755)
    env = {
        "TOOLKIT_PID_FILE": f"{tmp_path}/run/toolkit/toolkit.pid",
        "ROOT": str(tmp_path),
        "PATH": f"{tmp_path}:/usr/bin:/bin",
    }
    mark = tmp_path / "run/validations/toolkit-ready"
    for ending in ("signal", "failure"):
        (tmp_path / "fail").unlink(missing_ok=True)
        with subprocess.Popen(["/bin/sh", "-c", script], env=env, stdout=subprocess.DEVNULL) as run:
            until(mark.exists)
            if ending == "signal":
                run.terminate()
            else:
                (tmp_path / "fail").touch()
            assert run.wait(timeout=PATIENCE_S) == (0 if ending == "signal" else 1)
        assert not mark.exists()
        until(lambda: not is_running(tmp_path / "run/toolkit/toolkit.pid"))
    assert not (tmp_path / "early").exists()


def until(done: Callable[[], bool]) -> None:
    """Wait for it."""
    ending = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < ending
        time.sleep(0.05)


def is_running(pid_file: Path) -> bool:
    return Path("/proc", pid_file.read_text().strip()).exists()


def test_without_a_configuration_of_ours_the_runtime_is_left_alone(nvidia_gpu: Any) -> None:
    spec = pod_spec(rendered(nvidia_gpu, "kubeadm-ubuntu", runtime_mode="none"), TOOLKIT)
    env = env_of(container(spec, "toolkit"))
    assert env["NO_RUNTIME_CONFIG"] == "true"
    assert not {"RUNTIME_CONFIG", "RUNTIME_SOCKET", "NRI_SOCKET"} & env.keys()
    assert not {"runtime-config", "runtime-socket", "nri-socket"} & host_paths(spec).keys()


CRIO = {"runtime": "cri-o", "runtime_version": "1.33.4"}


@pytest.mark.parametrize(
    ("node", "distribution", "options", "said"),
    [
        (CRIO, "", {"runtime_mode": "nri"}, "for containerd alone"),
        ({"runtime_version": "2.0.5"}, "", {"runtime_mode": "nri"}, "there is 2.0.5"),
        ({"runtime_version": "1.7.29-k3s1"}, "", {"runtime_mode": "nri"}, "there is 1.7.29"),
        ({"runtime_version": "1.7.30"}, "", {"runtime_mode": "nri"}, ""),
        ({"runtime_version": "2.1.0"}, "", {"runtime_mode": "nri"}, ""),
        ({"runtime_version": "1.6.36"}, "", {}, "containerd 1.6.36 does not know CDI"),
        ({"runtime_version": "1.6.36"}, "", {"device_list_strategy": ["envvar"]}, ""),
        ({"runtime_version": "1.7.27"}, "", {}, ""),
        ({"runtime_version": "1.7.27-k3s1"}, "k3s", {}, "as k3s configures it does not use CDI"),
        ({"runtime_version": "2.0.5-k3s1"}, "k3s", {}, ""),
        (
            {},
            "rke2",
            {"runtime_config": "/var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl"},
            "its network is gone after the next start",
        ),
    ],
)
def test_what_a_runtime_cannot_do_is_said(
    nvidia_gpu: Any, node: dict[str, str], distribution: str, options: dict[str, Any], said: str
) -> None:
    def render() -> None:
        group = group_of("kind", "6.8.0-60-generic", **node)
        nvidia_gpu(groups=(group,), cluster={"distribution": distribution}, **options)

    if not said:
        render()
        return
    with pytest.raises(InvalidInput, match="state runtime_hook of nvidia-gpu cannot be had") as why:
        render()
    assert said in str(why.value)


def test_nothing_is_asked_of_the_runtime_where_no_toolkit_is_deployed(nvidia_gpu: Any) -> None:
    group = group_of("kind", "6.8.0-60-generic", runtime_version="1.6.36")
    nvidia_gpu(groups=(group,), toolkit_enabled=False)


def test_mps_with_mixed_mig_devices_is_refused(nvidia_gpu: Any) -> None:
    nvidia_gpu(mps_replicas=4, mig_strategy="single")
    with pytest.raises(InvalidInput, match="no GPU by MPS with the mixed MIG strategy"):
        nvidia_gpu(mps_replicas=4, mig_strategy="mixed")
