# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What NodeFeatures say of nodes, as Node Feature Discovery itself puts several of a node together.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.object_shapes import shape_of
from ..._json import Obj, elements, part

NODE_FEATURE = Kind("nfd.k8s-sigs.io", "v1alpha1", "NodeFeature", "nodefeatures", namespaced=True)
NODE_NAME_LABEL = "nfd.node.kubernetes.io/node-name"


def shape_of_features(names: Sequence[str]) -> Obj:
    """What of a NodeFeature is kept (object_shapes.py) for features of these names ("pci.device"),
    "*" for all."""
    forms = shape_of(NODE_FEATURE.api_version, NODE_FEATURE.kind)["spec"]["features"]
    return {"spec": {"features": {form: {name: {} for name in names} for form in forms}}}


def by_node(objects: Iterable[Mapping[str, Any]]) -> dict[str, Obj]:
    """Node -> {"attributes": {feature: {name: value}}, "flags": {feature: [name]}, "instances":
    {feature: [{name: value}]}}.

    Of a value that several objects tell the last one counts, by namespace and name.
    """
    found: dict[str, Obj] = {}
    for obj in sorted(objects, key=_place):
        node = part(obj["metadata"], "labels").get(NODE_NAME_LABEL)
        features = part(obj, "spec", "features")
        if node:
            merged = found.setdefault(node, {"attributes": {}, "flags": {}, "instances": {}})
            _add(merged, features)
    return found


def _place(obj: Mapping[str, Any]) -> tuple[str, str]:
    return str(obj["metadata"].get("namespace")), obj["metadata"]["name"]


def _add(merged: Obj, features: Mapping[str, Any]) -> None:
    for name, feature in part(features, "attributes").items():
        merged["attributes"].setdefault(name, {}).update(part(feature, "elements"))
    for name, feature in part(features, "flags").items():
        known = merged["flags"].get(name, ())
        merged["flags"][name] = sorted({*known, *elements(feature, "elements")})
    for name, feature in part(features, "instances").items():
        instances = (part(entry, "attributes") for entry in elements(feature, "elements"))
        merged["instances"].setdefault(name, []).extend(map(dict, instances))
