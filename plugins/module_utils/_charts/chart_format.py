# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart as a recipe's files: what it renders to for a group of nodes, with what the annotations of
the Special Resource Operator do to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar

from .._errors import InvalidInput
from .._json import Obj, part
from .._proofs.proof import Proof
from .._recipes.sample import SAMPLE_GROUPS
from .._recipes.templates import pod_options
from .._recipes.templates.documents import lines_of
from .._recipes.templates.manifests import (
    ObjectId,
    copy_of,
    doubled_keys,
    group_of,
    identity,
    manifests_in,
    pod_template,
)
from .._recipes.templates.render_facts import RenderFacts
from .._recipes.variables import group_variables
from . import sro_annotations
from .annotation_proofs import HOOK, proofs_of
from .chart_rendering import ChartRendering, HelmRelease
from .chart_states import HOOKS, NAMESPACE_ASSET, HookAsset, asset_at, crds_in
from .image_rights import image_rights
from .kernel_affine import kernel_suffix, made_affine, without_state_labels
from .runtime_values import OF_KERNEL, proxy_of_nodes, runtime_values, system_version
from .sro_types import GROUP
from .subcharts import values_of
from .vendor_builds import has_vendor, images_of, is_wanted

_WEIGHT = "helm.sh/hook-weight"
_DEFINITION = "CustomResourceDefinition"
_INCLUDES = re.compile(r"\{\{-?[^}]*\b(?:include|template|tpl)\b")
_WHOLE = re.compile(r"\.Values(?![\w.])")
_APIS = re.compile(r"""APIVersions\.Has\s+["`](?P<api>[^"`]+)""")
# A kind of an API that charts ask for as a whole.
_SAMPLES = {
    "monitoring.coreos.com/v1": "ServiceMonitor",
    "cert-manager.io/v1": "Certificate",
    "security.openshift.io/v1": "SecurityContextConstraints",
    "build.openshift.io/v1": "BuildConfig",
    "image.openshift.io/v1": "ImageStream",
    "route.openshift.io/v1": "Route",
    "config.openshift.io/v1": "ClusterVersion",
}
# They are there, and nobody's own.
_CLUSTERS_OWN = re.compile(r"default|kube-.*|openshift(-.*)?")
_PRIVILEGED = {
    f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")
}


