# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resource that its author has put beside a chart or numbered manifests. The Special
Resource Operator created it for what others depend on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from .._charts.chart_archive import CHART_FILE
from .._errors import InvalidInput
from .._recipes.templates.documents import parse_foreign
from .sro_resource import SroRequest, is_resource, request_of
from .sro_source import SroSource


def own_request(files: Mapping[str, str], name: str) -> SroRequest | None:
    """What the custom resource asks for that lies beside a recipe's files (path -> text) and is
    called as it; None where there is none. A chart's values are those of whoever depends on it."""
    for path, text in files.items():
        if "/" in path or not path.endswith((".yaml", ".yml")) or f"name: {name}" not in text:
            continue
        try:
            documents, _doubled = parse_foreign(text, path)
        except InvalidInput:
            # A template, or of no use: rendering says so.
            continue
        if len(documents) == 1 and is_resource(documents[0], name):
            found = request_of(
                documents, path, SroSource(PurePosixPath(path), "", lambda *_: False)
            )
            options = {key: value for key, value in found.options.items() if key != "set"}
            return replace(found, options=options) if CHART_FILE in files else found
    return None
