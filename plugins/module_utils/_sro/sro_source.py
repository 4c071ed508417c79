# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the charts and manifests are that a custom resource of the Special Resource Operator names. The
operator had them in its image; here they are where the resource's file comes from, or where somebody
says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from .._json import part

_FOLDER, _ARTIFACT, _VERSIONED = "file://", "oci://", ("https://", "cm://")


@dataclass(frozen=True)
class SroSource:
    """file: the custom resource's. recipe_dir: what the person names, "" for nothing; it is meant for
    all that the resource names. holds: whether a folder holds a recipe of a name."""

    file: PurePath
    recipe_dir: str
    holds: Callable[[str, str], bool]

    def of_chart(self, chart: Mapping[str, Any]) -> str:
        """recipe_dir for a chart, in the version that is wanted; "" where nothing leads to one."""
        name, version = str(chart["name"]), str(chart.get("version") or "")
        url = str(part(chart, "repository").get("url") or "").rstrip("/")
        if self.recipe_dir or not url.startswith(_FOLDER):
            return self.recipe_dir or _elsewhere(url, name, version)
        path = url.removeprefix(_FOLDER)
        # Absolute in the operator's image: here, or below a folder above the file.
        roots = ["", *(str(parent).rstrip("/") for parent in self.file.parents)]
        return self._folder(name, [f"{root}{path}" for root in roots]) or path

    def of_manifests(self, name: str, namespace: str) -> str:
        """recipe_dir for numbered manifests: a folder of their name, else the ConfigMap that the
        operator looked for, in the resource's namespace."""
        return self.recipe_dir or self._folder(name, []) or f"cm://{namespace}/{name}"

    def _folder(self, name: str, folders: Sequence[str]) -> str:
        """The first of these that holds a recipe, or the folder that holds that of the file; "" for
        none."""
        beside = str(self.file.parent.parent)
        return next((each for each in (*folders, beside) if self.holds(each, name)), "")


def _elsewhere(url: str, name: str, version: str) -> str:
    """recipe_dir for a chart that lies in no folder; "" where nothing leads there."""
    if url.startswith(_ARTIFACT) and version:
        return f"{url}/{name}:{version}"
    if url.startswith(_VERSIONED):
        return f"{url}#{version}" if version else url
    return ""
