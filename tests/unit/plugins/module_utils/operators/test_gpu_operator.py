# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of NVIDIA's GPU Operator as options and pools of the recipe nvidia-gpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._operators import (
    cluster_policy,
    nvidia_driver,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    JoinedField,
    MappedField,
    UnmappedField,
    mapping_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.gpu_operator import (
    ImportedOptions,
    gpu_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)

Obj = dict[str, Any]
RECIPES = Path(__file__).parents[5] / "recipes"
KNOWN = yaml.safe_load(Path(__file__).with_name("gpu_operator_fields.yml").read_text())
TABLES = {"ClusterPolicy": cluster_policy.FIELDS, "NVIDIADriver": nvidia_driver.FIELDS}


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
    """What they are, checked as the options and pools of the recipe."""
    settings = gpu_settings(resources, "a test")
    recipe = load(read_bundle(RECIPES / "nvidia-gpu"), "nvidia-gpu")
    resolve(recipe, settings.options)
    for pool in parse_pools(settings.pools):
        resolve(recipe, pool.options, complete=False)
    return settings


@pytest.mark.parametrize("kind", TABLES)
def test_every_field_that_the_operator_knows_has_its_fate(kind: str) -> None:
    assert [path for path in KNOWN[kind] if mapping_of(path, TABLES[kind]) is None] == []


@pytest.mark.parametrize("kind", TABLES)
def test_no_table_speaks_of_a_field_that_is_not_there(kind: str) -> None:
    known = set(KNOWN[kind])
    parts = {".".join(path.split(".")[:count]) for path in known for count in range(1, 5)}
    assert [path for path in TABLES[kind] if path not in parts] == []


@pytest.mark.parametrize("kind", TABLES)
def test_each_option_is_one_of_the_recipe(kind: str) -> None:
    recipe = load(read_bundle(RECIPES / "nvidia-gpu"), "nvidia-gpu")
    for path, mapping in TABLES[kind].items():
        if isinstance(mapping, MappedField):
            assert mapping.option.partition(".")[0] in recipe.options, path
        assert isinstance(mapping, (MappedField, JoinedField, UnmappedField))


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
    assert settings.options == {
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
    }
    assert settings.dropped.keys() == {"devicePlugin.config", "gdrcopy", "later.new"}
    assert settings.differs.keys() == {"driver.upgradePolicy"}
    assert "- gdrcopy has no counterpart: its kernel modules stay" in "\n".join(settings.table())
    assert "  mig.strategy -> mig_strategy" in settings.table()


def test_drivers_of_their_own_are_pools_and_the_policy_s_driver_does_not_count() -> None:
    one = {"repository": "nvcr.io/nvidia", "image": "driver"}
    settings = found(
        policy(driver={"enabled": True, "useNvidiaDriverCRD": True, "version": "1.2.3"}),
        driver("Old_GPUs", **one, version="570", usePrecompiled=True, nodeSelector={"a": "b"}),
        driver("rest", **one, version="580.105.08", default=True),
    )
    assert settings.options == {
        "driver_enabled": True,
        "driver_repository": "nvcr.io/nvidia",
        "driver_version": "580.105.08",
    }
    assert settings.pools == [
        {
            "name": "old-gpus",
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
        return found(policy(), driver("x", version="1", nodeAffinity=required))

    assert chosen(term).pools[0]["selector"] == term
    assert "NVIDIADriver x: nodeAffinity" in chosen(term, term).dropped
    assert chosen(term, term).pools == []


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"image": "r/n/driver", "version": "1"}, {"driver_repository": "r/n", "driver_version": "1"}),
        ({"repository": "r/n", "image": "driver", "version": "sha256:0"}, {"driver_image": "r/n/driver@sha256:0"}),
        ({"repository": "r", "image": "my-driver", "version": "1"}, {}),
    ],
)  # fmt: skip
def test_the_image_of_a_driver(given: Obj, options: Obj) -> None:
    settings = found(policy(driver=given))
    assert settings.options == options
    assert ("driver.image" in settings.dropped) == (not options)


def test_the_host_s_driver_is_where_the_policy_says() -> None:
    paths = {"driverInstallDir": "/home/kubernetes/bin/nvidia"}
    assert found(policy(hostPaths=paths, driver={"enabled": False})).options == {
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
    assert found(listed).options == {"mig_strategy": "none"}
