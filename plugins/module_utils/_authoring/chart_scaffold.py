# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a recipe that does what a Helm chart does with its own values: a state for each kind of
work, options for images and for values that come out as they are, proofs. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._charts.annotation_proofs import HOOK
from .._cluster.api_objects.host_access import host_paths, pod_spec
from .._errors import InvalidInput
from .._json import Obj, part
from .._recipes.loading.standard import STANDARD_OPTIONS
from .._recipes.templates.documents import parse_foreign
from .chart_values import ChartValue, Texts
from .scaffold import SCHEMA_LINE, scenario, validation_pod

# Stands for the namespace of the recipe when a chart is rendered.
NAMESPACE_MARK = "henamespacex"
_PLUGINS = "/var/lib/kubelet/device-plugins"
_DEFINITION = "CustomResourceDefinition"
_RUN_ONCE = ("Deployment", "StatefulSet", "Job")
_BREAK = re.compile(r"^---.*$", re.MULTILINE)
# Who manages it is no longer helm.
_MANAGER = re.compile(
    r"""^\s*["']?app\.kubernetes\.io/managed-by["']?:\s*["']?Helm["']?\s*\n""", re.MULTILINE
)
_BRACES = re.compile(r"\{[{%#]")
_IMAGE = re.compile(
    r"""(?P<lead>^\s*(?:- )?image:\s*)(?P<quote>["']?)(?P<image>[^\s"']+)(?P=quote)\s*$""", re.M
)
_PROBED = "validation/device-plugin.yaml.j2"


@dataclass(frozen=True)
class _ChartState:
    """What every state of one name says. description, what it requires, proofs as lines of YAML."""

    description: str
    role: str = "state"
    requires: tuple[str, ...] = ()
    anywhere: bool = False
    proofs: tuple[str, ...] = ()


_PLACES = {
    "definitions": _ChartState("The kinds that the chart brings", anywhere=True),
    "objects": _ChartState("What its pods need: rights, settings, Services", anywhere=True),
    "controllers": _ChartState(
        "What runs once for the whole cluster", requires=("definitions", "objects"), anywhere=True,
        proofs=("rollout: {}",),
    ),
    "settings": _ChartState(
        "Objects of the kinds that the chart brings", requires=("definitions", "controllers"), anywhere=True
    ),
    "device_plugin": _ChartState(
        "Offers the devices of each node to its kubelet", "state_device_plugin",
        ("definitions", "objects"), proofs=("rollout: {}", "allocatable: {resource: @RESOURCE@, at_least: 1}"),
    ),
    "device_plugin_validation": _ChartState(
        "A pod that asks for one device proves that what is offered can be used",
        "state_device_plugin_validation", ("device_plugin",),
        proofs=(f"workload: {{pod: {_PROBED}, resource: @RESOURCE@, sampling: all}}",),
    ),
    "daemons": _ChartState(
        "What else runs on each node", requires=("definitions", "objects"), proofs=("rollout: {}",)
    ),
}  # fmt: skip


@dataclass(frozen=True)
class _ChartObject:
    """One object of a chart: the state that has it, and its template."""

    state: str
    file: str
    text: str


