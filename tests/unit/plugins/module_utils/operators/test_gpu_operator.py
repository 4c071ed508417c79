# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of NVIDIA's GPU Operator as options and pools of the recipe nvidia-gpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.gpu_operator import (
    ImportedOptions,
    gpu_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.nvidia_driver import (
    UNSET,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.settings_trial import (
    refusal,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load

Obj = dict[str, Any]

RECIPES = Path(__file__).parents[5] / "recipes"
# What the operator deploys without being told.
UNSAID: Obj = {"dcgm_enabled": True}
BY_DRIVERS = {"useNvidiaDriverCRD": True}


def policy(**spec: Any) -> Obj:
    """A ClusterPolicy."""
    metadata = {"name": "cluster-policy"}
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": metadata,
        "spec": spec,
    }


def driver(name: str, **spec: Any) -> Obj:
    """An NVIDIADriver."""
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {"name": name},
        "spec": spec,
    }


def found(*resources: Obj) -> ImportedOptions:
    """What they are; the recipe can be enabled so."""
    settings = gpu_settings(resources, "a test")
    bundle = read_bundle(RECIPES / "nvidia-gpu")
    if refused := refusal(bundle, "nvidia-gpu", settings.options, settings.pools):
        raise refused
    return settings


def test_a_policy_as_helm_makes_it() -> None:
    settings = found(
        policy(
            operator={"defaultRuntime": "docker", "runtimeClass": "nvidia"},
            daemonsets={
                "priorityClassName": "mine",
                "updateStrategy": "RollingUpdate",
                "tolerations": [
                    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "team", "operator": "Exists"},
                ],
            },
            driver={
                "enabled": True,
                "repository": "registry.example.com/nvidia",
                "image": "driver",
                "version": "580.105.08",
                "kernelModuleType": "open",
                "imagePullSecrets": ["pull"],
                "env": [{"name": "A", "value": "1"}],
                "upgradePolicy": {"autoUpgrade": True},
            },
            toolkit={
                "enabled": True,
                "repository": "nvcr.io/nvidia/k8s",
                "image": "container-toolkit",
                "version": "v1.20.0",
                "imagePullSecrets": ["pull", "other"],
                "env": [
                    {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"},
                    {"name": "B", "value": "2"},
                ],
            },
            devicePlugin={"config": {"name": "sharing"}, "image": "p@sha256:0", "repository": "r"},
            cdi={"enabled": False},
            gds={"enabled": False, "image": "nvidia-fs"},
            gdrcopy={"enabled": True},
            vgpuManager={"enabled": True},
            sandboxWorkloads={"enabled": False},
            mig={"strategy": "mixed"},
            later={"new": 1},
        )
    )
    assert settings.recipe == "nvidia-gpu"
    assert settings.options == UNSAID | {
        "runtime_class": "nvidia",
        "priority_class": "mine",
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "driver_enabled": True,
        "driver_repository": "registry.example.com/nvidia",
        "driver_version": "580.105.08",
        "driver_kernel_module_type": "open",
        "image_pull_secrets": ["pull", "other"],
        "env": {"driver": {"A": "1"}, "runtime_hook": {"B": "2"}},
        "toolkit_enabled": True,
        "toolkit_image": "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0",
        "runtime_socket": "/run/k3s/containerd/containerd.sock",
        "device_plugin_image": "r/p@sha256:0",
        "device_list_strategy": ["envvar"],
        "mig_strategy": "mixed",
        "gdrcopy_enabled": True,
    }
    assert settings.dropped.keys() == {"devicePlugin.config", "later.new"}
    assert settings.differs.keys() == {"driver.upgradePolicy"}
    assert "- devicePlugin.config has no counterpart: its ConfigMap is not read" in "\n".join(
        settings.table()
    )
    assert "  mig.strategy -> mig_strategy" in settings.table()


def test_drivers_of_their_own_are_pools_and_the_policy_s_driver_does_not_count() -> None:
    one = {"repository": "nvcr.io/nvidia", "image": "driver"}
    settings = found(
        policy(driver={"enabled": True, "useNvidiaDriverCRD": True, "version": "1.2.3"}),
        driver("Old_GPUs", **one, version="570", usePrecompiled=True, nodeSelector={"a": "b"}),
        driver("rest", **one, version="580.105.08", default=True),
    )
    assert settings.options == UNSAID | {
        "driver_enabled": True,
        "driver_repository": "nvcr.io/nvidia",
        "driver_version": "580.105.08",
    }
    assert settings.pools == [
        {
            "name": "old-gpus-aac0c0",
            "selector": {"matchLabels": {"a": "b"}},
            "options": {
                "driver_repository": "nvcr.io/nvidia",
                "driver_branch": "570",
                "driver_precompiled": True,
            },
        }
    ]


