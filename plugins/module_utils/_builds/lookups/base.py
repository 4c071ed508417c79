# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look base images up; of OpenShift's Driver Toolkit, the one with the headers of the nodes' own
release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from ..._errors import EnablementError
from ..._nodes.groups import NodeGroup
from ..._registry.image_names import parse
from ..orders import Found
from ..resolve import Find
from ..streams import is_internal

# (reference, architecture) -> the image, why it could not be looked up, or None where there is
# none.
KnownBases = dict[tuple[str, str], Union[Found, EnablementError, None]]
_TOOLKIT = "openshift/driver-toolkit"


class BaseLookup:
    """find() for the base image of a group of nodes. images: looks up any image. known: what was
    found; each is looked up once. toolkits: build of RHCOS -> the Driver Toolkit's image."""

    def __init__(
        self, images: Find, known: KnownBases, toolkits: Mapping[str, str] | None = None
    ) -> None:
        self._find = images
        self._known = known
        self._toolkits = toolkits or {}

    def find(self, reference: str, group: NodeGroup) -> Found | None:
        """The image that is asked for; for the latest Driver Toolkit, the one of the nodes' release
        where there is one.

        Its ImageStream has a tag for each release of RHCOS that the cluster was updated to
        (openshift/driver-toolkit, manifests/01-openshift-imagestream.yaml), and the latest fits no
        node that still runs an earlier one.
        """
        parsed = parse(reference)
        if is_internal(reference) and parsed.repository == _TOOLKIT and parsed.tag == "latest":
            found = (
                self._images(str(parsed.with_tag(group.system.os_build)), group.system.arch)
                if group.system.os_build
                else None
            )
            if found:
                return found
            # Of a release that the cluster has yet to be updated to.
            reference = self._toolkits.get(group.system.os_build) or reference
        return self._images(reference, group.system.arch)

    def _images(self, reference: str, arch: str) -> Found | None:
        """What was found, or why it could not be looked up, for all groups that ask for the same."""
        if (reference, arch) not in self._known:
            try:
                self._known[reference, arch] = self._find(reference, arch)
            except EnablementError as error:
                self._known[reference, arch] = error
        known = self._known[reference, arch]
        if isinstance(known, EnablementError):
            raise known
        return known
