# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base images are looked up once for all groups of nodes that build on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.lookups.base import (
    BaseLookup,
    KnownBases,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import Found
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import GROUPS


def test_each_is_asked_for_once_whatever_the_answer() -> None:
    asked: list[tuple[str, str]] = []

    def find(reference: str, arch: str) -> Found | None:
        asked.append((reference, arch))
        if "down" in reference:
            raise EnablementError("Cannot look it up")
        return Found(f"{reference}@sha256:1", "sha256:1", {}) if "there" in reference else None

    known: KnownBases = {}
    arm = replace(GROUPS[0], system=replace(GROUPS[0].system, arch="arm64"))
    groups = [*GROUPS, arm]
    for _state in range(2):
        lookup = BaseLookup(find, known)
        for group in groups:
            assert lookup.find("a.example/there:1", group)
            assert lookup.find("a.example/none:1", group) is None
            with pytest.raises(EnablementError, match="Cannot look it up"):
                lookup.find("a.example/down:1", group)
    assert len(asked) == len(set(asked)) == 3 * len({group.system.arch for group in groups})


def test_the_toolkit_of_a_release_that_is_to_come_is_where_the_release_says() -> None:
    latest = "image-registry.openshift-image-registry.svc:5000/openshift/driver-toolkit:latest"
    there = {latest, latest.replace("latest", "9.4.1-0"), "quay.example/toolkit:1"}

    def find(reference: str, _arch: str) -> Found | None:
        return Found(reference, "sha256:1", {}) if reference in there else None

    def base(build: str) -> str:
        toolkits = {"9.6.1-0": "quay.example/toolkit:1"}
        group = replace(GROUPS[0], system=replace(GROUPS[0].system, os_build=build))
        found = BaseLookup(find, {}, toolkits).find(latest, group)
        return found.reference if found else ""

    assert base("9.6.1-0") == "quay.example/toolkit:1"
    assert base("9.4.1-0") == latest.replace("latest", "9.4.1-0")
    assert base("9.5.1-0") == latest
