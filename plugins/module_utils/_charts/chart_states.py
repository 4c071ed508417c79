# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the files of a chart to states: which there are, in which order, and what each makes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from .._errors import InvalidInput
from .._proofs.proof import Proof
from .._recipes.loading.recipe import Asset, ImageSource, OrderRules, State, StateProofs
from .recipe_files import NUMBERED
from .sro_annotations import STATE, in_text
from .vendor_builds import is_fallback

# A state of the operator: a file in order of its number.
NAMESPACE_ASSET = "(namespace)"
# Builds in a cluster are awaited too.
TIMEOUT_S = 1800
HOOKS = ("pre-install", "post-install")
# Its role looks the images up.
_FALLBACK = ImageSource(lookup="controller", fallback=True)

_ROLES = {
    "driver-container": "state_driver",
    "runtime-enablement": "state_runtime_hook",
    "device-plugin": "state_device_plugin",
    "device-monitoring": "state_monitoring",
    "device-feature-discovery": "state_feature_discovery",
    "device-dashboard": "state_grafana",
    "device-grafana": "state_grafana",
}
_LONGEST = 30
# Of the chart itself, and of charts inside it.
_TEMPLATE = re.compile(r"(charts/[^/]+/)*templates/")
_CRD = re.compile(r"(charts/[^/]+/)*crds/")
_HOOK = re.compile(r"""["']?helm\.sh/hook["']?\s*:\s*["']?(?P<events>[a-z, -]+)""")
_WEIGHT = re.compile(r"""["']?helm\.sh/hook-weight["']?\s*:\s*["']?(?P<weight>-?[0-9]+)""")


@dataclass(frozen=True)
class HookAsset:
    """The hooks of one event and weight in one file. With the event "": the objects of the file
    that are no hooks."""

    file: str
    event: str = ""
    weight: int = 0

    @property
    def path(self) -> str:
        """As an asset of a state, and in messages."""
        return f"{self.file}, hook {self.event} {self.weight}" if self.event else self.file


def asset_at(path: str) -> HookAsset:
    """The file, and the hooks, that a state's asset is about."""
    file, comma, hook = path.partition(", hook ")
    event, _space, weight = hook.partition(" ")
    return HookAsset(file, event, int(weight)) if comma else HookAsset(path)


def templates_in(files: Mapping[str, str]) -> list[str]:
    """The templates that give objects, of the chart and of those inside it, by their full names."""
    return sorted(
        path
        for path in files
        if _TEMPLATE.match(path)
        and not PurePosixPath(path).name.startswith("_")
        and PurePosixPath(path).name != "NOTES.txt"
        and PurePosixPath(path).suffix in (".yaml", ".yml", ".tpl", ".json")
    )


def crds_in(files: Mapping[str, str]) -> list[str]:
    """The definitions that go before everything else, which are no templates."""
    return sorted(
        path
        for path in files
        if _CRD.match(path) and PurePosixPath(path).suffix in (".yaml", ".yml", ".json")
    )


@dataclass(frozen=True)
class ChartStep:
    """Templates that are one state."""

    name: str
    files: tuple[str, ...]


def steps_of(templates: Sequence[str]) -> list[ChartStep]:
    """The steps of a chart: each numbered file, and last, all together, what has no number."""
    numbered = [path for path in templates if NUMBERED.match(PurePosixPath(path).name)]
    others = tuple(path for path in templates if path not in numbered)
    found = [ChartStep(step_name(path), (path,)) for path in numbered]
    return [*found, ChartStep("templates", others)] if others else found


def step_name(path: str) -> str:
    """s0000-driver for 0000-state-driver.yaml: the name of a state begins with a letter."""
    return "s" + re.sub(r"^([0-9]{4})[-_]state", r"\1", PurePosixPath(path).stem)


def states_of(files: Mapping[str, str], steps: Sequence[ChartStep]) -> dict[str, State]:
    """The states in their order, each of which requires the one before: the namespace, the CRDs, and
    the steps. Hooks are states around that of their step."""
    plan: list[tuple[str, list[str], str]] = [("namespace", [NAMESPACE_ASSET], "state")]
    if crds := crds_in(files):
        plan.append(("crds", crds, "state"))
    fallbacks = set()
    for step in steps:
        texts = [files[file] for file in step.files]
        role = _role("\n".join(texts))
        if is_fallback(texts, (files[file] for each in steps for file in each.files)):
            fallbacks.add(step.files)
            role = "state_driver_container"
        plan += _with_hooks(step.name, step.files, files, role)
    states: dict[str, State] = {}
    before: tuple[str, ...] = ()
    for name, assets, role in plan:
        own, builds = _state_name(name, states), tuple(assets) in fallbacks
        states[own] = State(
            name=own,
            role=role,
            order=OrderRules(requires=before),
            per=() if own in ("namespace", "crds") else ("kernel",),
            assets=tuple(Asset(path, (path,)) for path in assets),
            placement="anywhere",
            images=_FALLBACK if builds else ImageSource(),
            proofs=StateProofs((Proof("image"),) if builds else (), timeout=TIMEOUT_S),
        )
        before = (own,)
    return states


def _with_hooks(
    name: str, files: Sequence[str], texts: Mapping[str, str], role: str
) -> Iterator[tuple[str, list[str], str]]:
    for hook in HOOKS:
        if hook == HOOKS[1]:
            yield name, list(files), role
        weights = {file: _weights(texts[file], hook) for file in files}
        for weight in sorted({each for found in weights.values() for each in found}):
            assets = [
                HookAsset(file, hook, weight).path for file in files if weight in weights[file]
            ]
            number = f"minus_{-weight}" if weight < 0 else str(weight)
            yield f"{name[:14]}_{hook.partition('-')[0]}_{number}", assets, "state"


def _weights(text: str, hook: str) -> set[int]:
    """The weights that the hooks of this event may have in a file; empty where the file has no such
    hook."""
    events = {
        event.strip() for found in _HOOK.finditer(text) for event in found["events"].split(",")
    }
    if hook not in events:
        return set()
    return {0, *(int(found["weight"]) for found in _WEIGHT.finditer(text))}


def _role(text: str) -> str:
    """The role that runs a state, by what its objects say of themselves."""
    return next((_ROLES[each] for each in in_text(text, STATE) if each in _ROLES), "state")


def _state_name(wanted: str, taken: Mapping[str, State]) -> str:
    name = re.sub(r"[^a-z0-9_]+", "_", wanted.lower())[:_LONGEST].strip("_")
    for number in range(2, 100):
        if name not in taken:
            return name
        name = f"{name[: _LONGEST - 3]}_{number}"
    raise InvalidInput("a chart has too many states of one name", where=wanted)
