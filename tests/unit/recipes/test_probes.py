# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes that run a program: the kubelet gives them one second, which is too little for a process of a
busy node, and three in a row take a driver's readiness although nothing is wrong with it. And each is a
process with the cost of a container, for as long as the pod is there."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO

# A probe with what is below it, by its indentation.
_PROBE = re.compile(r"^( *)(\w+)Probe:.*\n((?:(?:\1 |\{).*\n)+)", re.MULTILINE)
# Seconds between two looks at what is ready, or alive, already.
_SELDOM = 30
_FILES = [
    REPO / "plugins/module_utils/_interface/macros.j2",
    REPO / "plugins/module_utils/_operators/kmm_driver.py",
    *sorted((REPO / "recipes").rglob("*.j2")),
]
_TEXTS = {
    str(file.relative_to(REPO)): text
    for file in _FILES
    if "Probe:" in (text := file.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", _TEXTS)
def test_a_program_that_is_a_probe_has_more_than_a_second(name: str) -> None:
    enough = r"timeoutSeconds\"?: ([5-9]\b|\d\d+\b|\{\{ timeout \}\})"
    assert [probe for _kind, probe in _programs(name) if not re.search(enough, probe)] == []


@pytest.mark.parametrize("name", _TEXTS)
def test_a_program_looks_seldom_at_what_is_ready_already(name: str) -> None:
    lasting = [probe for kind, probe in _programs(name) if kind != "startup"]
    periods = [
        int(found) for probe in lasting for found in re.findall(r"periodSeconds: (\d+)", probe)
    ]
    assert len(periods) == len(lasting)
    assert [period for period in periods if period < _SELDOM] == []


def _programs(name: str) -> list[tuple[str, str]]:
    """Kind and text of the probes that run a program."""
    probes = [(found[2], found[3]) for found in _PROBE.finditer(_TEXTS[name])]
    assert probes
    return [(kind, probe) for kind, probe in probes if " exec:" in probe]
