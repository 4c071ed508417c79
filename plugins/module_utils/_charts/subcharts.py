# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helm calls the files of charts inside a chart: by the name or the alias under which the outer one
depends on them, whatever their folder is called. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._errors import InvalidInput
from .._recipes.templates.documents import parse
from .chart_archive import CHART_FILE

FOLDER = "charts"
# Where charts with apiVersion v1 say what they depend on.
_REQUIREMENTS = "requirements.yaml"


def helm_names(files: Mapping[str, str]) -> dict[str, str]:
    """The files of a chart by the names that helm gives them.

    A chart inside has its files under each name that it may have: its own, and its aliases. What it
    is called by depends on versions and values, and is helm's to say: under the other names it
    renders nothing.
    """
    found: dict[str, str] = {}
    inside: dict[str, dict[str, str]] = defaultdict(dict)
    for path, text in files.items():
        first, _slash, rest = path.partition("/")
        folder, _slash, inner = rest.partition("/")
        if first == FOLDER and inner:
            inside[folder][inner] = text
        else:
            found[path] = text
    dependencies = list(_dependencies(files))
    for folder, chart in inside.items():
        named = helm_names(chart)
        for name in _names_of(folder, chart, dependencies):
            found.update({f"{FOLDER}/{name}/{path}": text for path, text in named.items()})
    return found


def values_of(files: Mapping[str, str]) -> Mapping[str, Any]:
    """What a chart's values.yaml says; nothing where that cannot be read, which helm tells better."""
    return _mapping_in(files, "values.yaml")


def _names_of(
    folder: str, chart: Mapping[str, str], dependencies: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What a chart inside may be called; its folder where it is no chart."""
    own = str(_mapping_in(chart, CHART_FILE).get("name") or folder)
    aliases = [each.get("alias") for each in dependencies if each.get("name") == own]
    return list(dict.fromkeys([own, *(str(alias) for alias in aliases if alias)]))


def _dependencies(files: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    for file in (CHART_FILE, _REQUIREMENTS):
        listed = _mapping_in(files, file).get("dependencies")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict):
                yield each


def _mapping_in(files: Mapping[str, str], file: str) -> Mapping[str, Any]:
    try:
        documents = parse(files.get(file, ""), file)
    except InvalidInput:
        return {}
    first = documents[0] if len(documents) == 1 else None
    return first if isinstance(first, dict) else {}
