# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The back end resctrl, from deployment to removal: the agents write what runs declare, and repair
without a run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface import (
    workload_arguments,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd import workload_run
from tests.cluster import Cluster
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd import readme
from tests.integration.rmd.examples_page import prints_what_the_page_says
from tests.integration.rmd.kept_certificates import KeptCertificates
from tests.integration.rmd.readme import (
    CACHE,
    GUARANTEED_CACHE,
    GUARANTEED_CACHE_PSTATE,
    NODES,
    OF_POD,
    ONE,
    POD,
    PSTATE,
    TWO,
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write,
    guaranteed,
)
from tests.integration.rmd.resctrl_bed import ResctrlBed, make_bed
from tests.integration.rmd.test_objects_v03 import workload
from tests.integration.waiting import wait_until, wait_until_none
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses
from tests.rmd.resctrl import Resctrl
from tests.rmd.server import TLS_PORT

pytestmark = pytest.mark.rmd

WEB = f"hardware-enablement.{CACHE}"
NOWHERE = "https://127.0.0.1:1"


@pytest.fixture(scope="module")
def bed(
    cluster: Cluster, runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ResctrlBed]:
    with make_bed(cluster, runner, tmp_path_factory.mktemp("rmd"), 2) as made:
        yield made


def the_role_deploys_no_daemon_and_no_certificate(bed: ResctrlBed) -> None:
    wait_until(
        lambda: all(agent.log.exists() for agent in bed.agents.values()),
        "the first reports",
    )
    mark = bed.cluster.mark()
    bed.play().check()
    assert bed.runner.writes(mark) == []
    kubectl = partial(bed.cluster.kubectl, "-n", "intel-rmd", "get", "-o", "name")
    assert kubectl("daemonsets") == "daemonset.apps/intel-rmd-agent\n"
    assert certificates(bed) == []


def certificates(bed: ResctrlBed) -> list[str]:
    """The names of all Secrets, and of what daemons trust."""
    found = bed.cluster.kubectl("-n", "intel-rmd", "get", "-o", "name", "secrets,configmaps")
    return [name for name in found.split() if name.startswith("secret/") or name.endswith("-trust")]


def the_operators_examples_are_in_force(bed: ResctrlBed, reconcile: Module) -> None:
    """But the one with P-states, which only RMD sets."""
    bed.create(GUARANTEED_CACHE)
    assert reconcile.done()["requests"]["PATCH"] == 2
    names = f"Cos Name: {WEB} Enforced: true Id: {CACHE}"
    state = f"Core Ids: 0 1 2 3 {names} Rdt: Cache: Max: 2 Min: 2"
    readme.describe_shows_what_the_readme_shows(bed, state)
    group = {"L3": "0=c0;1=7ff", "MB": "0=100;1=100"}
    readme.a_node_state_is_the_readmes(bed, WEB, **group)
    bed.create(GUARANTEED_CACHE_PSTATE)
    assert "which only RMD sets" in reconcile.failed()
    prints_what_the_page_says(bed, f"describe rmdworkload {PSTATE}")
    bed.cluster.kubectl("delete", "rmdworkload", PSTATE, "--wait=false")
    reconcile.done()


# What happens to a node; all of it is mended without a run.
def repaired_by_no_run(bed: ResctrlBed, what: str) -> None:
    agent = bed.agents[ONE]
    before = agent.tree.dump()
    by_hand: dict[str, Callable[[Resctrl], object]] = {
        "cores moved": lambda tree: tree.take_back(WEB, [3]),
        "ways moved": lambda tree: tree.set_masks(WEB, {0: 0x3}),
        "group deleted": lambda tree: tree.remove(WEB),
    }
    if what in by_hand:
        by_hand[what](agent.tree)
    else:
        agent.kill()
        agent.tree.reset()
        # A boot; and one at which the API server cannot be reached.
        agent.start(NOWHERE if what == "boot alone" else "")
    wait_until(lambda: agent.tree.dump() == before, f"the repair of {what}")
    if what == "boot alone":
        wait_until(
            lambda: any("API server" in text for text in agent.said()["problems"]),
            "its word",
        )
        agent.kill()
        agent.start()
        wait_until_none(lambda: agent.said()["problems"], "problems that the agent tells")


def an_object_that_changes_while_no_agent_runs_waits_for_it(
    bed: ResctrlBed, reconcile: Module
) -> None:
    agent = bed.agents[TWO]
    agent.kill()
    bed.create(workload("late", nodes=[TWO], coreIds=["5"], cache={"max": 1, "min": 1}))
    assert "the agent has not seen it yet" in reconcile.failed()
    agent.start()
    wait_until(lambda: bed.groups()[TWO].get(".late") == "5", "the agent's start")
    reconcile.done()
    mark = bed.cluster.mark()
    reconcile.unchanged()
    assert bed.runner.writes(mark) == []
    bed.cluster.kubectl("delete", "rmdworkload", "late", "--wait=false")
    reconcile.done()
    assert ".late" not in bed.groups()[TWO]


def nonsense_is_told_and_holds_up_nothing(bed: ResctrlBed, reconcile: Module) -> None:
    odd = {"odd": {"coreIds": ["five"], "cache": {"max": 1, "min": 1}}, "none": {}}
    patch = {"spec": {"workloads": odd}}
    name = f"rmd-node-state-{ONE}"
    words = ("patch", "rmdnodestate", name, "--type=merge", "-p")
    bed.cluster.kubectl(*words, json.dumps(patch))
    wait_until(lambda: "odd" in bed.agents[ONE].said()["declared"], "the agent's answer")
    declared = bed.agents[ONE].said()["declared"]
    assert declared["odd"] == {"why": "'five' is no core"}
    assert set(bed.groups()[ONE]) == {WEB.removeprefix("hardware-enablement")}
    reconcile.done()
    state = bed.get("rmdnodestate", name)["status"]["conditions"]
    enforced = next(found for found in state if found["type"] == "Enforced")
    assert (enforced["status"], "odd: 'five' is no core" in enforced["message"]) == ("False", True)
    bed.cluster.kubectl(*words, json.dumps({"spec": {"workloads": dict.fromkeys(odd)}}))


def a_group_of_somebody_else_is_named(bed: ResctrlBed, reconcile: Module) -> None:
    """As mkdir makes it: with all ways, and with no CPU that anybody would be refused for."""
    agent = bed.agents[ONE]

    def is_there() -> bool:
        return "somebody" in agent.said()["resctrl"]["groups"]

    agent.tree.make("somebody")
    wait_until(is_there, "the agent's word")
    assert "shares ways of cache 0 with group somebody" in reconcile.failed()
    status = bed.get("rmdnodestate", f"rmd-node-state-{ONE}")["status"]
    assert status["groups"]["somebody"] == {"CPUs": "", "L3": "0=7ff;1=7ff", "MB": "0=100;1=100"}
    assert in_force(bed) == {}
    agent.tree.remove("somebody")
    wait_until(lambda: not is_there(), "the agent's word")
    reconcile.done()
    assert in_force(bed) == {CACHE: "2/2"}


def a_pod_with_rmds_labels(bed: ResctrlBed) -> str:
    """Of somebody who may make pods in a namespace of theirs: the agent would give way to it."""
    labels = {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": "daemon"}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pretender", "namespace": "default", "labels": labels},
        "spec": {"nodeName": ONE, "containers": [{"name": "c", "image": "registry.test/c:1"}]},
    }
    bed.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    return "pretender"


