# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is seen of nodes before they are begun: which are taken, which are not and why, what runs there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    DRIVER_ANNOTATION,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.device_allocation import (
    DeviceAllocation,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    DONE,
    REMEDY,
    UPGRADING,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import Vanished
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    State,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_choice import (
    Begin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.faulty_nodes import (
    FaultyNodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.outdated_drivers import (
    OutdatedDrivers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedies import (
    RemedyRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_survey import (
    UpgradeSurvey,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    refusal,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades import (
    fleet_bed,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.fleet_bed import (
    ALL_AT_ONCE,
    EXCHANGE,
    Fleet,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.node_bed import (
    claimed,
)

__all__ = ["fake"]

SINCE = "2026-01-01T00:00:00Z"
TRIED = "2027-01-15T07:59:00Z"
TWO_A_DAY = RemedyRules(("restart",), attempts=2, cooldown_s=600)


def said(phase: str, **more: Any) -> dict[str, Obj]:
    """What n1 says of an exchange."""
    return {"n1": {"phase": phase, "target": "v2", "since": SINCE, **more}}


def budget(namespace: str) -> Obj:
    """One that lets no pod of a namespace go."""
    return {
        "metadata": {"name": "b", "namespace": namespace},
        "spec": {"selector": {"matchLabels": {}}},
        "status": {"disruptionsAllowed": 0},
    }


def seen(fleet: Fleet) -> UpgradeSurvey:
    """What is seen, once the versions are known."""
    survey = fleet.survey()
    assert survey.drivers.refresh()
    return survey


def outdated(fleet: Fleet, **changed: Any) -> OutdatedDrivers:
    """The nodes of an upgrade."""
    return OutdatedDrivers(seen(fleet), replace(ALL_AT_ONCE, **changed))


def faulty(fleet: Fleet, **changed: Any) -> FaultyNodes:
    """The nodes of remedies."""
    settings = replace(fleet_bed.REMEDY, exchange=replace(EXCHANGE, remedies=TWO_A_DAY))
    return FaultyNodes(seen(fleet), replace(settings, **changed), lambda: fleet.now)


def obstacle(fleet: Fleet, phase: str = UPGRADING) -> str:
    """Why n1 is not begun."""
    (row,) = fleet.survey().rows({"n1": "x"}, phase)
    return row.obstacle


@pytest.mark.parametrize(
    ("mark", "phase", "why"),
    [
        (said("remedy"), UPGRADING, "remedy has begun with it and is not done: run that first"),
        (said("upgrading"), REMEDY, "upgrade has begun with it and is not done: run that first"),
        (said("upgrading"), UPGRADING, ""),
        (
            said("quarantined", fault="XID 79"),
            UPGRADING,
            "it is in quarantine, since XID 79 was reported: run remedy first",
        ),
        (said("quarantined"), UPGRADING, ""),
        (said("quarantined", fault="XID 79"), REMEDY, ""),
    ],
)
def test_a_node_is_left_to_whoever_is_at_it(
    fake: FakeServer, mark: dict[str, Obj], phase: str, why: str
) -> None:
    assert obstacle(Fleet(fake, 1, said=mark), phase) == why


def test_a_node_that_is_of_no_use_is_not_begun(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.snapshot.vanished["n1"] = Vanished(0.0, "gone")
    assert obstacle(fleet) == "the labels of the hardware are gone from the node"
    fleet.snapshot.nodes["n1"] = world.node("n1", ready=False)
    assert obstacle(fleet) == "the node is NotReady: kubelet stopped"


def test_a_pod_that_may_not_be_evicted_is_an_obstacle_to_an_upgrade_and_none_to_a_remedy(
    fake: FakeServer,
) -> None:
    fleet = Fleet(fake, 1)
    fleet.run_user("n1", volumes=[{"emptyDir": {}}])
    why = (
        "pod ns/user-n1, which runs with runtime class acme:"
        " it has data in an emptyDir: set drain.delete_emptydir_data"
    )
    assert obstacle(fleet) == why
    (row,) = fleet.survey().rows({"n1": "x"}, REMEDY)
    assert (row.obstacle, row.held_by) == ("", why)


def test_who_has_claimed_a_device_is_in_the_plan(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.cluster.refuse = lambda asked: claimed(asked, "uid-p")
    spec = {"nodeName": "n1", "containers": [], "resourceClaims": [{"name": "gpu"}]}
    metadata = {"name": "p", "namespace": "ns"}
    fleet.cluster.put("pods", {"metadata": metadata, "spec": spec, "status": {}})
    use = replace(EXCHANGE.use, dra_drivers=("gpu.acme.io",))
    survey = UpgradeSurvey(fleet.desired, replace(EXCHANGE, use=use), fleet.snapshot)
    (row,) = survey.rows({"n1": "x"}, UPGRADING)
    assert [user.partition(" ")[0] for user in row.users] == ["ns/p"]


def test_a_budget_of_the_pod_s_own_namespace_holds_it_up(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.run_user("n1")
    fleet.cluster.put("poddisruptionbudgets", budget("ns"))
    (row,) = fleet.survey().rows({"n1": "x"}, UPGRADING)
    assert row.held_by == "PodDisruptionBudget ns/b (pod ns/user-n1)"
    fleet.cluster.put("poddisruptionbudgets", budget("other"))
    (row,) = fleet.survey().rows({"n1": "x"}, UPGRADING)
    assert row.held_by == ""
    # Who may not read them meets them when they refuse.
    fleet.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if "poddisruptionbudgets" in asked.path else None
    )
    (row,) = fleet.survey().rows({"n1": "x"}, UPGRADING)
    assert (row.obstacle, row.held_by) == ("", "")


def test_only_the_nodes_that_are_named_are_taken(fake: FakeServer) -> None:
    fleet = Fleet(fake, said={"n3": said("upgrading")["n1"]})
    assert outdated(fleet).candidates() == ["n3", "n1", "n2"]
    # One that an earlier run has begun with is not left half done.
    assert outdated(fleet, only=frozenset({"n2"})).candidates() == ["n3", "n2"]


@pytest.mark.parametrize(
    ("mark", "version", "ended"),
    [
        (said(DONE), "v2", {"n1"}),
        (said(DONE), "v1", set()),
        ({"n1": {**said(DONE)["n1"], "target": "v0"}}, "v2", set()),
        (said(DONE, remedy="restart"), "v2", set()),
    ],
)
def test_a_node_is_done_with_the_version_that_is_deployed(
    fake: FakeServer, mark: dict[str, Obj], version: str, ended: set[str]
) -> None:
    fleet = Fleet(fake, 1, said=mark)
    fleet.run_driver("n1", version)
    assert outdated(fleet).ended(DONE) == ended


def test_a_plan_counts_what_is_begun(fake: FakeServer) -> None:
    fleet = Fleet(fake, said=said("remedy"))
    plan, pace = outdated(fleet, waves=("1", "100%")).plan()
    assert {row.node: row.wave for row in plan.nodes} == {"n1": 0, "n2": 1, "n3": 2}
    assert pace.bounds == (1, 2)


def test_what_stands_on_a_driver_is_all_of_ours_but_the_driver(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    plugin = fleet.run_own("n1")
    proof = world.validator("proof", "driver", phase="Running")
    for pod in (proof, world.validator("over", "driver"), world.validator("x", "driver", "n2")):
        fleet.snapshot.put_pod(pod)
    assert fleet.survey().standing_pods("n1") == [plugin, proof]
    # A Job's pod ends by itself.
    fleet.snapshot.put_pod(plugin, deleted=True)
    fleet.run_own("n1", owner="Job")
    assert fleet.survey().standing_pods("n1") == [proof]


def test_a_driver_that_does_not_come_up_is_held_up_by_what_stands_on_the_one_before(
    fake: FakeServer,
) -> None:
    fleet = Fleet(fake, 1)
    fleet.run_driver("n1", "v2")
    (pod,) = fleet.snapshot.pods_of("n1", "driver")
    crashed = world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=3)
    pod["status"] = crashed["status"]
    assert seen(fleet).held_up("n1") == []
    assert outdated(fleet).candidates() == []
    fleet.run_own("n1")
    assert [each.uid for each in seen(fleet).held_up("n1")] == ["uid-driver-n1-v2"]
    assert outdated(fleet).candidates() == ["n1"]
    assert [each.uid for each in seen(fleet).surveyed("n1", UPGRADING).outdated()] == [
        "uid-driver-n1-v2"
    ]


def test_a_driver_of_the_newest_version_that_runs_does_not_make_way(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.run_driver("n1", "v2")
    node = seen(fleet).surveyed("n1", UPGRADING)
    assert (node.outdated(), len(node.drivers())) == ([], 1)


def test_a_node_says_itself_what_is_proven_where_it_has_an_agent(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    labels = fleet.cluster.objects["nodes"]["n1"]["metadata"]["labels"]
    labels["hardware-enablement.io/demo.plugin"] = "ready"
    labels["hardware-enablement.io/demo.other"] = "ready"
    fleet.see()
    assert seen(fleet).surveyed("n1", UPGRADING).own_states() == ()
    assert seen(fleet).surveyed("n1", UPGRADING).published() == ["plugin"]
    fleet.desired.prepared.by_nodes = True
    assert seen(fleet).surveyed("n1", UPGRADING).own_states() == ("driver", "plugin")


def test_a_pod_is_a_driver_s_where_that_one_s_daemonset_owns_it(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    (pod,) = fleet.snapshot.pods_of("n1", "driver")
    pod["metadata"]["ownerReferences"] = [{"uid": "uid-of-another", "controller": True}]
    assert seen(fleet).drivers.pods("n1") == []


def test_a_driver_that_works_is_not_exchanged_for_what_is_no_driver(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    daemonset = next(each for key, each in fleet.snapshot.workloads.items() if key.name == "driver")
    daemonset["spec"]["template"] = {"metadata": {"annotations": {DRIVER_ANNOTATION: "595"}}}
    (pod,) = fleet.snapshot.pods_of("n1", "driver")
    drivers = seen(fleet).drivers
    assert [each.why for each in drivers.outdated("n1")] == ["image driver v1 -> v2"]
    pod["metadata"]["annotations"] = {DRIVER_ANNOTATION: "595"}
    assert drivers.outdated("n1") == []
    # What has changed beside it may be what it lacks.
    pod["status"]["conditions"] = []
    pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
    assert len(drivers.outdated("n1")) == 1


def test_a_driver_that_its_daemonset_restarts_is_not_ours_to_restart(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.snapshot.put_workload(world.daemonset("driver"))
    survey = fleet.survey()
    survey.drivers.refresh()
    assert survey.drivers.pods("n1") == []


def test_versions_count_when_their_controller_has_seen_what_is_deployed(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    drivers = fleet.survey().drivers
    deployed = next(each for key, each in fleet.snapshot.workloads.items() if key.name == "driver")
    deployed["metadata"]["generation"] = 2
    # Nothing is known, and nothing is read.
    assert not drivers.refresh()
    assert drivers.outdated("n1") == []
    # Seen, and the version that goes with it is still to come.
    deployed["status"]["observedGeneration"] = 2
    kept = dict(fleet.cluster.objects["controllerrevisions"])
    fleet.cluster.objects["controllerrevisions"].clear()
    assert not drivers.refresh()
    fleet.cluster.objects["controllerrevisions"].update(kept)
    assert drivers.refresh()
    assert [each.why for each in drivers.outdated("n1")] == ["image driver v1 -> v2"]
    # Once known, they are read again when something has changed.
    deployed["metadata"]["generation"] = 3
    assert not drivers.refresh()


def test_a_quarantine_of_an_upgrade_is_not_a_remedy_s_to_end(fake: FakeServer) -> None:
    assert faulty(Fleet(fake, 1, said=said("quarantined"))).candidates() == []
    ours = said("quarantined", remedy="restart")
    assert faulty(Fleet(fake, 1, said=ours)).candidates() == ["n1"]
    # Tried often enough.
    spent = said("quarantined", remedy="restart", tried=[TRIED, TRIED])
    assert faulty(Fleet(fake, 1, said=spent)).candidates() == []
    assert faulty(Fleet(fake, 1, said=spent)).ended("quarantined") == {"n1"}


def test_what_is_reported_just_after_a_try_is_about_before_it(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1, said=said(DONE, tried=[TRIED]))
    reported = {"n1": "XID 79"}
    assert faulty(fleet, faults=reported).candidates() == []
    fleet.now += 600
    assert faulty(fleet, faults=reported).candidates() == ["n1"]


def test_a_node_on_its_way_is_taken_once(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1, said=said("remedy", remedy="restart", fault="XID 79"))
    assert faulty(fleet, faults={"n1": "XID 79"}).candidates() == ["n1"]


def test_what_an_earlier_run_has_begun_goes_on_if_the_recipe_still_has_it(fake: FakeServer) -> None:
    rules = replace(TWO_A_DAY, steps=("reset.yaml", "restart"))
    settings = replace(EXCHANGE, remedies=rules)
    for noted, step in (("restart", "restart"), ("gone.yaml", "reset.yaml")):
        fleet = Fleet(fake, 1, said=said("remedy", remedy=noted))
        found = faulty(fleet, exchange=settings).remedy("n1")
        assert found is not None
        assert found.step == step


def test_a_remedy_is_for_what_is_broken_for_good_in_the_states_of_the_devices(
    fake: FakeServer,
) -> None:
    fleet = Fleet(fake, 1)
    fleet.desired.recipe.remedies = replace(fleet.desired.recipe.remedies, states=("driver",))
    choice = faulty(fleet)
    failed = Result("driver", Phase.FAILED, final=True)
    assert choice.may_begin("n1", [failed]) is Begin.NOW
    assert choice.may_begin("n1", [replace(failed, final=False)]) is Begin.WAIT
    assert choice.may_begin("n1", [replace(failed, state="plugin")]) is Begin.NEVER
    assert choice.may_begin("n1", None) is Begin.WAIT


ALLOCATION = "hardware-enablement.io/toy.device-allocation"


@pytest.fixture
def served(fake: FakeServer) -> Fleet:
    """Nodes with the deployed driver: n1 is served by a plugin and is to be by dra, n2 is already."""
    fleet = Fleet(fake, 2)
    for name, way in (("n1", "plugin"), ("n2", "dra")):
        fleet.run_driver(name, "v2")
        fleet.cluster.objects["nodes"][name]["metadata"]["labels"][ALLOCATION] = way
    fleet.see()
    ways = DeviceAllocation(
        ALLOCATION, ("plugin", "dra"), "plugin", {"": "dra"}, {"": "plugin"}, "toy"
    )
    fleet.desired.discovery.grouping = Grouping(allocation=ways)
    fleet.desired.recipe.states["plugin"] = State(
        "plugin", "state_device_plugin", per=("allocation",)
    )
    return fleet


def test_a_node_that_is_served_otherwise_is_taken_and_says_so(served: Fleet) -> None:
    taken = outdated(served)
    assert taken.candidates() == ["n1"]
    plan, _pace = taken.plan()
    assert [row.why for row in plan.nodes] == ["served by plugin -> dra"]
    assert seen(served).target("n1") == seen(served).target("n2") == "v2+dra"


def test_only_what_serves_the_devices_goes_with_a_driver_that_stays(served: Fleet) -> None:
    node = seen(served).surveyed("n1", UPGRADING)
    assert (node.driver_stays, node.standing_states()) == (True, ["plugin"])
    # A remedy is about the driver.
    remedied = seen(served).surveyed("n1", REMEDY)
    assert (remedied.driver_stays, remedied.allocation) == (False, None)
    served.run_driver("n1", "v1")
    served.see()
    both = seen(served).surveyed("n1", UPGRADING)
    assert (both.driver_stays, both.standing_states()) == (False, ["driver", "plugin"])


def test_who_still_serves_a_node_is_found(served: Fleet) -> None:
    served.cluster.refuse = published
    use = replace(EXCHANGE.use, dra_drivers=("gpu.acme.io",))
    survey = served.survey(replace(EXCHANGE, use=use))
    node = survey.snapshot.nodes["n1"]
    survey.snapshot.nodes["n1"] = replace(node, allocatable={"acme.io/card": "2", "cpu": "8"})
    assert survey.still_served("n1") == "the node still offers acme.io/card"
    survey.snapshot.nodes["n1"] = replace(node, allocatable={"acme.io/card": "0", "cpu": "8"})
    assert survey.still_served("n1") == "ResourceSlice of-gpus of gpu.acme.io is still there"
    assert served.survey().still_served("n2") == ""


def published(asked: Asked) -> Answer | None:
    """What a cluster tells of the slices of a node, of two drivers."""
    path = asked.path.split("?")[0]
    if path == "/apis/resource.k8s.io/v1":
        kind = {"name": "resourceslices", "kind": "ResourceSlice", "namespaced": False}
        return 200, {}, {"resources": [kind]}
    if not path.endswith("/resourceslices"):
        return None
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    items = [
        {"metadata": {"name": name}, "spec": {"driver": driver, "pool": pool}}
        for name, driver in (("of-nics", "nic.acme.io"), ("of-gpus", "gpu.acme.io"))
    ]
    return 200, {}, {"metadata": {}, "items": items}
