# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of the operator's custom resources: what the API server let through, and Go's zero values."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.image_rights import (
    image_rights,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.kernel_affine import (
    made_affine,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.runtime_values import (
    special_resources,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.sro_types import (
    CHART_SPEC,
    NUMBERED_SPEC,
    filled,
    known_part,
)

KERNEL = "feature.node.kubernetes.io/kernel-version.full"


def test_what_is_not_set_is_there_as_go_has_it() -> None:
    found = filled(CHART_SPEC, {"driverContainer": {"source": {"git": {"uri": "x"}}}})
    assert found["driverContainer"] == {"source": {"git": {"ref": "", "uri": "x"}}, "artifacts": {}}
    assert (found["debug"], found["managementState"]) == (False, "")
    # JSON leaves lists out, Go has empty ones.
    assert "dependencies" not in found
    whole = filled(NUMBERED_SPEC, {"driverContainer": {"runArgs": [{"name": "A"}]}}, lists=True)
    assert whole["driverContainer"]["runArgs"] == [{"name": "A", "value": ""}]
    assert whole["driverContainer"]["artifacts"] == {"hostPaths": [], "images": [], "claims": []}
    assert whole["configuration"] == []
    # As v1alpha1 has it.
    assert filled(NUMBERED_SPEC, {"dependsOn": {"name": ["a"]}})["dependsOn"] == {"name": ["a"]}


def test_what_a_type_does_not_have_is_dropped_wherever_it_is() -> None:
    value: dict[str, Any] = {
        "set": {"any": {"thing": 1}},
        "sets": {},
        "chart": {"name": "a", "repo": "b"},
    }
    value["dependencies"] = [{"name": "c", "chart": {"name": "d"}}]
    kept, dropped = known_part(CHART_SPEC, value, "spec")
    assert kept == {
        "set": {"any": {"thing": 1}},
        "chart": {"name": "a"},
        "dependencies": [{"chart": {"name": "d"}}],
    }
    assert [each.partition(" ")[0].rstrip(",") for each in dropped] == [
        "spec.sets",
        "spec.chart.repo",
        "spec.dependencies[0].name",
    ]


def test_charts_see_the_custom_resource_and_what_options_say_of_it() -> None:
    options = {
        "custom_resource": {
            "metadata": {"labels": {"a": "b"}, "name": "other"},
            "spec": {"chart": {"name": "kmod", "version": "1"}, "namespace": "other"},
        },
        "set": {"image": "x"},
        "node_selector": {"c": "d"},
    }
    given = {"options": options, "instance": "site", "namespace": "drivers", "recipe": "kmod"}
    found = special_resources(given)["specialresource"]
    assert found["metadata"] == {"labels": {"a": "b"}, "name": "site"}
    assert found["spec"]["namespace"] == "drivers"
    assert found["spec"]["chart"]["version"] == "1"
    assert found["spec"]["set"] == {
        "kind": "Values",
        "apiVersion": "sro.openshift.io/v1beta1",
        "image": "x",
    }
    assert found["spec"]["nodeSelector"] == {"c": "d"}


@pytest.mark.parametrize("selector", [None, {}, {KERNEL: ""}, {KERNEL: "other", "a": "b"}])
@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "StatefulSet"])
def test_pods_run_on_their_kernels_nodes_whatever_is_said(
    kind: str, selector: dict[str, str] | None
) -> None:
    spec: dict[str, Any] = {"containers": [], "nodeSelector": selector}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": {"template": {"spec": spec}},
    }
    made = made_affine(manifest, "-1f", "5.14")
    rest = {key: value for key, value in (selector or {}).items() if key != KERNEL}
    # Those of a DaemonSet are kept there by its affinity, also while NFD's labels are gone.
    wanted = rest if kind == "DaemonSet" else {**rest, KERNEL: "5.14"}
    assert made["spec"]["template"]["spec"].get("nodeSelector", {}) == wanted


@pytest.mark.parametrize(
    ("platform", "namespaces"), [("openshift", ["headers"]), ("kubernetes", [])]
)
def test_builds_may_use_images_of_what_they_depend_on(platform: str, namespaces: list[str]) -> None:
    made = image_rights(
        {
            "cluster": {"platform": platform},
            "instance": "site",
            "namespace": "kmod",
            "options": {"image_namespaces": ["headers", "kmod"]},
        }
    )
    assert [each["metadata"]["namespace"] for each in made] == namespaces
