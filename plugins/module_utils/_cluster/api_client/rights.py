# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights on the API server. Whoever sends requests says beside it which it needs; roles are made
from those."""

from __future__ import annotations

from dataclasses import dataclass

READ = ("get", "list", "watch")
WRITE = ("create", "patch", "delete")

# Stands for the name of the recipe among names.
OF_RECIPE = "<recipe>"
# Where a right counts: the whole cluster, the namespace of the recipe's objects, that of the locks,
# or namespaces that runs make and remove.
CLUSTER, OPERANDS, LOCKS, MADE = "cluster", "operands", "locks", "made"


@dataclass(frozen=True)
class Right:
    """Verbs on resources of one API group ("" for the core group). names: of objects, none for all.

    read_only: those of the verbs that check mode and status need too.
    """

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    scope: str = OPERANDS
    names: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()

    def to_read_only(self) -> Right:
        """What of it is needed without writing."""
        return Right(
            self.group, self.resources, self.read_only, self.scope, self.names, self.read_only
        )
