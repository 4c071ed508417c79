# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart as vendors write theirs: with charts inside that are switched by conditions and tags and called
by an alias, definitions of each of them, and DaemonSets that choose their nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Obj = dict[str, Any]

GADGETS, WIDGETS, CARDS = (f"{name}.vendor.example" for name in ("gadgets", "widgets", "cards"))
# A node without it has no GPU, and one with it may still lack what sharing needs.
GPU = "feature.node.kubernetes.io/pci-0302_10de.present"
SHARING = "vendor.example/sharing.capable"

_CHART = "apiVersion: v2\nname: {name}\nversion: 0.1.0\n"
_DEPENDENCIES = """\
dependencies:
- {name: operator, version: 0.1.0, condition: "operator.enabled,operator.deploy", tags: [extras]}
- {name: labels, version: 0.1.0, condition: nfd.enabled, alias: nfd}
"""
_VALUES = """\
platform: {openshift: false}
operator: {enabled: false}
nfd: {enabled: true}
card: false
"""
_DAEMONSET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {place}
      containers: [{{name: main, image: "registry.example.org/vendor/{name}:1"}}]
"""
_ANY_OF = f"""affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{{key: {GPU}, operator: In, values: ["true"]}}]
            - matchExpressions: [{{key: vendor.example/gpu, operator: Exists}}]"""


def definition(name: str, *versions: str) -> Obj:
    """A CRD with these versions, of which the last one is stored."""
    plural, _dot, group = name.partition(".")
    kind = plural.removesuffix("s").capitalize()
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": plural.removesuffix("s")},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": schema},
                }
                for version in versions
            ],
        },
    }


def _object(kind: str, name: str, api_version: str = "v1") -> str:
    return json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})


FILES = {
    "Chart.yaml": _CHART.format(name="vendor") + _DEPENDENCIES,
    "values.yaml": _VALUES,
    # Helm itself may have written a definition.
    "crds/cards.yaml": f"---\n# Source: x/crds/cards.yaml\n{json.dumps(definition(CARDS, 'v1'))}",
    "templates/plugin.yaml": _DAEMONSET.format(name="plugin", place=_ANY_OF),
    "templates/sharing.yaml": _DAEMONSET.format(
        name="sharing", place=f'nodeSelector: {{{SHARING}: "true"}}'
    ),
    "templates/card.yaml": (
        "{{- if .Values.card }}\n" + _object("Card", "card", "vendor.example/v1") + "\n{{- end }}\n"
    ),
    "templates/platform.yaml": "{{- if .Values.platform.openshift }}\nnone\n{{- end }}\n",
    "charts/operator/Chart.yaml": _CHART.format(name="operator"),
    "charts/operator/crds/gadgets.yaml": json.dumps(definition(GADGETS, "v1alpha1", "v1")),
    "charts/operator/templates/config.yaml": _object("ConfigMap", "operator"),
    # Its folder is called otherwise than the chart, and that otherwise than where it is used.
    "charts/labels-0.1.0/Chart.yaml": _CHART.format(name="labels"),
    "charts/labels-0.1.0/crds/widgets.yaml": json.dumps(definition(WIDGETS, "v1")),
    "charts/labels-0.1.0/templates/config.yaml": _object("ConfigMap", "{{ .Chart.Name }}"),
    "charts/labels-0.1.0/templates/widget.yaml": _object("Widget", "w", "vendor.example/v1"),
}


def write_chart(folder: Path) -> Path:
    """The chart as files of this folder."""
    for path, text in FILES.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder
