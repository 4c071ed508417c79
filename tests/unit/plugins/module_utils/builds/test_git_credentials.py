# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How git logs in with the files of a Secret: read by git itself."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.git_credentials import (
    git_environment,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.git_login import (
    git_variables,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput

URL = "https://git.example:8443/driver.git"
PASSWORD = 'it\'s "50%" $(true) \\n'


def asked(variables: dict[str, str], host: str) -> str:
    """What git's own look-up of credentials finds for a host."""
    done = subprocess.run(
        ["git", "credential", "fill"],
        input=f"protocol=https\nhost={host}\n\n",
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_TERMINAL_PROMPT": "0",
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_git_gets_user_and_password_for_that_host_only(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "username").write_text("robot")
    (folder / "password").write_text(PASSWORD)
    variables = git_environment(URL, "git", {"username", "password"}, str(folder))
    found = asked(variables, "git.example:8443")
    assert "username=robot\n" in found
    assert f"password={PASSWORD}\n" in found
    assert PASSWORD not in asked(variables, "elsewhere.example")
    assert PASSWORD not in str(variables)
    # Tokens have no user.
    assert "username=git\n" in asked(
        git_environment(URL, "git", {"password"}, str(folder)), "git.example:8443"
    )


def test_ssh_knows_its_host_or_does_not_speak_to_it() -> None:
    keys = {"ssh-privatekey", "known_hosts"}
    command = git_environment("git@git.example:driver.git", "git", keys, "/run/git-secret")[
        "GIT_SSH_COMMAND"
    ]
    assert "-i /run/git-secret/ssh-privatekey" in command
    assert "StrictHostKeyChecking=yes -o UserKnownHostsFile=/run/git-secret/known_hosts" in command


def test_a_private_authority_is_trusted() -> None:
    variables = git_environment(URL, "git", {"password", "ca.crt"}, "/run/git-secret")
    assert variables["GIT_SSL_CAINFO"] == "/run/git-secret/ca.crt"


@pytest.mark.parametrize(
    ("url", "keys", "why"),
    [
        ("http://git.example/a", {"password"}, "without TLS; name it by https or ssh"),
        (URL, {"ssh-privatekey", "known_hosts"}, "it has no password"),
        (
            "ssh://git@git.example/a",
            {"ssh-privatekey"},
            "it has no known_hosts; give it known_hosts and ssh-privatekey",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(url: str, keys: set[str], why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as caught:
        git_environment(url, "git-login", keys, "/x")
    assert "git cannot use Secret git-login" in str(caught.value)


def test_nobody_else_can_read_the_files_of_a_secret_and_they_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    content = {"username": b"me", "password": b"s3cret"}
    secrets: Any = SimpleNamespace(content=lambda _name: content)
    before = os.umask(0)
    try:
        with git_variables("https://example.com/x.git", "login", secrets):
            (folder,) = tmp_path.iterdir()
            found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert found == dict.fromkeys(content, 0o600)
    assert list(tmp_path.iterdir()) == []
