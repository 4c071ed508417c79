# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proof as a recipe asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Spec = Mapping[str, Any]


@dataclass(frozen=True)
class Proof:
    """One validation. spec holds the settings of its kind that the recipe gives.

    enabled: the bool option that turns it on ("": always on). render: the settings for a group's id
    and a node's name, where they differ between these; spec then holds templates.
    """

    kind: str
    spec: Spec = field(default_factory=dict)
    enabled: str = ""
    render: Callable[[str, str], Spec] | None = field(default=None, compare=False, repr=False)
    # What its kind made of spec_for(group, node): a proof is evaluated many times a second.
    settings: dict[tuple[str, str], Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def varies(self) -> bool:
        """Whether its settings differ between groups or nodes."""
        return self.render is not None

    def spec_for(self, group: str, node: str) -> Spec:
        """The settings for a node of a group; where they do not differ, those of all."""
        return self.render(group, node) if self.render and node else self.spec
