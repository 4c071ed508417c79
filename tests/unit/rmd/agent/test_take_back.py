# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Before RMD starts on a node, the groups of the back end resctrl go."""

from __future__ import annotations

from pathlib import Path

import pytest
import resctrl
import take_back
from declared import group_of

from tests.rmd.resctrl import ROOT
from tests.unit.forged_pods import made_by_daemonset
from tests.unit.rmd.agent import trees
from tests.unit.rmd.agent.dividing import DividedNode, entry

ALL = "0-7"


@pytest.fixture
def node(tmp_path: Path) -> DividedNode:
    """With three workloads, and a group that somebody else has made."""
    made = DividedNode(tmp_path)
    told = made.converge({"a": entry("1"), "b": entry("2"), "shares": entry("3", 0)})
    assert {"group"} == {word for each in told.values() for word in each}
    made.tree.make("pqos")
    return made


def taken_back(node: DividedNode) -> None:
    # Its files refuse as the kernel does.
    take_back.take_back(node.root, node.files)  # type: ignore[arg-type]


def kept_by_the_kernel(node: DividedNode, monkeypatch: pytest.MonkeyPatch, *groups: str) -> None:
    """The kernel's resctrl refuses no removal of a group; what lies above it may."""
    remove = node.files.remove

    def refuse(group: str) -> None:
        if group in groups:
            raise resctrl.RefusedWriteError(f"removal of {group}: Device or resource busy")
        remove(group)

    monkeypatch.setattr(node.files, "remove", refuse)


def test_ours_go_and_nobody_elses(node: DividedNode) -> None:
    taken_back(node)
    assert set(node.groups()) == {ROOT, "pqos"}
    assert node.groups()[ROOT][0] == ALL
    node.files.writes.clear()
    taken_back(node)
    assert node.files.writes == []


def test_classes_of_containers_go_with_them(node: DividedNode) -> None:
    node.tree.make("hardware-enablement.gold")
    taken_back(node)
    assert set(node.groups()) == {ROOT, "pqos"}


def test_one_that_stays_keeps_no_other_and_goes_at_the_next_start(
    node: DividedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = group_of("a"), group_of("b")
    with monkeypatch.context() as patched:
        kept_by_the_kernel(node, patched, *stuck)
        with pytest.raises(resctrl.RefusedWriteError) as caught:
            taken_back(node)
    busy = "Device or resource busy"
    assert str(caught.value) == f"removal of {stuck[0]}: {busy}; removal of {stuck[1]}: {busy}"
    assert set(node.groups()) == {ROOT, "pqos", ".a", ".b"}
    taken_back(node)
    assert set(node.groups()) == {ROOT, "pqos"}


def test_the_agent_that_stands_aside_leaves_no_other_one_either(
    node: DividedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_by_the_kernel(node, monkeypatch, group_of("a"))
    pod = {"metadata": {"name": "d", "namespace": "intel-rmd", "uid": "d"}, "spec": {}}
    daemon = made_by_daemonset({**pod, "status": {}}, "intel-rmd", "intel-rmd")
    node.converge({}, [daemon])
    assert node.problems == [f"removal of {group_of('a')}: Device or resource busy"]
    assert set(node.groups()) == {ROOT, "pqos", ".a"}


def test_one_that_stays_is_one_line_in_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--node=n1", f"--resctrl={trees.resctrl_tree(tmp_path / 'resctrl')}"]
    root = tmp_path / "resctrl"
    # In a folder, other than in resctrl, what has files in it cannot be removed.
    # What the kernel last said was of something else.
    status = {"info/last_cmd_status": "Mask out of range"}
    trees.write(root, {"hardware-enablement.a/schemata": "L3:0=3", **status})
    assert take_back.main(words) == 1
    assert capsys.readouterr().out == (
        "RMD is not started on n1: the kernel did not take the removal of group hardware-enablement.a:"
        f" Directory not empty; remove it on the node (rmdir, in {root}) or boot the node; this is"
        " tried again until it is gone\n"
    )
    (root / "hardware-enablement.a/schemata").unlink()
    assert take_back.main(words) == 0


def test_a_group_that_is_gone_meanwhile_is_gone(tmp_path: Path) -> None:
    resctrl.Files(tmp_path).remove("hardware-enablement.a")
    (tmp_path / "hardware-enablement.b").mkdir()
    resctrl.Files(tmp_path).remove("hardware-enablement.b")
    assert list(tmp_path.iterdir()) == []
