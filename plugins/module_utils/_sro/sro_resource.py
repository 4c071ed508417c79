# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom resource of the Special Resource Operator as what is enabled here. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._charts.sro_types import (
    CHART_SPEC,
    GROUP,
    MODULE,
    MODULE_SPEC,
    NUMBERED_SPEC,
    OLD_NUMBERED_SPEC,
    RESOURCE,
    known_part,
)
from .._json import Obj, elements, part
from .._recipes.loading.schema import DNS_LABEL
from .._schema.problems import Problems
from .._schema.shapes import Record, Text
from .sro_source import SroSource

OLD, NEW = f"{GROUP}/v1alpha1", f"{GROUP}/v1beta1"
KINDS = ((NEW, RESOURCE), (OLD, RESOURCE), (NEW, MODULE))

ENABLE, DISABLE, LEAVE = "enable", "disable", "leave"
_ACTIONS = {"": ENABLE, "Managed": ENABLE, "Force": ENABLE, "Unmanaged": LEAVE, "Removed": DISABLE}
# What SRO wanted in set, since it is an embedded object.
_OF_OBJECTS = ("apiVersion", "kind")
# Options of the recipe, or of no use to a chart.
_NOT_FOR_CHARTS = ("namespace", "set", "nodeSelector")
_SECRET = "password"
_ACCESS = ("username", _SECRET, "certFile", "keyFile", "caFile", "insecure_skip_tls_verify")
_PLACES = (
    "file:///..., cm://namespace/name, https://..., oci://... with a version, or a chart fetched from"
    " elsewhere, and the folder that holds it, named by hardware_enablement_recipe_dir"
)
_ACCOUNTS = (
    "repository: accounts and authorities are those of hardware_enablement_registry_auth_file and"
    " hardware_enablement_registry_ca, none of the custom resource's"
)
_NAME = Text("the name of a recipe", DNS_LABEL, 30)
_NAMESPACE = Text("a DNS label", DNS_LABEL, 63)


@dataclass(frozen=True)
class SroRequest:
    """What a custom resource asks for.

    name: the resource's. action: ENABLE, DISABLE or LEAVE. recipe_dir: where its chart is, "" where
    that has to be said. depends: what is enabled before it, {name, recipe_dir, options}. notes: what
    is another way here, a sentence each. secrets: what nobody may see.
    """

    name: str
    recipe: str
    action: str = ENABLE
    namespace: str = ""
    recipe_dir: str = ""
    options: Obj = field(default_factory=dict)
    depends: tuple[Obj, ...] = ()
    notes: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _ResourceType:
    """How the custom resources of one type are read. spec: its fields."""

    spec: Record
    read: Callable[[Obj, SroSource, Problems], SroRequest]


def request_of(documents: list[Any], where: str, source: SroSource) -> SroRequest:
    """What a file with one custom resource asks for. source: where charts and manifests may be.
    Raises InvalidInput that lists everything that cannot be honoured."""
    problems = Problems(where)
    resource, type_ = _only_resource(documents, problems)
    spec, dropped = known_part(type_.spec, part(resource, "spec"), "spec")
    metadata = part(resource, "metadata")
    _NAME.check(metadata.get("name"), "metadata.name", problems)
    if metadata.get("namespace"):
        _NAMESPACE.check(metadata["namespace"], "metadata.namespace", problems)
    type_.spec.check(spec, "spec", problems)
    _refuse(problems)
    request = type_.read({**resource, "spec": spec}, source, problems)
    _NAMESPACE.check(request.namespace, "spec.namespace", problems)
    _NAME.check(request.recipe, "spec.chart.name", problems)
    if request.action == ENABLE and not request.recipe_dir:
        problems.add("spec.chart.repository.url", _PLACES, "none of these")
    _refuse(problems)
    notes = [f"{path}: the operator's API knew no such field, and dropped it" for path in dropped]
    return replace(request, notes=(*notes, *request.notes))


def _only_resource(documents: list[Any], problems: Problems) -> tuple[Obj, _ResourceType]:
    """The one custom resource of a file, and its type. Raises InvalidInput."""
    found = [each for each in documents if each is not None]
    if len(found) != 1 or not isinstance(found[0], dict):
        problems.add("", f"one {RESOURCE} or {MODULE}", f"{len(found)} objects")
        _refuse(problems)
    (resource,) = found
    if (type_ := _type_of(resource)) is None:
        known = " or ".join(f"{kind} ({api})" for api, kind in KINDS)
        problems.add("", known, f"{resource.get('kind')} ({resource.get('apiVersion')})")
        _refuse(problems)
        raise AssertionError
    return resource, type_


def is_resource(document: Any, name: str) -> bool:
    """Whether a document is a custom resource of that name."""
    if not isinstance(document, dict) or _type_of(document) is None:
        return False
    return bool(part(document, "metadata").get("name") == name)


def _refuse(problems: Problems) -> None:
    problems.refuse("the custom resource cannot be enabled", "correct it and run again")


