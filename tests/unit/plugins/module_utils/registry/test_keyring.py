# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials are found as the kubelet finds them, and are shown nowhere."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.account import (
    Credentials,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def entry(name: str) -> dict[str, str]:
    return {"auth": encoded(f"{name}:secret-of-{name}")}


def ring(**names: str) -> Keyring:
    """A keyring whose keys are given as name=key; the account is called as the name."""
    return Keyring.from_configs(
        [json.dumps({"auths": {key: entry(name) for name, key in names.items()}})]
    )


def who(keyring: Keyring, image: str) -> str | None:
    found = keyring.find(parse(image))
    return found.username if found else None


@pytest.mark.parametrize(
    ("key", "image", "matches"),
    [
        ("quay.io", "quay.io/a/b", True),
        ("quay.io", "quay.io:443/a/b", False),
        ("quay.io", "www.quay.io/a", False),
        ("https://quay.io", "quay.io/a", True),
        ("https://quay.io/v2/", "quay.io/a", True),
        ("http://quay.io/v1/team", "quay.io/team/a", True),
        ("http://quay.io/v1/team", "quay.io/other/a", False),
        ("quay.io/", "quay.io/a", True),
        ("quay.io/team", "quay.io/team/a", True),
        ("quay.io/team", "quay.io/other/a", False),
        ("registry.test:5000", "registry.test:5000/a", True),
        ("registry.test", "registry.test:5000/a", False),
        ("*.example.com", "r.example.com/a", True),
        ("*.example.com", "a.b.example.com/a", False),
        ("*.example.com", "example.com/a", False),
        ("r*.example.com:5000", "registry.example.com:5000/a", True),
        ("r*.example.com:5000", "registry.example.com/a", False),
        ("*.*.example.com/x", "a.b.example.com/x/y", True),
        ("https://index.docker.io/v1/", "busybox", True),
        ("docker.io", "bitnami/git", True),
        ("index.docker.io/library", "busybox", True),
        ("index.docker.io/library", "bitnami/git", False),
        ("registry-1.docker.io", "busybox", True),
    ],
)
def test_which_key_is_for_which_image(key: str, image: str, matches: bool) -> None:
    assert (who(ring(found=key), image) == "found") is matches


def test_the_longest_path_wins() -> None:
    keyring = ring(all="quay.io", team="quay.io/team", project="quay.io/team/project")
    assert who(keyring, "quay.io/team/project") == "project"
    assert who(keyring, "quay.io/team/other") == "team"
    assert who(keyring, "quay.io/x") == "all"


def test_a_host_wins_over_a_glob() -> None:
    keyring = ring(glob="*.example.com", host="r.example.com", path="*.example.com/team")
    assert who(keyring, "r.example.com/x") == "host"
    assert who(keyring, "s.example.com/x") == "glob"
    assert who(keyring, "r.example.com/team/x") == "path"


def test_of_equal_keys_the_first_one_counts() -> None:
    texts = [json.dumps({"auths": {"quay.io": entry(name)}}) for name in ("first", "second")]
    assert who(Keyring.from_configs(texts), "quay.io/a") == "first"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"auth": encoded("me:pass:word")}, Credentials("me", "pass:word")),
        ({"auth": encoded("me:pass\0\0")}, Credentials("me", "pass")),
        (
            {"username": "me", "password": "pass", "email": "me@example.com"},
            Credentials("me", "pass"),
        ),
        (
            {"username": "you", "password": "other", "auth": encoded("me:pass")},
            Credentials("me", "pass"),
        ),
        ({"auth": encoded("me:"), "identitytoken": "token"}, Credentials("me", "", "token")),
        ({"identitytoken": "token"}, Credentials("", "", "token")),
        ({}, None),
        ({"email": "me@example.com"}, None),
    ],
)
@pytest.mark.parametrize("old", [False, True], ids=["dockerconfigjson", "dockercfg"])
def test_all_ways_to_write_an_entry(
    written: dict[str, str], expected: Credentials | None, old: bool
) -> None:
    document: dict[str, Any] = {"quay.io": written}
    keyring = Keyring.from_configs([json.dumps(document if old else {"auths": document})])
    assert keyring.find(parse("quay.io/a")) == expected


def test_other_settings_are_no_entries() -> None:
    text = json.dumps(
        {"credsStore": "desktop", "HttpHeaders": {"User-Agent": "x"}, "auths": {"quay.io": {}}}
    )
    assert Keyring.from_configs([text, "{}"]).find(parse("quay.io/a")) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"auths": {"quay.io": {"auth": "topsecret', "not JSON"),
        ('["topsecret"]', "not a mapping"),
        ('{"auths": ["topsecret"]}', '"auths" is not a mapping'),
        ('{"auths": {"quay.io": "topsecret"}}', r"entry quay\.io is not a mapping"),
        ('{"auths": {"quay.io": {"auth": "topsecret!"}}}', r"entry quay\.io is not base64"),
        (
            json.dumps({"auths": {"quay.io": {"auth": encoded("topsecret")}}}),
            "not username:password",
        ),
    ],
)
def test_what_cannot_be_read_is_not_shown(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as caught:
        Keyring.from_configs([text])
    assert "topsecret" not in str(caught.value)
    assert encoded("topsecret") not in str(caught.value)
    assert caught.value.__cause__ is None


def test_secrets_are_known_and_not_shown() -> None:
    document = {"auths": {"quay.io": {"auth": encoded("me:hush"), "identitytoken": "refresh"}}}
    keyring = Keyring.from_configs([json.dumps(document)])
    assert keyring.secrets == {"hush", "refresh", encoded("me:hush")}
    shown = f"{keyring!r} {keyring.find(parse('quay.io/a'))!r}"
    assert not any(secret in shown for secret in keyring.secrets)
