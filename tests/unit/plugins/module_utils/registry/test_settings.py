# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors: which places are asked for an image, in which order."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.registry.references import parse
from ansible_collections.hardware.enablement.plugins.module_utils.registry.settings import Mirror, places

DIGEST = f"sha256:{'0a' * 32}"


def asked(image: str, *mirrors: Mirror) -> list[str]:
    return [str(place) for place in places(parse(image), mirrors)]


def test_without_a_mirror_the_source_is_asked() -> None:
    assert asked("quay.io/a:1") == ["quay.io/a:1"]
    assert asked("quay.io/a:1", Mirror("docker.io", ["m.test"])) == ["quay.io/a:1"]


def test_locations_take_the_place_of_the_prefix_in_their_order() -> None:
    mirror = Mirror("docker.io", ["m.test:5000/hub", "n.test/"])
    assert asked("busybox:1", mirror) == [
        "m.test:5000/hub/library/busybox:1",
        "n.test/library/busybox:1",
        "docker.io/library/busybox:1",
    ]


def test_a_digest_is_kept() -> None:
    assert asked(f"quay.io/a@{DIGEST}", Mirror("quay.io", ["m.test"]))[0] == f"m.test/a@{DIGEST}"


def test_the_longest_prefix_counts() -> None:
    mirrors = [
        Mirror("quay.io", ["a.test"]),
        Mirror("quay.io/team/x", ["c.test/x"]),
        Mirror("quay.io/team", ["b.test/t"]),
    ]
    assert asked("quay.io/team/y:1", *mirrors)[0] == "b.test/t/y:1"
    assert asked("quay.io/team/x:1", *mirrors)[0] == "c.test/x:1"
    assert asked("quay.io/team/x/z:1", *mirrors)[0] == "c.test/x/z:1"
    assert asked("quay.io/teams/y:1", *mirrors)[0] == "a.test/teams/y:1"


def test_a_prefix_ends_where_a_part_ends() -> None:
    assert asked("quay.io:5000/a:1", Mirror("quay.io", ["m.test"])) == ["quay.io:5000/a:1"]


def test_hosts_under_a_domain() -> None:
    mirrors = [Mirror("*.example.com", ["m.test/e"]), Mirror("r.example.com", ["n.test"])]
    assert asked("a.b.example.com:5000/x:1", *mirrors)[0] == "m.test/e/x:1"
    assert asked("r.example.com/x:1", *mirrors)[0] == "n.test/x:1"
    assert asked("example.com/x:1", *mirrors) == ["example.com/x:1"]


def test_the_source_may_be_left_out() -> None:
    assert asked("quay.io/a:1", Mirror("quay.io", ["m.test"], source=False)) == ["m.test/a:1"]


@pytest.mark.parametrize(
    ("location", "why"), [("mirror/cache", "no host"), ("m.test/X", "no repository"), ("m.test/x:1", "no tag")]
)
def test_a_location_that_is_none(location: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        asked("quay.io/a:1", Mirror("quay.io", [location]))
