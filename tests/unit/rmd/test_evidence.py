# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel does against what RMD says: masks, sockets, CPUs, memory bandwidth. Pure."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.evidence import (
    broken_workloads,
    stray_cores,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import running

Obj = dict[str, Any]


def group(cpus: str, zero: str = "7ff", one: str = "7ff", **bandwidth: int) -> Obj:
    schemata: Obj = {"L3": {"0": zero, "1": one}}
    if bandwidth:
        schemata["MB"] = {name.removeprefix("mb"): value for name, value in bandwidth.items()}
    return {"cpus_list": cpus, "schemata": schemata}


def report(**groups: Obj) -> Obj:
    """A machine of two sockets with four CPUs each; groups by their names."""
    return {
        "node": "n1",
        "l3": {"0": "0-3", "1": "4-7"},
        "resctrl": {
            "cbm_mask": "7ff",
            "bandwidth": {"least": 10, "step": 10},
            "groups": {"": group("0,3", "f", "f"), "COS1": group("7"), **groups},
        },
    }


def disturbing(found: Obj, there: list[RunningWorkload] | None = None) -> dict[str, str]:
    """Who has ways of workloads beside them."""
    wrong, disturbed = broken_workloads(found, [running()] if there is None else there)
    assert wrong == {}
    return disturbed


def differences(found: Obj, there: list[RunningWorkload]) -> list[str]:
    """All that is said of all workloads."""
    return [
        sentence
        for said in broken_workloads(found, there)[0].values()
        for sentence in said.split("; ")
    ]


def test_all_is_well() -> None:
    two_sockets = running("b", "3 5", cos_name="COS3", cache=(4, 2), id="2")
    shared = running("s", "6", cos_name="COS4", cache=(0, 0), id="3")
    found = report(
        COS2=group("1-2", "600"), COS3=group("3,5", "c0", "f0"), COS4=group("6", "1", "1")
    )
    assert differences(found, [running(), two_sockets, shared]) == []


def test_a_restored_percentage_may_be_rounded() -> None:
    wanted = running(rdt={"cache": {"max": 2, "min": 2}, "mba": {"percentage": 45}})
    assert differences(report(COS2=group("1-2", "600", mb0=50, mb1=100)), [wanted]) == []
    assert differences(report(COS2=group("1-2", "600", mb0=45, mb1=100)), [wanted]) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            group("1-2", "7ff", "600"),
            ["has all 11 ways of its cache 0 instead of 2", "cache 1, where it has no core, is"],
        ),
        (group("1-2", "700"), ["has 3 ways of cache 0 instead of 2"]),
        (group("1-2", "400"), ["has 1 ways of cache 0 instead of 2"]),
        (group("1", "600"), ["core 2 is not in COS2"]),
        ({"cpus_list": "1-2", "schemata": {"L3": {"1": "7ff"}}}, ["no ways of cache 0 are set"]),
        ({"cpus_list": "1-2", "schemata": {}}, ["no ways of cache 0 are set"]),
    ],
)
def test_what_is_not_as_rmd_says(found: Obj, words: list[str]) -> None:
    said = differences(report(COS2=found), [running()])
    assert len(said) == len(words)
    for sentence, word in zip(said, words, strict=True):
        assert word in sentence


def test_besteffort_may_have_less() -> None:
    wanted = running(cache=(4, 2))
    assert differences(report(COS2=group("1-2", "600")), [wanted]) == []
    assert (
        "1 ways of cache 0 instead of 2 to 4"
        in differences(report(COS2=group("1-2", "400")), [wanted])[0]
    )


def test_two_sockets_are_both_looked_at() -> None:
    wanted = running(cores="1 5")
    assert differences(report(COS2=group("1,5", "600", "600")), [wanted]) == []
    (said,) = differences(report(COS2=group("1,5", "600", "7ff")), [wanted])
    assert said == "it has all 11 ways of its cache 1 instead of 2"


