# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which places are asked for an image, in which order; and whom to trust there."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    RegistryPolicy,
    Trust,
)

DIGEST = f"sha256:{'0a' * 32}"


def asked(image: str, *mirrors: RegistryMirror) -> list[str]:
    return [str(place) for place in RegistryPolicy(mirrors=mirrors).places(parse(image))]


def test_without_a_mirror_the_source_is_asked() -> None:
    assert asked("quay.io/a:1") == ["quay.io/a:1"]
    assert asked("quay.io/a:1", RegistryMirror("docker.io", ["m.test"])) == ["quay.io/a:1"]


def test_locations_take_the_place_of_the_prefix_in_their_order() -> None:
    mirror = RegistryMirror("docker.io", ["m.test:5000/hub", "n.test/"])
    assert asked("busybox:1", mirror) == [
        "m.test:5000/hub/library/busybox:1",
        "n.test/library/busybox:1",
        "docker.io/library/busybox:1",
    ]


def test_a_digest_is_kept() -> None:
    assert (
        asked(f"quay.io/a@{DIGEST}", RegistryMirror("quay.io", ["m.test"]))[0]
        == f"m.test/a@{DIGEST}"
    )


def test_the_longest_prefix_counts() -> None:
    mirrors = [
        RegistryMirror("quay.io", ["a.test"]),
        RegistryMirror("quay.io/team/x", ["c.test/x"]),
        RegistryMirror("quay.io/team", ["b.test/t"]),
    ]
    assert asked("quay.io/team/y:1", *mirrors)[0] == "b.test/t/y:1"
    assert asked("quay.io/team/x:1", *mirrors)[0] == "c.test/x:1"
    assert asked("quay.io/team/x/z:1", *mirrors)[0] == "c.test/x/z:1"
    assert asked("quay.io/teams/y:1", *mirrors)[0] == "a.test/teams/y:1"


def test_a_prefix_ends_where_a_part_ends() -> None:
    assert asked("quay.io:5000/a:1", RegistryMirror("quay.io", ["m.test"])) == ["quay.io:5000/a:1"]


def test_hosts_under_a_domain() -> None:
    mirrors = [
        RegistryMirror("*.example.com", ["m.test/e"]),
        RegistryMirror("r.example.com", ["n.test"]),
    ]
    assert asked("a.b.example.com:5000/x:1", *mirrors)[0] == "m.test/e/x:1"
    assert asked("r.example.com/x:1", *mirrors)[0] == "n.test/x:1"
    assert asked("example.com/x:1", *mirrors) == ["example.com/x:1"]


def test_the_source_may_be_left_out() -> None:
    assert asked("quay.io/a:1", RegistryMirror("quay.io", ["m.test"], source=False)) == [
        "m.test/a:1"
    ]


@pytest.mark.parametrize(
    ("location", "why"),
    [("mirror/cache", "no host"), ("m.test/X", "no repository"), ("m.test/x:1", "no tag")],
)
def test_a_location_that_is_none(location: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        asked("quay.io/a:1", RegistryMirror("quay.io", [location]))


def test_mirrors_of_one_prefix_are_asked_one_after_the_other_for_what_they_are_for() -> None:
    mirrors = [
        RegistryMirror("quay.io", ["d.test"], pulls="digest"),
        RegistryMirror("quay.io", ["t.test"], pulls="tag"),
    ]
    assert asked("quay.io/a:1", *mirrors) == ["t.test/a:1", "quay.io/a:1"]
    assert asked(f"quay.io/a@{DIGEST}", *mirrors) == [f"d.test/a@{DIGEST}", f"quay.io/a@{DIGEST}"]
    never = RegistryMirror("quay.io", ["n.test"], source=False, pulls="digest")
    assert asked("quay.io/a:1", never, mirrors[1]) == ["t.test/a:1"]
    assert asked("quay.io/a:1", never) == []


def test_a_push_goes_to_the_source_unless_that_is_never_asked() -> None:
    target = parse("quay.io/a:1")
    for source, place in ((True, "quay.io/a:1"), (False, "m.test/a:1")):
        policy = RegistryPolicy(
            mirrors=[RegistryMirror("quay.io", ["m.test", "n.test"], source=source)]
        )
        assert str(policy.push_place(target)) == place


def test_trust_is_that_of_the_host_itself_then_of_its_domain_then_of_all() -> None:
    domain = Trust("*.test", verify=False)
    policy = RegistryPolicy(
        ca="ALL", trusts=[Trust("a.test:5000", ca="OWN"), Trust("p.test", plain_http=True), domain]
    )
    assert policy.trust("a.test:5000") == Trust("a.test:5000", ca="ALL\nOWN")
    assert policy.trust("a.test:5001") == Trust("a.test:5001", ca="ALL", verify=False)
    assert policy.trust("a.example") == Trust("a.example", ca="ALL")
    assert policy.plain_http == {"p.test"}
    assert not RegistryPolicy(verify=False, trusts=[Trust("a.test")]).trust("a.test").verify


@pytest.mark.parametrize("trust", [Trust("*.test", ca="PEM"), Trust("*.test", plain_http=True)])
def test_what_is_for_one_host_only_is_refused_for_a_domain(trust: Trust) -> None:
    with pytest.raises(InvalidInput, match=r'Cannot use the registry "\*\.test".*name each host'):
        RegistryPolicy(trusts=[trust])
