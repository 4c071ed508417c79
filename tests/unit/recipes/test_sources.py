# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of sources name every image, environment variable and host path of their recipes, and
nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    REPO,
    renderer,
)

TABLES = REPO / "docs" / "recipes"
ROW = re.compile(
    r"^\| (?P<state>\w+) \| (?P<kind>image|env|path) \| `(?P<name>[^`]+)` \| (?P<source>\S+ \S+) \| (?P<version>\S+) \|"
)
# Together these make every part of a recipe show up.
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "nvidia-gpu": (
        {},
        {"driver_enabled": False},
        {"driver_precompiled": True},
        {"toolkit_enabled": False},
        {"container_runtime": "cri-o"},
        {"mig_strategy": "mixed"},
        {"gds_enabled": True, "gdrcopy_enabled": True, "driver_rdma": "container"},
        {"driver_rdma": "host"},
        {"dcgm_enabled": True, "mig_strategy": "mixed"},
        {
            "exporter_pod_labels": True,
            "exporter_pod_uid": True,
            "exporter_pod_label_allowlist": ["a"],
        },
        {"exporter_job_mapping_dir": "/var/lib/dcgm-exporter/job-mapping"},
        {"mig_devices": {"1g.10gb": 7}, "operator_labels": True},
        {"mig_devices": {"1g.10gb": 7}},
        {"mig_devices": {"1g.10gb": 7}, "driver_enabled": False},
        {"grafana": "instance"},
        {"grafana": "instance", "grafana_admin_secret": "grafana-admin"},
        {"platform": "openshift", "grafana": "instance"},
        {"runtime_mode": "nri"},
        {"driver_module_parameters": ["NVreg_Example=1"], "device_list_strategy": ["envvar"]},
        {"runtime_mode": "none"},
        {"exporter_tls": "secret"},
        {"cluster": {"distribution": "gke"}},
        {
            "cluster": {"kubernetes_version": "1.36.0"},
            "compute_domains_enabled": True,
            "dra_feature_gates": {"ComputeDomainCliques": True},
        },
    ),
    "amd-gpu": (
        {},
        {"driver_enabled": True, "driver_repository": "registry.example.com/amdgpu-driver"},
        {
            "cluster": {"kubernetes_version": "1.36.0"},
            "groups": (replace(GROUPS[0], allocation="dra"),),
        },
        {"partition_profiles": {"cpx": [{"computePartition": "CPX", "memoryPartition": "NPS1"}]}},
        {"problem_detector_enabled": True},
    ),
    "intel-gaudi": ({},),
    "nvidia-gpu-passthrough": ({},),
    "intel-gpu": ({},),
    "sriov-nic": (
        {
            "policies": [{"name": "ib", "virtual_functions": 1, "link_type": "infiniband"}],
            "tools_image": "registry.example.com/network-tools:1",
            "networks": [{"name": "storage", "policy": "ib"}],
        },
        {"policies": [{"name": "fast", "virtual_functions": 1}]},
    ),
    "xilinx-fpga": ({"validation_resource": "amd.com/xilinx_u250"},),
}
# The tags of NVIDIA's own operator, and those of ours that are others.
OF_THE_OPERATOR = yaml.safe_load((Path(__file__).parent / "gpu_operator.yml").read_text())["images"]
OTHER_TAGS = {
    "container-toolkit": "v1.20.2",  # a newer patch release
    "dra-driver-nvidia-gpu": "v0.4.1",  # the newest whose sources are published
}


def rows(recipe: str) -> dict[tuple[str, str, str], tuple[str, str]]:
    found = {}
    for line in (TABLES / f"{recipe}-sources.md").read_text().splitlines():
        match = ROW.match(line)
        if match:
            key = (match["state"], match["kind"], match["name"])
            assert key not in found, f"twice in the table: {key}"
            found[key] = (match["source"], match["version"])
    return found


def general(image: str) -> str:
    """The name of an image, with what differs between kernel groups left out."""
    image = re.sub(r"(/driver:[0-9.]+)-.*-ubuntu[0-9.]+$", r"\1-<kernel>-<os>", image)
    image = re.sub(r"(/amdgpu-driver:)ubuntu-[0-9.]+-.*-([0-9.]+)$", r"\1<os>-<kernel>-\2", image)
    return re.sub(r"(/(?:driver|nvidia-fs|gdrdrv):v?[0-9.]+)-ubuntu[0-9.]+$", r"\1-<os>", image)


def rendered(recipe: str) -> set[tuple[str, str, str]]:
    render, found = renderer(REPO / "recipes" / recipe), set()
    for variant in VARIANTS[recipe]:
        for state, spec in render(**variant).pod_specs():
            for item in [*spec.get("initContainers", []), *spec["containers"]]:
                found.add((state, "image", general(item["image"])))
                found.update((state, "env", entry["name"]) for entry in item.get("env", []))
            for volume in spec.get("volumes", []):
                if "hostPath" in volume:
                    found.add((state, "path", volume["hostPath"]["path"]))
    return found


def test_every_table_is_looked_at() -> None:
    assert {
        file.name.removesuffix("-sources.md") for file in TABLES.glob("*-sources.md")
    } == VARIANTS.keys()


@pytest.mark.parametrize("name", VARIANTS)
def test_the_table_and_the_recipe_name_the_same(name: str) -> None:
    table, recipe = set(rows(name)), rendered(name)
    assert sorted(recipe - table) == [], "the recipe renders what the table does not name"
    assert sorted(table - recipe) == [], "the table names what the recipe does not render"


def test_tags_are_the_newest_that_nvidias_operator_names() -> None:
    found: dict[str, set[str]] = {}
    for recipe in ("nvidia-gpu", "nvidia-gpu-passthrough"):
        for _state, kind, name in rendered(recipe):
            image, _colon, tag = name.rpartition("/")[2].partition(":")
            # A tag of a precompiled driver has its branch instead of a version.
            if kind == "image" and image in OF_THE_OPERATOR and "<kernel>" not in tag:
                found.setdefault(image, set()).add(tag.removesuffix("-<os>"))
    assert found == {name: {tag} for name, tag in {**OF_THE_OPERATOR, **OTHER_TAGS}.items()}


@pytest.mark.parametrize("name", VARIANTS)
def test_each_row_names_a_repository_file_and_version(name: str) -> None:
    for key, (source, version) in rows(name).items():
        repository, _sep, path = source.partition(" ")
        assert path, key
        assert repository == "ours" or repository.count("/") == 1, key
        assert version == "-" or re.fullmatch(r"v?[0-9][0-9.-]*|[0-9a-f]{8}", version), key
