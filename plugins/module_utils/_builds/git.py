# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pin a git reference to a commit, with the git program, so that its settings (proxy, credentials)
count as usual."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

from .._errors import EnablementError
from .failures import BuildPhase, classify

TIMEOUT_S = 60
# git never asks a person: nobody sits there.
QUIET = {"GIT_TERMINAL_PROMPT": "0"}
_COMMIT = re.compile(r"[0-9a-f]{40}")


def pin(url: str, ref: str, credentials: Mapping[str, str]) -> str:
    """The commit (40 hex digits) that a branch or tag names now; a commit is returned as it is.

    credentials: variables for git.
    """
    if _COMMIT.fullmatch(ref):
        return ref
    lines = _ls_remote(url, ref, credentials)
    # A tag's own commit (^{}) counts, not the object that signs it.
    for wanted in (f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
        for line in lines:
            commit, _tab, name = line.partition("\t")
            if name == wanted:
                return commit
    raise EnablementError(
        f"{url} has no branch or tag {ref}", todo="correct build.git.ref in the recipe"
    )


def _ls_remote(url: str, ref: str, credentials: Mapping[str, str]) -> list[str]:
    command = ["git", "ls-remote", "--", url, ref, f"refs/tags/{ref}^{{}}"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **QUIET, **credentials},
        )
    except FileNotFoundError:
        raise EnablementError(
            f"the commit of {ref} is not known",
            where=url,
            why="git is missing on the machine that runs Ansible",
            todo="install it, or give the commit itself (40 hex digits)",
        ) from None
    except subprocess.TimeoutExpired:
        raise EnablementError(
            f"{url} does not answer",
            why=f"git ls-remote took longer than {TIMEOUT_S} s",
            todo="try again",
        ) from None
    if done.returncode:
        found = classify(BuildPhase.SOURCES, done.stderr.splitlines(), "git ls-remote failed")
        raise EnablementError(
            f"the commit of {ref} is not known",
            where=url,
            why=found.text.partition(": ")[2],
            todo=found.advice_where("on this machine") or "correct build.git",
        )
    return done.stdout.splitlines()
