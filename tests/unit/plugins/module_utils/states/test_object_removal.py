# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How objects are deleted and waited for: these very ones, after what they own, under the lock."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.removal import (
    delete_and_wait,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    scripted_cluster,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]

SERVED = (200, {}, {"kind": "Status", "status": "Success"})


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A cluster with a DaemonSet and a ConfigMap."""
    found = ScriptedCluster(fake)
    found.put("daemonsets", runs.ours("DaemonSet", "driver"))
    found.put("configmaps", runs.ours("ConfigMap", "settings"))
    return found


def remove(
    fake: FakeServer, *keys: ObjectKey, guard: Callable[[], None] = lambda: None
) -> list[ObjectKey]:
    return delete_and_wait(fake.client(), keys, timeout=5, guard=guard)


@pytest.mark.parametrize(("uid", "removed"), [("uid-settings", True), ("of-one-before", False)])
def test_what_somebody_has_made_anew_since_it_was_decided_stays(
    fake: FakeServer, cluster: ScriptedCluster, uid: str, removed: bool
) -> None:
    gone = delete_and_wait(fake.client(), [CONFIGMAP], timeout=5, uids={CONFIGMAP: uid})
    assert gone == ([CONFIGMAP] if removed else [])
    assert ("settings" in cluster.objects["configmaps"]) is not removed


def deletions(fake: FakeServer) -> dict[str, Obj]:
    """The options of each deletion, by the last part of its path."""
    return {
        asked.path.rpartition("/")[2].partition("?")[0]: json.loads(asked.body)
        for asked in fake.asked
        if asked.method == "DELETE"
    }


DAEMONSET = key_of(runs.ours("DaemonSet", "driver"))
CONFIGMAP = key_of(runs.ours("ConfigMap", "settings"))


def test_workloads_go_after_their_pods_and_each_is_named_by_its_uid(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    assert sorted(remove(fake, CONFIGMAP, DAEMONSET)) == sorted([CONFIGMAP, DAEMONSET])
    sent = deletions(fake)
    assert sent["driver"]["propagationPolicy"] == "Foreground"
    assert sent["settings"]["propagationPolicy"] == "Background"
    uids = {name: options["preconditions"]["uid"] for name, options in sent.items()}
    assert uids == {"driver": "uid-driver", "settings": "uid-settings"}
    # What stands on others goes first.
    assert cluster.deleted == ["driver", "settings"]


def test_what_somebody_makes_anew_before_the_deletion_stays(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    def replace_meanwhile(asked: Asked) -> None:
        if asked.method == "DELETE":
            anew = runs.ours("ConfigMap", "settings")
            anew["metadata"]["uid"] = "of-another-one"
            cluster.put("configmaps", anew)

    cluster.refuse = replace_meanwhile
    remove(fake, CONFIGMAP)
    assert cluster.objects["configmaps"]["settings"]["metadata"]["uid"] == "of-another-one"


def test_nobody_waits_for_one_of_the_same_name_that_somebody_has_made_since(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.refuse = lambda asked: SERVED if asked.method == "DELETE" else None
    looked: list[None] = []

    def guard() -> None:
        looked.append(None)
        # The second time is after the deletion.
        if len(looked) == 2:
            anew = runs.ours("ConfigMap", "settings")
            anew["metadata"]["uid"] = "of-another-one"
            cluster.put("configmaps", anew)

    assert remove(fake, CONFIGMAP, guard=guard) == [CONFIGMAP]


def test_who_loses_the_lock_while_waiting_stops(fake: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.refuse = lambda asked: SERVED if asked.method == "DELETE" else None
    looked: list[None] = []

    def guard() -> None:
        looked.append(None)
        if len(looked) == 2:
            raise EnablementError("another run has the lock")

    with pytest.raises(EnablementError, match="another run has the lock"):
        remove(fake, CONFIGMAP, guard=guard)


@pytest.mark.parametrize(
    ("plural", "api_version", "kind", "metadata", "status", "said"),
    [
        (
            "persistentvolumeclaims",
            "v1",
            "PersistentVolumeClaim",
            {"finalizers": ["kubernetes.io/pvc-protection"]},
            {},
            "a pod uses it; end the pods that use it",
        ),
        ("pods", "v1", "Pod", {"finalizers": ["their.io/hold"]}, {}, "finalizer their.io/hold"),
        (
            "clusterpolicies",
            "nvidia.com/v1",
            "ClusterPolicy",
            {"finalizers": ["their.io/hold"]},
            {},
            "finalizer their.io/hold",
        ),
        (
            "customresourcedefinitions",
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            {"finalizers": ["customresourcecleanup.apiextensions.k8s.io"]},
            {"conditions": [{"type": "Terminating", "status": "True", "message": "2 are left"}]},
            "custom resources",
        ),
    ],
)
def test_what_does_not_go_says_what_holds_it(
    fake: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    plural: str,
    api_version: str,
    kind: str,
    metadata: Obj,
    status: Obj,
    said: str,
) -> None:
    known = builtin("v1", "PersistentVolumeClaim")
    assert known is not None
    monkeypatch.setitem(scripted_cluster.KINDS, known.plural, known)
    cluster = ScriptedCluster(fake)
    namespace = "" if plural in ("clusterpolicies", "customresourcedefinitions") else "toy"
    place = {"name": "held", **({"namespace": namespace} if namespace else {})}
    times = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    spec = {"group": "a.io", "names": {"kind": "A"}, "versions": [], "containers": []}
    cluster.put(
        plural,
        {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {**place, **times, **metadata},
            "spec": spec,
            "status": status,
        },
    )
    cluster.refuse = lambda asked: SERVED if asked.method == "DELETE" else None
    with pytest.raises(EnablementError) as caught:
        delete_and_wait(fake.client(), [ObjectKey(api_version, kind, namespace, "held")], timeout=1)
    assert said in str(caught.value)
