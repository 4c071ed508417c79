# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that a recipe makes, as far as its rights depend on them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ..._json import Obj
from ..templates.manifests import identity
from ..templates.render_facts import RenderedState


@dataclass(frozen=True)
class Made:
    """An object that a recipe makes. per_group: one for each kernel group, so that its name is not
    known beforehand."""

    manifest: Obj
    per_group: bool


class MadeObjects:
    """Objects of several combinations, each once."""

    def __init__(self) -> None:
        self._found: dict[str, Made] = {}

    def add(self, states: Iterable[RenderedState]) -> None:
        """Take down what is made; a namespace with the labels that it has on any of the clusters."""
        for item in (item for state in states for item in state.objects):
            manifest, content = item.manifest, _content(item.manifest)
            if manifest["kind"] == "Namespace" and content in self._found:
                manifest = _with_labels_of(self._found[content].manifest, manifest)
            self._found[content] = Made(manifest, bool(item.group))

    def all(self) -> list[Made]:
        """All of them, in the order in which they were made first."""
        return list(self._found.values())


def _with_labels_of(other: Obj, manifest: Obj) -> Obj:
    metadata = manifest["metadata"]
    labels = {**(other["metadata"].get("labels") or {}), **(metadata.get("labels") or {})}
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def _content(manifest: Obj) -> str:
    """What tells objects apart that need other rights: whose they are, and what they grant."""
    return json.dumps(
        [identity(manifest), manifest.get("rules"), manifest.get("roleRef")], sort_keys=True
    )
