# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod of a Job that failed still has of its log; and a Job of before that does not go."""

from __future__ import annotations

import json

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders.job import (
    JobBuilder,
    kept_log,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders.means import (
    Means,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import Inputs
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import BuildOrder
from ansible_collections.hardware.enablement.plugins.module_utils._builds.settings import (
    BuildahSettings,
    BuildScope,
    BuildSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryPolicy,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

SETTINGS = BuildSettings(
    BuildScope("toy", "driver", "toy"), buildah=BuildahSettings(image="builder:1")
)
ORDER = BuildOrder(
    "build-a", "a", "registry.example/toy:1", Inputs("6.1.0", "amd64", "FROM scratch\n")
)


def test_a_job_of_before_that_does_not_go_says_what_holds_it(fake: FakeServer) -> None:
    """Meanwhile, and where the time is over."""
    cluster, said, moments = ScriptedCluster(fake), list[str](), iter(range(0, 90000, 500))
    cluster.put(
        "jobs",
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": ORDER.name,
                "namespace": "toy",
                "labels": SETTINGS.scope.labels,
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "finalizers": ["their.io/hold"],
            },
            "spec": {"template": {"spec": {}}},
        },
    )
    means = Means(
        fake.client(),
        SETTINGS,
        lambda: None,
        lambda: float(next(moments)),
        RegistryPolicy,
        lambda *_given: None,
    )
    (built,) = JobBuilder(means).build([ORDER], said.append)
    held = "waits until Job toy/build-a is gone: finalizer their.io/hold holds it"
    assert held in said[0]
    assert held in built.said


def builder(fake: FakeServer) -> JobBuilder:
    """One that is asked before it builds."""
    means = Means(
        fake.client(), SETTINGS, lambda: None, float, RegistryPolicy, lambda *_given: None
    )
    return JobBuilder(means)


def test_the_pod_of_a_build_is_tried_and_made_by_nobody(fake: FakeServer) -> None:
    cluster = ScriptedCluster(fake)
    assert builder(fake).refused(ORDER) is None
    (tried,) = [asked for asked in fake.asked if asked.method == "POST"]
    assert "dryRun=All" in tried.path
    assert json.loads(tried.body)["spec"]["containers"][0]["name"] == "build"
    said = f'pods "{ORDER.name}-preflight" is forbidden: exceeded quota: tight'
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", said) if asked.method == "POST" else None
    )
    failure = builder(fake).refused(ORDER)
    assert failure
    assert failure.text.endswith("its pod would be refused: exceeded quota: tight")
    assert failure.foreseen
    said = 'pods is forbidden: User "u" cannot create resource "pods"'
    assert builder(fake).refused(ORDER) is None


def test_of_a_container_that_ended_the_kubelet_kept_the_end() -> None:
    running = {"name": "proxy", "state": {"running": {}}}
    ended = {"name": "build", "state": {"terminated": {"exitCode": 1, "message": "no headers\n"}}}
    assert kept_log({"status": {"containerStatuses": [running, ended]}}) == "no headers\n"


def test_nothing_was_kept_of_a_pod_that_never_ran() -> None:
    assert kept_log({"metadata": {"name": "build-1"}}) == ""