def test_bandwidth_is_that_of_the_workloads_socket() -> None:
    wanted = running(rdt={"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}})
    assert differences(report(COS2=group("1-2", "600", mb0=50, mb1=100)), [wanted]) == []
    (said,) = differences(report(COS2=group("1-2", "600", mb0=100, mb1=50)), [wanted])
    assert said == "it has 100 memory bandwidth at cache 0 instead of 50"
    (said,) = differences(report(COS2=group("1-2", "600")), [wanted])
    assert "has no memory bandwidth" in said
    in_megabytes = running(rdt={"cache": {"max": 2, "min": 2}, "mba": {"mbps": 1500}})
    assert differences(report(COS2=group("1-2", "600", mb0=1500, mb1=9)), [in_megabytes]) == []
    assert len(differences(report(COS2=group("1-2", "600", mb0=1510, mb1=9)), [in_megabytes])) == 1


def test_bandwidth_beside_a_policy_is_never_set() -> None:
    """RMD gives it back, and does not apply it."""
    wanted = running(policy="gold", rdt={"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}})
    assert differences(report(COS2=group("1-2", "600", mb0=100, mb1=100)), [wanted]) == []


def test_a_ghost() -> None:
    (said,) = differences(report(), [running()])
    assert said == "the node has no group COS2"


@pytest.mark.parametrize(
    ("one", "other"), [((2, 2), (2, 2)), ((2, 2), (4, 2)), ((2, 2), (0, 0)), ((4, 2), (0, 0))]
)
def test_pools_keep_their_ways_from_each_other(one: Any, other: Any) -> None:
    there = [running(cache=one), running("x", "3", cos_name="COS3", cache=other, id="2")]
    said, disturbed = broken_workloads(
        report(COS2=group("1-2", "600"), COS3=group("3", "300")), there
    )
    assert disturbed == {}
    assert said["1"].endswith("it shares ways of cache 0 with x")
    assert said["2"].endswith("it shares ways of cache 0 with w")


def test_whose_ways_a_wrong_one_takes_is_right_itself() -> None:
    there = [running(), running("x", "3", cos_name="COS3", id="2")]
    wrong, disturbed = broken_workloads(
        report(COS2=group("1-2", "600"), COS3=group("3", "7ff", "180")), there
    )
    assert set(wrong) == {"2"}
    assert disturbed == {"1": "it shares ways of cache 0 with x"}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("pqos", group("3", "200")),
        # As mkdir makes them, with all ways: any task may be put into it.
        ("new", group("")),
        # Left behind by RMD, with CPUs in it.
        ("COS5", group("3")),
        ("1_2-guarantee", group("3", "600", "1")),
    ],
)
def test_whoever_made_a_group_its_ways_are_looked_at(name: str, other: Obj) -> None:
    found = report(COS2=group("1-2", "600"), **{name: other})
    told = f"it shares ways of cache 0 with group {name}, which is no workload's (give it others)"
    assert disturbing(found) == {"1": told}


def test_the_default_group_has_other_ways_than_workloads() -> None:
    groups = {"COS2": group("1-2", "600"), "COS3": group("5", one="600")}
    there = [running(), running("x", "5", cos_name="COS3", id="2")]
    told = "it shares ways of cache 0 with the default group (give it others)"
    # Of the second cache it has all ways, and no CPU that could use them.
    found = report(**{**groups, "": group("0,3"), "COS1": group("7", "1", "1")})
    assert disturbing({**found, "declared": {}}, there) == {"1": told}
    assert disturbing({**found, "pools": {"os_cpus": "0"}}, there) == {"1": told}
    # Nor does RMD v0.2 set its ways where the operating system has no CPU.
    assert disturbing({**found, "pools": {"os_cpus": "4"}}, there) == {
        "2": told.replace("cache 0", "cache 1")
    }


@pytest.mark.parametrize(
    "other",
    [
        {"COS1": group("7", "600")},
        {"infra": group("7", "600")},
        # RMD v0.3 makes all groups when it starts.
        {"COS5": group("")},
        {"pqos": group("3", "100", "600")},
    ],
)
def test_what_takes_no_ways_from_workloads(other: Obj) -> None:
    assert disturbing(report(COS2=group("1-2", "600"), **other)) == {}


@pytest.mark.parametrize("name", ["COS1", "COS5", "infra", "shared"])
def test_without_rmd_its_names_are_others(name: str) -> None:
    groups = {"COS1": group("7", "1"), name: group("")}
    found = report(COS2=group("1-2", "600"), **groups)
    assert list(disturbing({**found, "declared": {}})) == ["1"]


def test_who_shares_anyway_or_is_wrong_itself_is_disturbed_by_nobody() -> None:
    free = running("s", "3", cos_name="COS3", cache=(0, 0), id="2")
    groups = {"COS2": group("1-2"), "COS3": group("3", "f"), "pqos": group("3", "f")}
    wrong, disturbed = broken_workloads(report(**groups), [running(), free])
    assert (set(wrong), disturbed) == ({"1"}, {"2": "it shares ways of cache 0 with w"})


def test_the_same_bits_of_another_socket_are_other_ways() -> None:
    far = running("x", "5", cos_name="COS3", id="2")
    found = report(COS2=group("1-2", "600"), COS3=group("5", one="600"))
    assert differences(found, [running(), far]) == []


def test_best_effort_may_come_to_share_with_its_own() -> None:
    there = [
        running(cache=(2, 1)),
        running("x", "3", cos_name="COS3", cache=(2, 1), id="2"),
    ]
    assert differences(report(COS2=group("1-2", "600"), COS3=group("3", "600")), there) == []


@pytest.mark.parametrize("name", ["COS5", "COS12", "1_2-guarantee", "3-besteffort", "shared"])
def test_cores_that_were_left_behind(name: str) -> None:
    assert stray_cores(report(**{name: group("4-5")}), []) == (4, 5)


def test_a_workloads_own_cores_are_no_strays() -> None:
    assert stray_cores(report(COS2=group("1-4")), [running()]) == (3, 4)


@pytest.mark.parametrize("name", ["", "COS1", "infra", "mine"])
def test_groups_of_others_are_nobodys_business(name: str) -> None:
    assert stray_cores(report(**{name: group("4-5")}), []) == ()


def test_without_resctrl() -> None:
    found = {"node": "n1", "resctrl": None}
    assert differences(found, [running()]) == ["resctrl is not mounted"]
    assert stray_cores(found, []) == ()
