# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""manifests/events.yaml fits the other manifests, and asks for no more than it has to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

MANIFESTS = Path(__file__).parents[3] / "manifests"
Obj = dict[str, Any]


@pytest.fixture(scope="module")
def objects() -> list[Obj]:
    """All of them."""
    items: list[Obj] = yaml.safe_load((MANIFESTS / "events.yaml").read_text(encoding="utf-8"))[
        "items"
    ]
    return items


def of_kind(objects: list[Obj], kind: str) -> list[Obj]:
    """Those of a kind."""
    return [each for each in objects if each["kind"] == kind]


def test_it_has_the_rights_that_are_shipped_and_no_other(objects: list[Obj]) -> None:
    roles = yaml.safe_load((MANIFESTS / "rbac.yaml").read_text(encoding="utf-8"))["items"]
    bound = {each["roleRef"]["name"] for each in of_kind(objects, "ClusterRoleBinding")}
    assert bound == {each["metadata"]["name"] for each in roles}
    (account,) = of_kind(objects, "ServiceAccount")
    for binding in of_kind(objects, "ClusterRoleBinding"):
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == (
            account["metadata"]["name"],
            account["metadata"]["namespace"],
        )


def test_its_pod_is_restricted_and_never_doubled(objects: list[Obj]) -> None:
    (deployment,) = of_kind(objects, "Deployment")
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    # Its settings are where its arguments look for them.
    (settings,) = of_kind(objects, "ConfigMap")
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    files = {f"{mounts['settings']}/{name}" for name in settings["data"]}
    assert files == {each for each in container["args"] if not each.startswith("--")}
