# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown while something is waited for: soon, and once for each cause."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import (
    RunContext,
    Terminal,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.wait_progress import (
    WaitProgress,
)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_log_gets_a_line_after_two_seconds_and_another_one_for_another_cause() -> None:
    clock, lines = Clock(), list[str]()
    say = WaitProgress(RunContext(progress=lines.append, clock=clock))
    for _second in range(20):
        say("waits for a")
        clock.now += 1
    assert lines == ["waits for a (2 s)"]
    for text in ("waits for b", "waits for c", "waits for b"):
        say(text)
        clock.now += 1
    assert lines[1:] == ["waits for b (20 s)"]


def test_what_is_over_soon_is_not_told() -> None:
    clock, lines = Clock(), list[str]()
    say = WaitProgress(RunContext(progress=lines.append, clock=clock))
    say("waits for a")
    clock.now += 1
    say("waits for a")
    assert lines == []


def test_on_a_terminal_one_sentence_is_drawn_over_itself_and_the_log_has_the_causes() -> None:
    clock, drawn, logged = Clock(), list[str](), list[str]()
    terminal = Terminal(
        write=drawn.append, size=lambda: (24, 10), log=logged.append, clean=lambda text: text
    )
    say = WaitProgress(RunContext(terminal=terminal, host="one", clock=clock))
    for _second in range(4):
        say("waits for something")
        clock.now += 1
    assert drawn == [
        "\x1b[J[one] waits for\n[one] something (2 s)\n",
        "\x1b[2A\x1b[J[one] waits for\n[one] something (3 s)\n",
    ]
    assert logged == ["waits for something (2 s)"]
