# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of the Special Resource Operator's custom resources, as the types of each generation had
them: what the API server let through, and what charts and manifests read where nothing was set. Pure.

Sources: api/v1beta1 of the operator's releases 4.7 and 4.8 (numbered manifests), 4.9, 4.10 and the
last one (charts and SpecialResourceModules); v1alpha1 had the fields of 4.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import Obj
from .._schema.problems import suggest
from .._schema.shapes import Anything, Flag, Items, Key, MapOf, OneOf, Record, Shape, Text, join

GROUP = "sro.openshift.io"
RESOURCE, MODULE = "SpecialResource", "SpecialResourceModule"
MANAGEMENT_STATES = ("", "Managed", "Force", "Unmanaged", "Removed")

_TEXT = Text(pattern=r"[\s\S]*")
# An object whose content the operator's API does not look at.
_FREE = MapOf(Anything())


def _record(required: tuple[str, ...] = (), /, **fields: Shape) -> Record:
    return Record({name: Key(shape, name in required) for name, shape in fields.items()})


def _texts(*names: str) -> Record:
    return _record(names, **dict.fromkeys(names, _TEXT))


_PATHS = Items(_texts("sourcePath", "destinationDir"))
_IMAGE = _record(
    ("name", "kind", "namespace", "path"),
    **dict.fromkeys(("name", "kind", "namespace", "pullsecret"), _TEXT),
    path=_PATHS,
)
_DRIVER_CONTAINER = {
    "source": _record(git=_texts("ref", "uri")),
    "artifacts": _record(
        hostPaths=_PATHS, images=Items(_IMAGE), claims=Items(_texts("name", "mountPath"))
    ),
}
_ARGUMENTS = Items(_texts("name", "value"))
# More was required of a chart than its name; a run needs no more.
_REPOSITORY = _record(
    (),
    **dict.fromkeys(
        ("name", "url", "username", "password", "certFile", "keyFile", "caFile"), _TEXT
    ),
    insecure_skip_tls_verify=Flag(),
)
_CHART = _record(
    ("name",),
    name=_TEXT,
    version=_TEXT,
    repository=_REPOSITORY,
    tags=Items(_TEXT),
)
_WATCH = _record(
    ("apiVersion", "kind", "path"),
    **dict.fromkeys(("apiVersion", "kind", "name", "namespace", "path"), _TEXT),
    selector=Items(_record(("path", "value"), path=_TEXT, value=_TEXT, exclude=Flag())),
)

NUMBERED_SPEC = _record(
    namespace=_TEXT,
    configuration=Items(_record(("name", "value"), name=_TEXT, value=Items(_TEXT))),
    # Of the month before configuration took its place.
    environment=Items(_texts("key", "value")),
    driverContainer=_record(**_DRIVER_CONTAINER, buildArgs=_ARGUMENTS, runArgs=_ARGUMENTS),
    node=_texts("selector"),
    dependsOn=Items(_record(("name",), name=_TEXT, imageReference=_TEXT)),
)
# v1alpha1 names what it depends on in one list.
OLD_NUMBERED_SPEC = Record(
    {**NUMBERED_SPEC.keys, "dependsOn": Key(_record(("name",), name=Items(_TEXT)))}
)
CHART_SPEC = _record(
    ("chart", "namespace"),
    chart=_CHART,
    namespace=_TEXT,
    forceUpgrade=Flag(),
    debug=Flag(),
    set=_FREE,
    driverContainer=_record(**_DRIVER_CONTAINER),
    nodeSelector=MapOf(_TEXT),
    dependencies=Items(_record(chart=_CHART, set=_FREE)),
    managementState=OneOf(MANAGEMENT_STATES),
)
MODULE_SPEC = _record(
    ("chart", "namespace", "watch"),
    chart=_CHART,
    namespace=_TEXT,
    set=_FREE,
    watch=Items(_WATCH),
)


def known_part(shape: Shape, value: Any, path: str) -> tuple[Any, list[str]]:
    """A value without the fields that its type does not have, which the API server drops, and where
    they stood, with what may have been meant."""
    if isinstance(shape, Record) and isinstance(value, dict):
        kept, dropped = {}, []
        for name, item in value.items():
            if name in shape.keys:
                kept[name], more = known_part(shape.keys[name].shape, item, join(path, name))
                dropped += more
            else:
                dropped.append(f"{join(path, name)}{suggest(name, shape.keys)}")
        return kept, dropped
    if isinstance(shape, Items) and isinstance(value, list):
        parts = [
            known_part(shape.inner, item, f"{path}[{index}]") for index, item in enumerate(value)
        ]
        return [part for part, _dropped in parts], [each for _part, more in parts for each in more]
    return value, []


def filled(shape: Record, value: Mapping[str, Any], *, lists: bool = False) -> Obj:
    """A value with all fields of its type, as Go's structures have them: an empty text or a false
    where nothing is set. lists: whether lists and mappings are there, too, which JSON leaves out."""
    found: Obj = {}
    for name, key in shape.keys.items():
        given = value.get(name)
        inner = key.shape.inner if isinstance(key.shape, Items) else None
        if isinstance(key.shape, Record):
            found[name] = filled(key.shape, given or {}, lists=lists)
        elif isinstance(inner, Record) and isinstance(given, list):
            found[name] = [filled(inner, each or {}, lists=lists) for each in given]
        elif given is not None:
            found[name] = given
        elif lists or not isinstance(key.shape, (Items, MapOf)):
            found[name] = _ZEROS.get(type(key.shape), "")
    return found


_ZEROS: Mapping[type[Shape], Any] = {Flag: False, Items: [], MapOf: {}}
