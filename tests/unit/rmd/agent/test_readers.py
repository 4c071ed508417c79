# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's readers, on trees of both cgroup versions, both drivers, and machines of many CPUs."""

from __future__ import annotations

from pathlib import Path

import cgroups
import cpu_manager
import pytest
import resctrl
from cpusets import parse

from tests.unit.rmd.agent import trees
from tests.unit.rmd.agent.trees import CONTAINER, OTHER_POD, POD, SANDBOX, SIDECAR, STATIC_POD

CPUS = "1,97"


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", set()),
        ("3", {3}),
        ("0-2,5", {0, 1, 2, 5}),
        (" 4 , 6-7", {4, 6, 7}),
        ("49,1-2", {1, 2, 49}),
    ],
)
def test_lists_of_cpus(text: str, cpus: set[int]) -> None:
    assert parse(text) == cpus


@pytest.mark.parametrize("text", ["a", "1-", "-3", "1-x"])
def test_what_is_no_list_of_cpus(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        parse(text)


@pytest.mark.parametrize(
    ("prefix", "container"),
    [
        ("cpuset/kubepods/pod{dashes}", "{id}"),
        ("cpuset/kubepods/burstable/pod{dashes}", "{id}"),
        ("cpu,cpuset/kubepods.slice/kubepods-pod{lines}.slice", "docker-{id}.scope"),
        ("cpuset/hardware/worker-1/kubepods/besteffort/pod{dashes}", "{id}"),
    ],
)
def test_version_1(tmp_path: Path, prefix: str, container: str) -> None:
    names = {"dashes": POD, "lines": POD.replace("-", "_"), "id": CONTAINER}
    hierarchy = prefix.partition("/")[0]
    path = f"{prefix}/{container}".format(**names)
    # Version 1 has other hierarchies with the same names in them, which say nothing of CPUs.
    other = path.replace(hierarchy, "memory", 1)
    trees.write(
        tmp_path,
        {
            f"{hierarchy}/cpuset.cpus": "0-191",
            f"{path}/cpuset.cpus": CPUS,
            f"{other}/memory.max": "1",
        },
    )
    assert cgroups.read(tmp_path) == {POD: {CONTAINER: CPUS}}


@pytest.mark.parametrize(
    ("names", "container"),
    [
        (trees.cgroup_names(POD), CONTAINER),
        (trees.cgroup_names(POD, "burstable"), CONTAINER),
        (trees.systemd_names(POD), f"cri-containerd-{CONTAINER}.scope"),
        (trees.systemd_names(POD, "besteffort"), f"crio-{CONTAINER}.scope"),
        (f"kubelet.slice/kubelet-{trees.systemd_names(POD)}", f"cri-containerd-{CONTAINER}.scope"),
    ],
)
def test_version_2(tmp_path: Path, names: str, container: str) -> None:
    path = f"{names}/{container}"
    trees.write(
        tmp_path,
        {f"{path}/cpuset.cpus": "", f"{path}/cpuset.cpus.effective": CPUS, "cgroup.procs": ""},
    )
    assert cgroups.read(tmp_path) == {POD: {CONTAINER: CPUS}}


def test_what_was_set_counts_more_than_what_follows(tmp_path: Path) -> None:
    path = f"{trees.systemd_names(POD)}/crio-{CONTAINER}.scope"
    trees.write(tmp_path, {f"{path}/cpuset.cpus": CPUS, f"{path}/cpuset.cpus.effective": "1"})
    assert cgroups.read(tmp_path) == {POD: {CONTAINER: CPUS}}


def test_several_pods_and_what_is_no_container(tmp_path: Path) -> None:
    pod = trees.systemd_names(POD)
    files = {
        f"{pod}/crio-{CONTAINER}.scope/cpuset.cpus": CPUS,
        f"{pod}/crio-{CONTAINER}.scope/container/cpuset.cpus": "7",
        f"{pod}/crio-{SIDECAR}.scope/cpuset.cpus": "0-95",
        f"{pod}/crio-conmon-{SANDBOX}.scope/cpuset.cpus": "5",
        f"{trees.systemd_names(OTHER_POD, 'burstable')}/crio-{SANDBOX}.scope/cpuset.cpus": "8",
        f"{trees.systemd_names(STATIC_POD)}/crio-{SANDBOX}.scope/cpuset.cpus": "9",
        "system.slice/sshd.service/cpuset.cpus": "0",
        f"system.slice/pod{POD}/{SANDBOX}/cpuset.cpus": "0",
        f"{trees.systemd_names(OTHER_POD)}/crio-{SIDECAR}.scope/cpuset.cpus": "",
    }
    trees.write(tmp_path, files)
    assert cgroups.read(tmp_path) == {
        POD: {CONTAINER: CPUS, SIDECAR: "0-95"},
        OTHER_POD: {SANDBOX: "8"},
        STATIC_POD: {SANDBOX: "9"},
    }


def test_no_cgroups_at_all(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no cgroups"):
        cgroups.read(tmp_path / "nowhere")


def test_the_cpu_managers_state(tmp_path: Path) -> None:
    entries = {POD: {"nginx1": "1,97", "side": "48-49,144-145"}, OTHER_POD: {"main": "2"}}
    trees.write(tmp_path, {"cpu_manager_state": trees.state_file(entries)})
    assert cpu_manager.read(tmp_path) == ({"policy": "static", "entries": entries}, trees.SHARED)


def test_without_the_static_policy_there_are_no_entries(tmp_path: Path) -> None:
    (tmp_path / "cpu_manager_state").write_text(
        '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
    )
    assert cpu_manager.read(tmp_path) == ({"policy": "none", "entries": {}}, "")


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "kubelet_root"), ("{", "cannot be read"), ("{}", "no policy"), ("[]", "no policy")],
)
def test_no_state_of_a_cpu_manager(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "cpu_manager_state").write_text(text)
    with pytest.raises(cpu_manager.UnreadableError, match=says):
        cpu_manager.read(tmp_path)


