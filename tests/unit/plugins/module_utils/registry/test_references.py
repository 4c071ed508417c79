# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""References are read as container runtimes read them, and written so that they are read the same
again."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import (
    Reference,
    parse,
)

DIGEST = f"sha256:{'0a' * 32}"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("busybox:1.36", "docker.io/library/busybox:1.36"),
        ("bitnami/git", "docker.io/bitnami/git:latest"),
        ("docker.io/busybox", "docker.io/library/busybox:latest"),
        ("index.docker.io/library/busybox:1", "docker.io/library/busybox:1"),
        ("registry-1.docker.io/a/b:1", "docker.io/a/b:1"),
        ("localhost/a:1", "localhost/a:1"),
        ("localhost:5000/a", "localhost:5000/a:latest"),
        (
            "registry.test:5000/gpu/driver:6.8.0-60-generic",
            "registry.test:5000/gpu/driver:6.8.0-60-generic",
        ),
        ("Registry/a:1", "Registry/a:1"),
        ("[::1]:5000/a/b:c", "[::1]:5000/a/b:c"),
        ("nvcr.io/nvidia/driver:550.54.14-rhel9.4", "nvcr.io/nvidia/driver:550.54.14-rhel9.4"),
        ("quay.io/a/b__c/d-e.f:x", "quay.io/a/b__c/d-e.f:x"),
        (f"quay.io/a/b@{DIGEST}", f"quay.io/a/b@{DIGEST}"),
        (f"quay.io/a/b:1@{DIGEST}", f"quay.io/a/b:1@{DIGEST}"),
        (f"busybox@{DIGEST}", f"docker.io/library/busybox@{DIGEST}"),
    ],
)
def test_what_is_left_out_is_added(text: str, whole: str) -> None:
    reference = parse(text)
    assert str(reference) == whole
    assert parse(str(reference)) == reference


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no repository"),
        ("Busybox", "no repository"),
        ("quay.io/", "no repository"),
        ("quay.io/a//b", "no repository"),
        ("quay.io/a_-b", "no repository"),
        (f"quay.io/{'a' * 256}", "no repository"),
        ("-x.io/a", "no host"),
        ("quay.io:port/a", "no host"),
        ("https://quay.io/a", "no host"),
        ("quay.io/a:", "no tag"),
        ("quay.io/a:6.12.107+deb12", "no tag"),
        (f"quay.io/a:{'t' * 129}", "no tag"),
        ("quay.io/a@sha256:12", "no digest"),
        ("quay.io/a@", "no digest"),
        (f"quay.io/a@md5:{'0' * 32}", "no digest"),
        ("quay.io/a b", "no repository"),
        ("quay.io/a:1\n", "no tag"),
    ],
)
def test_what_is_no_reference(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parse(text)


def test_docker_hub_is_served_by_another_host() -> None:
    assert parse("busybox").host == "registry-1.docker.io"
    assert parse("quay.io/a").host == "quay.io"


def test_a_pinned_reference_has_no_tag() -> None:
    assert str(parse("quay.io/a:1").pinned(DIGEST)) == f"quay.io/a@{DIGEST}"


def test_another_tag() -> None:
    assert str(parse(f"quay.io/a:1@{DIGEST}").with_tag("2")) == "quay.io/a:2"
    with pytest.raises(InvalidInput, match=r'"6\.1\+x" is no tag'):
        parse("quay.io/a").with_tag("6.1+x")


def test_the_digest_decides_what_is_asked_for() -> None:
    assert Reference("r", "a", "1", DIGEST).version == DIGEST
    assert Reference("r", "a", "1").version == "1"
