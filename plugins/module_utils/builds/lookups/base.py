# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look base images up; of OpenShift's Driver Toolkit, the one with the headers of the nodes' own release."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Found
from ansible_collections.hardware.enablement.plugins.module_utils.builds.resolve import Find
from ansible_collections.hardware.enablement.plugins.module_utils.builds.streams import is_internal
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.groups import KernelGroup
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.system import coreos_build
from ansible_collections.hardware.enablement.plugins.module_utils.registry.references import parse

_TOOLKIT = "openshift/driver-toolkit"


class BaseLookup:
    """find() for the base image of a kernel group. images: looks up any image."""

    def __init__(self, client: Client, images: Find) -> None:
        self._client = client
        self._images = images

    def find(self, reference: str, group: KernelGroup) -> Found | None:
        """The image that is asked for; for the latest Driver Toolkit, the one of the nodes' release where there is one.

        Its ImageStream has a tag for each release of RHCOS that the cluster was updated to (openshift/driver-toolkit,
        manifests/01-openshift-imagestream.yaml), and the latest fits no node that still runs an earlier one.
        """
        parsed = parse(reference)
        if is_internal(reference) and parsed.repository == _TOOLKIT and parsed.tag == "latest":
            release = self._release(group)
            found = self._images(str(parsed.with_tag(release)), group.arch) if release else None
            if found:
                return found
        return self._images(reference, group.arch)

    def _release(self, group: KernelGroup) -> str:
        """The release of RHCOS that a node of the group runs, "" for other systems; one kernel, one set of headers."""
        node = self._client.get(self._client.kind("v1", "Node"), group.nodes[0]) if group.nodes else None
        info = ((node or {}).get("status") or {}).get("nodeInfo") or {}
        return coreos_build(str(info.get("osImage", "")))