def a_pod_has_its_cache_before_a_run_and_no_longer_than_it_lives(
    bed: ResctrlBed, reconcile: Module
) -> None:
    allocatable = bed.get("node", ONE)["status"]["allocatable"]
    assert allocatable["intel.com/l3_cache_ways"] == "5"
    pretender = a_pod_with_rmds_labels(bed)
    bed.start(ONE, guaranteed(POD, nginx1_cache_min="2"), nginx1="5-7")
    group = f".{POD}-rmd-workload-nginx1"
    wait_until(lambda: bed.groups()[ONE].get(group) == "5-7", "the pod's cache")
    cores = ["5", "6", "7"]
    state = {"cosName": f"hardware-enablement.{OF_POD}", "id": OF_POD, "coreIds": cores}
    state |= {"rdt": {"cache": {"max": 2, "min": 2}}}
    readme.the_pod_gets_its_workload(bed, reconcile, cores, state)
    assert bed.declared(ONE)[OF_POD]["pod"] == bed.get("pod", POD)["metadata"]["uid"]
    bed.cluster.kubectl("delete", "pod", pretender, "--wait=false")
    readme.deleting_the_pod_deletes_its_workload(bed, reconcile)
    assert OF_POD not in bed.declared(ONE)
    assert set(bed.groups()[ONE]) == {f".{CACHE}"}


