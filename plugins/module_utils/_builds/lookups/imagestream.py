# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up in OpenShift's ImageStreams, for registries that the machine that runs Ansible
cannot reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._json import part
from ..._registry.image_names import parse
from ..._registry.registry_errors import WrongArchitecture
from ..orders import Found
from ..resolve import Find
from ..streams import API_VERSION, is_internal, stream_tag

# What a tag of an ImageStream leads to.
RIGHTS = (Right("image.openshift.io", ("imagestreamtags",), ("get",), CLUSTER, read_only=("get",)),)


class ImageStreamLookup:
    """find() for references whose last two path components are a namespace and an ImageStream."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, reference: str, arch: str) -> Found | None:
        """The image that the stream's tag stands for now, by the reference that OpenShift itself
        would pull."""
        tag = stream_tag(reference)
        kind = self._client.kind(API_VERSION, "ImageStreamTag")
        image = (self._client.get(kind, tag.name, tag.namespace) or {}).get("image") or {}
        digest = str(part(image, "metadata").get("name", ""))
        if not digest:
            return None  # no such tag, or one whose import has failed
        archs = _architectures(image)
        if archs and arch not in archs:
            raise WrongArchitecture(
                f"{reference} has no image for {arch}",
                why=f"its ImageStreamTag has {', '.join(sorted(map(str, archs)))}",
                todo="push an image for that architecture",
            )
        pinned = str(image.get("dockerImageReference", ""))
        labels = (_metadata(image).get("Config") or {}).get("Labels") or None
        return Found(
            pinned if pinned.endswith(digest) else str(parse(reference).pinned(digest)),
            digest,
            labels,
        )


def _architectures(image: Mapping[str, Any]) -> set[Any]:
    """What an image is for, empty where that is not said. An index has no metadata of its own, but
    lists its members."""
    members = image.get("dockerImageManifests") or []
    if members:
        return {member.get("architecture") for member in members}
    return {_metadata(image).get("Architecture")} - {None, ""}


def _metadata(image: Mapping[str, Any]) -> Mapping[str, Any]:
    return part(image, "dockerImageMetadata")


def by_host(streams: Find, others: Find) -> Find:
    """A look-up that asks ImageStreams for what is in OpenShift's internal registry, and another
    one for all else."""

    def find(reference: str, arch: str) -> Found | None:
        return (streams if is_internal(reference) else others)(reference, arch)

    return find
