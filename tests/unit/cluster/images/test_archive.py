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

from tests.cluster.images.archive import read_layers, write_archive, write_layer
from tests.cluster.images.recipes import OVERLAYS, RECIPES, reference


def test_an_archive_holds_what_its_index_says(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin/tool").write_text("tool")
    (root / "sbin").symlink_to("bin")
    layer = write_layer(root, tmp_path / "layer.tar")
    write_archive(tmp_path / "image.tar", [layer], {"localhost/mine:1": {"Cmd": ["/bin/tool"]}})

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


def test_images_of_one_archive_share_their_layers_and_differ_in_what_they_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/tool").write_text("tool")
    layer = write_layer(tmp_path / "root", tmp_path / "layer.tar")
    names = {"localhost/tool:1": {}, "localhost/other:1": {"Entrypoint": ["/tool"]}}
    write_archive(tmp_path / "image.tar", [layer], names)
    with tarfile.open(tmp_path / "image.tar") as archive:
        index = archive.extractfile("index.json")
        assert index is not None
        entries = json.load(index)["manifests"]
        # oci-layout, index, manifest.json, one layer, and for each image a manifest and a config.
        assert len(archive.getnames()) == 8
        saved = archive.extractfile("manifest.json")
        assert saved is not None
        assert [image["RepoTags"] for image in json.load(saved)] == [[name] for name in names]
    assert [entry["annotations"]["io.containerd.image.name"] for entry in entries] == list(names)

    (tmp_path / "again").mkdir()
    [again] = read_layers(tmp_path / "image.tar", tmp_path / "again")

    assert again.digest == layer.digest
    assert again.file.read_bytes() == layer.file.read_bytes()


def test_the_programs_of_an_overlay_are_there() -> None:
    for overlay in OVERLAYS.values():
        modules = [*overlay.scripts.values(), *overlay.alone.values()]
        assert all((overlay.package / f"{module}.py").is_file() for module in modules)
        assert all((overlay.package / source).is_file() for source in overlay.programs.values())
        assert {run[0] for run in overlay.names.values() if run} <= {
            *overlay.scripts,
            *overlay.programs,
        }


def test_recipes_are_found_by_their_image_names() -> None:
    assert all(name == recipe.name for name, recipe in RECIPES.items())
    assert reference("builder") == "localhost/builder:1"
