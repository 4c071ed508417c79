# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernel a release of OpenShift brings."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.expected_kernels import (
    ExpectedKernel,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.release_kernels import (
    release_kernels,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_files import (
    file_in_layer,
)

RELEASE, TOOLKIT = "registry.example/release:4.19.1", "registry.example/toolkit@sha256:1"
KERNEL, BUILD = "5.14.0-570.12.1.el9_6.x86_64", "9.6.20250523-0"
FILES: dict[tuple[str, str], Any] = {
    (RELEASE, "release-manifests/image-references"): {
        "kind": "ImageStream",
        "spec": {
            "tags": [
                {"name": "cli"},
                {
                    "name": "rhel-coreos",
                    "annotations": {"io.openshift.build.versions": f"machine-os={BUILD}"},
                },
                {"name": "driver-toolkit", "from": {"kind": "DockerImage", "name": TOOLKIT}},
            ]
        },
    },
    (TOOLKIT, "etc/driver-toolkit-release.json"): {"KERNEL_VERSION": KERNEL, "RHEL_VERSION": "9.6"},
}


def kernels(files: dict[tuple[str, str], Any]) -> list[ExpectedKernel]:
    """Those of the release, from images with these files."""

    def file_of(image: str, _arch: str, path: str) -> bytes | None:
        content = files.get((image, path))
        return None if content is None else json.dumps(content).encode()

    return release_kernels([RELEASE], ["amd64"], file_of)


def test_release_and_toolkit_tell_kernel_and_system() -> None:
    assert kernels(FILES) == [ExpectedKernel(KERNEL, "rhel", "9.6", BUILD, "amd64", TOOLKIT)]


@pytest.mark.parametrize("lost", FILES)
def test_an_image_without_its_file_is_named(lost: tuple[str, str]) -> None:
    with pytest.raises(EnablementError, match=f"{lost[0]} does not tell of a kernel"):
        kernels({key: content for key, content in FILES.items() if key != lost})


@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize("content", [{}, [], {"spec": {"tags": [{"name": "cli"}]}}])
def test_what_is_no_release_is_refused(key: tuple[str, str], content: Any) -> None:
    with pytest.raises(InvalidInput, match="is no image of a release of OpenShift"):
        kernels({**FILES, key: content})


def layer(**files: bytes) -> io.BytesIO:
    """A gzipped layer with a link, and these files."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        link = tarfile.TarInfo("etc/wanted")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size, entry.pax_headers = len(content), {"mtime": "1.5"}
            archive.addfile(entry, io.BytesIO(content))
    return io.BytesIO(gzip.compress(plain.getvalue()))


def test_one_file_of_a_layer_is_read_and_no_link_followed() -> None:
    found = layer(other=b"x" * 5000, wanted=b"content")
    assert file_in_layer(found, "wanted", "image") == b"content"
    assert file_in_layer(layer(other=b"x"), "wanted", "image") is None
    assert file_in_layer(layer(), "etc/wanted", "image") is None


def test_what_is_no_layer_and_what_is_too_large_is_refused() -> None:
    for odd in (io.BytesIO(b"no gzip"), io.BytesIO(gzip.compress(b"x" * 600))):
        with pytest.raises(InvalidInput, match="wanted cannot be read from image"):
            file_in_layer(odd, "wanted", "image")
    with pytest.raises(InvalidInput, match="is larger than"):
        file_in_layer(layer(wanted=b"x" * 2_000_001), "wanted", "image")
