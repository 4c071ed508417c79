# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent as a whole: what it says, when it says it, and as the process that a pod runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import agent
import pytest

from tests.rmd import RmdServer
from tests.rmd.reports import report_of
from tests.unit.rmd.agent import trees
from tests.unit.rmd.agent.conftest import PROGRAM
from tests.unit.rmd.agent.trees import CONTAINER, OTHER_POD, POD, SIDECAR
from tests.unit.rmd_server.asking import ask, nested


def arguments(root: Path) -> list[str]:
    """A node of two sockets: a pod with exclusive CPUs on both of them and a side-car, and a pod
    without."""
    trees.sys_tree(root / "sys", trees.SOCKETS, 192)
    trees.resctrl_tree(root / "resctrl")
    entries = {POD: {"nginx1": "1,49,97,145"}}
    trees.write(root, {"kubelet/cpu_manager_state": trees.state_file(entries)})
    pod, other = trees.systemd_names(POD), trees.systemd_names(OTHER_POD, "burstable")
    trees.write(
        root / "cgroup",
        {
            f"{pod}/cri-containerd-{CONTAINER}.scope/cpuset.cpus": "1,49,97,145",
            f"{pod}/cri-containerd-{SIDECAR}.scope/cpuset.cpus": trees.SHARED,
            f"{other}/cri-containerd-{SIDECAR}.scope/cpuset.cpus": trees.SHARED,
        },
    )
    settings = {
        "pools": {"os": 1, "guaranteed": 0, "besteffort": 2, "shared": 1, "infra": 0},
        "pools_by_ways": {},
        "os_cpus": "0",
    }
    trees.write(root, {"settings": json.dumps(settings)})
    names = ("sys", "resctrl", "kubelet", "cgroup", "settings")
    options = {name: str(root / name) for name in names}
    return [
        "--node",
        "n1",
        *(word for name, value in options.items() for word in (f"--{name}", value)),
    ]


def observe(words: list[str]) -> dict[str, Any]:
    return agent.observe(agent._parser().parse_args(words))


def test_a_node_of_two_sockets(tmp_path: Path) -> None:
    found = observe(arguments(tmp_path))
    assert found.pop("resctrl")["groups"]["COS2"]["cpus_list"] == "1,97"
    assert found == {
        "node": "n1",
        "cpu_manager": {"policy": "static", "entries": {POD: {"nginx1": "1,49,97,145"}}},
        "cgroups": {POD: {CONTAINER: "1,49,97,145"}},
        "l3": trees.SOCKETS,
        "pools": {
            "os": 1,
            "guaranteed": 7,
            "besteffort": 2,
            "shared": 1,
            "infra": 0,
            "os_cpus": "0",
        },
        "interval": 5.0,
        "problems": [],
    }


def test_a_single_container_on_the_shared_cpus_has_none_of_its_own() -> None:
    found = {POD: {CONTAINER: "0-1,3"}, OTHER_POD: {SIDECAR: "2"}}
    assert agent.exclusive(found, "0,1,3") == {OTHER_POD: {SIDECAR: "2"}}
    assert agent.exclusive(found, "") == found


def test_without_the_cpu_manager_cgroups_tell_whose_cpus_are_nobody_elses(tmp_path: Path) -> None:
    words = arguments(tmp_path)
    position = words.index("--kubelet")
    found = observe(words[:position] + words[position + 2 :])
    assert found["cpu_manager"] is None
    assert found["problems"] == []
    assert found["cgroups"] == {POD: {CONTAINER: "1,49,97,145"}}


def test_nothing_can_be_read(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    found = observe(
        ["--node", "n1"]
        + [
            word
            for name in ("sys", "resctrl", "kubelet", "cgroup", "settings")
            for word in (f"--{name}", str(empty))
        ]
    )
    assert (found["cpu_manager"], found["cgroups"], found["l3"], found["resctrl"]) == (
        None,
        {},
        {},
        None,
    )
    assert len(found["problems"]) == 4
    assert "pools cannot be read" in found["problems"][2]
    assert "resctrl is not mounted" in found["problems"][3]


def test_the_simulated_agent_says_what_this_one_says(tmp_path: Path) -> None:
    """tests/rmd/reports.py stands in for it on simulated nodes."""
    with RmdServer(resctrl=tmp_path / "tree") as server:
        ask(server, "POST", "/workloads", nested("1,5", 2, percentage=50))
        words = arguments(tmp_path)
        words[words.index("--resctrl") + 1] = str(tmp_path / "tree")
        found, simulated = observe(words), report_of(server)
    assert simulated["resctrl"] == found["resctrl"]
    assert simulated.keys() == {*found, "schema", "time"}
    assert simulated["pools"].keys() == found["pools"].keys()


def test_a_broken_resctrl_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    words = arguments(tmp_path)
    (tmp_path / "resctrl" / "COS2" / "schemata").write_text("L3:0=zz\n")
    found = observe(words)
    assert found["resctrl"] is None
    assert found["problems"] == [
        "resctrl cannot be read: invalid literal for int() with base 16: 'zz'"
    ]


def test_it_speaks_at_the_start_on_a_change_and_after_a_while() -> None:
    views = [{"a": 1}, {"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}]
    clock = iter([0.0, 5.0, 10.0, 60.0, 70.0])
    turns = iter(views)
    told = agent.lines(lambda: next(turns), 60.0, lambda: next(clock))
    said = [next(told) for _view in views]
    assert [bool(text) for text in said] == [True, False, True, False, True]
    assert [json.loads(text)["a"] for text in said if text] == [1, 2, 2]


def test_the_process_of_a_pod(tmp_path: Path) -> None:
    words = [*arguments(tmp_path), "--interval", "0.05"]
    # As in a pod: nothing makes Python write at once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-B", str(PROGRAM / "agent.py"), *words],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        first = json.loads(process.stdout.readline())
        assert (first["schema"], first["node"]) == (3, "n1")
        assert first["time"].endswith("Z")
        (tmp_path / "kubelet" / "cpu_manager_state").write_text(trees.state_file({}))
        assert json.loads(process.stdout.readline())["cpu_manager"]["entries"] == {}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@pytest.mark.parametrize("with_manager", [True, False])
def test_one_line_holds_a_node_full_of_pods(tmp_path: Path, with_manager: bool) -> None:
    """A runtime cuts lines at 16 KiB, and whoever asks for the last line of a cut one gets its end
    only."""
    words = arguments(tmp_path)
    if not with_manager:
        (tmp_path / "kubelet" / "cpu_manager_state").unlink()
    files = {}
    for number in range(250):
        pod = f"{number:08x}-2222-4333-8444-555555555555"
        for container in range(3):
            cpus = f"{number}" if number < 40 and container == 0 else trees.SHARED
            name = f"cri-containerd-{number * 3 + container:064x}.scope"
            files[f"{trees.systemd_names(pod)}/{name}/cpuset.cpus"] = cpus
    trees.write(tmp_path / "cgroup", files)
    done = subprocess.run(
        [sys.executable, "-B", str(PROGRAM / "agent.py"), *words, "--once"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(json.loads(done.stdout)["cgroups"]) == 41
    assert len(done.stdout) < 16 * 1024
