# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which watches proofs bring about. That what the API server tells arrives,
tests/integration/test_proofs.py shows."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    UnknownKind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.watch import (
    WatchEvent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.feeds import Watched
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.feeder import (
    RETRY_S,
    Feeder,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
)

CONFIG_MAPS = Watched("v1", "ConfigMap", "demo")
THINGS = Watched("toy.example/v1", "Thing", "demo")


class Recorder:
    """Stands for the client and the hub: built-in kinds are served, subscriptions are written down."""

    def __init__(self) -> None:
        self.watches: list[tuple[str, str | None, str | None]] = []
        self.now = 0.0

    def kind(self, api_version: str, kind: str, *, refresh: bool = False) -> Kind:
        found = builtin(api_version, kind)
        if found is None:
            raise UnknownKind(f"no {kind}, refresh {refresh}")
        return found

    def subscribe(
        self, kind: Kind, *, namespace: str | None, fields: str | None, source: Watched
    ) -> None:
        assert source.name == ""
        self.watches.append((kind.kind, namespace, fields))


def resource(name: str, **spec: Any) -> Proof:
    return Proof("resource", {"api_version": "v1", "kind": "ConfigMap", "name": name, **spec})


def feeder(
    recorder: Recorder, *proofs: Proof, nodes: tuple[str, ...] = ()
) -> tuple[Feeder, ClusterSnapshot]:
    snapshot = ClusterSnapshot(groups=dict.fromkeys(nodes, GROUP))
    plans = [world.plan("state", proofs=proofs)]
    made = Feeder(recorder, snapshot, plans, "demo", clock=lambda: recorder.now)  # type: ignore[arg-type]
    return made, snapshot


def follow(made: Feeder, recorder: Recorder) -> set[str]:
    return made.follow(recorder)  # type: ignore[arg-type]


def test_one_watch_for_each_kind_and_namespace() -> None:
    recorder = Recorder()
    proofs = (
        resource("a"),
        resource("b", namespace="other"),
        resource("c", namespace="other"),
        resource("n1", kind="Node"),
    )
    made, _snapshot = feeder(recorder, *proofs)
    follow(made, recorder)
    follow(made, recorder)
    assert recorder.watches == [
        ("ConfigMap", "demo", "metadata.name=a"),
        ("ConfigMap", "other", None),
        ("Node", None, "metadata.name=n1"),
    ]


def test_names_that_differ_between_nodes_are_watched_together() -> None:
    recorder = Recorder()
    spec = resource("{{ node }}").spec
    proof = Proof(
        "resource",
        spec,
        render=lambda _group, node: {**spec, "name": node, "namespace": f"in-{node[0]}"},
    )
    made, snapshot = feeder(recorder, proof, nodes=("a1", "a2"))
    follow(made, recorder)
    assert recorder.watches == [("ConfigMap", "in-a", None)]
    snapshot.groups |= {"a3": GROUP, "b1": GROUP, "new": "a group that nothing was rendered for"}
    follow(made, recorder)
    assert recorder.watches == [("ConfigMap", "in-a", None), ("ConfigMap", "in-b", None)]


def test_what_cannot_be_watched_is_tried_again() -> None:
    recorder = Recorder()
    made, snapshot = feeder(recorder, resource("one", api_version="toy.example/v1", kind="Thing"))
    snapshot.feed(THINGS).read_by("one", "n1")
    assert follow(made, recorder) == {"n1"}
    assert snapshot.feed(THINGS).error.startswith("no Thing")
    recorder.now = RETRY_S / 2
    assert follow(made, recorder) == set()
    recorder.now = RETRY_S
    assert follow(made, recorder) == {"n1"}


def test_events_reach_those_who_look() -> None:
    recorder = Recorder()
    made, snapshot = feeder(recorder, resource("a"))
    follow(made, recorder)
    feed = snapshot.feed(CONFIG_MAPS).read_by("a", "n1")
    assert made.take(WatchEvent("ADDED", {"metadata": {"name": "a"}}, CONFIG_MAPS)) == {"n1"}
    assert made.take(WatchEvent("SYNCED", {}, CONFIG_MAPS)) == {"n1"}
    assert (feed.complete, list(feed.objects)) == (True, ["a"])
    assert made.take(WatchEvent("ERROR", {"message": "forbidden"}, CONFIG_MAPS)) == {"n1"}
    assert feed.error == "forbidden"
    recorder.now = RETRY_S
    follow(made, recorder)
    assert len(recorder.watches) == 2
    assert made.take(WatchEvent("SYNCED", {}, CONFIG_MAPS)) == {"n1"}
    assert (feed.error, feed.objects) == ("", {})
