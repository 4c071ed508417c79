# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runner of the gates counts what ran, goes on after a failure and says so in its last line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gates.place import Place
from tests.gates.runner import Command, Step, run
from tests.gates.steps import STEPS

REPORT = '<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1"/></testsuites>'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(build=tmp_path / "build", cache=tmp_path / "cache")


def step(name: str, code: str, junit: Path | None = None) -> Step:
    def commands(_place: Place) -> Iterator[Command]:
        yield Command([sys.executable, "-c", code], junit=junit)

    return Step(name, f"what {name} is for", commands)


def test_all_steps_run_and_are_counted(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [step("first", "print('because'); raise SystemExit(3)"), step("second", "")]
    assert not run(steps, place, verbose=False)
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == "1 passed, 1 failed"
    assert "| because" in printed
    assert "ended with exit code 3" in printed


def test_a_report_counts_test_by_test(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.xml"
    code = (
        f"import pathlib; pathlib.Path({str(report)!r}).write_text({REPORT!r}); raise SystemExit(1)"
    )
    assert not run([step("tests", code, report)], place, verbose=False)
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 2 failed, 1 skipped"


def test_a_report_that_is_missing_is_a_failure(place: Place, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)  # of an earlier run
    assert not run([step("tests", "", report)], place, verbose=False)


def test_commands_see_no_foreign_settings(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = ("KUBECONFIG", "K8S_AUTH_HOST", "ANSIBLE_INVENTORY", "PYTHONPATH")
    for name in (*foreign, "HE_TEST_KUBECONFIG"):
        monkeypatch.setenv(name, "/elsewhere")
    env = place.environment()
    assert not set(foreign) & set(env)
    assert env["HE_TEST_KUBECONFIG"] == "/elsewhere"


def test_plays_run_from_the_collections_that_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HE_TEST_COLLECTIONS", raising=False)
    assert Place().tested == Place().collections
    monkeypatch.setenv("HE_TEST_COLLECTIONS", str(tmp_path))
    assert Place().tested == tmp_path
    (integration,) = STEPS["integration"].commands(Place())
    assert f"pythonpath={tmp_path} ." in integration.argv
    (molecule,) = STEPS["molecule"].commands(Place())
    assert molecule.env["ANSIBLE_COLLECTIONS_PATH"] == str(tmp_path)