def _chart(resource: Obj, source: SroSource, problems: Problems) -> SroRequest:
    spec = resource["spec"]
    chart = spec["chart"]
    depends = []
    for index, entry in enumerate(elements(spec, "dependencies")):
        if not part(entry, "chart").get("name"):
            problems.add(f"spec.dependencies[{index}].chart", "a chart with its name", "nothing")
            continue
        other = {"repository": chart.get("repository"), **entry["chart"]}
        depends.append(
            {
                "name": other["name"],
                "recipe_dir": source.of_chart(other),
                "options": {"set": _values(entry)},
            }
        )
    return SroRequest(
        name=resource["metadata"]["name"],
        recipe=chart["name"],
        action=_ACTIONS[spec.get("managementState") or ""],
        namespace=spec["namespace"],
        recipe_dir=source.of_chart(chart),
        options={
            "set": _values(spec),
            "node_selector": dict(part(spec, "nodeSelector")),
            "custom_resource": _for_charts(resource),
        },
        depends=tuple(depends),
        notes=tuple(_notes(spec)),
        secrets=frozenset(filter(None, map(_password, [spec, *spec.get("dependencies", ())]))),
    )


def _values(entry: Mapping[str, Any]) -> Obj:
    given = part(entry, "set")
    return {name: value for name, value in given.items() if name not in _OF_OBJECTS}


def _password(entry: Mapping[str, Any]) -> str:
    return str(part(entry, "chart", "repository").get(_SECRET) or "")


def _for_charts(resource: Obj) -> Obj:
    """The custom resource as charts may read it, without passwords and what is said by other
    options."""
    spec = {key: value for key, value in resource["spec"].items() if key not in _NOT_FOR_CHARTS}
    metadata = part(resource, "metadata")
    marks = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    found = {**({"metadata": marks} if marks else {}), "spec": spec}
    cleaned: Obj = _without(found, _SECRET)
    return cleaned


def _without(value: Any, name: str) -> Any:
    """A copy of a value without all keys of one name."""
    if isinstance(value, dict):
        return {key: _without(each, name) for key, each in value.items() if key != name}
    return [_without(each, name) for each in value] if isinstance(value, list) else value


def _notes(spec: Mapping[str, Any]) -> list[str]:
    """What is another way here, a sentence each."""
    chart = spec["chart"]
    repository = part(chart, "repository")
    is_folder = str(repository.get("url") or "").startswith("file://")
    notes = (
        (
            chart.get("version") and is_folder,
            "chart.version: the chart that lies there is used, whatever its version",
        ),
        (
            spec.get("debug"),
            "debug: run with --diff -vv to see what is applied; values of Secrets are never shown",
        ),
        (
            spec.get("forceUpgrade") or chart.get("tags"),
            "forceUpgrade and tags: the operator never read them, nor does a run",
        ),
        (
            any(repository.get(name) for name in _ACCESS),
            _ACCOUNTS,
        ),
        (
            spec.get("watch"),
            "watch: runs are started by events or by a schedule, see docs/admin/events.md",
        ),
    )
    return [note for applies, note in notes if applies]


def _numbered(resource: Obj, source: SroSource, problems: Problems) -> SroRequest:
    """Its recipe is called as the resource, and reads the spec itself."""
    spec, metadata = resource["spec"], resource["metadata"]
    namespace = spec.get("namespace") or metadata.get("namespace") or metadata["name"]
    depends = elements(spec, "dependsOn")
    named = depends.get("name") if isinstance(depends, dict) else [each["name"] for each in depends]
    for index, other in enumerate(named or []):
        _NAME.check(other, f"spec.dependsOn[{index}]", problems)
    _refuse(problems)
    selector = part(spec, "node").get("selector")
    return SroRequest(
        name=metadata["name"],
        recipe=metadata["name"],
        namespace=namespace,
        recipe_dir=source.of_manifests(metadata["name"], namespace),
        options={
            "set": spec,
            "node_selector": {selector: "true"} if selector else {},
        },
        depends=tuple(
            {"name": other, "recipe_dir": source.of_manifests(other, namespace), "options": {}}
            for other in named or []
        ),
    )


_CHARTS = _ResourceType(CHART_SPEC, _chart)
_MANIFESTS = _ResourceType(NUMBERED_SPEC, _numbered)
_TYPES = {
    (NEW, RESOURCE): _CHARTS,
    (NEW, MODULE): _ResourceType(MODULE_SPEC, _chart),
    (OLD, RESOURCE): _ResourceType(OLD_NUMBERED_SPEC, _numbered),
}


def _type_of(resource: Mapping[str, Any]) -> _ResourceType | None:
    """v1beta1 is the name of two generations, of which only one knows charts."""
    found = _TYPES.get((str(resource.get("apiVersion")), str(resource.get("kind"))))
    spec = resource.get("spec")
    without_chart = isinstance(spec, dict) and "chart" not in spec
    return _MANIFESTS if found is _CHARTS and without_chart else found
