# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which changes of phase become Events, and what they say."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.events import (
    Occurrence,
    make_event,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.phase_events import (
    of_node,
    of_record,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

CRASH = Result("driver", Phase.FAILED, "CrashLoopBackOff", "no such device", final=True)
RECORD = {"metadata": {"name": "demo", "uid": "u1"}}
NODE = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "uid-n1"}


def on_node(before: str | None, after: str | None) -> Occurrence | None:
    """What is said on n1."""
    return of_node("demo", world.node("n1"), before, after, {("n1", "driver"): CRASH})


@pytest.mark.parametrize(
    ("before", "after", "reason", "warning", "note"),
    [
        (None, "ready", "HardwareReady", False, "demo is ready"),
        ("driver.waiting", "ready", "HardwareReady", False, "demo is ready, was waiting"),
        (
            "ready",
            "driver.degraded",
            "HardwareDegraded",
            True,
            "demo is degraded, was ready: state driver, CrashLoopBackOff: no such device",
        ),
    ],
)
def test_a_change_of_phase_is_said(
    before: str | None, after: str, reason: str, warning: bool, note: str
) -> None:
    said = on_node(before, after)
    assert said
    assert (said.reason, said.warning, said.note, dict(said.regarding)) == (
        reason,
        warning,
        note,
        NODE,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [("ready", "ready"), ("driver.failed", "plugin.failed"), ("ready", None), (None, "nonsense")],
)
def test_what_is_no_change_of_phase_is_not(before: str | None, after: str | None) -> None:
    assert on_node(before, after) is None


def test_the_record_says_its_own() -> None:
    said = of_record(RECORD, "ready", "failed", "why")
    assert said
    assert (said.reason, said.note) == ("HardwareFailed", "demo is failed, was ready: why")
    assert of_record(RECORD, "failed", "failed", "another reason") is None


def test_the_same_on_the_same_object_has_the_same_name() -> None:
    first, again, other = (
        make_event(
            Occurrence(NODE, "HardwareFailed", note, same), "2026-01-01T00:00:00.000000Z", "me"
        )
        for note, same in (("pod a", "driver"), ("pod b", "driver"), ("pod a", "plugin"))
    )
    assert first["metadata"] == again["metadata"] != other["metadata"]
    assert first["metadata"]["namespace"] == "default"


def test_the_apis_limits_are_kept() -> None:
    long = Occurrence({**NODE, "name": "n" * 253}, "HardwareFailed", "x" * 5000)
    made = make_event(long, "2026-01-01T00:00:00.000000Z", "somebody" * 50)
    assert len(made["metadata"]["name"]) <= 253
    assert (len(made["note"]), len(made["reportingInstance"])) == (1024, 128)
