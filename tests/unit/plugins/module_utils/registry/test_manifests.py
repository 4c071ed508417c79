# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests are read strictly, and chosen by platform."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_manifests import (
    DOCKER_LIST,
    DOCKER_MANIFEST,
    OCI_INDEX,
    OCI_MANIFEST,
    Manifest,
    architectures,
    choose,
    digest_of,
    labels_of,
    read_manifest,
)

A, B, C, D = (f"sha256:{letter * 64}" for letter in "abcd")
DESCRIPTOR = {"mediaType": "x", "digest": A, "size": 1}
PARTS = {"manifests": [DESCRIPTOR], "config": DESCRIPTOR, "layers": [DESCRIPTOR]}
CONFIG: dict[str, Any] = {
    "architecture": "arm64",
    "config": {"Env": ["A=b"], "Labels": {"old": "1", "both": "1"}},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:1"]},
    "history": [{"created_by": "somebody"}],
}


def read(document: dict[str, Any], content_type: str = "") -> Manifest | None:
    return read_manifest(json.dumps(document).encode(), content_type)


def index(*entries: dict[str, Any]) -> Manifest:
    manifest = read({"mediaType": OCI_INDEX, "manifests": list(entries)})
    assert manifest
    return manifest


def platform(digest: str, architecture: str, system: str = "linux", **more: str) -> dict[str, Any]:
    return {"digest": digest, "platform": {"architecture": architecture, "os": system, **more}}


@pytest.mark.parametrize("media_type", [OCI_MANIFEST, DOCKER_MANIFEST, OCI_INDEX, DOCKER_LIST])
def test_the_four_types_are_read(media_type: str) -> None:
    manifest = read({"mediaType": media_type, **PARTS})
    assert manifest
    assert manifest.is_index is (media_type in (OCI_INDEX, DOCKER_LIST))
    assert manifest.digest == digest_of(manifest.body)


def test_the_body_says_more_than_the_header() -> None:
    manifest = read({"mediaType": OCI_INDEX, **PARTS}, OCI_MANIFEST)
    assert manifest
    assert manifest.media_type == OCI_INDEX
    only_header = read(PARTS, f"{OCI_MANIFEST}; charset=utf-8")
    assert only_header
    assert only_header.media_type == OCI_MANIFEST


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"mediaType": "text/html"}'])
def test_anything_else_is_not(body: bytes) -> None:
    assert read_manifest(body, "application/vnd.docker.distribution.manifest.v1+prettyjws") is None


@pytest.mark.parametrize(
    "broken",
    [
        {"config": None},
        {"config": []},
        {"config": {"digest": "md5:0"}},
        {"layers": None},
        {"layers": {}},
        {"layers": [DESCRIPTOR, "x"]},
        {"layers": [{"digest": "sha256:12"}]},
        {"layers": [{**DESCRIPTOR, "size": "many"}]},
        {"layers": [{**DESCRIPTOR, "size": -1}]},
        {"layers": [{**DESCRIPTOR, "size": {}}]},
    ],
)
def test_a_manifest_that_is_broken_is_none(broken: dict[str, Any]) -> None:
    assert read({"mediaType": OCI_MANIFEST, **PARTS, **broken}) is None


@pytest.mark.parametrize("members", [None, {}, ["x"], [{}], [{"digest": 1}]])
def test_an_index_that_is_broken_is_none(members: object) -> None:
    assert read({"mediaType": OCI_INDEX, "manifests": members}) is None


def test_a_digest_is_computed_by_the_algorithm_that_is_asked_for() -> None:
    body = json.dumps({"mediaType": OCI_MANIFEST, **PARTS}).encode()
    manifest = read_manifest(body, "", like="sha512:0")
    assert manifest
    assert manifest.digest == digest_of(body, "sha512:")
    assert manifest.digest.startswith("sha512:")


def test_a_platform_is_chosen() -> None:
    listed = index(
        platform(D, "amd64", "windows"),
        platform(A, "amd64"),
        platform(C, "unknown", "unknown"),
        platform(B, "arm64", variant="v8"),
    )
    assert choose(listed, "amd64") == A
    assert choose(listed, "arm64") == B
    assert choose(listed, "ppc64le") == ""
    assert choose(index({"digest": A, "platform": "amd64"}), "amd64") == A
    assert architectures(listed) == ["amd64", "arm64"]


def test_an_entry_without_a_platform_is_the_last_resort() -> None:
    listed = index({"digest": B}, platform(A, "amd64"))
    assert choose(listed, "amd64") == A
    assert choose(listed, "arm64") == B


def test_labels() -> None:
    assert labels_of(CONFIG) == {"old": "1", "both": "1"}
    assert labels_of({"config": {"Labels": None}}) == {}
    assert labels_of({"config": None}) == {}
    assert labels_of({"config": ["x"]}) == {}
