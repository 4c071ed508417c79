# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What registries ask for is read in all the spellings that they use."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._registry.challenge import (
    Challenge,
    best,
    is_safe_realm,
    parse_challenges,
    pull,
    push,
    union,
)

HUB = Challenge(
    "bearer", "https://auth.docker.io/token", "registry.docker.io", ("repository:a/b:pull",)
)


@pytest.mark.parametrize(
    ("header", "challenges"),
    [
        ("", []),
        ('Basic realm="x"', [Challenge("basic", "x")]),
        ("BASIC realm=x", [Challenge("basic", "x")]),
        ("Negotiate", [Challenge("negotiate")]),
        (
            'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"',
            [HUB],
        ),
        (
            'bearer   scope="repository:a/b:pull" , service="registry.docker.io" ,realm = "https://auth.docker.io/token"',
            [HUB],
        ),
        (
            'Basic realm="a, b", Bearer realm="https://r/t",service="s"',
            [Challenge("basic", "a, b"), Challenge("bearer", "https://r/t", "s")],
        ),
        ('Negotiate, Basic realm="x"', [Challenge("negotiate"), Challenge("basic", "x")]),
        (r'Basic realm="say \"x\""', [Challenge("basic", 'say "x"')]),
        (
            'Bearer realm="https://r/t",scope="repository:a:pull repository:b:pull,push",error="invalid_token"',
            [
                Challenge(
                    "bearer",
                    "https://r/t",
                    "",
                    ("repository:a:pull", "repository:b:pull,push"),
                    "invalid_token",
                )
            ],
        ),
        ('Bearer realm="unfinished', [Challenge("bearer")]),
    ],
)
def test_challenges(header: str, challenges: list[Challenge]) -> None:
    assert parse_challenges(header) == challenges


def test_a_token_server_is_preferred() -> None:
    basic = Challenge("basic", "x")
    assert best([basic, HUB]) == HUB
    assert best([Challenge("bearer"), basic]) == basic
    assert best([Challenge("negotiate")]) is None


def test_scopes() -> None:
    assert pull("a/b") == ("repository:a/b:pull",)
    assert push("a") == ("repository:a:pull,push",)


def test_scopes_of_the_same_resource_become_one() -> None:
    assert union(["repository:b:push", "registry:catalog:*"], ["repository:b:pull"]) == (
        "registry:catalog:*",
        "repository:b:pull,push",
    )


@pytest.mark.parametrize(
    ("realm", "safe"),
    [
        ("https://auth.docker.io/token", True),
        ("https://registry.test:5001/token?x=y", True),
        ("http://registry.test:5001/token", True),
        ("http://other.test:5001/token", False),
        ("https://registry.test:5001@evil.test/token", False),
        ("/token", False),
        ("ftp://registry.test/token", False),
        ("test", False),
    ],
)
def test_credentials_go_to_token_servers_with_tls_only(realm: str, safe: bool) -> None:
    assert is_safe_realm(realm, frozenset({"registry.test:5001"})) is safe
