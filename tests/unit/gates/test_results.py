# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A part that has passed runs again as soon as a byte of what it depends on has changed."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grimp
import pytest

from tests.gates.dependencies import RESULTS, Repository
from tests.gates.place import Place
from tests.gates.results import Results
from tests.gates.runner import Command, Step, run, tell_due
from tests.gates.steps import LEVELS, in_turn
from tests.unit.patience import PATIENCE_S

FILES = {
    "tests/integration/test_toy.py": 'runner.play("enable_toy")\n',
    "playbooks/enable_toy.yml": "- hosts: all\n  roles: [hardware.enablement.toy]\n",
    "roles/toy/tasks/main.yml": "- hardware.enablement.toy_apply:\n    recipe: toy\n",
    "plugins/modules/toy_apply.py": "",
    "recipes/toy/recipe.yml": "name: toy\n",
    "recipes/toy/driver/daemonset.yaml.j2": "kind: DaemonSet\n",
    "requirements.txt": "jinja2\n",
    "roles/other/tasks/main.yml": "[]\n",
    "README.md": "A toy.\n",
}
TOY = "tests/integration/test_toy.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    (folder / RESULTS).parent.mkdir(parents=True)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A toy"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    return folder


class Toys(Repository):
    """No file of theirs imports anything; the graph of this repository takes half a second."""

    _graph = grimp.ImportGraph()


def results(folder: Path) -> Results:
    return Results(Toys(folder, folder / "collections"))


def toys(repository: Repository) -> dict[str, set[str]]:
    return {TOY: repository.closure([TOY])}


def played(folder: Path, tmp_path: Path, *, reuse: bool = True, code: str = "") -> list[str]:
    """The parts that ran in a run with one step, which remembers and reuses what has passed."""
    ran: list[str] = []

    def commands(place: Place) -> Iterator[Command]:
        ran.extend(place.parts)
        yield Command([sys.executable, "-c", code])

    place = Place(build=tmp_path / "build", cache=tmp_path / "cache")
    step = Step("toys", "toys", commands, parts=toys)
    run([step], place, slots=1, results=results(folder), reuse=lambda _step, _part: reuse)
    return ran


@pytest.mark.parametrize("file", [*FILES])
def test_a_byte_of_any_dependency_brings_it_back(folder: Path, tmp_path: Path, file: str) -> None:
    assert played(folder, tmp_path) == [TOY]
    assert played(folder, tmp_path) == []
    (folder / file).write_text(f"{FILES[file]} ")
    unrelated = file in ("roles/other/tasks/main.yml", "README.md")
    assert played(folder, tmp_path) == ([] if unrelated else [TOY])


def test_a_file_that_is_new_brings_it_back_where_it_belongs(folder: Path, tmp_path: Path) -> None:
    played(folder, tmp_path)
    (folder / "recipes/toy/driver/service.yaml.j2").write_text("kind: Service\n")
    assert played(folder, tmp_path) == [TOY]


def test_what_failed_is_not_written_down(folder: Path, tmp_path: Path) -> None:
    assert played(folder, tmp_path, code="raise SystemExit(1)") == [TOY]
    assert played(folder, tmp_path) == [TOY]


def test_whoever_reuses_nothing_runs_everything(folder: Path, tmp_path: Path) -> None:
    played(folder, tmp_path)
    assert played(folder, tmp_path, reuse=False) == [TOY]


def test_what_changes_during_a_run_is_not_written_down(folder: Path, tmp_path: Path) -> None:
    changes = f"import pathlib; pathlib.Path({str(folder / TOY)!r}).write_text('changed')"
    assert played(folder, tmp_path, code=f"import time; time.sleep(0.1); {changes}") == [TOY]
    assert played(folder, tmp_path) == [TOY]


def test_the_file_names_the_run_and_forgets_what_is_gone(folder: Path) -> None:
    now = results(folder)
    parts = {TOY: now.part(now.repository.closure([TOY]))}
    now.record("toys", {**parts, "gone": now.part(["README.md"])}, [TOY, "gone"], {})
    now.record("others", {"all": now.part(["README.md"])}, ["all"], {})
    now.record("toys", parts, [], {})
    written = json.loads((folder / RESULTS).read_text())
    assert list(written["toys"]) == [TOY]
    assert list(written) == ["others", "toys"]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    assert written["toys"][TOY]["run"] == f"{today} {commit}"


