# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a recipe's own objects have to build the images of a group of nodes: where they cannot be
had, and for good where that was so once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._errors import EnablementError, InvalidInput
from .._json import content_hash
from .._nodes.groups import NodeGroup
from .orders import Resolution, Source
from .resolutions import unasked
from .resolve import Find, ForeignImage, Search, WantedImage


def pulled_or_built(
    group: NodeGroup, images: Sequence[str], find: Find, known: Mapping[str, Any]
) -> Resolution:
    """What a group has whose images, one or more, are pulled where they exist. known: its entry in
    the record.

    What was built here once is not looked up again: it is there because of what built it. Where a
    registry cannot be asked, what is known stays; else the nodes could not pull from it either.
    """
    missing = content_hash(list(images))
    built = Resolution(group.id, group.system.kernel, source=Source.BY_RECIPE, inputs=missing)
    if known.get("inputs") == missing and not known.get("image"):
        return built
    found = built
    for image in images:
        wanted = WantedImage(
            group.id, group.system.kernel, group.system.arch, [ForeignImage(image)]
        )
        search = Search(wanted, find)
        try:
            found = search.result()
        except InvalidInput:
            raise
        except EnablementError as error:
            if known.get("image"):
                return unasked(group.id, group.system.kernel, str(error), known)
            return replace(built, tried=(str(error).rstrip("."),))
        if not found.image:
            return replace(built, tried=found.tried)
    return found
