# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.limits import check_inotify


def machine(folder: Path, limit: int, used: int) -> Path:
    """A /proc with one process that has so many inotify instances, and another file."""
    settings = folder / "sys/fs/inotify"
    settings.mkdir(parents=True)
    (settings / "max_user_instances").write_text(f"{limit}\n")
    files = folder / "17" / "fd"
    files.mkdir(parents=True)
    for number in range(used):
        (files / str(number)).symlink_to("anon_inode:inotify")
    (files / "500").symlink_to("/dev/null")
    return folder


def test_a_cluster_that_would_lack_inotify_instances_is_not_started(tmp_path: Path) -> None:
    check_inotify(2, machine(tmp_path / "enough", limit=128, used=97))
    with pytest.raises(
        ClusterError, match="needs 31 inotify instances, and 98 of your 128 are in use: run `sysctl"
    ):
        check_inotify(2, machine(tmp_path / "short", limit=128, used=98))
