# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated blocks of pages: between a comment that names what is in it and a comment that ends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def names_in(page: str) -> list[str]:
    """The names of the blocks of a page."""
    return [found["name"] for found in _BLOCK.finditer(page)]


def filled(page: str, makers: Mapping[str, Callable[[], Sequence[str]]]) -> str:
    """The page with each block made anew. Raises KeyError for a block that nobody makes."""

    def made(found: re.Match[str]) -> str:
        return found[1] + "\n" + "\n".join(makers[found["name"]]()) + "\n\n" + found[3]

    return _BLOCK.sub(made, page)
