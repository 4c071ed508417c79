# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credential helpers: real programs, which are asked for what nobody else knows."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.registry_policy import (
    read_config,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.account import (
    Credentials,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring

# Knows every registry of example.com by its own name, and writes down who was asked for.
SCRIPT = """#!/bin/sh
read -r host
echo "$1 $host" >> {folder}/asked
case "$host" in
  token.*) echo '{{"Username": "<token>", "Secret": "refresh"}}' ;;
  *.example.com*) echo "{{\\"Username\\": \\"$host\\", \\"Secret\\": \\"secret-of-{name}\\"}}" ;;
  broken.*) echo 'secret: s3cret' ;;
  down.*) echo 'the keychain is locked'; exit 1 ;;
  *) echo 'credentials not found in native keychain'; exit 1 ;;
esac
"""


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the helpers named and stored on PATH."""
    for name in ("named", "stored"):
        program = tmp_path / f"docker-credential-{name}"
        program.write_text(SCRIPT.format(folder=tmp_path, name=name))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def ring(folder: Path, secrets: set[str] | None = None, **config: Any) -> Keyring:
    """The keyring of a configuration of docker."""
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return read_config(str(path), set() if secrets is None else secrets)


def test_a_helper_of_the_host_then_entries_then_the_store(helpers: Path) -> None:
    auth = base64.b64encode(b"me:mine").decode()
    auths = {"a.example.com": {"auth": auth}, "b.example.com": {"auth": auth}}
    keyring = ring(
        helpers, auths=auths, credHelpers={"a.example.com": "named"}, credsStore="stored"
    )
    found = {host: keyring.find(parse(f"{host}.example.com/x")) for host in "abc"}
    assert found == {
        "a": Credentials("a.example.com", "secret-of-named"),
        "b": Credentials("me", "mine"),
        "c": Credentials("c.example.com", "secret-of-stored"),
    }
    assert keyring.find(parse("nobody.test/x")) is None


def test_each_host_is_asked_for_once_and_what_is_learnt_is_a_secret(helpers: Path) -> None:
    secrets: set[str] = set()
    keyring = ring(helpers, secrets, credsStore="stored")
    for _time in range(2):
        assert keyring.find(parse("token.example.com:5000/x")) == Credentials(
            "", identity_token="refresh"
        )
        keyring.find(parse("a.example.com/x"))
    assert (helpers / "asked").read_text().splitlines() == [
        "get token.example.com:5000",
        "get a.example.com",
    ]
    assert {"refresh", "secret-of-stored"} <= secrets


@pytest.mark.parametrize(
    ("host", "helper", "why"),
    [
        ("down.test", "stored", "docker-credential-stored says: the keychain is locked"),
        (
            "broken.test",
            "stored",
            "docker-credential-stored does not answer with Username and Secret",
        ),
        (
            "a.test",
            "absent",
            "docker-credential-absent is missing on the machine that runs Ansible",
        ),
        ("a.test", "../stored", "is no name of a credential helper"),
    ],
)
def test_a_helper_that_does_not_help_is_told_in_one_sentence(
    helpers: Path, host: str, helper: str, why: str
) -> None:
    with pytest.raises(EnablementError) as caught:
        ring(helpers, credHelpers={host: helper}).find(parse(f"{host}/x"))
    assert f"Cannot get the credentials for {host}" in str(caught.value)
    assert why in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_helpers_that_a_pull_secret_names_are_never_run(helpers: Path) -> None:
    text = json.dumps(
        {"auths": {}, "credsStore": "stored", "credHelpers": {"a.example.com": "named"}}
    )
    assert Keyring.from_configs([text]).find(parse("a.example.com/x")) is None
    assert not (helpers / "asked").exists()


@pytest.mark.parametrize(
    ("text", "why"), [(None, "No such file"), ("s3cret", "not JSON"), ("[]", "not a mapping")]
)
def test_a_configuration_that_cannot_be_read(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(InvalidInput, match=rf"Cannot read registry_auth_file .*{why}") as caught:
        read_config(str(tmp_path / "config.json"), set())
    assert "s3cret" not in str(caught.value)
