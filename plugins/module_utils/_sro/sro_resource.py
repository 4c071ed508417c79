# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom resource of the Special Resource Operator as what is enabled here. Pure.

Fields: sro.openshift.io v1alpha1 (recipes in the operator's image) and v1beta1 (charts), as their
CRDs had them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._json import Obj
from .._recipes.loading.schema import DNS_LABEL
from .._schema.problems import Problems
from .._schema.shapes import Anything, Flag, Items, Key, MapOf, OneOf, Record, Text

GROUP = "sro.openshift.io"
RESOURCE, MODULE = "SpecialResource", "SpecialResourceModule"
OLD, NEW = f"{GROUP}/v1alpha1", f"{GROUP}/v1beta1"
KINDS = ((NEW, RESOURCE), (OLD, RESOURCE), (NEW, MODULE))

ENABLE, DISABLE, LEAVE = "enable", "disable", "leave"
_STATES = {"": ENABLE, "Managed": ENABLE, "Force": ENABLE, "Unmanaged": LEAVE, "Removed": DISABLE}
_FOLDER, _ARTIFACT, _VERSIONED = "file://", "oci://", ("https://", "cm://")
_ACCOUNTS = (
    "accounts and authorities are those of hardware_enablement_registry_auth_file and"
    " hardware_enablement_registry_ca, none of the custom resource's"
)
_TO_NAME = "the folder that holds it, named by hardware_enablement_recipe_dir"
_PLACES = "file:///..., cm://namespace/name, https://..., oci://... with a version"
# By API version: the key that does not lead to a recipe's folder, and what would.
_FOLDERS = {
    OLD: ("metadata.name", f"a recipe of that name in {_TO_NAME}"),
    NEW: (
        "spec.chart.repository.url",
        f"{_PLACES}, or a chart fetched from elsewhere, and {_TO_NAME}",
    ),
}
# What SRO wanted in set, since it is an embedded object.
_OF_OBJECTS = ("apiVersion", "kind")

_ACCESS = ("username", "password", "certFile", "keyFile", "caFile", "insecure_skip_tls_verify")

_ANY = MapOf(Anything())
_NAME = Text("the name of a recipe", DNS_LABEL, 30)
_NAMESPACE = Text("a DNS label", DNS_LABEL, 63)
_TEXTS = ("url", "username", "password", "certFile", "keyFile", "caFile")
_REPOSITORY = Record(
    {
        "name": Key(Anything()),
        "insecure_skip_tls_verify": Key(Flag()),
        **{name: Key(Text(pattern=r"[\s\S]*")) for name in _TEXTS},
    }
)
_CHART = Record(
    {
        "name": Key(_NAME, required=True),
        "version": Key(Text()),
        "tags": Key(Items(Text())),
        "repository": Key(_REPOSITORY),
    }
)
_DEPENDENCY = Record({"chart": Key(_CHART, required=True), "set": Key(_ANY)})
_SHARED = {"chart": Key(_CHART, required=True), "namespace": Key(_NAMESPACE, required=True)}
_SPECS = {
    (NEW, RESOURCE): Record(
        {
            **_SHARED,
            "set": Key(_ANY),
            "nodeSelector": Key(MapOf(Text(pattern=r"[\s\S]*"))),
            "dependencies": Key(Items(_DEPENDENCY)),
            "driverContainer": Key(_ANY),
            "debug": Key(Flag()),
            "forceUpgrade": Key(Flag()),
            "managementState": Key(OneOf(tuple(_STATES))),
        }
    ),
    (NEW, MODULE): Record({**_SHARED, "set": Key(_ANY), "watch": Key(Items(Anything()))}),
    (OLD, RESOURCE): Record(
        {
            "namespace": Key(_NAMESPACE),
            "driverContainer": Key(_ANY),
            "node": Key(Record({"selector": Key(Text())})),
            "dependsOn": Key(Anything()),
            "environment": Key(Items(Anything())),
            "configuration": Key(Items(Anything())),
        }
    ),
}


@dataclass(frozen=True)
class SroRequest:
    """What a custom resource asks for.

    name: the resource's. action: ENABLE, DISABLE or LEAVE. recipe_dir: where its chart is, "" where
    that has to be said. depends: what is enabled before it, {name, options}. told: what is another
    way here, a sentence each. secrets: what nobody may see.
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


def request_of(documents: list[Any], where: str, recipe_dir: str = "") -> SroRequest:
    """What a file with one custom resource asks for. recipe_dir: where the person says that charts
    are. Raises InvalidInput that lists everything that cannot be honoured."""
    problems = Problems(where)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        expected = "one SpecialResource or SpecialResourceModule"
        problems.add("", expected, f"{len(documents)} objects")
        _refuse(problems)
    resource = documents[0]
    api_version, kind = str(resource.get("apiVersion")), str(resource.get("kind"))
    name, spec = (resource.get("metadata") or {}).get("name"), resource.get("spec") or {}
    if (api_version, kind) in _SPECS:
        _NAME.check(name, "metadata.name", problems)
        _SPECS[api_version, kind].check(spec, "spec", problems)
    else:
        known = " or ".join(f"{kind} ({api})" for api, kind in KINDS)
        problems.add("", known, f"{kind} ({api_version})")
    _refuse(problems)
    read = _numbered if api_version == OLD else _chart
    request = read(str(name), spec, problems)
    if not recipe_dir and not request.recipe_dir and request.action == ENABLE:
        problems.add(*_FOLDERS[api_version], "no folder" if api_version == OLD else "none of these")
    _refuse(problems)
    return request


def _refuse(problems: Problems) -> None:
    problems.refuse("the custom resource cannot be enabled", "correct it and run again")


def _chart(name: str, spec: Mapping[str, Any], problems: Problems) -> SroRequest:
    chart = spec["chart"]
    repository = chart.get("repository") or {}
    place = _place(chart)
    if spec.get("driverContainer"):
        problems.add(
            "spec.driverContainer",
            "these values under set, where the chart reads them as its own values",
            "a key that the operator itself never read",
        )
    depends = []
    for index, entry in enumerate(spec.get("dependencies") or []):
        other = {"repository": repository, **entry["chart"]}
        if _place(other) != place:
            problems.add(
                f"spec.dependencies[{index}].chart",
                "the repository and version of the chart itself, or one folder for both by"
                " hardware_enablement_recipe_dir",
                _place(other) or "another repository",
            )
        depends.append({"name": entry["chart"]["name"], "options": _options(entry.get("set"))})
    options = _options(spec.get("set"))
    if spec.get("nodeSelector"):
        options["node_selector"] = dict(spec["nodeSelector"])
    return SroRequest(
        name=name,
        recipe=chart["name"],
        action=_STATES[spec.get("managementState") or ""],
        namespace=spec["namespace"],
        recipe_dir=place,
        options=options,
        depends=tuple(depends),
        notes=tuple(_notes(spec, chart, repository)),
        secrets=frozenset(filter(None, [str(repository.get("password") or "")])),
    )


def _place(chart: Mapping[str, Any]) -> str:
    """Where recipe_dir finds a chart in the version that is wanted, "" for nowhere."""
    url = str((chart.get("repository") or {}).get("url") or "").rstrip("/")
    version = str(chart.get("version") or "")
    if url.startswith(_FOLDER):
        return url.removeprefix(_FOLDER)
    if url.startswith(_ARTIFACT) and version:
        return f"{url}/{chart['name']}:{version}"
    if url.startswith(_VERSIONED):
        return f"{url}#{version}" if version else url
    return ""


def _options(values: Mapping[str, Any] | None) -> Obj:
    kept = {name: value for name, value in (values or {}).items() if name not in _OF_OBJECTS}
    return {"set": kept} if kept else {}


def _notes(
    spec: Mapping[str, Any], chart: Mapping[str, Any], repository: Mapping[str, Any]
) -> list[str]:
    """What is another way here, a sentence each."""
    is_folder = str(repository.get("url") or "").startswith(_FOLDER)
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
            f"repository: {_ACCOUNTS}",
        ),
        (
            spec.get("watch"),
            "watch: runs are started by events or by a schedule, see docs/admin/events.md",
        ),
    )
    return [note for applies, note in notes if applies]


def _numbered(name: str, spec: Mapping[str, Any], problems: Problems) -> SroRequest:
    """v1alpha1: its recipe is called as the resource, and reads the spec itself."""
    depends = spec.get("dependsOn") or []
    named = depends.get("name") if isinstance(depends, dict) else depends
    others = [each.get("name") if isinstance(each, dict) else each for each in named or []]
    for index, other in enumerate(others):
        _NAME.check(other, f"spec.dependsOn[{index}]", problems)
    _refuse(problems)
    options: Obj = {"set": dict(spec)} if spec else {}
    if (spec.get("node") or {}).get("selector"):
        options["node_selector"] = {spec["node"]["selector"]: "true"}
    return SroRequest(
        name=name,
        recipe=name,
        namespace=spec.get("namespace") or name,
        options=options,
        depends=tuple({"name": other, "options": {}} for other in others),
    )