@dataclass
class ChartFormat:
    """One chart. files: as its author wrote them. assets: all that its states name; fallbacks: those
    of fallback states. warnings: see ForeignFormat."""

    chart: ChartRendering
    files: Mapping[str, str]
    assets: Set[str]
    fallbacks: Set[str] = frozenset()
    warnings: Sequence[tuple[str, int, str]] = ()
    options: Set[str] = frozenset(
        (
            *("set", "custom_resource", "image_namespaces"),
            *("push_secret", "os_image_url", "proxy", "node_selector"),
        )
    )

    # What tells that a file differs between kernels.
    PER_GROUP: ClassVar[re.Pattern[str]] = re.compile(
        rf"{sro_annotations.KERNEL_AFFINE}|\b(?:{'|'.join(OF_KERNEL)})\b"
    )

    def reads(self, name: str) -> bool:
        """See ForeignFormat."""
        return self._reads_all or name in self._text

    def is_per_group(self, path: str, options: Mapping[str, Any]) -> bool:
        """Whether the file, or one of those that it may include, asks for what differs between
        kernels, or a value that is given may."""
        given = str([options["set"], options["custom_resource"]])
        if path != NAMESPACE_ASSET and "{{" in given:
            return True
        if path in self.fallbacks:
            return True
        text = self.files.get(asset_at(path).file, "")
        return bool(
            self.PER_GROUP.search(text) or (_INCLUDES.search(text) and self._partials_are_per_group)
        )

    def manifests(
        self, path: str, variables: Mapping[str, Any], facts: RenderFacts
    ) -> list[tuple[Obj, bool]]:
        """See ForeignFormat."""
        found = self._all_of(path, variables, facts)
        if path not in self.fallbacks:
            return found
        return [item for item in found if is_wanted(item[0], variables, facts)]

    def images(
        self, paths: Sequence[str], variables: Mapping[str, Any], facts: RenderFacts
    ) -> list[str]:
        """See ForeignFormat."""
        drivers = [
            path
            for path in sorted(self.assets)
            if has_vendor(self.files.get(asset_at(path).file, ""))
        ]
        builds, deployed = (
            [manifest for path in each for manifest, _named in self._all_of(path, variables, facts)]
            for each in (paths, drivers)
        )
        return images_of(builds, deployed)

    def _all_of(
        self, path: str, variables: Mapping[str, Any], facts: RenderFacts
    ) -> list[tuple[Obj, bool]]:
        if path == NAMESPACE_ASSET:
            namespace = self._namespace(variables, facts)
            found = [namespace] if namespace else []
            return [(each, False) for each in (*found, *image_rights(variables))]
        asset = asset_at(path)
        namespaces = self._namespaces_before(asset.file, variables, facts)
        found = [
            manifest
            for manifest in self._manifests(asset.file, variables, facts)
            if identity(manifest) not in namespaces
        ]
        own = self._own_kinds(variables, facts)
        for manifest in found:
            if (group_of(manifest), manifest["kind"]) in own:
                manifest["metadata"].setdefault("namespace", str(variables["namespace"]))
        return [
            self._finished(manifest, asset.file, variables)
            for manifest in found
            if self._hook(manifest, asset.file) == asset
        ]

    def _namespaces_before(
        self, file: str, variables: Mapping[str, Any], facts: RenderFacts
    ) -> set[ObjectId]:
        """The namespaces that an earlier file makes, of which charts say the same in each."""
        texts = self._texts(variables, facts)
        earlier = [
            path for path in sorted(texts) if path < file and "kind: Namespace" in texts[path]
        ]
        return {
            identity(manifest)
            for path in earlier
            for manifest in self._manifests(path, variables, facts)
            if manifest["kind"] == "Namespace"
        }

    def text_of(self, file: str, variables: Mapping[str, Any], facts: RenderFacts) -> str:
        """What a file renders to."""
        return self._texts(variables, facts).get(file, "")

    def values(self, variables: Mapping[str, Any], facts: RenderFacts) -> Mapping[str, Any]:
        """What the files find in .Values, over what the user gives."""
        values = runtime_values({**variables, "recipe": self.chart.chart}, facts)
        given = str(variables["options"]["set"])
        return {
            name: value
            for name, value in values.items()
            if (self.reads(name) or name in given) and self._is_the_runtimes(name, value)
        }

    def is_affine(
        self,
        manifest: Obj,  # noqa: ARG002 - numbered manifests are told by it
        annotations: Mapping[str, str],
        variables: Mapping[str, Any],  # noqa: ARG002
    ) -> bool:
        """Whether there is one of an object for each kernel, which its author need not have named
        so."""
        return sro_annotations.is_on(annotations, sro_annotations.KERNEL_AFFINE)

    def is_renewed(self, manifest: Obj) -> bool:
        """A hook runs again when it has changed, as Helm deletes it before by default."""
        return HOOK in part(manifest["metadata"], "annotations")

    def is_left_alone(self, manifest: Obj) -> bool:
        """A definition of a crds/ folder that is there already is, as Helm has it."""
        name = manifest["metadata"]["name"]
        return manifest["kind"] == _DEFINITION and name in self._definition_names

    def proofs(self, manifests: Sequence[Obj]) -> list[Proof]:
        """See ForeignFormat."""
        return proofs_of(manifests)

    def line_of(self, path: str, manifest: Obj, field: Sequence[str | int]) -> int:
        """The line with the field's key, after the one with the object's kind."""
        lines = self.files.get(asset_at(path).file, "").splitlines()
        keys = [str(step) for step in field if isinstance(step, str)]
        kind = re.compile(rf"""\s*(- )?kind:\s*["']?{re.escape(manifest["kind"])}\b""")
        start = next((number for number, line in enumerate(lines) if kind.match(line)), 0)
        if keys and keys[-1] != "kind":
            key = re.compile(rf"""\s*(- )?["']?{re.escape(keys[-1])}["']?\s*:""")
            for number, line in enumerate(lines[start:], start=start + 1):
                if key.match(line):
                    return number
        return start + 1 if lines else 0

    def notes(self, variables: Mapping[str, Any], facts: RenderFacts) -> str:
        """What the chart's NOTES.txt says."""
        return self.chart.notes(
            self._release(variables, facts),
            variables["options"]["set"],
            self._runtime(variables, facts),
        )

    def definitions(self, variables: Mapping[str, Any], facts: RenderFacts) -> Set[str]:
        """The files of definitions that go before everything else, without those of subcharts that
        are switched off."""
        texts = self._texts(variables, facts) if self._crds else {}
        return {path for path in self._crds if path in texts}

    @cached_property
    def _crds(self) -> Set[str]:
        return set(crds_in(self.files))

    @cached_property
    def _definition_names(self) -> Set[str]:
        """What the definitions of crds/ are called, read as they are when they are applied."""
        return {
            each["metadata"]["name"]
            for path in self._crds
            for each in manifests_in(self.files[path], self._place(path), foreign=True)
        }

    @cached_property
    def _own_values(self) -> Mapping[str, Any]:
        return values_of(self.files)

    @cached_property
    def _partials_are_per_group(self) -> bool:
        names = {path: PurePosixPath(path) for path in self.files}
        return any(
            self.PER_GROUP.search(self.files[path])
            for path, name in names.items()
            if "templates" in name.parts and (name.name.startswith("_") or name.suffix == ".tpl")
        )

    @cached_property
    def _asked_apis(self) -> list[str]:
        found = {match["api"] for text in self.files.values() for match in _APIS.finditer(text)}
        return sorted(found)

    def _is_the_runtimes(self, name: str, value: Any) -> bool:
        """Whether a chart means what the runtime does by a name: where one has fields under it and
        the other has none, it is a name of its own."""
        own = self._own_values.get(name)
        return own is None or isinstance(own, Mapping) == isinstance(value, Mapping)

    def _own_kinds(self, variables: Mapping[str, Any], facts: RenderFacts) -> set[tuple[str, str]]:
        """(group, kind) of what lives in namespaces and whose definition the chart brings: the
        cluster does not know it yet."""
        crds = {path: self.files[path] for path in self.definitions(variables, facts)}
        definitions = {**self._texts(variables, facts), **crds}
        found = set()
        for path, text in definitions.items():
            if _DEFINITION in text:
                for manifest in manifests_in(text, self._place(path), foreign=True):
                    spec = part(manifest, "spec")
                    if spec.get("scope") == "Namespaced":
                        found.add((str(spec.get("group")), str(part(spec, "names").get("kind"))))
        return found

    def _texts(self, variables: Mapping[str, Any], facts: RenderFacts) -> Mapping[str, str]:
        return self.chart.texts(
            self._release(variables, facts),
            variables["options"]["set"],
            self._runtime(variables, facts),
        )

    def _runtime(self, variables: Mapping[str, Any], facts: RenderFacts) -> Mapping[str, Any]:
        """The values to render with. Helm renders all files at once, and files for kernels need a
        kernel. So where the variables name none, those of some group are taken; files for all nodes
        do not read them."""
        if not isinstance(variables.get("kernel"), dict):
            groups = sorted(facts.groups, key=lambda group: group.id) or SAMPLE_GROUPS
            variables = {**variables, **group_variables(groups[0], facts)}
        return self.values(variables, facts)

    @cached_property
    def _text(self) -> str:
        return "\n".join(text for path, text in self.files.items() if "templates/" in path)

    @cached_property
    def _reads_all(self) -> bool:
        return _WHOLE.search(self._text) is not None

    def _release(self, variables: Mapping[str, Any], facts: RenderFacts) -> HelmRelease:
        return HelmRelease(
            name=str(variables["instance"]),
            namespace=str(variables["namespace"]),
            kubernetes=str(variables["cluster"]["kubernetes_version"]),
            apis=tuple(api for api in self._asked_apis if _is_served(api, facts)),
        )

    def _namespace(self, variables: Mapping[str, Any], facts: RenderFacts) -> Obj | None:
        """The namespace as the operator makes it, unless it is the cluster's own, or the chart
        makes it."""
        name = str(variables["namespace"])
        if _CLUSTERS_OWN.fullmatch(name):
            return None
        for path, text in self._texts(variables, facts).items():
            if "kind: Namespace" in text:
                for manifest in self._manifests(path, variables, facts):
                    if (manifest["kind"], manifest["metadata"]["name"]) == ("Namespace", name):
                        return None
        labels = dict(_PRIVILEGED)
        if str(variables["cluster"]["platform"]) == "openshift":
            labels["security.openshift.io/scc.podSecurityLabelSync"] = "false"
            labels["openshift.io/cluster-monitoring"] = "true"
        return {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": labels},
        }

    def _hook(self, manifest: Obj, file: str) -> HookAsset | None:
        """The asset that an object belongs to: its file, or the hooks of its event and weight in
        that file. None for a hook of an event that never happens here, such as a rollback."""
        annotations = part(manifest["metadata"], "annotations")
        if HOOK not in annotations:
            return HookAsset(file)
        events = {event.strip() for event in annotations[HOOK].split(",")}
        event = next((each for each in HOOKS if each in events), "")
        if not event:
            return None
        weight = annotations.get(_WEIGHT, "0")
        asset = HookAsset(file, event, int(weight) if re.fullmatch(r"-?\d+", weight) else 0)
        if asset.path not in self.assets:
            raise InvalidInput(
                f"the hook {event} of {manifest['kind']} {manifest['metadata']['name']} is not run",
                where=self._place(file),
                why="its event and its weight are known only when it is rendered",
                todo=f"write {HOOK} and {_WEIGHT} as plain text",
            )
        return asset

    def _finished(self, manifest: Obj, file: str, variables: Mapping[str, Any]) -> tuple[Obj, bool]:
        """An object with what its annotations ask for, and whether that makes it one of a kernel."""
        try:
            annotations = sro_annotations.annotations_of(manifest)
        except InvalidInput as error:
            raise self._at(error, file) from None
        made = without_state_labels(manifest)
        template = pod_template(made)
        if sro_annotations.is_on(annotations, sro_annotations.PROXY) and template is not None:
            made = copy_of(made)
            pod_options.add_proxy((pod_template(made) or made)["spec"], proxy_of_nodes(variables))
        if not self.is_affine(made, annotations, variables):
            return made, False
        system = variables["os"]
        decimal = system_version(system["id"], system["version"], system["build"])
        suffix = kernel_suffix(variables, decimal)
        return made_affine(made, suffix, str(variables["kernel"]["label"])), True

    def _manifests(self, file: str, variables: Mapping[str, Any], facts: RenderFacts) -> list[Obj]:
        """All objects that a file gives, whether or not they are hooks."""
        is_crd = file in self._crds
        if is_crd and file not in self.definitions(variables, facts):
            return []
        text = self.files[file] if is_crd else self.text_of(file, variables, facts)
        try:
            found = manifests_in(text, self._place(file), foreign=True) if text.strip() else []
        except InvalidInput as error:
            raise error if is_crd else self._in_line(error, file, variables, facts) from None
        if found:
            self._warn_of_doubled(text, file)
        # An operator that still runs would deploy it.
        return [manifest for manifest in found if group_of(manifest) != GROUP]

    def _warn_of_doubled(self, text: str, file: str) -> None:
        """Tell which keys are there twice in what a file renders to."""
        for key, number in doubled_keys(text, self._place(file)):
            rendered = text.splitlines()[number - 1].strip()
            lines = [line.strip() for line in self.files[file].splitlines()]
            same = [at for at, line in enumerate(lines, start=1) if line == rendered]
            alike = [at for at, line in enumerate(lines, start=1) if f"{key}:" in line]
            line = (same or alike or [0])[-1]
            warning = (file, line, f"the key {key} is there twice, and the last one counts")
            if warning not in self.warnings:
                self.warnings = (*self.warnings, warning)

    def _in_line(
        self, error: InvalidInput, file: str, variables: Mapping[str, Any], facts: RenderFacts
    ) -> InvalidInput:
        """The error about a document of what a file renders to, with the line where that begins."""
        release, given = self._release(variables, facts), variables["options"]["set"]
        text = self.chart.whole(release, given, self._runtime(variables, facts), file)
        try:
            manifests_in(text, file, foreign=True)
        except InvalidInput as found:
            number = re.search(r", document (\d+)", found.where)
            if number:
                line = lines_of(text, file, foreign=True)[int(number[1]) - 1][1][()]
                where, why = self.chart.place(file, line, found.why)
                return InvalidInput(found.what, where=where, why=why, todo=found.todo)
        return error

    def _at(self, error: InvalidInput, file: str) -> InvalidInput:
        """The error with file and line: it ends with the key that it is about."""
        key = error.what.rpartition(" ")[2]
        lines = self.files[file].splitlines()
        line = next((number for number, text in enumerate(lines, start=1) if key in text), 0)
        where = f"{self._place(file)}, line {line}" if line else self._place(file)
        return InvalidInput(error.what, where=where, why=error.why, todo=error.todo)

    def _place(self, file: str) -> str:
        return f"{self.chart.source}/{file}" if self.chart.source else file


def _is_served(api: str, facts: RenderFacts) -> bool:
    """Whether a cluster serves "group/version" or "group/version/Kind", as a chart asks for it."""
    name = f"{api}/{_SAMPLES[api]}" if api in _SAMPLES else api
    return facts.api.serves(name)