def test_an_affinity_of_one_term_is_a_pool_and_one_of_several_is_said() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}

    def chosen(*terms: Obj) -> ImportedOptions:
        required = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}
        }
        drivers = [driver("x", version="1", nodeAffinity=required), driver("rest", default=True)]
        return found(policy(driver=BY_DRIVERS), *drivers)

    assert chosen(term).pools[0]["selector"] == term
    # Nothing of it is anywhere, and least of all on the nodes that no driver selects.
    assert chosen(term, term).dropped.keys() == {
        "NVIDIADriver x: version",
        "NVIDIADriver x: nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    }
    assert chosen(term, term).options == UNSAID | {"driver_enabled": True}
    assert chosen(term, term).pools == []


def test_a_node_that_no_driver_selects_gets_none() -> None:
    settings = found(
        policy(driver={**BY_DRIVERS, "enabled": True, "version": "1"}),
        driver("a", version="570", nodeSelector={"a": "b"}),
    )
    assert settings.options == UNSAID | {"driver_enabled": False}
    assert settings.pools[0]["options"] == {"driver_enabled": True, "driver_version": "570"}
    assert "get no driver" in settings.differs["driver.useNvidiaDriverCRD"]
    assert settings.same.keys() == {"driver.enabled", "driver.version"}


def test_without_any_driver_of_their_own_no_node_gets_one() -> None:
    assert found(policy(driver=BY_DRIVERS)).options == UNSAID | {"driver_enabled": False}


def test_drivers_that_the_policy_does_not_go_by_are_nothing() -> None:
    settings = found(policy(), driver("a", version="570", nodeSelector={"a": "b"}))
    assert (settings.options, settings.pools) == (UNSAID, [])
    assert "NVIDIADriver a: version" in settings.same


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = ["production-cluster-a100-east", "production-cluster-a100-west"]
    drivers = [driver(each, nodeSelector={"a": each}) for each in names]
    one, other = (pool["name"] for pool in found(policy(driver=BY_DRIVERS), *drivers).pools)
    assert one != other
    assert len(one) == len(other) == 20


def test_a_pool_has_what_all_nodes_have_and_nothing_of_the_other_driver() -> None:
    settings = found(
        policy(
            driver=BY_DRIVERS,
            toolkit={"env": [{"name": "B", "value": "2"}], "imagePullSecrets": ["one"]},
        ),
        driver("rest", default=True, usePrecompiled=True, version="570", imagePullSecrets=["two"]),
        driver("own", version="580.1", nodeSelector={"a": "b"}, env=[{"name": "A", "value": "1"}]),
    )
    assert settings.options == UNSAID | {
        "driver_enabled": True,
        "driver_precompiled": True,
        "driver_branch": "570",
        "env": {"runtime_hook": {"B": "2"}},
        "image_pull_secrets": ["one", "two"],
    }
    assert settings.pools[0]["options"] == {
        "driver_precompiled": False,
        "driver_version": "580.1",
        "env": {"runtime_hook": {"B": "2"}, "driver": {"A": "1"}},
        "image_pull_secrets": ["one"],
    }


def test_what_a_driver_of_its_own_leaves_open_is_the_recipe_s() -> None:
    options = load(read_bundle(RECIPES / "nvidia-gpu"), "nvidia-gpu").options
    assert {name: options[name].default for name in UNSET} == UNSET


@pytest.mark.parametrize(
    "drivers",
    [[driver("a"), driver("b")], [driver("a", default=True), driver("b", default=True)]],
)
def test_two_drivers_for_the_same_nodes_are_refused_as_by_the_operator(drivers: list[Obj]) -> None:
    with pytest.raises(InvalidInput) as caught:
        found(policy(driver=BY_DRIVERS), *drivers)
    assert caught.value.why == "a and b of kind NVIDIADriver are both for the nodes of no other"


def test_virtual_gpus_have_no_driver_here() -> None:
    guest = driver("a", driverType="vgpu-host-manager", version="1", nodeSelector={"a": "b"})
    settings = found(policy(driver=BY_DRIVERS), guest)
    assert (settings.options, settings.pools) == (UNSAID | {"driver_enabled": False}, [])
    assert "NVIDIADriver a: version" in settings.dropped


def test_of_two_fields_for_one_option_the_operator_s_first_counts_and_the_other_is_said() -> None:
    entries = {"RUNTIME_CONFIG": "/b", "CONTAINERD_CONFIG": "/a", "CONTAINERD_RUNTIME_CLASS": "y"}
    settings = found(
        policy(
            operator={"runtimeClass": "x"},
            toolkit={"env": [{"name": name, "value": value} for name, value in entries.items()]},
            driver={"useOpenKernelModules": True, "kernelModuleType": "proprietary"},
        )
    )
    assert settings.options == UNSAID | {
        "runtime_class": "x",
        "runtime_config": "/a",
        "driver_kernel_module_type": "proprietary",
    }
    assert settings.dropped == {
        "toolkit.env.RUNTIME_CONFIG": "runtime_config is one value here, and toolkit.env.CONTAINERD_CONFIG says it",
        "toolkit.env.CONTAINERD_RUNTIME_CLASS": "runtime_class is one value here, and operator.runtimeClass says it",
    }
    assert "driver.useOpenKernelModules" in settings.same


def test_what_is_switched_off_has_no_effect() -> None:
    settings = found(
        policy(
            driver={"enabled": False, "version": "1", "imagePullSecrets": ["a"]},
            devicePlugin={"enabled": False, "image": "r/p:1"},
            gds={"image": "x"},
        )
    )
    assert settings.options == UNSAID | {"driver_enabled": False, "device_plugin_enabled": False}
    assert settings.same["driver.version"] == "the operator does not use it without driver.enabled"
    assert settings.same["gds.image"] == "the operator does not use it without gds.enabled"
    assert (settings.dropped, settings.differs) == ({}, {})


def test_the_table_names_together_what_changes_nothing_for_one_reason() -> None:
    table = found(policy(psp={"enabled": True}, cdi={"default": True, "enabled": True})).table()
    assert table == [
        "nvidia-gpu: 0 fields are taken, 0 have no counterpart, 0 are done otherwise, 3 change nothing",
        "= psp: Kubernetes has no PodSecurityPolicy any more",
        "= cdi.default: it has no effect in the operator either",
        "= cdi.enabled: it is so here without being set, too",
    ]


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"image": "r/n/driver", "version": "1"}, {"driver_repository": "r/n", "driver_version": "1"}),
        ({"repository": "r/n", "image": "driver", "version": "sha256:0"}, {"driver_image": "r/n/driver@sha256:0"}),
        ({"image": "r/my-driver", "version": "1"},
         {"driver_repository": "r", "driver_image_name": "my-driver", "driver_version": "1"}),
        ({"image": "r/driver:580-ubuntu24.04"}, {"driver_image": "r/driver:580-ubuntu24.04"}),
    ],
)  # fmt: skip
def test_the_image_of_a_driver(given: Obj, options: Obj) -> None:
    settings = found(policy(driver=given))
    assert settings.options == UNSAID | options
    assert settings.dropped == {}


