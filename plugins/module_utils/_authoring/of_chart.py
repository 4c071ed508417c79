# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a Helm chart on disk to the files of a recipe: the chart is read, and rendered by helm with its
own values and with marks instead of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._charts.chart_archive import CHART_FILE, chart_files
from .._charts.chart_rendering import rendered_files
from .._charts.helm_program import run_helm
from .._charts.recipe_store import FileStore
from .._errors import InvalidInput
from .._json import JsonError, Obj, parse_json
from .chart_scaffold import NAMESPACE_MARK, ChartRecipe
from .chart_values import Texts, plain_values

SCHEMA_FILE = "values.schema.json"

RunHelm = Callable[[list[str], Mapping[str, str]], tuple[str, str]]


def of_chart(
    place: Path, name: str, label: str, resource: str, helm: RunHelm = run_helm
) -> Mapping[str, str]:
    """Path -> text of a recipe's files. Raises InvalidInput where there is no chart or no helm, or
    where it cannot be rendered."""
    files = _read(place)

    # A mark is none of the choices that a schema has.
    loose = {path: text for path, text in files.items() if Path(path).name != SCHEMA_FILE}

    def run(files: Texts, values: Mapping[str, Any]) -> tuple[Texts, str]:
        arguments = ["template", name, "./chart", "--namespace", NAMESPACE_MARK, "--include-crds"]
        arguments += ["--values", "values.json"]
        inputs = {f"chart/{path}": text for path, text in files.items()}
        text, error = helm(arguments, {**inputs, "values.json": json.dumps(values)})
        return rendered_files(text, files), error

    def render(values: Mapping[str, Any]) -> Texts | None:
        texts, error = run(loose, values)
        return None if error else texts

    plain, error = run(files, {})
    if error:
        raise InvalidInput(
            f"{place} cannot be rendered with its own values",
            why=error,
            todo="do in a copy of it what is missing, or write what it needs into its values.yaml",
        )
    values, marked = plain_values(files, _schema(files, place), render, plain)
    return ChartRecipe(name, label, resource, place.name, values).files(marked)


def _schema(files: Texts, place: Path) -> Obj:
    """What the chart says of its values; {} where it says nothing."""
    try:
        schema = parse_json(files.get(SCHEMA_FILE) or "{}")
    except JsonError as error:
        raise InvalidInput(
            f"{place}/{SCHEMA_FILE} is not read", why=str(error), todo="correct it in a copy"
        ) from None
    # JSON Schema knows `true`, too.
    return schema if isinstance(schema, dict) else {}


def _read(place: Path) -> Mapping[str, str]:
    """The texts of a chart by their path inside it."""
    if place.is_file():
        try:
            return chart_files(place.read_bytes(), str(place))
        except OSError as error:
            raise InvalidInput(f"{place} cannot be read", why=str(error.strerror)) from error
    files = FileStore(place.parent).read(place.name) if place.is_dir() else {}
    if CHART_FILE not in files:
        raise InvalidInput(
            f"there is no chart at {place}",
            why=f"it is no folder with a {CHART_FILE}, and no packed chart",
            todo="name one (hardware_enablement_new_chart)",
        )
    return files
