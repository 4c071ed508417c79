# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OCI archives: consistent in themselves, links kept as links."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

from tests.cluster.images.archive import write_archive, write_layer
from tests.cluster.images.recipes import RECIPES, reference


def test_an_archive_holds_what_its_index_says(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin/tool").write_text("tool")
    (root / "sbin").symlink_to("bin")
    layer = write_layer(root, tmp_path / "layer.tar")
    write_archive(tmp_path / "image.tar", "localhost/mine:1", [layer], {"Cmd": ["/bin/tool"]})

    with tarfile.open(tmp_path / "image.tar") as archive:

        def blob(entry: dict[str, Any]) -> bytes:
            stream = archive.extractfile(f"blobs/{entry['digest'].replace(':', '/')}")
            assert stream is not None
            content = stream.read()
            assert hashlib.sha256(content).hexdigest() == entry["digest"].removeprefix("sha256:")
            assert len(content) == entry["size"]
            return content

        index = archive.extractfile("index.json")
        assert index is not None
        [entry] = json.loads(index.read())["manifests"]
        assert entry["annotations"]["io.containerd.image.name"] == "localhost/mine:1"
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        assert config["config"] == {"Cmd": ["/bin/tool"]}
        [content] = manifest["layers"]
        assert config["rootfs"]["diff_ids"] == [content["digest"]]
        (tmp_path / "again.tar").write_bytes(blob(content))
    with tarfile.open(tmp_path / "again.tar") as tar:
        assert tar.getnames() == ["bin", "bin/tool", "sbin"]
        assert tar.getmember("sbin").issym()


def test_recipes_are_found_by_their_image_names() -> None:
    assert all(name == recipe.name for name, recipe in RECIPES.items())
    assert reference("builder") == "localhost/builder:1"