def test_the_host_s_driver_is_where_the_policy_says() -> None:
    paths = {"driverInstallDir": "/home/kubernetes/bin/nvidia"}
    assert found(policy(hostPaths=paths, driver={"enabled": False})).options == UNSAID | {
        "driver_enabled": False,
        "driver_install_dir": "/home/kubernetes/bin/nvidia",
    }
    assert "hostPaths.driverInstallDir" in found(policy(hostPaths=paths)).dropped


@pytest.mark.parametrize(
    ("resources", "why"),
    [
        ([], "it has 0 objects of kind ClusterPolicy"),
        ([policy(), policy()], "it has 2 objects of kind ClusterPolicy"),
        ([1], "one of its documents is no object"),
        ([{"apiVersion": "v1", "kind": "Pod"}], "Pod is no ClusterPolicy"),
        ([{**policy(), "apiVersion": "nvidia.com/v9"}], "ClusterPolicy is no ClusterPolicy"),
    ],
)
def test_nonsense_is_refused(resources: list[Any], why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        gpu_settings(resources, "x.yml")
    assert caught.value.why.startswith(why)


def test_a_list_is_opened() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [policy(mig={"strategy": "none"})]}
    assert found(listed).options == UNSAID | {"mig_strategy": "none"}


def test_dcgm_and_its_exporter_are_taken_over() -> None:
    jobs = {"enabled": True}
    exporter = {"config": {"name": "mine"}, "enablePodLabels": True, "hpcJobMapping": jobs}
    settings = found(policy(dcgm={"enabled": False}, dcgmExporter=exporter))
    assert settings.options == {
        "dcgm_enabled": False,
        "exporter_metrics_config_map": "mine",
        "exporter_pod_labels": True,
        "exporter_job_mapping_dir": "/var/lib/dcgm-exporter/job-mapping",
    }
    jobs |= {"directory": "/jobs"}
    assert found(policy(dcgmExporter=exporter)).options["exporter_job_mapping_dir"] == "/jobs"
    jobs |= {"enabled": False}
    assert "exporter_job_mapping_dir" not in found(policy(dcgmExporter=exporter)).options


def test_containers_beside_the_driver_s_are_taken_over() -> None:
    gds = {"enabled": True, "repository": "r", "image": "nvidia-fs", "version": "2"}
    rdma = {"enabled": True}
    assert found(policy(gds=gds, driver={"rdma": rdma})).options == UNSAID | {
        "gds_enabled": True,
        "gds_image": "r/nvidia-fs:2",
        "driver_rdma": "container",
    }
    rdma |= {"useHostMofed": True}
    assert found(policy(driver={"rdma": rdma})).options["driver_rdma"] == "host"
    # Drivers of their own say it by themselves.
    own = driver("a", nodeSelector={"a": "b"}, gds=gds, rdma=rdma)
    settings = found(policy(gds=gds, gdrcopy={"enabled": True}, driver=BY_DRIVERS), own)
    assert "gds_enabled" not in settings.options
    (pool,) = settings.pools
    assert pool["options"]["gds_image"] == "r/nvidia-fs:2"
    assert pool["options"]["driver_rdma"] == "host"
    assert "gdrcopy.enabled" in settings.same