def test_the_caches_of_two_sockets(tmp_path: Path) -> None:
    trees.sys_tree(tmp_path, trees.SOCKETS, 192)
    assert resctrl.caches(tmp_path) == trees.SOCKETS


def test_caches_are_sorted_by_number(tmp_path: Path) -> None:
    sockets = {"10": "0", "2": "1", "0": "2"}
    trees.sys_tree(tmp_path, sockets, 3)
    assert list(resctrl.caches(tmp_path)) == ["0", "2", "10"]


def test_resctrl(tmp_path: Path) -> None:
    assert resctrl.read(trees.resctrl_tree(tmp_path)) == {
        "mounted": True,
        "num_closids": {"L3": 16, "MB": 8},
        "cbm_mask": "7ff",
        "min_cbm_bits": 1,
        "bandwidth": {"least": 10, "step": 10},
        "groups": {
            "": {
                "cpus_list": "0-191",
                "schemata": {"L3": {"0": "7ff", "1": "7ff"}, "MB": {"0": 100, "1": 100}},
            },
            "COS2": {
                "cpus_list": "1,97",
                "schemata": {"L3": {"0": "c", "1": "7ff"}, "MB": {"0": 50, "1": 100}},
            },
        },
    }


def test_resctrl_without_memory_bandwidth(tmp_path: Path) -> None:
    found = resctrl.geometry(trees.resctrl_tree(tmp_path, ways=20, mb=0))
    assert (found.ways, found.mask, found.num_closids) == (20, "fffff", {"L3": 16, "MB": 0})


def test_resctrl_is_not_mounted(tmp_path: Path) -> None:
    with pytest.raises(resctrl.NotMountedError, match="not mounted at"):
        resctrl.geometry(tmp_path)


def test_resctrl_without_cache_allocation(tmp_path: Path) -> None:
    trees.write(tmp_path, {"schemata": "MB:0=100", "cpus_list": "0", "info/MB/num_closids": "8"})
    assert resctrl.geometry(tmp_path).ways == 0
