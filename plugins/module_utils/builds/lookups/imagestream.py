# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up in OpenShift's ImageStreams, for registries that the machine that runs Ansible cannot reach."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Found
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.registry.references import parse

API_VERSION = "image.openshift.io/v1"


class ImageStreamLookup:
    """find() for references whose last two path components are a namespace and an ImageStream."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, reference: str, arch: str) -> Found | None:
        """The image that the stream's tag stands for now. arch is the cluster's own matter."""
        del arch
        parsed = parse(reference)
        namespace, _slash, name = parsed.repository.rpartition("/")
        namespace = namespace.rpartition("/")[2]
        if not namespace:
            raise EnablementError(
                f"{reference} is in no ImageStream",
                why="its path has no namespace",
                todo="use registry/namespace/name:tag, or lookup_from: controller",
            )
        kind = self._client.kind(API_VERSION, "ImageStreamTag")
        found = self._client.get(kind, f"{name}:{parsed.tag}", namespace)
        if found is None:
            return None
        image: dict[str, Any] = found.get("image") or {}
        digest = str((image.get("metadata") or {}).get("name", ""))
        metadata = image.get("dockerImageMetadata") or {}
        labels = ((metadata.get("Config") or {}).get("Labels")) or None
        return Found(str(parsed.pinned(digest)), digest, labels)
