# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: what it understands and how it says no."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster import cli
from tests.cluster.kubelet.model import plan_fleet
from tests.cluster.lifecycle import Flavour, Record
from tests.cluster.paths import cluster_folder


@pytest.fixture(autouse=True)
def _no_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HE_CLUSTERS", str(tmp_path))


@pytest.mark.parametrize("line", ["nodes --name x add --count 2", "nodes add --name x --count 2"])
def test_the_name_is_understood_before_and_after_the_command(line: str) -> None:
    options = cli.parser().parse_args(line.split())
    assert (options.name, options.count, options.profile) == ("x", 2, "gpu-h100")


def test_the_default_name() -> None:
    assert cli.parser().parse_args(["nodes", "remove", "a", "b"]).name == cli.DEFAULT_NAME
    assert cli.parser().parse_args(["up"]).name == cli.DEFAULT_NAME


@pytest.mark.parametrize(
    "line",
    [
        "faults set --name x --node n --operand driver --behaviour slow=60",
        "nodes upgrade-kernel n --kernel 6.1 --label-delay 3",
        "nodes not-ready n",
        "up --openshift --no-monitoring-crds",
        "up --kubelets 2",
        "kubeconfig --user alice --group viewers",
    ],
)
def test_commands_have_something_to_run(line: str) -> None:
    assert callable(cli.parser().parse_args(line.split()).run)


@pytest.mark.parametrize(
    "line", ["", "nodes add --count 0", "nodes add --profile gpu-x", "nodes upgrade-kernel n"]
)
def test_wrong_lines_are_refused(line: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(line.split())
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("nodes add --name x", "There is no cluster x"),
        ("kubeconfig --name x", "There is no cluster x"),
        ("down --name ../x", "is refused because"),
        ("down --name X", "is refused because"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(
    line: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(line.split()) == 1
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert answer in said.err
    assert said.err.count("\n") == 1


def test_nothing_to_stop_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["down", "--name", "x"]) == 0
    assert "there is no cluster x" in capsys.readouterr().out


def test_status_without_clusters(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["status"]) == 0
    assert capsys.readouterr().out.strip() == f"no clusters in {tmp_path}"


def test_a_record_survives_being_written_and_a_broken_one_is_none(tmp_path: Path) -> None:
    from tests.cluster.commands import Ports

    record = Record(
        "x", Flavour(openshift=True), Ports(*range(1, 8)), plan_fleet("x", [11, 12], [])
    )
    record.write(cluster_folder("x"))
    assert Record.read(tmp_path / "x") == record
    (tmp_path / "x" / "cluster.json").write_text('{"name": "x"}')
    assert Record.read(tmp_path / "x") is None
