# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A layout of images on disk: whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_layout import (
    REF_NAME,
    ImageLayout,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_manifests import (
    OCI_MANIFEST,
    Manifest,
    digest_of,
    limited,
    read_manifest,
)

CONTENT = b"a layer"
DIGEST = digest_of(CONTENT)


def manifest() -> Manifest:
    """An image of one layer, which is its configuration, too."""
    part = {"digest": DIGEST, "size": len(CONTENT)}
    body = json.dumps({"mediaType": OCI_MANIFEST, "config": part, "layers": [part]}).encode()
    found = read_manifest(body, "")
    assert found
    return found


def test_a_blob_is_there_only_as_a_whole(tmp_path: Path) -> None:
    layout = ImageLayout(tmp_path / "layout")

    def cut(file: BinaryIO) -> None:
        file.write(CONTENT[:3])
        raise InvalidInput("it was cut")

    with pytest.raises(InvalidInput, match="it was cut"):
        layout.add(DIGEST, cut)
    assert not layout.holds(DIGEST)
    assert [path for path in layout.folder.rglob("*") if path.is_file()] == []
    layout.add(DIGEST, lambda file: file.write(CONTENT))
    assert layout.holds(DIGEST)
    layout.path(DIGEST).write_bytes(b"A layer")
    assert not layout.holds(DIGEST)
    with pytest.raises(InvalidInput, match="export again"):
        layout.opened(DIGEST)


def test_names_are_those_of_the_specification_and_others_stay(tmp_path: Path) -> None:
    layout, image = ImageLayout(tmp_path), manifest()
    layout.begin()
    other = {"mediaType": OCI_MANIFEST, "digest": DIGEST, "size": 1}
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [other]}))
    layout.name({"quay.io/org/image:1": image})
    layout.name({"quay.io/org/image:1": image})
    assert json.loads((tmp_path / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((tmp_path / "index.json").read_text())
    assert index["schemaVersion"] == 2
    assert index["manifests"][0] == other
    assert [each["annotations"][REF_NAME] for each in index["manifests"][1:]] == [
        "quay.io/org/image:1"
    ]
    assert list(layout.entries()) == ["quay.io/org/image:1"]
    layout.add(image.digest, lambda file: file.write(image.body))
    assert layout.manifest(index["manifests"][1]) == image


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear all")
    with pytest.raises(InvalidInput, match="is no layout of images"):
        ImageLayout(tmp_path)


def test_an_index_for_some_architectures_is_another_one() -> None:
    members = [
        {"digest": DIGEST, "size": 1, "platform": {"os": "linux", "architecture": arch}}
        for arch in ("amd64", "arm64")
    ]
    kind = "application/vnd.oci.image.index.v1+json"
    index = read_manifest(json.dumps({"mediaType": kind, "manifests": members}).encode(), "")
    assert index
    few = limited(index, ["arm64"])
    assert few
    assert (few.members, few.digest != index.digest) == ([members[1]], True)
    assert limited(index, ["arm64", "s390x"]) is None


@pytest.mark.parametrize(
    "entry", [{}, {"digest": "sha256:../../etc"}, {"digest": DIGEST, "annotations": "x"}, "x"]
)
def test_an_index_that_names_no_blob_is_refused(tmp_path: Path, entry: Any) -> None:
    (tmp_path / "oci-layout").write_text("{}")
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [entry]}))
    with pytest.raises(InvalidInput, match="it has an image without a digest"):
        ImageLayout(tmp_path).entries()
