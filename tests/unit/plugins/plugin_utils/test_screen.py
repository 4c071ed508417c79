# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What progress looks like under ansible-playbook, whose workers have no terminal of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.plugin_utils import _screen as screen
from tests.terminal import Picture, run_on_terminal

HERE = Path(__file__).parent
REPO = HERE.parents[3]
# Where this collection is imported from: ansible-test has a copy of its own.
COLLECTIONS = Path(str(screen.__file__)).parents[5]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A play of one task on localhost."""
    play = {"hosts": "all", "connection": "local", "gather_facts": False, "tasks": [{"draw": None}]}
    file = tmp_path / "play.yml"
    file.write_text(json.dumps([play]))
    return [str(PLAYBOOK), "-i", "lab,", str(file)]


def environment(**more: str) -> dict[str, str]:
    """That of a person's shell."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("CI", "TERM") and not key.startswith("ANSIBLE_")
    }
    return {
        **kept,
        "ANSIBLE_CONFIG": str(REPO / "ansible.cfg"),
        "ANSIBLE_ACTION_PLUGINS": str(HERE / "action_plugins"),
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        **more,
    }


def of_task(rows: list[str]) -> list[str]:
    """What the task showed."""
    return [row for row in rows if row.startswith("  ")]


LINES = [
    "  a line of a *",
    "  demo 10 s: 0 of 3 proofs hold",
    "  demo 20 s: driver on n1, n2: CrashLoopBackOff; driver 1/3",
    "  demo 30 s: driver 2/3",
    "  demo 40 s: driver 3/3; over: driver on n1, n2: CrashLoopBackOff",
    "  the end",
]


def test_on_a_terminal_one_block_is_drawn_over_itself(command: list[str], tmp_path: Path) -> None:
    log = tmp_path / "ansible.log"
    code, output = run_on_terminal(
        command, REPO, environment(ANSIBLE_LOG_PATH=str(log)), columns=60, lines=24
    )
    picture = Picture(60).feed(output)
    assert code == 0, output
    assert of_task(picture.rows) == [
        "  a line of a *",
        "  demo 40 s",
        "    driver  ##########  3/3",
        "  the end",
    ]
    # The second of four drawings, over the three lines of the first one.
    assert (picture.drawn, picture.highest) == (4, 3)
    second = output.split("\x1b[3A\x1b[J")[1].splitlines()
    assert second[:2] == ["  demo 20 s", "    driver  ###-------  1/3"]
    assert re.fullmatch(r"    ~ driver on n1, n2: CrashLoopBackOff, 20 s: .*\.\.\.", second[2])
    assert len(second[2]) == 59
    # The log file has lines, and no block.
    logged = [line.partition("| ")[2] for line in log.read_text().splitlines()]
    assert of_task(logged) == LINES
    assert "\x1b[J" not in log.read_text()


def test_in_a_log_there_are_lines(command: list[str]) -> None:
    done = subprocess.run(
        command,
        cwd=REPO,
        env=environment(TERM="xterm", ANSIBLE_FORCE_COLOR="1"),
        capture_output=True,
        check=True,
    )
    assert of_task(done.stdout.decode().splitlines()) == LINES


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["-i", "east,west"], {}),
        (["-vv"], {}),
        ([], {"CI": "1"}),
        ([], {"TERM": "dumb"}),
    ],
    ids=["two hosts", "verbose", "CI", "dumb"],
)
def test_where_others_write_too_there_is_no_block(
    command: list[str], arguments: list[str], variables: dict[str, str]
) -> None:
    code, output = run_on_terminal(
        [*command, *arguments], REPO, environment(**variables), columns=60, lines=24
    )
    assert code == 0, output
    assert "\x1b[J" not in output
    hosts = re.findall(r"^(.*)demo 30 s: driver 2/3", output, re.MULTILINE)
    assert sorted(hosts) == (
        ["[east] ", "[lab] ", "[west] "] if "east,west" in arguments else ["  "]
    )


@pytest.mark.parametrize(
    ("callback", "drawn"), [("ansible.builtin.default", True), ("awx_display", False)]
)
def test_a_callback_that_makes_something_else_of_it_gets_lines(
    monkeypatch: pytest.MonkeyPatch, callback: str, drawn: bool
) -> None:
    monkeypatch.setattr(screen, "STDOUT", "/dev/pts/none")
    monkeypatch.setattr(screen.C, "DEFAULT_STDOUT_CALLBACK", callback)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    terminal = screen.Screen({"inventory_hostname": "lab"}, str).terminal()
    assert (terminal is not None) == drawn
    if terminal:
        assert terminal.size() == screen.USUAL_SIZE
