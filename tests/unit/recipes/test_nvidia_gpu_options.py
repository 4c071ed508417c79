# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of recipes/nvidia-gpu change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    TOOLKIT,
    Rendering,
    group_of,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    all_containers,
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)

KERNELS = ("5.15.0-1+fips", "6.8.0-60-generic")


def test_driver_preinstalled(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(driver_enabled=False)
    assert not rendering.objects("DaemonSet", "driver")
    assert rendering.one("Namespace", "nvidia-gpu")
    probe = rendering.pod("driver")["spec"]["containers"][0]
    assert probe["command"][:2] == ["chroot", "/host"]
    toolkit = container(pod_spec(rendering, TOOLKIT), "toolkit")
    assert env_of(toolkit)["NVIDIA_DRIVER_ROOT"] == "/"
    assert env_of(toolkit)["DRIVER_ROOT_CTR_PATH"] == "/host"
    for daemonset in names(rendering, "DaemonSet"):
        for init in pod_spec(rendering, daemonset)["initContainers"]:
            assert ".driver-ctr-ready" not in init["args"][0]
    assert host_paths(pod_spec(rendering, "nvidia-device-plugin"))["driver-root"] == "/"


def test_toolkit_preinstalled(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(toolkit_enabled=False)
    assert TOOLKIT not in names(rendering, "DaemonSet")
    assert rendering.one("RuntimeClass", "nvidia")["handler"] == "nvidia"
    proof = rendering.pod("runtime_hook")["spec"]["containers"][0]
    # The host's own toolkit is looked for: one of ours that is still there would serve the
    # container just as well.
    assert env_of(proof)["CDI_HOOK"] == "/usr/bin/nvidia-cdi-hook"
    assert proof["args"][0].rstrip().endswith("exec nvidia-smi -L")
    assert "/host$CDI_HOOK" in proof["args"][0]
    plugin = pod_spec(rendering, "nvidia-device-plugin")
    assert "toolkit-ready" not in plugin["initContainers"][0]["args"][0]
    assert (
        env_of(container(plugin, "device-plugin"))["NVIDIA_CDI_HOOK_PATH"]
        == "/usr/bin/nvidia-cdi-hook"
    )


def test_a_device_plugin_and_labels_of_one_s_own(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(device_plugin_enabled=False, feature_discovery_enabled=False)
    there = set(names(nvidia_gpu(), "DaemonSet")) - set(names(rendering, "DaemonSet"))
    assert there == {"nvidia-device-plugin", "gpu-feature-discovery"}
    assert [proof.kind for proof in rendering.states["device_plugin"].proofs] == ["rollout"]
    assert not rendering.states["device_plugin_validation"].proofs
    # Feature discovery and MPS read what the device plugin reads.
    assert rendering.one("ConfigMap", "nvidia-device-plugin")
    assert "gpu-feature-discovery" in names(nvidia_gpu(device_plugin_enabled=False), "DaemonSet")


def test_driver_and_toolkit_preinstalled_leaves_nothing_to_wait_for(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(driver_enabled=False, toolkit_enabled=False)
    assert not any(
        "initContainers" in pod_spec(rendering, name) for name in names(rendering, "DaemonSet")
    )


@pytest.mark.parametrize(
    ("runtime", "drop_in", "has_socket"),
    [
        ("containerd", "/etc/containerd/conf.d/99-nvidia.toml", True),
        ("cri-o", "/etc/crio/crio.conf.d/99-nvidia.conf", False),
    ],
)
def test_container_runtime(nvidia_gpu: Any, runtime: str, drop_in: str, has_socket: bool) -> None:
    spec = pod_spec(nvidia_gpu(container_runtime=runtime), TOOLKIT)
    env = env_of(container(spec, "toolkit"))
    assert env["RUNTIME"] == runtime.replace("-", "")
    assert env["RUNTIME_DROP_IN_CONFIG_HOST_PATH"] == drop_in
    assert host_paths(spec)["runtime-drop-in"] == drop_in.rpartition("/")[0]
    assert ("RUNTIME_SOCKET" in env) is has_socket
    assert ("CRIO_CONFIG_MODE" in env) is not has_socket
    assert (env["CDI_ENABLED"], env["NVIDIA_CONTAINER_RUNTIME_MODE"]) == ("true", "cdi")


def test_another_place_for_the_runtimes_files(nvidia_gpu: Any) -> None:
    spec = pod_spec(
        nvidia_gpu(
            runtime_config="/opt/runtime/etc/config.toml",
            runtime_drop_in="/opt/runtime/etc/config.d/nvidia.toml",
            runtime_socket="/opt/runtime/run/containerd.sock",
        ),
        TOOLKIT,
    )
    paths, env = host_paths(spec), env_of(container(spec, "toolkit"))
    assert paths["runtime-config"] == "/opt/runtime/etc"
    assert paths["runtime-socket"] == "/opt/runtime/run"
    assert env["RUNTIME_SOCKET"] == "/runtime/sock-dir/containerd.sock"
    assert env["RUNTIME_DROP_IN_CONFIG"] == "/runtime/config-dir.d/nvidia.toml"


def test_runtime_class_of_another_owner_and_none_at_all(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(runtime_class_create=False)
    assert not rendering.objects("RuntimeClass")
    assert pod_spec(rendering, "nvidia-device-plugin")["runtimeClassName"] == "nvidia"
    rendering = nvidia_gpu(runtime_class="")
    assert not rendering.objects("RuntimeClass")
    assert not any("runtimeClassName" in spec for _name, spec in rendering.pod_specs())
    env = env_of(container(pod_spec(rendering, TOOLKIT), "toolkit"))
    assert env["NVIDIA_RUNTIME_SET_AS_DEFAULT"] == "true"


def plugin_config(rendering: Any) -> Obj:
    return yaml.safe_load(rendering.one("ConfigMap", "nvidia-device-plugin")["data"]["config.yaml"])


def test_mig(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(mig_strategy="mixed", validation_resource="nvidia.com/mig-1g.10gb")
    assert plugin_config(rendering)["flags"]["migStrategy"] == "mixed"
    for daemonset, name in (
        ("nvidia-device-plugin", "device-plugin"),
        ("gpu-feature-discovery", "feature-discovery"),
    ):
        item = container(pod_spec(rendering, daemonset), name)
        assert item["securityContext"]["capabilities"]["add"] == ["SYS_ADMIN"]
        assert env_of(item)["NVIDIA_MIG_MONITOR_DEVICES"] == "all"
    limits = rendering.pod("device_plugin_validation")["spec"]["containers"][0]["resources"][
        "limits"
    ]
    assert limits == {"nvidia.com/mig-1g.10gb": 1}
    rendering = nvidia_gpu("openshift", mig_strategy="single")
    constraints = rendering.one("SecurityContextConstraints", "nvidia-gpu-device-plugin")
    assert constraints["allowedCapabilities"] == ["SYS_ADMIN"]


def test_time_slicing(nvidia_gpu: Any) -> None:
    assert "sharing" not in plugin_config(nvidia_gpu())
    shared = plugin_config(nvidia_gpu(time_slicing_replicas=4, time_slicing_rename=True))
    assert shared["version"] == "v1"
    assert shared["sharing"] == {
        "timeSlicing": {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
        }
    }


def test_a_changed_configuration_restarts_who_reads_it(nvidia_gpu: Any) -> None:
    def marks(**options: Any) -> list[str]:
        rendering = nvidia_gpu(**options)
        return [
            rendering.one("DaemonSet", name)["spec"]["template"]["metadata"]["annotations"][
                "hardware-enablement.io/configuration"
            ]
            for name in ("nvidia-device-plugin", "gpu-feature-discovery", "nvidia-dcgm-exporter")
        ]

    plain, sliced, metrics = (
        marks(),
        marks(time_slicing_replicas=2),
        marks(exporter_profiling=False),
    )
    assert [a == b for a, b in zip(plain, sliced, strict=True)] == [False, False, True]
    assert [a == b for a, b in zip(plain, metrics, strict=True)] == [True, True, False]


def test_driver_image_by_version_reference_and_digest(nvidia_gpu: Any) -> None:
    assert set(nvidia_gpu(driver_precompiled=False).images().values()) == {
        "nvcr.io/nvidia/driver:595.91.07-ubuntu24.04",
        "nvcr.io/nvidia/driver:595.91.07-ubuntu22.04",
    }
    digest = "registry.example.org/driver@sha256:" + "0" * 64
    pinned = nvidia_gpu(
        driver_image="registry.example.org/driver:1", driver_images={"6.8.0-60-generic": digest}
    )
    assert pinned.images() == {
        "6-8-0-60-generic-11aa22": digest,
        "5-15-0-1-33bb44": "registry.example.org/driver:1",
    }
    driver = pod_spec(pinned, "nvidia-driver-6-8-0-60-generic-11aa22")
    assert container(driver, "driver")["image"] == digest


def test_a_driver_waits_on_another_kernel_than_its_pods(nvidia_gpu: Any) -> None:
    drivers = nvidia_gpu().objects("DaemonSet", "driver")
    drivers.sort(key=lambda item: str(item["metadata"]["name"]))
    containers = [container(item["spec"]["template"]["spec"], "driver") for item in drivers]
    assert all('"$(uname -r)" != "$POD_KERNEL"' in item["args"][0] for item in containers)
    assert [env_of(item)["POD_KERNEL"] for item in containers] == list(KERNELS)


def test_whatever_changes_what_is_installed_installs_it_anew(nvidia_gpu: Any) -> None:
    def digests(**options: Any) -> set[str]:
        drivers = nvidia_gpu(groups=GROUPS[:1], **options).objects("DaemonSet", "driver")
        return {
            env_of(container(item["spec"]["template"]["spec"], "driver"))["DRIVER_CONFIG_DIGEST"]
            for item in drivers
        }

    same = [digests(), digests(log_level="debug"), digests(env={"monitoring": {"A": "b"}})]
    other = [
        digests(driver_version="1.2.3"),
        digests(driver_kernel_module_type="open"),
        digests(env={"driver": {"NVIDIA_MODULE_PARAMS": "NVreg_Example=1"}}),
    ]
    assert same[0] == same[1] == same[2]
    assert len(set().union(*same, *other)) == 4


@pytest.mark.parametrize("root", ["/", "/home/kubernetes/bin/nvidia"])
def test_the_host_s_own_driver_makes_its_device_nodes_after_a_boot(
    nvidia_gpu: Any, root: str
) -> None:
    spec = pod_spec(nvidia_gpu(driver_enabled=False, driver_install_dir=root), TOOLKIT)
    (waiting,) = spec["initContainers"]
    assert "until chroot /host nvidia-smi -L; do" in waiting["args"][0]
    assert env_of(waiting).get("LD_LIBRARY_PATH") == (None if root == "/" else f"{root}/lib64")
    (deployed,) = pod_spec(nvidia_gpu(), TOOLKIT)["initContainers"]
    assert "privileged" not in deployed["securityContext"]


def test_a_proxy_or_a_version_of_the_cluster_is_no_other_driver(nvidia_gpu: Any) -> None:
    def made(version: str, proxy: str) -> tuple[Obj, str]:
        cluster = {"openshift_version": version, "proxy": {"http": proxy, "https": "", "no": ""}}
        rendering = nvidia_gpu("openshift", groups=GROUPS[:1], cluster=cluster)
        (driver,) = rendering.objects("DaemonSet", "driver")
        template: Obj = driver["spec"]["template"]
        return template, template["metadata"]["annotations"]["hardware-enablement.io/driver"]

    before, after = made("4.19.7", "http://a.test"), made("4.20.1", "http://b.test")
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_without_subscription_and_with_an_image_for_one_kernel_nothing_of_it_is_mounted(
    nvidia_gpu: Any,
) -> None:
    rhel = (group_of("rhel", "5.14.0-570.12.1.el9_6.x86_64", os_id="rhel", os_version="9.6"),)
    with_it = pod_spec(nvidia_gpu(groups=rhel), "nvidia-driver-rhel")
    assert "/etc/pki/entitlement" in host_paths(with_it).values()
    for options in ({"driver_subscription": False}, {"driver_precompiled": True}):
        without = pod_spec(nvidia_gpu(groups=rhel, **options), "nvidia-driver-rhel")
        assert "/etc/pki/entitlement" not in host_paths(without).values()


@pytest.mark.parametrize(
    ("tag", "given", "compiles"),
    [
        ("595.91.07-{os}", {}, True),
        ("595-{kernel}-{os}", {}, False),
        # Whoever names an image says by driver_precompiled what it is.
        ("", {"driver_precompiled": True}, False),
        ("", {"driver_precompiled": False}, True),
    ],
)
@pytest.mark.parametrize(("os_id", "version"), [("rhel", "9.6"), ("rhcos", "4.19")])
def test_the_image_that_won_says_whether_it_compiles(
    nvidia_gpu: Any, os_id: str, version: str, tag: str, given: dict[str, Any], compiles: bool
) -> None:
    kernel, build = "5.14.0-570.12.1.el9_6.x86_64", "9.6.20250805-0"
    group = group_of("red", kernel, os_id=os_id, os_version=version, os_build=build)
    options = {"driver_precompiled": True, "driver_lookup": True, **given}
    if not tag:
        options["driver_images"] = {kernel: "registry.example/driver:1"}
    rendering = nvidia_gpu(
        "openshift" if os_id == "rhcos" else "kubernetes",
        groups=(group,),
        cluster={"openshift_version": "4.19.7"},
        driver_toolkits={build: "registry.example/driver-toolkit:1"},
        **options,
    )
    pinned = f"nvcr.io/nvidia/driver@sha256:{'0' * 64}"
    tag = tag.format(kernel=kernel, os=f"{os_id}{version}")
    name = f"nvcr.io/nvidia/driver:{tag}" if tag else "registry.example/driver:1"
    facts = replace(
        rendering.facts,
        resolved={"driver_container": {"red": pinned}},
        image_names={"driver_container": {"red": name}},
    )
    states = check_recipe(rendering.recipe, facts)
    spec = pod_spec(Rendering(rendering.recipe, facts, states), "nvidia-driver-red")
    assert container(spec, "driver")["image"] == pinned
    paths = host_paths(spec).values()
    others = [each["name"] for each in spec["containers"]]
    assert ("driver-toolkit" in others) == (compiles and os_id == "rhcos")
    assert ("/etc/pki/entitlement" in paths) == (compiles and os_id == "rhel")


def test_behind_the_proxy_of_openshift(nvidia_gpu: Any) -> None:
    cluster = {
        "openshift_version": "4.19.7",
        "proxy": {"http": "http://proxy.test:3128", "https": "", "no": ".svc"},
        "trusted_ca": "user-ca-bundle",
    }
    rendering = nvidia_gpu("openshift", groups=GROUPS[:1], cluster=cluster)
    spec = pod_spec(rendering, f"nvidia-driver-{GROUPS[0].id}")
    driver = container(spec, "driver")
    found = {name: value for name, value in env_of(driver).items() if "proxy" in name.lower()}
    assert found == {
        "HTTP_PROXY": "http://proxy.test:3128",
        "http_proxy": "http://proxy.test:3128",
        "NO_PROXY": ".svc",
        "no_proxy": ".svc",
    }
    assert "trusted-ca" in {mount["name"] for mount in driver["volumeMounts"]}
    bundle = rendering.one("ConfigMap", "nvidia-trusted-ca")
    assert bundle["metadata"]["labels"]["config.openshift.io/inject-trusted-cabundle"] == "true"
    assert "data" not in bundle


@pytest.mark.parametrize(
    ("option", "used"),
    [
        ("toolkit_image", 2),
        ("device_plugin_image", 3),
        ("feature_discovery_image", 2),
        ("exporter_image", 1),
        ("validation_image", 2),
        ("grafana_image", 1),
    ],
)
def test_images_can_be_digests(nvidia_gpu: Any, option: str, used: int) -> None:
    reference = "registry.example.org/thing@sha256:" + "f" * 64
    rendering = nvidia_gpu(grafana="instance", **{option: reference})
    images = [
        item["image"] for _name, spec in rendering.pod_specs() for item in all_containers(spec)
    ]
    assert images.count(reference) == used


def test_resources_env_and_log_level_of_an_operand(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(
        resources={"device_plugin": {"requests": {"cpu": "1"}}},
        env={"device_plugin": {"PASS_DEVICE_SPECS": "true", "FAIL_ON_INIT_ERROR": "false"}},
        log_level="debug",
    )
    plugin = container(pod_spec(rendering, "nvidia-device-plugin"), "device-plugin")
    assert plugin["resources"]["requests"]["cpu"] == "1"
    listed = [entry["name"] for entry in plugin["env"]]
    assert len(listed) == len(set(listed))
    assert (env_of(plugin)["PASS_DEVICE_SPECS"], env_of(plugin)["FAIL_ON_INIT_ERROR"]) == (
        "true",
        "false",
    )
    toolkit = env_of(container(pod_spec(rendering, TOOLKIT), "toolkit"))
    assert (toolkit["NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL"], toolkit["TOOLKIT_DEBUG"]) == (
        "debug",
        "true",
    )
    assert (
        env_of(container(pod_spec(rendering, "nvidia-dcgm-exporter"), "exporter"))[
            "DCGM_EXPORTER_DEBUG"
        ]
        == "true"
    )


def test_own_resources_leave_the_validation_pod_its_gpu(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(resources={"device_plugin_validation": {"limits": {"memory": "1Gi"}}})
    limits = rendering.pod("device_plugin_validation")["spec"]["containers"][0]["resources"][
        "limits"
    ]
    assert limits == {"memory": "1Gi", "nvidia.com/gpu": 1}
