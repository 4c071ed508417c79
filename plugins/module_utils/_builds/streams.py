# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What image references mean to OpenShift: its internal registry, and ImageStreamTags for what is
there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from .._errors import EnablementError
from .._registry.image_names import parse

API_VERSION = "image.openshift.io/v1"
# Names inside the cluster; from outside only a Route of the administrator's choice leads there, if
# any.
_SERVICE = "image-registry.openshift-image-registry.svc"
_INTERNAL = (f"{_SERVICE}:5000", f"{_SERVICE}.cluster.local:5000")


@dataclass(frozen=True)
class StreamTag:
    """A tag of an ImageStream."""

    namespace: str
    stream: str
    tag: str

    @property
    def name(self) -> str:
        """The name of the ImageStreamTag."""
        return f"{self.stream}:{self.tag}"


def is_internal(reference: str) -> bool:
    """Whether an image is in OpenShift's internal registry."""
    return parse(reference).registry in _INTERNAL


def stream_tag(reference: str) -> StreamTag:
    """The ImageStreamTag of a reference, whose last two path components are a namespace and an
    ImageStream."""
    parsed = parse(reference)
    path, _slash, stream = parsed.repository.rpartition("/")
    namespace = path.rpartition("/")[2]
    if not namespace or parsed.digest:
        raise EnablementError(
            f"{reference} names no ImageStreamTag",
            why="it has a digest instead of a tag"
            if parsed.digest
            else "its path has no namespace",
            todo="use registry/namespace/name:tag, or lookup_from: controller",
        )
    return StreamTag(namespace, stream, parsed.tag)
