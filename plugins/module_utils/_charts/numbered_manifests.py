# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory of numbered manifests, made a chart of, so that one program renders all Go templates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from pathlib import PurePosixPath
from typing import Any, ClassVar

from .._json import Obj
from .._recipes.templates.render_facts import RenderFacts
from .._recipes.templates.templating import TemplateError
from .chart_format import ChartFormat
from .chart_states import ChartStep, step_name
from .recipe_dictionary import has_placeholders, recipe_dictionary, unknown_fields
from .recipe_files import NUMBERED
from .runtime_values import runtime_values

# The operator's own layout of a recipe.
_FOLDER = "manifests/"
# The runtime value that is the dot of all files.
DOT = "recipe"
KERNEL_TOKEN = "KERNEL_FULL_VERSION"
# The directories of the very first generation, in the order in which it went through them.
_FIRST = (
    "driver",
    "driver-validation",
    "device-plugin",
    "device-plugin-validation",
    "prometheus",
    "monitoring",
    "feature-discovery",
    "grafana",
)


def manifests_at(files: Mapping[str, str]) -> dict[str, str]:
    """The numbered manifests, by their path; of other files nothing is known. Where some lie in a
    folder of that name, the custom resource that lies beside it is none of them, as for the operator."""
    found = {path: text for path, text in files.items() if NUMBERED.match(PurePosixPath(path).name)}
    inside = {path: text for path, text in found.items() if path.startswith(_FOLDER)}
    return inside or found


def numbered_steps(files: Mapping[str, str]) -> list[ChartStep]:
    """Each file is a state; where they lie in directories, each directory is one."""
    steps: dict[str, list[str]] = {}
    for path in sorted(files, key=_order):
        folder = path.rpartition("/")[0]
        steps.setdefault(path if _is_alone(path) else folder, []).append(path)
    return [
        ChartStep(step_name(key) if paths == [key] else _folder_name(key), tuple(paths))
        for key, paths in steps.items()
    ]


def as_chart(name: str, files: Mapping[str, str]) -> dict[str, str]:
    """The chart that renders those files that are templates: each of them gets the dictionary as
    its dot, and keeps its lines."""
    chart = {"Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 0.0.0\n"}
    for path, text in files.items():
        if has_placeholders(text):
            own = json.dumps(f"file {path}")
            call = f"{{{{ end }}}}{{{{ template {own} .Values.{DOT} }}}}"
            chart[f"templates/{path}"] = f"{{{{ define {own} }}}}{text}{call}"
    return chart


class NumberedFormat(ChartFormat):
    """A directory of numbered manifests. They do not say which objects there are one of for each
    kernel. An object is taken for such a one where a kernel is named in it, but not in its name."""

    PER_GROUP: ClassVar[re.Pattern[str]] = re.compile(
        rf"{KERNEL_TOKEN}|kernel-affine|\.Kernel(?:Full|Patch)?Version\b"
        r"|\.OperatingSystem(?:Major|MajorMinor|Decimal)\b|\.DriverToolkitImage\b"
    )

    def reads(self, name: str) -> bool:
        """See ForeignFormat; here the names of fields begin with a capital."""
        return any(f".{name}".casefold() in text.casefold() for text in self.files.values())

    def text_of(self, file: str, variables: Mapping[str, Any], facts: RenderFacts) -> str:
        """What a file renders to; one without placeholders is as it is."""
        text = self.files[file]
        if has_placeholders(text):
            text = super().text_of(file, variables, facts)
        kernel = variables.get("kernel")
        return text.replace(KERNEL_TOKEN, str(kernel["raw"])) if isinstance(kernel, dict) else text

    def values(self, variables: Mapping[str, Any], facts: RenderFacts) -> Mapping[str, Any]:
        """The dictionary. Raises TemplateError where a file asks for a field that it does not have."""
        runtime = runtime_values(variables, facts)
        dot = recipe_dictionary(runtime, variables["options"]["set"])
        for path, text in self.files.items():
            for field, line in unknown_fields(text, dot) if has_placeholders(text) else ():
                place = f"{self.chart.source}/{path}, line {line}"
                raise TemplateError(path, line, where=place, why=f"there is no field {field}")
        return {DOT: dot}

    def _manifests(self, file: str, variables: Mapping[str, Any], facts: RenderFacts) -> list[Obj]:
        """The operator put all objects into the resource's namespace, whatever they said; not so its
        very first generation, which had directories."""
        found = super()._manifests(file, variables, facts)
        for manifest in found if _is_alone(file) else ():
            manifest["metadata"].pop("namespace", None)
        return found

    def definitions(self, variables: Mapping[str, Any], facts: RenderFacts) -> Set[str]:  # noqa: ARG002
        """All: no values switch any of them off."""
        return self._crds

    def is_affine(
        self, manifest: Obj, annotations: Mapping[str, str], variables: Mapping[str, Any]
    ) -> bool:
        """Whether the object is annotated so, or is about a kernel without its name telling which."""
        kernel = variables.get("kernel")
        if super().is_affine(manifest, annotations, variables):
            return True
        if not isinstance(kernel, dict) or kernel["raw"] in manifest["metadata"]["name"]:
            return False
        return str(kernel["raw"]) in json.dumps(manifest)


def _is_alone(path: str) -> bool:
    """Whether a file is a state, and not the directory that it is in."""
    return path.removeprefix(_FOLDER).count("/") == 0


def _order(path: str) -> tuple[int, str]:
    """By name, but for the first generation's directories."""
    name = path.partition("/")[0].removeprefix("state-")
    return (_FIRST.index(name), path) if name in _FIRST and "/" in path else (len(_FIRST), path)


def _folder_name(folder: str) -> str:
    """driver for state-driver; the name of a state begins with a letter."""
    name = folder.removeprefix("state-").removeprefix("state_")
    return f"s{name}" if name[:1].isdigit() else name
