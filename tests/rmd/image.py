# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image of the daemon for real nodes: python-base and one layer more."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.images import Image, ensure_image
from tests.cluster.images.archive import read_layers, write_archive, write_layer
from tests.cluster.images.recipes import PYTHON_BASE
from tests.rmd.packing import fill_root

REFERENCE = "localhost/rmd:1"


def make_image(
    archive: Path, simulation: Mapping[str, Any] | None = None, *, reference: str = REFERENCE
) -> Image:
    """Write the image as an OCI archive, for RealNode.load. simulation: see Simulation in
    command.py."""
    base = ensure_image(PYTHON_BASE.name)
    with tempfile.TemporaryDirectory(prefix="he-rmd-") as name:
        folder = Path(name)
        layers = read_layers(base.archive, folder)
        fill_root(folder / "root", simulation or {})
        layers.append(write_layer(folder / "root", folder / "own.tar"))
        partial = archive.with_name(f".{archive.name}~")
        write_archive(
            partial,
            layers,
            {reference: {"Env": PYTHON_BASE.config["Env"], "Entrypoint": ["/usr/bin/rmd"]}},
        )
        partial.replace(archive)
    return Image(reference, archive, base.packages, ())
