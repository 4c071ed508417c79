# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel that a release of OpenShift brings: read from the release's image and from its Driver
Toolkit, whose last layers say so.

The release lists its images as an ImageStream (release-manifests/image-references), with the build of
RHCOS as an annotation; the Driver Toolkit says for which kernel it is (openshift/driver-toolkit,
Dockerfile)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._errors import EnablementError, InvalidInput
from .._json import Obj, parse_json, part
from .._nodes.expected_kernels import ExpectedKernel
from .._nodes.system import coreos_release

# (image, architecture, path) -> the file's content, None where there is no such image or file.
FileOf = Callable[[str, str, str], "bytes | None"]
_REFERENCES = "release-manifests/image-references"
_TOOLKIT = "etc/driver-toolkit-release.json"
_VERSIONS = "io.openshift.build.versions"
_BUILD = re.compile(r"(?:^|,)machine-os=([0-9][0-9A-Za-z.+~-]*)")


def release_kernels(
    releases: Sequence[str], archs: Sequence[str], file_of: FileOf
) -> list[ExpectedKernel]:
    """The kernels of these releases' images, for each architecture. Raises EnablementError where an
    image is none of a release, or cannot be read."""
    return [_kernel(release, arch, file_of) for release in releases for arch in archs]


def _kernel(release: str, arch: str, file_of: FileOf) -> ExpectedKernel:
    tags = part(_read(release, arch, _REFERENCES, file_of), "spec").get("tags") or []
    toolkit = next((_image(tag) for tag in tags if tag.get("name") == "driver-toolkit"), "")
    builds = (_BUILD.search(_versions(tag)) for tag in tags)
    build = next((found[1] for found in builds if found), "")
    if not toolkit or not build:
        raise _no_release(release, "it names no Driver Toolkit, or no build of RHCOS")
    kernel = str(_read(toolkit, arch, _TOOLKIT, file_of).get("KERNEL_VERSION") or "")
    if not kernel:
        raise _no_release(release, f"its Driver Toolkit {toolkit} names no kernel")
    os_id, os_version = coreos_release(build)
    return ExpectedKernel(kernel, os_id, os_version, build, arch, toolkit)


def _read(image: str, arch: str, path: str, file_of: FileOf) -> Obj:
    content = file_of(image, arch, path)
    if content is None:
        raise EnablementError(
            f"{image} does not tell of a kernel",
            why=f"there is no such image, or it has no file {path}",
            todo="name the image of a release, as `oc adm release info` does",
        )
    try:
        found = parse_json(content.decode("utf-8", "replace"))
    except ValueError as error:
        raise _no_release(image, f"{path} is no JSON ({error})") from None
    return found if isinstance(found, dict) else {}


def _image(tag: Mapping[str, Any]) -> str:
    return str(part(tag, "from").get("name") or "")


def _versions(tag: Mapping[str, Any]) -> str:
    return str(part(tag, "annotations").get(_VERSIONS) or "")


def _no_release(image: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{image} is no image of a release of OpenShift",
        why=why,
        todo="name one, as `oc adm release info` does",
    )
