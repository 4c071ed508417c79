# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that operands publish about their node."""

from __future__ import annotations

from collections.abc import Mapping

from .api import MERGE, ApiError, Session
from .model import Obj


class Published:
    """Those of one collection, as they were written last. Only the worker of a node touches its own."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._written: dict[str, dict[str, Obj]] = {}

    def adopt(self, node: str, name: str) -> None:
        """An earlier daemon has published it: it is written again, or deleted where nobody wants it."""
        self._written.setdefault(node, {})[name] = {}

    def of(self, node: str) -> Mapping[str, Obj]:
        """Name -> object."""
        return self._written.get(node, {})

    def forget(self, node: str) -> None:
        """The node is gone, and what was published about it goes with it."""
        self._written.pop(node, None)

    def write(self, node: str, wanted: dict[str, Obj], session: Session) -> int:
        """Make it so; how many requests that took."""
        known = self.of(node)
        if known == wanted:
            return 0
        for name in known.keys() - wanted.keys():
            try:
                session.request("DELETE", f"{self.path}/{name}")
            except ApiError as error:
                if error.status != 404:
                    raise
        changed = {name: obj for name, obj in wanted.items() if known.get(name) != obj}
        for name, obj in changed.items():
            try:
                session.request("POST", self.path, obj)
            except ApiError as error:
                if error.status != 409:
                    raise
                session.request("PATCH", f"{self.path}/{name}", obj, MERGE)
        self._written[node] = wanted
        return len(known.keys() | wanted.keys())
