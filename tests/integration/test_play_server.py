# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play that is forked is what the real program is: output, exit code, requests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.plays import PLAYBOOKS, REPO, Played, Runner
from tests.integration.processes import below, lives
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.bed

RECIPES = {"hardware_enablement_recipe_dir": str(REPO / "tests" / "recipes")}
TOY = {**RECIPES, "hardware_enablement_recipe": "two-states"}
# What differs from one run to the next.
TIMES = re.compile(r"\b\d+(\.\d+)? s\b|\d{4}-\d\d-\d\dT[\d:]+Z|\bpid \d+|(?<=resourceVersion=)\d+")

PLAYS: dict[str, tuple[str | Path, list[str], dict[str, Any]]] = {
    "nothing to do": ("enable", [], TOY),
    "a check with a diff": (
        "enable",
        ["--check", "--diff"],
        {**TOY, "hardware_enablement_options": {"log_level": "debug"}},
    ),
    "much said": ("enable", ["-vv"], TOY),
    "a removal, as a check": ("disable", ["--check"], TOY),
    "status": ("status", [], RECIPES),
    "rights": ("rights", ["--check"], TOY),
    "a recipe without mistakes": ("recipe_check", [], TOY),
    "a recipe with mistakes": (
        "recipe_check",
        [],
        {**RECIPES, "hardware_enablement_recipe": "mistakes"},
    ),
    "a first run, as a check": ("rmd_workloads", ["--check"], {}),
    "no such recipe": ("enable", [], {"hardware_enablement_recipe": "nobodys"}),
    "no such variable": ("enable", [], {**TOY, "hardware_enablement_nonsense": 1}),
    "a task of each module": (PLAYBOOKS / "find_nodes.yml", [], {}),
    "no tasks, a list of them": ("enable", ["--list-tasks"], TOY),
    "no such argument": ("status", ["--no-such-argument"], {}),
    "no such playbook": ("no_such_playbook", [], {}),
}


@pytest.fixture(scope="module")
def enabled(runner: Runner) -> Runner:
    """The runner, after its first play."""
    runner.play("enable", **TOY).check()
    return runner


def seen(
    cluster: Cluster, runner: Runner, play: Callable[[], Played]
) -> tuple[int, str, list[str]]:
    """What a play came to: exit code, output, requests in no order, since some go out together."""
    mark = cluster.mark()
    played = play()
    requests = [
        f"{event['verb']} {TIMES.sub('N', event['requestURI'])}"
        for event in cluster.audit(user=runner.user, since=mark)
    ]
    return played.code, TIMES.sub("N", played.output), sorted(requests)


@pytest.mark.parametrize("name", PLAYS)
def test_a_forked_play_is_what_the_program_is(cluster: Cluster, enabled: Runner, name: str) -> None:
    playbook, arguments, variables = PLAYS[name]
    forked = seen(cluster, enabled, lambda: enabled.play(playbook, *arguments, **variables))
    program = seen(cluster, enabled, lambda: enabled.run_program(playbook, *arguments, **variables))
    assert forked == program


def test_plays_side_by_side_have_their_own_surroundings(enabled: Runner) -> None:
    outputs: dict[str, str] = {}

    def play(user: str) -> None:
        one = Runner(enabled.cluster, user, enabled.folder)
        outputs[user] = one.play("status").output

    threads = [threading.Thread(target=play, args=(f"nobody-{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for user, output in outputs.items():
        assert f'User "{user}"' in output, output


def test_a_play_that_takes_too_long_is_ended(enabled: Runner) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        enabled.play("enable", timeout=0.5, **TOY)
    # The server is well.
    enabled.play("status", **RECIPES).check()


def test_nothing_is_left_of_a_server_whose_user_has_ended(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(
        "import sys, time\n"
        "from tests.integration.plays import _play_server\n"
        "print(_play_server()._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    paths = os.pathsep.join([str(REPO / ".venv" / "collections"), str(REPO)])
    with subprocess.Popen(
        [sys.executable, str(script)],
        cwd=REPO,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    ) as user:
        server = int(user.stdout.readline())
        assert server in below(user.pid)
        user.send_signal(signal.SIGKILL)
    wait_until(lambda: not lives(server), "the server of plays ends")
