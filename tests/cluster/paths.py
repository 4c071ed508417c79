# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are: the cache of built programs and the folders of the clusters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.errors import ClusterError

REPO = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def cache_folder() -> Path:
    """$HE_CACHE, else ~/.cache/hardware-enablement."""
    return (
        Path(os.environ.get("HE_CACHE") or "~/.cache/hardware-enablement").expanduser().absolute()
    )


def clusters_folder() -> Path:
    """$HE_CLUSTERS, else `clusters` in the cache folder; one folder per cluster."""
    given = os.environ.get("HE_CLUSTERS")
    return Path(given).expanduser().absolute() if given else cache_folder() / "clusters"


def cluster_folder(name: str) -> Path:
    """Folder of the cluster of that name (it need not exist); ClusterError for a name that is not a
    DNS label."""
    if not _NAME.fullmatch(name):
        raise ClusterError(
            f"Cluster name {name!r} is refused because it also names a folder and certificates: "
            "use at most 40 lower-case letters, digits and hyphens, with a letter or digit at both ends."
        )
    return clusters_folder() / name


def registry_folder(name: str) -> Path:
    """Folder of a registry that belongs to no cluster; a leading dot is no cluster's name."""
    return clusters_folder() / ".registries" / name


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A name beside `target` to write to; it takes the target's place if the block ends well, else
    it goes."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield partial
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
