# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a cluster for a chart, and when it is not asked at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_reading import (
    read_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.runtime_facts import (
    missing_toolkits,
    runtime_facts,
)

HEAD = "apiVersion: v2\nname: kmod\nversion: 0.1.0\n"
OBJECTS: dict[tuple[str, str, str], dict[str, Any]] = {
    ("ServiceAccount", "builder", "kmod"): {
        "secrets": [{"name": "mine"}, {"name": "builder-dockercfg-x7k2p"}]
    },
    ("ConfigMap", "machine-config-osimageurl", "openshift-machine-config-operator"): {
        "data": {"osImageURL": "old", "baseOSContainerImage": "quay.io/rhcos@sha256:1"}
    },
}


class Cluster:
    """Gives objects, and takes down which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def kind(self, _api_version: str, kind: str) -> str:
        return kind

    def get(self, kind: str, name: str, namespace: str) -> dict[str, Any] | None:
        self.asked.append(f"{kind} {namespace}/{name}")
        return OBJECTS.get((kind, name, namespace))


def told(files: dict[str, str], namespace: str = "kmod", **more: Any) -> dict[str, str]:
    cluster, recipe = Cluster(), read_recipe(files, "kmod")
    given: dict[str, Any] = {"platform": "openshift", "made": (), **more}
    found = runtime_facts(cast(Client, cluster), recipe.source.format, namespace=namespace, **given)
    assert len(cluster.asked) == len(found)
    return found


@pytest.mark.parametrize(
    "files",
    [
        {"Chart.yaml": HEAD, "templates/0000-a.yaml": "{{ .Values.pushSecretName }}"},
        {"0000-a.yaml": "{{.PushSecretName}}"},
    ],
)
def test_builds_push_with_the_builders_secret(files: dict[str, str]) -> None:
    assert told(files) == {"pushSecretName": "builder-dockercfg-x7k2p"}
    assert told(files, "other") == {"pushSecretName": ""}
    # It was not there when the resource was enabled first.
    assert told(files, made=("kmod",)) == {}
    assert told(files, platform="kubernetes") == {}


def test_the_image_of_the_system_is_the_machine_config_operators() -> None:
    files = {"Chart.yaml": HEAD, "templates/0000-a.yaml": "{{ .Values.osImageURL }}"}
    assert told(files) == {"osImageURL": "quay.io/rhcos@sha256:1"}


def test_what_nobody_asks_for_is_not_read() -> None:
    assert told({"Chart.yaml": HEAD, "templates/0000-a.yaml": "{{ .Values.image }}"}) == {}


@pytest.mark.parametrize(
    "files",
    [
        {"Chart.yaml": HEAD, "templates/0000-a.yaml": "{{ .Values.driverToolkitImage }}"},
        {"0000-a.yaml": "{{.DriverToolkitImage}}"},
    ],
)
def test_a_kernel_without_a_driver_toolkit_is_told_where_a_chart_asks_for_it(
    files: dict[str, str],
) -> None:
    groups = [
        NodeGroup("a", ("kernel",), GroupSystem("5.14.0-1", os_build="9.4.1-0"), nodes=("n1",)),
        NodeGroup(
            "b", ("kernel",), GroupSystem("5.14.0-2", os_build="9.6.2-0"), nodes=("n2", "n3")
        ),
        NodeGroup("c", ("kernel",), GroupSystem("5.14.0-3"), nodes=("n4", "n5", "n6", "n7")),
    ]
    facts = RenderFacts(
        "kmod",
        {},
        groups,
        "",
        cluster={"platform": "openshift"},
        driver_toolkits={"9.4.1-0": "registry.example.org/dtk"},
    )
    found = list(missing_toolkits(read_recipe(files, "kmod").source.format, facts))
    assert len(found) == 2
    assert "for kernel 5.14.0-2 (on n2, n3): driverToolkitImage is empty there" in found[0]
    assert "has no tag 9.6.2-0" in found[0]
    assert "for kernel 5.14.0-3 (on n4, n5, n6 and 1 more)" in found[1]
    silent = {"Chart.yaml": HEAD, "templates/0000-a.yaml": "{{ .Values.kernelFullVersion }}"}
    assert not list(missing_toolkits(read_recipe(silent, "kmod").source.format, facts))
    plain = replace(facts, cluster={"platform": "kubernetes"})
    assert not list(missing_toolkits(read_recipe(files, "kmod").source.format, plain))
