# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source against an API server: what it asks, and which events become of what it hears."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Forbidden,
)
from ansible_collections.hardware.enablement.plugins.module_utils._events.cluster_watch import (
    INTERVAL_S,
    ClusterWatch,
)
from ansible_collections.hardware.enablement.plugins.module_utils._events.event_types import (
    MEANINGS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.operator_names import (
    WORKLOAD,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
    refusal,
)
from tests.unit.patience import PATIENCE_S

MARK = "hardware-enablement.io/toy"
HERE = world.node()
SYSTEM = HERE.system.kernel_group
SEEN = {"card": "yes", f"{MARK}.node-kernel": SYSTEM}
RECORD: dict[str, Any] = {
    "metadata": {"name": "toy", "generation": 1},
    "spec": {"recipe": "toy", "selector": ["card=yes"]},
    "status": {"observedGeneration": 1},
}
GROUP = "/apis/hardware-enablement.io/v1"


class Watching:
    """A watch without waiting, whose clock the test moves."""

    def __init__(self, api: FakeServer, **given: Any) -> None:
        self.now = 0.0
        asked = {"recipes": (), "events": MEANINGS, "debounce_s": 5.0, "resync_s": 0.0, **given}
        self.watch = ClusterWatch(
            api.client(), ticks=lambda: self.now, clock=lambda: world.NOW, **asked
        )

    def until(self, number: int) -> list[tuple[str, list[str]]]:
        """Types and nodes of so many events."""
        return sorted((event["type"], event["nodes"]) for event in self.events(number))

    def events(self, number: int) -> list[Any]:
        """So many events; fewer where no more come."""
        found: list[Any] = []
        for _turn in range(50):
            found += self.watch.next(0.1)
            self.now += 1.0
            if len(found) >= number:
                break
        return found

    def hear_of_trouble(self) -> None:
        """Take what comes, in no time of the watch's own clock, until something cannot be read."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.watch.trouble:
            assert time.monotonic() < deadline
            self.watch.next(0.3)

    def silence(self) -> bool:
        """Whether nothing comes in a minute."""
        return not [found for _turn in range(20) if (found := self._minute())]

    def _minute(self) -> list[Any]:
        self.now += 3.0
        return self.watch.next(0.02)


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.fixture
def cluster(api: FakeServer) -> ScriptedCluster:
    scripted = ScriptedCluster(
        api,
        world.node_object("old", labels={**SEEN, MARK: "ready"}),
        world.node_object("new", labels={"card": "yes"}),
        world.node_object("broken", labels={**SEEN, f"{MARK}.driver": "degraded"}),
        world.node_object("plain"),
    )
    scripted.put("specialresources", {**RECORD, "metadata": dict(RECORD["metadata"])})
    return scripted


@pytest.fixture
def watching(api: FakeServer, cluster: ScriptedCluster) -> Iterator[Watching]:
    assert cluster.objects["nodes"]
    made = Watching(api)
    yield made
    made.watch.close()


def test_a_source_that_starts_tells_what_needs_a_run_then_what_changes(
    watching: Watching, cluster: ScriptedCluster
) -> None:
    assert watching.until(2) == [("gate_degraded", ["broken"]), ("node_joined", ["new"])]

    cluster.put("nodes", world.node_object("old", labels=SEEN, kernel="6.9", boot="boot-2"))
    cluster.put("nodes", world.node_object("newer-1", labels={"card": "yes"}))
    cluster.put("nodes", world.node_object("newer-2", labels={"card": "yes"}))
    cluster.remove("nodes", "broken")
    # NFD still says that the old node runs the kernel before: nothing could be done for it yet.
    assert watching.until(2) == [("node_joined", ["newer-1", "newer-2"]), ("node_left", ["broken"])]
    kernel = {"feature.node.kubernetes.io/kernel-version.full": "6.9"}
    labelled = {**SEEN, **kernel}
    cluster.put("nodes", world.node_object("old", labels=labelled, kernel="6.9", boot="boot-2"))
    assert watching.until(1) == [("kernel_changed", ["old"])]

    changed = {**RECORD, "metadata": {"name": "toy", "generation": 2}}
    cluster.put("specialresources", changed)
    assert watching.until(1) == [("resource_changed", [])]


def test_a_node_that_is_not_ready_has_joined_when_it_is(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.put("nodes", world.node_object("new", ready=False, labels={"card": "yes"}))
    watching = Watching(api, events=("node_joined",))
    assert watching.silence()
    cluster.put("nodes", world.node_object("new", labels={"card": "yes"}))
    assert watching.until(1) == [("node_joined", ["new"])]
    watching.watch.close()


def test_a_recipe_that_is_enabled_later_has_nodes_at_once(
    watching: Watching, cluster: ScriptedCluster
) -> None:
    watching.until(2)
    later = {"recipe": "other", "selector": ["card=no"]}
    cluster.put("nodes", world.node_object("plain", labels={"card": "no"}))
    cluster.put(
        "specialresources",
        {**RECORD, "metadata": {"name": "other", "generation": 1}, "spec": later},
    )
    assert watching.until(1) == [("node_joined", ["plain"])]


@pytest.mark.usefixtures("cluster")
def test_only_the_named_recipes_and_types(api: FakeServer) -> None:
    watching = Watching(api, recipes=("other",))
    assert watching.silence()
    watching.watch.close()
    watching = Watching(api, events=("gate_degraded",))
    assert watching.until(1) == [("gate_degraded", ["broken"])]
    watching.watch.close()


def crashing(name: str, node: str, *, ready: bool = False, state: str = "driver") -> dict[str, Any]:
    """A pod of the recipe's, that backs off or has come back."""
    waiting = None if ready else {"reason": "CrashLoopBackOff"}
    pod = world.pod(state, node, ready=ready, waiting=waiting, restarts=3, exit_code=1)
    labels = {**pod["metadata"]["labels"], "hardware-enablement.io/recipe": "toy"}
    pod["metadata"] |= {"name": name, "namespace": "toys", "labels": labels, "uid": f"uid-{name}"}
    return pod


@pytest.fixture
def crashes(api: FakeServer, cluster: ScriptedCluster) -> Iterator[Watching]:
    """Of pods of a recipe that is ready on both nodes."""
    for name in ("old", "new"):
        labels = {**SEEN, MARK: "ready", f"{MARK}.driver": "ready"}
        cluster.put("nodes", world.node_object(name, labels=labels))
    spec = {**RECORD["spec"], "namespace": "toys"}
    cluster.put("specialresources", {**RECORD, "metadata": dict(RECORD["metadata"]), "spec": spec})
    made = Watching(api, events=("pod_crashed",))
    yield made
    made.watch.close()


def test_pods_that_crash_are_told_once_until_a_run_has_said_so(
    crashes: Watching, cluster: ScriptedCluster
) -> None:
    cluster.put("pods", crashing("driver-1", "old"))
    cluster.put("pods", crashing("driver-2", "new"))
    cluster.put("pods", crashing("fine", "old", ready=True))
    cluster.put("pods", world.validator("validate-1", "driver", "old", phase="Failed"))
    assert crashes.until(1) == [("pod_crashed", ["new", "old"])]
    # One comes back and crashes again; of the other its node says so by now.
    cluster.put("pods", crashing("driver-1", "old", ready=True))
    assert crashes.silence()
    cluster.put("pods", crashing("driver-1", "old"))
    labels = {**SEEN, MARK: "driver.degraded", f"{MARK}.driver": "degraded"}
    cluster.put("nodes", world.node_object("new", labels=labels))
    assert crashes.silence()
    cluster.remove("pods", "driver-1")
    assert crashes.silence()
    assert crashes.watch.trouble == ""


def test_of_a_node_that_is_not_ready_a_crash_is_told_when_it_is(
    crashes: Watching, cluster: ScriptedCluster
) -> None:
    labels = {**SEEN, MARK: "ready", f"{MARK}.driver": "ready"}
    cluster.put("nodes", world.node_object("old", labels=labels, ready=False))
    assert crashes.silence()
    cluster.put("pods", crashing("driver-1", "old"))
    assert crashes.silence()
    cluster.put("nodes", world.node_object("old", labels=labels))
    assert crashes.until(1) == [("pod_crashed", ["old"])]


def test_pods_are_watched_where_the_record_says_and_nowhere_else(
    api: FakeServer, crashes: Watching, cluster: ScriptedCluster
) -> None:
    cluster.put("pods", crashing("driver-1", "old"))
    assert crashes.until(1)
    paths = {asked.path.partition("?")[0] for asked in api.asked if "pods" in asked.path}
    assert paths == {"/api/v1/namespaces/toys/pods"}


def test_who_may_not_read_pods_hears_of_all_else(
    api: FakeServer, crashes: Watching, cluster: ScriptedCluster
) -> None:
    crashes.watch.close()
    cluster.refuse = lambda asked: refusal(403, "Forbidden") if "/pods" in asked.path else None
    watching = Watching(api, events=("pod_crashed", "node_joined"))
    cluster.put("nodes", world.node_object("newer", labels={"card": "yes"}))
    assert watching.until(1) == [("node_joined", ["newer"])]
    assert "pods" in watching.watch.trouble
    watching.watch.close()


def test_before_anything_is_enabled_the_kind_is_asked_for_now_and_then(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    def nothing_enabled(asked: Asked) -> Any:
        return refusal(404, "NotFound") if asked.path.startswith(GROUP) else None

    cluster.refuse = nothing_enabled
    watching = Watching(api, events=("node_joined",))
    assert watching.silence()
    looks = [asked for asked in api.asked if asked.path == GROUP]
    assert len(looks) == 60 // INTERVAL_S
    cluster.refuse = lambda _asked: None
    assert watching.until(1) == [("node_joined", ["new"])]
    watching.watch.close()


def test_an_rmd_workload_is_an_event_of_its_recipe_until_it_is_gone(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    served = {"name": WORKLOAD.plural, "kind": WORKLOAD.kind, "namespaced": True, "verbs": ["get"]}
    listed = {
        "kind": "APIResourceList",
        "groupVersion": WORKLOAD.api_version,
        "resources": [served],
    }
    cluster.refuse = lambda asked: (
        (200, {}, listed) if asked.path == f"/apis/{WORKLOAD.api_version}" else None
    )
    cluster.put(WORKLOAD.plural, {"metadata": {"namespace": "a", "name": "b", "generation": 1}})
    watching = Watching(api, events=("workload_changed",))
    (event,) = watching.events(1)
    assert (event["type"], event["recipe"]) == ("workload_changed", "intel-rmd")
    assert (event["nodes"], event["workloads"]) == ([], ["a/b"])
    cluster.remove(WORKLOAD.plural, "b")
    assert watching.silence()
    watching.watch.close()


def test_each_kind_is_listed_once_and_no_node_is_asked_for(
    api: FakeServer, watching: Watching
) -> None:
    watching.until(2)
    listed = [asked.path.partition("?")[0] for asked in api.asked if "watch=" not in asked.path]
    assert sorted(listed) == [
        "/api/v1/namespaces/kube-system",
        "/api/v1/nodes",
        GROUP,
        f"{GROUP}/specialresources",
        "/apis/intel.com/v1alpha1",
    ]


def test_who_may_not_read_nodes_gets_one_sentence(
    api: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if asked.path.startswith("/api/v1/nodes") else None
    )
    watching = Watching(api)
    with pytest.raises(Forbidden, match="nodes"):
        watching.until(1)
    watching.watch.close()


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("plural", "odd"),
    [
        ("nodes", {"annotations": {f"{MARK}.proofs": DEEP}}),
        ("specialresources", {"spec": {"recipe": "toy", "selector": 1}}),
        ("specialresources", {"status": {"observedGeneration": {"a": [1]}}}),
    ],
)
def test_an_odd_object_costs_itself_alone(
    watching: Watching, cluster: ScriptedCluster, plural: str, odd: dict[str, Any]
) -> None:
    """Whoever may write to a node or a record must not be able to end the source of all events."""
    assert watching.until(2) == [("gate_degraded", ["broken"]), ("node_joined", ["new"])]
    if plural == "nodes":
        node = world.node_object("old", labels={**SEEN, MARK: "ready"})
        node["metadata"]["annotations"] = odd["annotations"]
        cluster.put("nodes", node)
    else:
        metadata = {"name": "toy", "generation": 1}
        cluster.put("specialresources", {**RECORD, "metadata": metadata, **odd})
    watching.events(1)
    cluster.put("nodes", world.node_object("newer", labels={"card": "yes"}))
    assert ("node_joined", ["newer"]) in watching.until(1)


def test_what_cannot_be_read_is_named_until_it_can_be(
    watching: Watching, cluster: ScriptedCluster
) -> None:
    watching.until(2)
    metadata = {"name": "toy", "generation": 1}
    odd = {**RECORD, "metadata": metadata, "spec": {"recipe": "toy", "selector": 1}}
    cluster.put("specialresources", odd)
    watching.events(1)
    assert watching.watch.trouble == (
        "SpecialResource toy cannot be read, and counts as it was before (TypeError): see what was written"
        " into it last (kubectl get -o yaml --show-managed-fields)"
    )
    cluster.put("specialresources", {**RECORD, "metadata": dict(metadata)})
    watching.events(1)
    assert watching.watch.trouble == ""


def test_two_thousand_changes_at_once_are_one_event_and_none_is_lost(
    watching: Watching, cluster: ScriptedCluster
) -> None:
    assert len(watching.until(2)) == 2
    names = sorted(f"n-{number}" for number in range(2000))
    for name in names:
        cluster.put("nodes", world.node_object(name, labels={"card": "yes"}))
    # The last of them cannot be read: where that is known, all before it was heard.
    cluster.put("nodes", {**world.node_object("odd"), "status": 1})
    watching.hear_of_trouble()
    assert watching.until(1) == [("node_joined", names)]
    assert watching.silence()
