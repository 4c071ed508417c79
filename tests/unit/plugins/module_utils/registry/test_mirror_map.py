# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors as nodes are told of them: pure functions."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.cluster_registries import (
    mirrors_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.mirror_map import (
    hosts_toml,
    mirror_map,
    mirror_sets,
    mirrors_at,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    RegistryPolicy,
    Trust,
)

IMAGES = [
    parse(name) for name in ("quay.io/org/driver:1", "registry.lab:5000/plugin@sha256:" + "a" * 64)
]


def test_each_repository_has_its_mirror_and_no_other_of_its_registry() -> None:
    policy = RegistryPolicy(mirrors=mirrors_at(IMAGES, "mirror.corp:5000/hw/"))
    places = [str(place) for image in IMAGES for place in policy.places(image)]
    assert places == [
        "mirror.corp:5000/hw/quay.io/org/driver:1",
        f"mirror.corp:5000/hw/registry.lab-5000/plugin@{IMAGES[1].digest}",
    ]
    other = parse("quay.io/org/other:1")
    assert policy.places(other) == [other]


def test_what_openshift_is_told_is_what_is_read_from_it() -> None:
    given = [
        RegistryMirror("quay.io", ("mirror.corp/quay",)),
        RegistryMirror("docker.io/org", ("mirror.corp/org", "other.corp/org"), source=False),
    ]
    digests, tags = mirror_sets(RegistryPolicy(mirrors=given))
    read = mirrors_of(digests, "imageDigestMirrors", "all")
    assert [(each.prefix, each.locations, each.source) for each in read] == [
        (each.prefix, each.locations, each.source) for each in given
    ]
    assert (tags["kind"], len(tags["spec"]["imageTagMirrors"])) == ("ImageTagMirrorSet", 2)


def test_containerd_is_told_of_what_stands_for_a_whole_registry() -> None:
    mirrors = mirrors_at(IMAGES, "mirror.corp:5000/hw")
    policy = RegistryPolicy(mirrors=mirrors, trusts=[Trust("mirror.corp:5000", verify=False)])
    assert hosts_toml(policy, "quay.io").splitlines() == [
        'server = "https://quay.io"',
        "",
        '[host."https://mirror.corp:5000/v2/hw/quay.io"]',
        'capabilities = ["pull", "resolve"]',
        "override_path = true",
        "skip_verify = true",
    ]
    elsewhere = RegistryPolicy(mirrors=[RegistryMirror("quay.io/org", ("mirror.corp/drivers",))])
    assert hosts_toml(elsewhere, "quay.io") == ""
    assert "certs.d/quay.io/hosts.toml" not in mirror_map(elsewhere)
    hub = RegistryPolicy(mirrors=[RegistryMirror("docker.io", ("mirror.corp/hub",))])
    text = mirror_map(hub)["certs.d/docker.io/hosts.toml"]
    assert text.startswith('server = "https://registry-1.docker.io"')
    assert '[host."https://mirror.corp/v2/hub"]' in text
