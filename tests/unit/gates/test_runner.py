# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runner of the gates counts what ran, goes on after a failure and says so in its last line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.gates.machine import slots
from tests.gates.place import Place
from tests.gates.runner import Command, Step, fits, run
from tests.gates.steps import GROUPS, SLOW, STEPS
from tests.unit.patience import PATIENCE_S

REPORT = """<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1">
<testcase classname="tests.test_loop" name="test_waits"><failure message="assert 1 [+1 more lines]">
    assert one == two
E   assert 1
E    == 2
</failure></testcase>
<testcase classname="tests.test_loop" name="test_ends"><error message="no cluster"/></testcase>
</testsuite></testsuites>"""


# The priority below which no process falls.
LOWEST = 19


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(build=tmp_path / "build", cache=tmp_path / "cache")


def step(name: str, code: str, junit: Path | None = None) -> Step:
    def commands(_place: Place) -> Iterator[Command]:
        yield Command([sys.executable, "-c", code], junit=junit)

    return Step(name, f"what {name} is for", commands)


def test_all_steps_run_and_are_counted(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [step("first", "print('because'); raise SystemExit(3)"), step("second", "")]
    assert not run(steps, place, slots=2)
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
    assert not run([step("tests", code, report)], place, slots=2)
    waits, ends, last = capsys.readouterr().out.splitlines()[-3:]
    assert last == "2 passed, 2 failed, 1 skipped"
    assert waits == "failed: tests.test_loop::test_waits: assert 1 == 2"
    assert ends == "failed: tests.test_loop::test_ends: no cluster"


def test_a_report_that_is_missing_is_a_failure(place: Place, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)  # of an earlier run
    assert not run([step("tests", "", report)], place, slots=2)


def test_commands_see_no_foreign_settings(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = ("KUBECONFIG", "K8S_AUTH_HOST", "ANSIBLE_INVENTORY", "PYTHONPATH", "PYTEST_ADDOPTS")
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


def test_steps_run_beside_each_other_as_far_as_there_are_slots(
    place: Place, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    # Each goes on only when the other is there too; the wide one only when nobody is.
    meets = (
        "import os, time, pathlib\n"
        f"marks = pathlib.Path({str(marks)!r}); (marks / {{me!r}}).touch(); end = time.monotonic() + {PATIENCE_S}\n"
        "while not (marks / {other!r}).exists():\n"
        "    assert time.monotonic() < end, 'the other never came'\n"
        "    time.sleep(0.01)\n"
    )
    wide = f"import pathlib; assert sorted(p.name for p in pathlib.Path({str(marks)!r}).iterdir()) == ['a', 'b']"
    steps = [
        step("a", meets.format(me="a", other="b")),
        replace(step("wide", wide), slots=2),
        step("b", meets.format(me="b", other="a")),
    ]
    assert run(steps, place, slots=2)


def test_what_computes_runs_beside_the_others_and_gives_way(place: Place, tmp_path: Path) -> None:
    """The wide step takes all slots, and goes on only when the computing one has been there."""
    met = tmp_path / "met"
    usual = os.nice(0)
    waits = (
        f"import os, pathlib, time; end = time.monotonic() + {PATIENCE_S}\n"
        f"assert os.nice(0) == {usual}\n"
        f"while not pathlib.Path({str(met)!r}).exists():\n"
        "    assert time.monotonic() < end\n"
        "    time.sleep(0.05)"
    )
    meets = (
        f"import os, pathlib; assert os.nice(0) == {min(usual + 10, LOWEST)}\n"
        f"pathlib.Path({str(met)!r}).touch()"
    )
    steps = [
        replace(step("wide", waits), slots=2),
        replace(step("computes", meets), computes=True),
    ]
    assert run(steps, place, slots=2)


def test_of_what_computes_one_runs_at_a_time_and_takes_no_slot() -> None:
    computes = replace(step("units", ""), computes=True)
    tests = replace(step("tests", ""), slots=2)
    assert fits(computes, [tests], 2)
    assert not fits(computes, [tests, computes], 4)
    assert fits(computes, [computes], 4)
    assert not fits(computes, [computes, computes], 4)
    assert fits(tests, [computes], 2)
    assert fits(tests, [computes, tests], 4)
    assert not fits(tests, [computes, tests], 3)


def test_where_there_is_one_slot_all_take_turns() -> None:
    computes = replace(step("units", ""), computes=True)
    assert fits(computes, [], 1)
    assert not fits(computes, [step("tests", "")], 1)
    assert not fits(step("tests", ""), [computes], 1)


def test_a_step_that_wants_more_slots_than_there_are_runs_alone(place: Place) -> None:
    assert run([replace(step("wide", ""), slots=3)], place, slots=2)


def test_what_cannot_run_here_is_in_the_table_with_its_reason(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = replace(step("nodes", "raise SystemExit(1)"), lacking=lambda: "it needs root")
    assert run([absent, step("other", "")], place, slots=2)
    printed = capsys.readouterr().out.splitlines()
    (row,) = (line for line in printed if line.startswith("nodes"))
    assert row.split()[1:] == [
        "0.0",
        "0.0",
        "0.0",
        "0",
        "0",
        "1",
        "skipped:",
        "it",
        "needs",
        "root",
    ]
    assert printed[-1] == "1 passed, 0 failed, 1 skipped"


def test_a_run_of_nothing_is_no_success(place: Place) -> None:
    assert not run([replace(step("nodes", ""), lacking=lambda: "it needs root")], place, slots=2)


def test_a_step_that_breaks_hides_none_of_the_others(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_place: Place) -> Iterator[Command]:
        yield from [Command([sys.executable, "-c", ""])]
        raise ValueError("no such thing")

    assert not run([Step("broken", "", breaks), step("good", "")], place, slots=2)
    printed = capsys.readouterr().out
    assert "no such thing" in printed
    assert printed.splitlines()[-1] == "1 passed, 1 failed"


def test_each_step_has_its_own_folder(place: Place) -> None:
    seen: list[Path] = []

    def commands(own: Place) -> Iterator[Command]:
        seen.extend([own.copy, own.dist])
        yield from ()

    run([Step("one", "", commands), Step("two", "", commands)], place, slots=2)
    assert len(set(seen)) == 4


def test_beside_real_nodes_there_is_room_for_one_other() -> None:
    """Their clusters take up to 100 inotify instances of 128, which a user has on Debian."""
    (kubelet,) = (step for step in GROUPS["ci"] if step.name == "e2e-kubelet")
    assert slots(cores=2, memory=24 * 2**30, inotify=128) - kubelet.slots == 1
    with_clusters = {step.name for step in GROUPS["ci"] if not step.computes}
    levels = {f"e2e-{name}" for name in SLOW if name != "scale"}
    assert with_clusters == {"integration", "molecule", "molecule-kind", *levels}


def test_ci_has_all_that_tests_and_every_level() -> None:
    ci = set(GROUPS["ci"])
    assert {*GROUPS["lint"], *GROUPS["test"]} <= ci
    levels = {f"e2e-{level}" for level in SLOW if level != "scale"}
    assert {"sanity-others", *levels} <= {chosen.name for chosen in ci}


def test_slots_are_bound_by_what_is_scarcest() -> None:
    assert slots(cores=2, memory=24 * 2**30, inotify=128) == 5
    assert slots(cores=8, memory=24 * 2**30, inotify=1024) == 6
    assert slots(cores=8, memory=64 * 2**30, inotify=128) == 5
    assert slots(cores=1, memory=2**30, inotify=128) == 1
