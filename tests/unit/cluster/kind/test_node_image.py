# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node image of kind is given, under which names."""

from __future__ import annotations

from tests.cluster.kind.node_image import (
    SCENARIO,
    adapted,
    component_images,
    kwok_image,
    published,
)

ASKED_FOR = [
    "registry.k8s.io/kube-apiserver:v1.36.2",
    "registry.k8s.io/kube-proxy:v1.36.2",
    "registry.k8s.io/coredns/coredns:v1.14.2",
    "registry.k8s.io/pause:3.10.2",
    "registry.k8s.io/etcd:3.6.8-0",
]
PAUSE = "registry.k8s.io/pause:3.10"
KWOK = "registry.k8s.io/kwok/kwok@sha256:1"


def test_images_have_the_names_that_are_asked_for() -> None:
    images = component_images(ASKED_FOR, PAUSE, KWOK)
    assert set(images) == {ASKED_FOR[0], ASKED_FOR[1], ASKED_FOR[4], PAUSE, KWOK}
    assert images[KWOK]["Entrypoint"] == ["kwok"]
    assert "Entrypoint" not in images[ASKED_FOR[0]]


def test_images_of_the_scenario_are_pinned_by_digest() -> None:
    kwok = kwok_image((SCENARIO / "files" / "kwok.yml").read_text())
    assert all("@sha256:" in image for image in (kwok, published()))


def test_containerd_sets_no_score_below_its_own() -> None:
    text = '[runc]\n  base_runtime_spec = "/etc/x.json"\n  restrict_oom_score_adj = false\n'
    assert adapted(text) == "[runc]\n  restrict_oom_score_adj = true\n"