@dataclass
class ChartRecipe:
    """What is made of a chart. label, resource: as scaffold has them. values: those that are options.
    left_out: what is not taken over, and why."""

    name: str
    label: str
    resource: str
    chart: str
    values: Sequence[ChartValue]
    images: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    _fixed: list[ChartValue] = field(default_factory=list)

    def files(self, texts: Texts) -> Mapping[str, str]:
        """Path -> text of the files. texts: file of the chart -> what it renders to, with marks.
        Raises InvalidInput where nothing is deployed."""
        self._name_options()
        parts = list(self._parts(texts))
        if not parts:
            raise InvalidInput(
                f"the chart {self.chart} deploys nothing with its own values",
                todo="choose another chart, or begin without --from (hardware_enablement_new_chart)",
            )
        states = {each.state for each in parts}
        assets = {each.file: each.text for each in parts}
        if "device_plugin" in states:
            states.add("device_plugin_validation")
            assets[_PROBED] = validation_pod(self.name)
            self.images["validation_image"] = f"registry.example.com/{self.name}/sample:1.0"
        else:
            self.left_out.append(
                f"a proof that nodes offer {self.resource}: no DaemonSet of the chart mounts {_PLUGINS}"
            )
        ordered = [name for name in _PLACES if name in states]
        return {
            "recipe.yml": self._recipe(ordered, assets),
            "README.md": self._readme(ordered),
            **assets,
            **scenario(self.name),
        }

    def _name_options(self) -> None:
        """A value that would be called as an option that all recipes have gets a longer name; of two of one
        name the second is no option."""
        kept: dict[str, ChartValue] = {}
        for value in self.values:
            is_taken = value.name in STANDARD_OPTIONS or not re.match("[a-z]", value.name)
            named = replace(value, prefix="chart_") if is_taken else value
            kept.setdefault(named.name, named)
        paths = {value.path for value in kept.values()}
        self._fixed = [value for value in self.values if value.path not in paths]
        self.values = list(kept.values())

    def _parts(self, texts: Texts) -> Iterator[_ChartObject]:
        found = [
            (document, manifest)
            for file, text in texts.items()
            for document, manifest in _documents(text, file)
        ]
        own = {
            (spec.get("group"), part(spec, "names").get("kind"))
            for _document, manifest in found
            if manifest["kind"] == _DEFINITION
            for spec in [part(manifest, "spec")]
        }
        for document, manifest in found:
            title = f"{manifest['kind']} {manifest['metadata']['name']}"
            if HOOK in (part(manifest, "metadata").get("annotations") or {}):
                self.left_out.append(f"{self._filled(title)}: a hook of helm")
                continue
            state = _state_of(manifest, own)
            file = re.sub(r"[^a-z0-9]+", "-", self._plain(title).lower()).strip("-")
            yield _ChartObject(state, f"{state}/{file}.yaml.j2", self._template(document))

    def _template(self, document: str) -> str:
        """A document as a template: braces of others are text, marks and images are options."""
        text = _BRACES.sub(lambda found: f"{{{{ '{found[0]}' }}}}", document.strip("\n"))
        text = _IMAGE.sub(self._image, _MANAGER.sub("", text))
        for value in self.values:
            text = _with_option(text, value)
        return self._filled(text) + "\n"

    def _image(self, found: re.Match[str]) -> str:
        image = self._plain(found["image"])
        base = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
        wanted = f"{re.sub(r'[^a-z0-9]+', '_', base.lower()).strip('_')}_image"
        name, number = wanted, 1
        while self.images.get(name, image) != image:
            number += 1
            name = f"{wanted}_{number}"
        self.images[name] = image
        return f"{found['lead']}{{{{ options.{name} | to_json }}}}"

    def _plain(self, text: str) -> str:
        """A text with the chart's values again."""
        for value in (*self.values, *self._fixed):
            text = text.replace(str(value.mark), str(value.default))
        return text

    def _filled(self, text: str) -> str:
        """Without the marks that are left: of values that are no options, and of the namespace."""
        for value in self._fixed:
            text = text.replace(str(value.mark), str(value.default))
        return text.replace(NAMESPACE_MARK, "{{ namespace }}")

    def _used(self, assets: Texts) -> list[ChartValue]:
        everything = "\n".join(assets.values())
        return [value for value in self.values if f"options.{value.name} " in everything]

    def _recipe(self, states: Sequence[str], assets: Texts) -> str:
        key, _equals, given = self.label.partition("=")
        lines = [
            SCHEMA_LINE,
            "---",
            "apiVersion: hardware-enablement.io/v1",
            f"name: {self.name}",
            f"description: {json.dumps(f'What the chart {self.chart} deploys')}",
            f"namespace: {self.name}",
            f"resources: [{json.dumps(self.resource)}]",
            "",
            "selector:",
            "  any_of:",
            f"    - {{{key}: {json.dumps(given or 'true')}}}",
            "",
            "options:",
        ]
        for name, image in sorted(self.images.items()):
            lines += _option(name, "str", image, "Image (tag or digest).")
        for value in self._used(assets):
            kind = "str" if isinstance(value.default, str) else "int"
            text = value.description or f"Value {value.key} of the chart."
            lines += _option(value.name, kind, value.default, text, value.choices)
        lines += ["", "states:"]
        for state in states:
            lines += self._state(state, states)
        return "\n".join(lines) + "\n"

    def _state(self, name: str, states: Sequence[str]) -> Iterator[str]:
        state = _PLACES[name]
        requires = [each for each in state.requires if each in states]
        yield f"  {name}:"
        yield f"    role: {state.role}"
        yield f"    description: {json.dumps(state.description)}"
        if requires:
            yield f"    requires: [{', '.join(requires)}]"
        if state.anywhere:
            yield "    placement: anywhere"
        if name != "device_plugin_validation":
            yield f"    assets: [{name}/*.yaml.j2]"
        if state.proofs:
            yield "    validate:"
            for proof in state.proofs:
                yield f"      - {proof.replace('@RESOURCE@', json.dumps(self.resource))}"

    def _readme(self, states: Sequence[str]) -> str:
        rows = "\n".join(f"| `{name}` | {_PLACES[name].description} |" for name in states)
        left = "\n".join(f"- {each}" for each in self.left_out) or "- nothing"
        return f"""\
# {self.name}

Made of the Helm chart {self.chart} with the chart's own values, and yours to change from now on.

| state | what it has |
|---|---|
{rows}

Options are the images, and those values that come out in objects as they are. Others are fixed as the chart has them:
see its values.yaml, and write a condition where you need one. Not taken over:

{left}

```shell
ansible-playbook hardware.enablement.recipe_check -e hardware_enablement_recipe={self.name} \\
  -e hardware_enablement_recipe_dir=FOLDER
```
"""