def memory_bandwidth_needs_no_cache(bed: ResctrlBed, module: Module, reconcile: Module) -> None:
    """RMD would refuse it, from an object as from rmd_workload."""
    bed.create(workload("slow", nodes=[ONE], coreIds=["5"], rdt={"mba": {"percentage": 45}}))
    reconcile.done()
    reconcile.unchanged()
    module.done(nodes=[ONE], uuid="slower", core_ids=["7"], mba={"percentage": 20})
    groups = bed.agents[ONE].tree.dump()
    for name, cpus, percent in (("slow", "5", 50), ("slower", "7", 20)):
        group = groups[f"hardware-enablement.{name}"]
        assert (group["cpus_list"], group["MB"]) == (cpus, {0: 100, 1: percent})
        assert group["L3"] == {0: "7ff", 1: groups["."]["L3"][1]}  # type: ignore[index]
    bed.cluster.kubectl("delete", "rmdworkload", "slow", "--wait=false")
    reconcile.done()
    module.done(nodes=[ONE], uuid="slower", state="absent")


def what_cannot_be_is_rolled_back(bed: ResctrlBed, module: Module) -> None:
    """rmd_workload, on two nodes; on one of them somebody else has the core."""
    tree = bed.agents[TWO].tree
    tree.make("COS2")
    tree.assign("COS2", [6])
    wanted = {"nodes": [ONE, TWO], "uuid": "w", "core_ids": ["6"], "cache": {"max": 1, "min": 1}}
    assert "core 6 is in group COS2, which somebody else has made" in module.failed(**wanted)
    assert ["w" in bed.declared(node) for node in (ONE, TWO)] == [False, False]
    bed.agents[TWO].tree.remove("COS2")
    module.done(**wanted)
    assert [found[".w"] for found in bed.groups().values()] == ["6", "6"]
    module.unchanged(**wanted)
    bed.agents[TWO].tree.make("COS2")

    def taken() -> bool:
        # More than once: an agent that has read one group before and the other one after takes the core back.
        bed.agents[TWO].tree.assign("COS2", [6])
        return ".w" not in bed.groups()[TWO]

    wait_until(taken, "the agent's word")
    # There is nothing to send, and it is not in force.
    assert "core 6 is in group COS2" in module.failed(**wanted)
    bed.agents[TWO].tree.remove("COS2")
    wait_until(lambda: ".w" in bed.groups()[TWO], "the repair")
    module.done(nodes=[ONE, TWO], uuid="w", state="absent")
    assert [".w" in found for found in bed.groups().values()] == [False, False]


@contextmanager
def the_back_end_becomes_rmd(bed: ResctrlBed, reconcile: Module) -> Iterator[Fleet]:
    """The objects stay, and so does what they ask for, but for what RMD refuses; nodes and clients
    get certificates."""
    bed.create(workload("brief", nodes=[TWO], coreIds=["5"], cache={"max": 1, "min": 1}))
    bed.create(workload("slow", nodes=[ONE], coreIds=["6"], rdt={"mba": {"percentage": 50}}))
    reconcile.done()
    # The port is RMD's; so that two runs on one machine do not meet, the addresses are of this
    # process.
    settings: dict[str, Any] = {"port": TLS_PORT, "network": (80 + os.getpid() % 170, 1)}
    folder = bed.agents[ONE].folder.parent
    settings |= {"folder": folder, "wrong_socket": 0.0}
    give_addresses(bed.cluster, Fleet(NODES, **settings))
    kept = KeptCertificates(bed.cluster, folder / "pki")
    with ExitStack() as ended:
        with bed.change_over("rmd"):
            wait_until(lambda: not any(bed.groups().values()), "the end of the agents' groups")
            bed.restart_agents(writes=False)
            fleet = ended.enter_context(Fleet(NODES, tls=kept.tls, **settings))
        assert set(kept.certificates()) == set(NODES)
        assert "choose the back end resctrl" in reconcile.failed()
        bed.cluster.kubectl("delete", "rmdworkload", "slow", "--wait=false")
        reconcile.done()
        assert in_force(bed) == {"brief": "1/1", CACHE: "2/2"}
        assert (bed.groups()[ONE]["COS2"], bed.groups()[TWO]["COS3"]) == ("0-3", "5")
        yield fleet