def test_the_longest_come_first_and_before_them_what_nobody_knows(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.xml"
    seconds = {"brief": 1.4, "long": 90.0, "toy": 30.0}
    for name in seconds:
        (folder / f"tests/integration/test_{name}.py").touch()
    cases = "".join(
        f'<testcase classname="tests.integration.test_{name}" name="{number}" time="{time / 2}"/>'
        for name, time in seconds.items()
        for number in range(2)
    )
    text = f'<testsuite tests="6" failures="0" errors="0" skipped="0">{cases}</testsuite>'
    writes = f"import pathlib; pathlib.Path({str(report)!r}).write_text({text!r})"
    ran: list[str] = []

    def commands(place: Place) -> Iterator[Command]:
        ran.extend(place.parts)
        yield Command([sys.executable, "-c", writes], junit=report)

    def parts(repository: Repository) -> dict[str, set[str]]:
        found = sorted((folder / "tests/integration").glob("test_*.py"))
        names = [str(path.relative_to(folder)) for path in found]
        return {name: repository.closure([name]) for name in names}

    step = Step("toys", "toys", commands, parts=parts)
    place = Place(build=tmp_path / "build", cache=tmp_path / "cache")
    run([step], place, slots=1, results=results(folder))
    ran.clear()
    new = "tests/integration/test_new.py"
    (folder / new).touch()
    run([step], place, slots=1, results=results(folder))
    names = [f"tests/integration/test_{name}.py" for name in ("long", "toy", "brief")]
    assert ran == [new, *names]
    capsys.readouterr()
    tell_due([step], results(folder), lambda _step, part: part in (names[2], new))
    assert capsys.readouterr().out.splitlines() == [
        "toys: 3 of 4, 120 s",
        f"    {new}, ? s",
        f"    {names[0]}, 90 s",
        f"    {names[1]}, 30 s",
    ]


def test_one_file_of_tests_takes_one_process(folder: Path, tmp_path: Path) -> None:
    """Then there is room for another step beside it."""
    met = tmp_path / "met"
    waits = (
        f"import pathlib, time; end = time.monotonic() + {PATIENCE_S}\n"
        f"while not pathlib.Path({str(met)!r}).exists(): assert time.monotonic() < end"
    )

    def step(name: str, code: str) -> Step:
        def commands(_place: Place) -> Iterator[Command]:
            yield Command([sys.executable, "-c", code])

        return Step(name, name, commands)

    def parts(repository: Repository) -> dict[str, set[str]]:
        return {name: repository.closure([name]) for name in (TOY, "README.md")}

    now = results(folder)
    others = {"README.md": now.part(now.repository.closure(["README.md"]))}
    now.record("toys", {TOY: now.part([TOY]), **others}, ["README.md"], {})
    steps = [
        replace(step("toys", waits), slots=3, parts=parts),
        step("other", f"import pathlib; pathlib.Path({str(met)!r}).touch()"),
    ]
    place = Place(build=tmp_path / "build", cache=tmp_path / "cache")
    assert run(steps, place, slots=3, results=results(folder), reuse=lambda _step, _part: True)


@pytest.mark.parametrize(("code", "passes"), [(1, True), (2, False)])
def test_files_of_tests_pass_one_by_one_unless_the_run_was_broken_off(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], code: int, *, passes: bool
) -> None:
    other = "tests/integration/test_other.py"
    (folder / other).write_text("")
    report = tmp_path / "report.xml"
    case = '<testcase classname="tests.integration.test_{}" name="t">{}</testcase>'
    cases = (
        case.format("toy", "")
        + case.format("toy.TestInAClass", "")
        + case.format("other", "")
        + case.format("other.TestInAClass", '<failure message="no"/>')
    )
    text = f'<testsuite tests="4" failures="1" errors="0" skipped="0">{cases}</testsuite>'
    writes = f"import pathlib; pathlib.Path({str(report)!r}).write_text({text!r})"
    ran: list[str] = []

    def commands(place: Place) -> Iterator[Command]:
        ran.extend(place.parts)
        yield Command([sys.executable, "-c", f"{writes}; raise SystemExit({code})"], junit=report)

    def parts(repository: Repository) -> dict[str, set[str]]:
        return {name: repository.closure([name]) for name in (TOY, other)}

    step = Step("toys", "toys", commands, parts=parts)
    place = Place(build=tmp_path / "build", cache=tmp_path / "cache")
    for _again in range(2):
        run([step], place, slots=1, results=results(folder), reuse=lambda _step, _part: True)
    assert ran == [other, TOY, other, *([] if passes else [TOY])]
    assert ("1 of 2 unchanged since they passed: " in capsys.readouterr().out) == passes


def test_what_ran_on_one_day_comes_back_within_a_week_and_not_on_one_day() -> None:
    last = datetime.date(2026, 1, 1)
    days = [last + datetime.timedelta(days=number) for number in range(15)]
    parts = [f"tests/integration/test_{number}.py" for number in range(50)]
    turns = [[in_turn(LEVELS[0], part, last, day) for day in days] for part in parts]
    assert {turn.index(True) for turn in turns} == {4, 5, 6, 7}
    assert all(all(turn[turn.index(True) :]) for turn in turns)


def test_it_is_known_on_which_day_a_part_passed_last(folder: Path, tmp_path: Path) -> None:
    played(folder, tmp_path)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    assert results(folder).last_ran("toys", TOY) == today
    assert results(folder).last_ran("toys", "another") == datetime.date.min


def test_a_step_without_parts_runs_always(tmp_path: Path, folder: Path) -> None:
    ran: list[int] = []

    def commands(_place: Place) -> Iterator[Command]:
        ran.append(1)
        yield from ()

    step = replace(Step("units", "units", commands), parts=None)
    place = Place(build=tmp_path / "build", cache=tmp_path / "cache")
    for _again in range(2):
        assert run([step], place, slots=1, results=results(folder), reuse=lambda _step, _part: True)
    assert len(ran) == 2
