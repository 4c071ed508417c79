# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operator holds, and nothing else, is let go."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._sro.sro_marks import (
    node_patch,
    object_patch,
    resource_patch,
)

OWNER = {"apiVersion": "sro.openshift.io/v1beta1", "kind": "SpecialResource", "name": "a"}
OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "b"}


@pytest.mark.parametrize(
    ("metadata", "patch"),
    [
        ({}, None),
        ({"ownerReferences": [OTHER], "labels": {"app": "x"}}, None),
        ({"ownerReferences": [OWNER]}, {"ownerReferences": None}),
        ({"ownerReferences": [OWNER, OTHER]}, {"ownerReferences": [OTHER]}),
        (
            {
                "labels": {"specialresource.openshift.io/owned": "true", "app": "x"},
                "annotations": {
                    "specialresource.openshift.io/hash": "1",
                    "specialresource.openshift.io/wait": "true",
                },
            },
            {
                "labels": {"specialresource.openshift.io/owned": None},
                "annotations": {"specialresource.openshift.io/hash": None},
            },
        ),
    ],
)
def test_of_an_object(metadata: dict[str, Any], patch: dict[str, Any] | None) -> None:
    assert object_patch({"metadata": metadata}) == (patch and {"metadata": patch})


def test_of_a_node_only_those_of_this_resource() -> None:
    domain = "specialresource.openshift.io"
    labels = {
        f"{domain}/state-kmod-0000": "Ready",
        f"{domain}/device-plugin-kmod": "ready",
        f"{domain}/state-kmod-b-0000": "Ready",
        f"{domain}/device-plugin-other-kmod": "ready",
        "example.org/card": "true",
    }
    patch = node_patch({"metadata": {"labels": labels}}, "kmod")

    assert patch == {
        "metadata": {
            "labels": {
                f"{domain}/state-kmod-0000": None,
                f"{domain}/device-plugin-kmod": None,
            }
        }
    }
    assert node_patch({"metadata": {}}, "kmod") is None


@pytest.mark.parametrize(
    ("finalizers", "kept"),
    [
        (["sro.openshift.io/finalizer"], None),
        (["finalizer.sro.openshift.io", "foregroundDeletion"], ["foregroundDeletion"]),
    ],
)
def test_of_a_custom_resource(finalizers: list[str], kept: list[str] | None) -> None:
    found = resource_patch({"metadata": {"finalizers": finalizers}})
    assert found == {"metadata": {"finalizers": kept}}
    assert resource_patch({"metadata": {"finalizers": kept}}) is None
