# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a recipe as files for Argo CD and Flux: one for each state, with a kustomization. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

from ..._cluster.api_objects.labels import state_of
from ..._cluster.api_objects.objects import key_of
from ..._cluster.api_objects.ranks import DEFINITIONS, NAMESPACES, rank_of
from ..._json import Obj
from ..._products import PRODUCTS
from ..._recipes.checking.object_names import images_of
from ..._recipes.loading.recipe import Recipe
from ..._recipes.templates.render_facts import RenderedState
from ..._recipes.templates.text_dump import style_of
from .gitops_readme import readme

# Every file begins with it: what does not is somebody else's, and is neither written over nor removed.
MARK = "Made by hardware.enablement.recipe_render"
WAVE = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
KEPT_FILE = "kept.yaml"
_KEPT = "Prune=false,Delete=false"
# Between the waves of one state and of the next, more than there are ranks.
_STEP = 10


@dataclass(frozen=True)
class RenderedRecipe:
    """states: rendered, in the order of the graph. requires: state -> those that it requires. record: the
    SpecialResource that says what was asked for. rights: what a run needs, as manifests in text. taints:
    those that a run puts on nodes. kept: what nothing wants any more, and what a run keeps all the
    same, as it is in the cluster."""

    recipe: Recipe
    states: Mapping[str, RenderedState]
    requires: Mapping[str, Sequence[str]]
    record: Obj
    rights: str
    by_nodes: bool = False
    taints: Sequence[str] = ()
    kept: Sequence[Obj] = ()


@dataclass(frozen=True)
class GitopsFiles:
    """files: name -> text. objects: how many there are. left_out: Secrets, which belong in no
    repository."""

    files: Mapping[str, str]
    images: Sequence[str]
    objects: int
    left_out: Sequence[str] = field(default_factory=list)


def gitops_files(rendered: RenderedRecipe) -> GitopsFiles:
    """The files of a folder that `kubectl apply -k`, Argo CD and Flux apply."""
    depths = _depths(rendered.requires)
    manifests = _by_file(rendered, depths)
    objects = [each for found in manifests.values() for each in found]
    last = (max(depths.values(), default=0) + 1) * _STEP
    record = _annotated(rendered.record, {WAVE: str(last), SYNC_OPTIONS: _KEPT})
    manifests["special-resource.yaml"] = [record]
    images = sorted({image for each in objects for _path, image in images_of(each)})
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(manifests),
    }
    left_out = [
        str(key_of(item.manifest))
        for state in rendered.states.values()
        for item in state.objects
        if _is_secret(item.manifest)
    ]
    notes = readme(
        rendered.recipe,
        rendered.states,
        left_out=left_out,
        by_nodes=rendered.by_nodes,
        is_product=any(each.recipe == rendered.recipe.source.name for each in PRODUCTS),
        taints=rendered.taints,
        kept=[str(key_of(each)) for each in rendered.kept],
    )
    files = {
        "kustomization.yaml": _documents([kustomization]),
        **{name: _documents(found) for name, found in manifests.items()},
        "rbac.yaml": f"# {MARK}.\n{rendered.rights}",
        "images.txt": "".join(f"{line}\n" for line in (f"# {MARK}.", *images)),
        "README.md": f"<!-- {MARK}. -->\n{notes}",
    }
    return GitopsFiles(files, images, len(objects) + 1, left_out)


def _by_file(rendered: RenderedRecipe, depths: Mapping[str, int]) -> dict[str, list[Obj]]:
    """The objects of each state, and what a run keeps, in their waves. depths: of the states."""
    found: dict[str, list[Obj]] = {}
    for index, (name, state) in enumerate(rendered.states.items(), 1):
        public = [item.manifest for item in state.objects if not _is_secret(item.manifest)]
        in_waves = [_in_wave(each, depths[name]) for each in public]
        found[f"{index:02d}-{name}.yaml"] = sorted(in_waves, key=lambda each: rank_of(each["kind"]))
    found[KEPT_FILE] = [_in_wave(each, depths.get(state_of(each), 0)) for each in rendered.kept]
    return {name: manifests for name, manifests in found.items() if manifests}


def _depths(requires: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many states are before each, on the longest way. requires: in the order of the graph."""
    found: dict[str, int] = {}
    for name, before in requires.items():
        found[name] = max((found[each] + 1 for each in before), default=0)
    return found


def _in_wave(manifest: Obj, depth: int) -> Obj:
    """An object in the wave of its state and, within it, of its kind: what others live in comes before
    all states."""
    rank = rank_of(manifest["kind"])
    if rank in (NAMESPACES, DEFINITIONS):
        return _annotated(manifest, {WAVE: str(rank - _STEP), SYNC_OPTIONS: _KEPT})
    return _annotated(manifest, {WAVE: str(depth * _STEP + rank)})


def _annotated(manifest: Obj, added: Mapping[str, str]) -> Obj:
    metadata = manifest["metadata"]
    annotations = {**(metadata.get("annotations") or {}), **added}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def _is_secret(manifest: Mapping[str, Any]) -> bool:
    return (manifest["apiVersion"], manifest["kind"]) == ("v1", "Secret")


def _documents(manifests: Sequence[Mapping[str, Any]]) -> str:
    return "".join(_lines_of(manifests))


def _lines_of(manifests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"# {MARK}.\n"
    for manifest in manifests:
        yield "---\n"
        yield str(yaml.dump(manifest, Dumper=_dumper_class(), sort_keys=False, width=10_000))


@cache
def _dumper_class() -> Any:
    """Made when it is first needed: without PyYAML there is nothing to inherit from."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, _data: Any) -> bool:
            """What is there twice is written twice."""
            return True

    Dumper.add_representer(str, _text)
    return Dumper


def _text(dumper: Any, value: str) -> Any:
    """Of several lines as a block."""
    style = "|" if "\n" in value else style_of(value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)