def and_resctrl_again(bed: ResctrlBed, fleet: Fleet, reconcile: Module) -> None:
    """What goes meanwhile does not come back, and no key is left."""
    bed.cluster.kubectl("delete", "rmdworkload", "brief", "--wait=false")
    reconcile.done()
    reconcile.unchanged()
    before = fleet.dump()
    bed.restart_agents(writes=True)
    # What was declared before RMD's time is on their disks still.
    wait_until(
        lambda: all(agent.said()["problems"] for agent in bed.agents.values()),
        "their word",
    )
    assert fleet.dump() == before
    assert list(bed.groups()[ONE]) == [f"COS{number}" for number in range(1, 8)]
    with bed.change_over("resctrl"):
        wait_until(
            lambda: not any("COS2" in found for found in bed.groups().values()),
            "RMD's end",
        )
    reconcile.done()
    assert in_force(bed) == {CACHE: "2/2"}
    assert bed.groups() == {ONE: {f".{CACHE}": "0-3"}, TWO: {f".{CACHE}": "0-3"}}
    assert bed.get("rmdconfig", "rmdconfig")["status"]["nodes"] == NODES
    databases = [agent.folder / "state" / "rmd.db" for agent in bed.agents.values()]
    assert [file.exists() for file in databases] == [False, False]
    assert certificates(bed) == []
    reconcile.unchanged()


def in_force(bed: ResctrlBed) -> dict[str, str]:
    """RmdWorkload -> on how many of its nodes it is as asked for, if it is in force there."""
    found = json.loads(bed.cluster.kubectl("get", "rmdworkloads", "-o", "json"))["items"]
    enforced = {"type": "Enforced", "status": "True"}
    return {
        obj["metadata"]["name"]: obj["status"]["nodes"]
        for obj in found
        if any(enforced.items() <= each.items() for each in obj["status"]["conditions"])
    }


def removal_gives_everything_back(bed: ResctrlBed, runner: Runner) -> None:
    runner.play("rmd_remove").check()
    assert bed.groups() == {ONE: {}, TWO: {}}
    for agent in bed.agents.values():
        assert agent.tree.dump()["."]["L3"] == {0: "7ff", 1: "7ff"}


def test_from_deployment_to_removal(bed: ResctrlBed, runner: Runner, reconcile: Module) -> None:
    """One story: each step goes on from the one before."""
    the_role_deploys_no_daemon_and_no_certificate(bed)
    the_operators_examples_are_in_force(bed, reconcile)
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write(bed, runner, reconcile)
    for what in ("cores moved", "ways moved", "group deleted", "boot", "boot alone"):
        repaired_by_no_run(bed, what)
    an_object_that_changes_while_no_agent_runs_waits_for_it(bed, reconcile)
    nonsense_is_told_and_holds_up_nothing(bed, reconcile)
    a_group_of_somebody_else_is_named(bed, reconcile)
    a_pod_has_its_cache_before_a_run_and_no_longer_than_it_lives(bed, reconcile)
    module = Module(workload_run.TASK, workload_arguments.RMD_WORKLOAD, runner.kubeconfig)
    memory_bandwidth_needs_no_cache(bed, module, reconcile)
    what_cannot_be_is_rolled_back(bed, module)
    with the_back_end_becomes_rmd(bed, reconcile) as fleet:
        and_resctrl_again(bed, fleet, reconcile)
    removal_gives_everything_back(bed, runner)