def _documents(text: str, file: str) -> Iterator[tuple[str, Obj]]:
    """(text, object) of each document that is an object."""
    for document in _BREAK.split(text):
        parsed, _doubled = parse_foreign(document, file)
        for manifest in parsed:
            if isinstance(manifest, dict) and manifest.get("kind") and part(manifest, "metadata"):
                yield document, manifest


def _state_of(manifest: Obj, own: set[tuple[Any, Any]]) -> str:
    """The state that has an object. own: (group, kind) of what the chart defines."""
    kind = str(manifest["kind"])
    group = str(manifest.get("apiVersion")).rpartition("/")[0]
    if kind == _DEFINITION:
        return "definitions"
    if (group, kind) in own:
        return "settings"
    if kind in _RUN_ONCE:
        return "controllers"
    if kind != "DaemonSet":
        return "objects"
    paths = host_paths(pod_spec(manifest)).values()
    serves = any(path.rstrip("/") == _PLUGINS for path in paths)
    return "device_plugin" if serves else "daemons"


def _with_option(text: str, value: ChartValue) -> str:
    """A text with an option for a mark: as a whole scalar, which may need quotes, or inside of one."""
    mark = re.escape(str(value.mark))
    whole = re.compile(
        rf"""(?P<lead>(?::|^\s*-)\s+)(?P<quote>["']?){mark}(?P=quote)\s*$""", re.MULTILINE
    )

    def scalar(found: re.Match[str]) -> str:
        is_text = found["quote"] and not isinstance(value.default, str)
        filters = "string | to_json" if is_text else "to_json"
        return f"{found['lead']}{{{{ options.{value.name} | {filters} }}}}"

    return whole.sub(scalar, text).replace(str(value.mark), f"{{{{ options.{value.name} }}}}")


def _option(
    name: str, kind: str, default: str | int, description: str, choices: Sequence[str | int] = ()
) -> Iterator[str]:
    yield f"  {name}:"
    yield f"    type: {kind}"
    if choices:
        yield f"    choices: {json.dumps(list(choices))}"
    yield f"    default: {json.dumps(default)}"
    yield f"    description: {json.dumps(description)}"
