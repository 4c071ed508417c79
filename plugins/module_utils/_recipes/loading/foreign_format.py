# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever reads a recipe whose files are in another format than ours, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Protocol

from ..._json import Obj
from ..._proofs.proof import Proof
from ..templates.render_facts import RenderFacts


class ForeignFormat(Protocol):
    """Renders the files of one recipe, in place of our templates.

    A path is one that a state's assets name. warnings: what a person should know of the files, as
    file, line and a sentence. options: those that the files may read.
    """

    @property
    def warnings(self) -> Sequence[tuple[str, int, str]]: ...

    @property
    def options(self) -> Set[str]: ...

    def reads(self, name: str) -> bool:
        """Whether the files ask for a value that whoever renders them has to find out."""

    def is_per_group(self, path: str, options: Mapping[str, Any]) -> bool:
        """Whether what the path gives may differ between groups of nodes that have these options."""

    def manifests(
        self, path: str, variables: Mapping[str, Any], facts: RenderFacts
    ) -> list[tuple[Obj, bool]]:
        """The objects of a path, and for each whether its name tells the group that it is for.

        variables: as our templates have them. Raises InvalidInput with file and line.
        """

    def images(
        self, paths: Sequence[str], variables: Mapping[str, Any], facts: RenderFacts
    ) -> Sequence[str]:
        """The images of a group of nodes without which the builds among these paths are needed; none
        where they build nothing for it."""

    def is_renewed(self, manifest: Obj) -> bool:
        """Whether an object that cannot be changed in place is made anew, without being told to."""

    def is_left_alone(self, manifest: Obj) -> bool:
        """Whether an object stays as it is where somebody else has made it."""

    def proofs(self, manifests: Sequence[Obj]) -> list[Proof]:
        """What proves a state of these objects."""

    def line_of(self, path: str, manifest: Obj, field: Sequence[str | int]) -> int:
        """The line of the file that is likely to have written a field of an object, 0 for none."""

    def notes(self, variables: Mapping[str, Any], facts: RenderFacts) -> str:
        """What the author tells whoever has installed it; "" for nothing."""
