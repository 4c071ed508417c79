# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look images up in their registry, from where Ansible runs, with the pull secrets that the nodes
use."""

from __future__ import annotations

from ..._registry.image_client import Registries
from ..._registry.image_names import parse
from ..orders import Found


class RegistryLookup:
    """find() by the registry's own API."""

    def __init__(self, registries: Registries) -> None:
        self._registries = registries

    def find(self, reference: str, arch: str) -> Found | None:
        """The image for an architecture. Raises RegistryError for everything but "there is none"."""
        parsed = parse(reference)
        image = self._registries.find(parsed, arch)
        if image is None:
            return None
        return Found(str(parsed.pinned(image.digest)), image.digest, dict(image.labels))
