# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why something is still there that was deleted, or is not served yet, in its own words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.pod_status import judge
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.wait_causes import (
    WaitCause,
    deletion_cause,
    unserved_cause,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

Obj = dict[str, Any]
ASKED = "2026-01-01T00:00:30Z"
DISCOVERY = (
    "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs:"
    " metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
)
REMAINING = "Some resources are remaining: toys.ex.io has 1 resource instances"
FINALIZERS = (
    "Some content in the namespace has finalizers remaining: their.io/hold in 1 resource instances"
)


def going(kind: str, *conditions: tuple[str, str, str], **metadata: Any) -> Obj:
    """An object that is being deleted; conditions: type, status and message."""
    return {
        "apiVersion": "v1" if kind in ("Namespace", "Pod") else "apiextensions.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "it", "deletionTimestamp": ASKED, **metadata},
        "status": {
            "conditions": [
                {"type": type_, "status": status, "message": message}
                for type_, status, message in conditions
            ]
        },
    }


def test_a_namespace_names_the_api_that_is_down_and_its_apiservice() -> None:
    found = deletion_cause(
        going(
            "Namespace",
            ("NamespaceContentRemaining", "True", REMAINING),
            ("NamespaceDeletionDiscoveryFailure", "True", DISCOVERY),
            ("NamespaceDeletionContentFailure", "False", "All content successfully deleted"),
        )
    )
    assert found.why == f"{DISCOVERY}; {REMAINING}"
    assert found.todo == "mend or delete APIService v1beta1.metrics.k8s.io; then it goes by itself"
    assert not found.by_itself


def test_a_namespace_names_the_finalizers_in_it() -> None:
    found = deletion_cause(
        going(
            "Namespace",
            ("NamespaceContentRemaining", "True", REMAINING),
            ("NamespaceFinalizersRemaining", "True", FINALIZERS),
        )
    )
    assert found.why == f"{FINALIZERS}; {REMAINING}"
    assert "controllers run which take these finalizers off" in found.todo


def test_a_kind_of_somebody_else_called_namespace_is_not_read_as_one() -> None:
    odd = {**going("Namespace"), "apiVersion": "their.io/v1", "status": {"conditions": "none"}}
    assert deletion_cause(odd) == WaitCause(
        f"its deletion is under way since {ASKED}",
        "see that kube-controller-manager runs",
        by_itself=True,
    )


@pytest.mark.parametrize(
    ("metadata", "why", "by_itself"),
    [
        ({"finalizers": ["their.io/hold"]}, "finalizer their.io/hold holds it", False),
        (
            {
                "finalizers": ["foregroundDeletion", "a.io/a", "b.io/b"],
                "ownerReferences": [{"kind": "Toy", "name": "t", "controller": True}],
            },
            "finalizers a.io/a, b.io/b hold it, which belongs to Toy t",
            False,
        ),
        ({"finalizers": ["kubernetes.io/pvc-protection"]}, "a pod uses it", False),
        ({"finalizers": ["foregroundDeletion"]}, "what it owns is deleted first", True),
        ({"deletionTimestamp": None}, "its deletion has not begun", True),
    ],
)
def test_finalizers_say_who_is_waited_for(metadata: Obj, why: str, by_itself: bool) -> None:
    found = deletion_cause(going("PersistentVolumeClaim", **metadata))
    assert (found.why, found.by_itself) == (why, by_itself)


def test_a_definition_says_that_its_custom_resources_go_first_and_how_to_see_them() -> None:
    terminating = ("Terminating", "True", "CustomResource deletion is in progress")
    crd = going(
        "CustomResourceDefinition",
        terminating,
        name="toys.ex.io",
        finalizers=["customresourcecleanup.apiextensions.k8s.io"],
    )
    found = deletion_cause(crd)
    assert (
        found.why
        == "its custom resources are deleted first: CustomResource deletion is in progress"
    )
    assert found.todo == "see what keeps them: kubectl get toys.ex.io --all-namespaces"
    assert unserved_cause(crd) == found


def test_a_definition_whose_names_another_one_has_says_so() -> None:
    conflict = ("NamesAccepted", "False", '"toys" is already in use')
    crd = going("CustomResourceDefinition", conflict, deletionTimestamp=None)
    assert unserved_cause(crd).why == 'its names are not accepted: "toys" is already in use'
    fresh = going("CustomResourceDefinition", deletionTimestamp=None)
    assert unserved_cause(fresh).by_itself


def test_a_pod_that_ends_names_its_node_and_until_when_or_the_finalizer_that_holds_it() -> None:
    pod = world.pod("plugin")
    pod["metadata"]["deletionTimestamp"] = ASKED
    node = pod["spec"]["nodeName"]
    assert judge(pod).message.endswith(
        f"is being replaced: the kubelet of node {node} has until {ASKED} to end it"
    )
    pod["metadata"]["finalizers"] = ["their.io/hold"]
    assert judge(pod).message.endswith(
        "is being replaced: finalizer their.io/hold holds it, which belongs to DaemonSet plugin"
    )
