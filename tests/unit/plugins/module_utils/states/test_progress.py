# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress: in a log a short line for each change and none for time that passes; on a terminal one
block."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import (
    RunContext,
    Terminal,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.live_block import (
    LiveBlock,
    layout,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.progress import (
    Progress,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.tally import (
    count,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

PLANS = [world.plan("driver"), world.plan("plugin", requires=("driver",))]
Results = dict[tuple[str, str], Result]


def result(
    state: str, phase: Phase, reason: str, since: float = NOW, final: bool = False
) -> Result:
    """A result with a message."""
    message, settled = f"what is said of {reason}", final or phase is Phase.READY
    return Result(state, phase, reason, message, since=since, final=settled)


def waiting(state: str, reason: str = "Pending", since: float = NOW) -> Result:
    """A state that is not ready yet."""
    return result(state, Phase.WAITING, reason, since)


def ready(state: str) -> Result:
    """A state that is."""
    return result(state, Phase.READY, "Proven")


BLOCKED = Result(
    "plugin", Phase.WAITING, "Requires.driver", "requires driver", cause="driver", since=NOW
)


def nodes(number: int) -> Results:
    """All states of so many nodes, waiting."""
    return {
        (f"n{index}", state): result
        for index in range(number)
        for state, result in (("driver", waiting("driver")), ("plugin", BLOCKED))
    }


class Log:
    """A progress that writes lines, and the clock."""

    def __init__(self, results: Results) -> None:
        self.lines: list[str] = []
        self.results = results
        self.now = NOW
        self.progress = Progress(RunContext(progress=self.lines.append, clock=lambda: NOW), "demo")

    def run(self, seconds: float, step: float = 0.25) -> list[str]:
        """So much time passes; returns the lines that it brought."""
        before, end = len(self.lines), self.now + seconds
        while self.now < end:
            self.now += step
            self.progress.show(PLANS, self.results, self.now)
        return self.lines[before:]

    def close(self) -> list[str]:
        """The last lines."""
        before = len(self.lines)
        self.progress.close(PLANS, self.results, self.now)
        return self.lines[before:]


def test_what_is_over_at_once_shows_nothing() -> None:
    log = Log(nodes(3))
    assert log.run(1.5) == []
    assert log.close() == []


def test_a_log_gets_a_line_for_each_change_and_none_for_time() -> None:
    log = Log(nodes(3))
    assert log.run(3) == ["demo 2 s: 0 of 6 proofs hold"]
    log.results["n1", "driver"] = ready("driver")
    assert log.run(3) == ["demo 4 s: driver 1/3"]
    # What passes by itself is worth a line once it has lasted; after that, however long it lasts,
    # no other one.
    assert log.run(120) == ["demo 10 s: driver on n0, n2: Pending"]
    log.results["n2", "driver"] = waiting("driver", "ImagePullBackOff", log.now)
    (line,) = log.run(5)
    assert line.endswith(" s: driver on n2: ImagePullBackOff")
    assert log.run(120) == []
    for node in ("n0", "n2"):
        log.results[node, "driver"] = ready("driver")
    (line,) = log.run(10)
    assert re.fullmatch(
        r"demo \d+ s: driver 3/3; over: driver on n0, n2: Pending; over: .*ImagePullBackOff", line
    )


def test_a_cause_that_becomes_final_is_told_again() -> None:
    log = Log(nodes(1))
    log.results["n0", "driver"] = waiting("driver", "CrashLoopBackOff")
    log.run(4)
    log.results["n0", "driver"] = result("driver", Phase.FAILED, "CrashLoopBackOff", final=True)
    assert [line.partition(": ")[2] for line in log.run(10)] == [
        "driver failed on n0: CrashLoopBackOff"
    ]


def test_a_thousand_nodes_take_few_short_lines_and_nothing_is_lost() -> None:
    log = Log(nodes(1000))
    for index in range(1000):
        log.results[f"n{index}", "driver"] = ready("driver")
        log.results[f"n{index}", "plugin"] = waiting("plugin", f"Reason{index % 7}")
        log.run(0.6, step=0.3)
    log.results = {key: ready(key[1]) for key in log.results}
    end = log.close()
    assert len(log.lines) < 150
    assert max(map(len, log.lines)) <= 120
    assert any("driver 1000/1000" in line for line in log.lines)
    assert any("plugin 1000/1000" in line for line in end)
    assert not any(line.count("n1") > 2 for line in log.lines)
    told = "\n".join(log.lines)
    for number in range(7):
        assert told.count(f": Reason{number}") == 2, "told when it came and when it was over"


def test_what_stands_on_something_else_is_no_cause() -> None:
    tally = count(PLANS, nodes(2), NOW + 60)
    assert [cause.state for cause in tally.causes.values()] == ["driver"]


class Tube:
    """A terminal of a size."""

    def __init__(self, columns: int = 60, lines: int = 24) -> None:
        self.columns, self.lines = columns, lines
        self.written: list[str] = []
        self.logged: list[str] = []

    def terminal(self) -> Terminal:
        """It as a core sees it; SECRET is one."""
        return Terminal(
            write=self.written.append,
            size=lambda: (self.columns, self.lines),
            log=self.logged.append,
            clean=lambda text: text.replace("SECRET", "*"),
        )


def test_a_block_is_drawn_over_itself_within_the_terminal() -> None:
    tube = Tube(columns=40)
    block = LiveBlock(tube.terminal(), "lab", "demo", NOW)
    results = nodes(3)
    results["n1", "driver"] = replace(
        waiting("driver", "CrashLoopBackOff"), message="SECRET " + "very long " * 20
    )
    block.draw(count(PLANS, results, NOW + 5), NOW + 5)
    block.draw(count(PLANS, results, NOW + 6), NOW + 6)
    first, second = tube.written
    lines = first.removeprefix("\x1b[J").splitlines()
    assert lines[0] == "[lab] demo 5 s"
    assert lines[1] == "[lab]   driver  ----------  0/3"
    assert lines[3].startswith("[lab]   ~ driver on n1: CrashLoopBac...")
    assert all(line.startswith("[lab] ") and len(line) < 40 for line in lines)
    assert second.startswith(f"\x1b[{len(lines)}A\x1b[J[lab] demo 6 s\n")
    assert "SECRET" not in first
    assert first.endswith("\n")


def test_a_terminal_that_got_narrower_has_wrapped_what_was_drawn() -> None:
    tube = Tube(columns=60)
    block = LiveBlock(tube.terminal(), "lab", "demo", NOW)
    tally = count(PLANS, nodes(3), NOW + 5)
    block.draw(tally, NOW + 5)
    tube.columns = 20
    block.draw(tally, NOW + 6)
    # Of three lines, those of the states are longer than 20 columns.
    assert tube.written[1].startswith("\x1b[5A\x1b[J")


def test_a_state_says_on_how_many_nodes_it_will_not_become_ready_by_itself() -> None:
    results = nodes(3)
    broken = Result("driver", Phase.DEGRADED, "Crash", "x", since=NOW, final=True)
    results["n1", "driver"] = results["n2", "driver"] = broken
    results["n2", "driver"] = replace(broken, phase=Phase.FAILED, reason="ImagePullBackOff")
    _title, driver, plugin, *_causes = layout(
        count(PLANS, results, NOW), "demo", NOW, NOW + 5, height=20
    )
    assert driver.endswith("0/3  1 degraded, 1 failed")
    assert plugin.endswith("0/3")


@pytest.mark.parametrize("height", [4, 6, 10, 30])
def test_a_block_is_never_higher_than_the_terminal(height: int) -> None:
    plans = [world.plan(f"state_{number}") for number in range(12)]
    results = {
        ("n1", plan.name): waiting(plan.name, "CrashLoopBackOff", NOW + number)
        for number, plan in enumerate(plans)
    }
    lines = layout(count(plans, results, NOW + 60), "demo", NOW, NOW + 60, height)
    assert len(lines) <= height
    assert any("state_0 on n1: CrashLoopBackOff, 60 s" in line for line in lines) == (height > 4)


def test_a_terminal_keeps_ansibles_log_file_informed() -> None:
    tube, results = Tube(), nodes(1)
    progress = Progress(RunContext(terminal=tube.terminal(), host="lab", clock=lambda: NOW), "demo")
    for second in range(1, 8):
        progress.show(PLANS, results, NOW + second)
    progress.close(PLANS, results, NOW + 8)
    assert tube.logged == ["demo 2 s: 0 of 2 proofs hold"]
    assert len(tube.written) == 7
