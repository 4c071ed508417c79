# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.chart_states import (
    states_of,
    steps_of,
    templates_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.vendor_builds import (
    images_of,
    is_wanted,
    starts_by_itself,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)

VENDOR = "specialresource.openshift.io/driver-container-vendor"
BUILD, DRIVER = f"kind: BuildConfig\n{VENDOR}: kmod\n", f"kind: DaemonSet\n{VENDOR}: kmod\n"


def made(kind: str, vendor: str = "", **spec: Any) -> dict[str, Any]:
    annotations = {VENDOR: vendor} if vendor else {}
    version = "apps/v1" if kind == "DaemonSet" else "build.openshift.io/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", "annotations": annotations},
        "spec": spec,
    }


def driver(vendor: str, *images: str) -> dict[str, Any]:
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    return made("DaemonSet", vendor, template={"spec": {"containers": containers}})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"0000-a": BUILD, "1000-b": DRIVER}, True),
        ({"0000-a": BUILD.replace(VENDOR, "other"), "1000-b": DRIVER}, False),
        ({"0000-a": BUILD, "1000-b": "kind: DaemonSet\n"}, False),
        # Both in one file: one state, which cannot wait for itself.
        ({"0000-a": f"{BUILD}---\n{DRIVER}"}, False),
    ],
)
def test_a_state_that_builds_for_the_drivers_of_another_is_a_fallback(
    files: dict[str, str], expected: bool
) -> None:
    texts = {f"templates/{name}.yaml": text for name, text in files.items()}
    states = states_of(texts, steps_of(templates_in(texts)))
    assert states["s0000_a"].images.fallback is expected
    assert (states["s0000_a"].role == "state_driver_container") is expected


def test_the_images_are_those_of_first_containers_of_the_same_vendor() -> None:
    drivers = [driver("kmod", "r/kmod:1", "r/sidecar:1"), driver("other", "r/other:1")]
    drivers += [driver("kmod", "r/kmod:1"), driver("", "r/none:1")]
    assert images_of([made("BuildConfig", "kmod")], drivers) == ["r/kmod:1"]
    assert images_of([made("BuildConfig"), made("ImageStream", "kmod")], drivers) == []


@pytest.mark.parametrize(
    ("resolved", "expected"),
    [
        (None, True),
        ({}, False),
        ({"builds": {"other": ""}}, False),
        ({"builds": {"k": ""}}, True),
        ({"builds": {"k": "r/kmod@sha256:1"}}, False),
    ],
)
def test_a_build_is_wanted_where_its_image_is_known_not_to_be_there(
    resolved: dict[str, dict[str, str]] | None, expected: bool
) -> None:
    facts = RenderFacts(namespace="n", options={}, groups=(), applyset_id="", resolved=resolved)
    variables = {"state": "builds", "group": {"id": "k"}}
    assert is_wanted(made("BuildConfig", "kmod"), variables, facts) is expected
    assert is_wanted(made("BuildConfig"), variables, facts)
    assert is_wanted(made("ImageStream", "kmod"), variables, facts)


def test_only_a_build_that_begins_by_itself_is_waited_for_without_being_told_to() -> None:
    assert starts_by_itself(made("BuildConfig", "kmod", triggers=[{"type": "ConfigChange"}]))
    assert not starts_by_itself(made("BuildConfig", "kmod", triggers=[{"type": "ImageChange"}]))
    assert not starts_by_itself(made("BuildConfig", triggers=[{"type": "ConfigChange"}]))
