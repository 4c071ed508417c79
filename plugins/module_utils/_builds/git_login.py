# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let git log in on the machine that runs Ansible, with a Secret of the cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._errors import EnablementError
from .environment import NamespaceSecrets
from .git_credentials import git_environment


@contextmanager
def git_variables(url: str, name: str, secrets: NamespaceSecrets) -> Iterator[dict[str, str]]:
    """Variables for git; none where no Secret is named. Its files are gone afterwards.

    Raises EnablementError where there is no such Secret, InvalidInput where it does not fit.
    """
    if not name:
        yield {}
        return
    content = secrets.content(name)
    if content is None:
        why = "git logs in with it"
        raise EnablementError(
            f"Secret {secrets.title(name)} does not exist",
            why=why,
            todo="make it, or correct build.git",
        )
    # Nobody else may read what is in such a folder.
    with tempfile.TemporaryDirectory(prefix="hardware-enablement-") as folder:
        for key, value in content.items():
            file = Path(folder, key)
            file.touch(0o600)
            file.write_bytes(value)
        yield git_environment(url, name, set(content), folder)
