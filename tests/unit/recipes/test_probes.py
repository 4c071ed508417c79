# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes that run a program: the kubelet gives them one second, which is too little for a process of a
busy node, and three in a row take a driver's readiness although nothing is wrong with it."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO

# A probe with what is below it, by its indentation.
_PROBE = re.compile(r"^( +)\w+Probe:.*\n((?:(?:\1 |\{).*\n)+)", re.MULTILINE)
_TEXTS = {
    "import_kmm": REPO / "plugins/module_utils/_operators/kmm_driver.py",
    **{
        str(file.relative_to(REPO)): file
        for file in sorted((REPO / "recipes").rglob("*.j2"))
        if "Probe:" in file.read_text(encoding="utf-8")
    },
}


@pytest.mark.parametrize("name", _TEXTS)
def test_a_program_that_is_a_probe_has_more_than_a_second(name: str) -> None:
    probes = [found[2] for found in _PROBE.finditer(_TEXTS[name].read_text(encoding="utf-8"))]
    assert probes
    in_a_hurry = [
        probe
        for probe in probes
        if " exec:" in probe and not re.search(r"timeoutSeconds\"?: ([5-9]|\d\d+)\b", probe)
    ]
    assert in_a_hurry == []
