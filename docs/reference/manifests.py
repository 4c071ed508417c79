# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an admin applies and the code knows: CustomResourceDefinitions, and what gives metrics of the
record."""

from __future__ import annotations

from typing import Any

import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.operator_crds import (
    all_definitions,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import crd
from docs.reference import fleet_dashboard, metrics

MADE = {
    "crd.yaml": crd.definition,
    "grafana-dashboard.yaml": fleet_dashboard.grafana,
    "openshift-dashboard.yaml": fleet_dashboard.console,
    "kube-state-metrics.yaml": metrics.configuration,
    "kube-state-metrics-rbac.yaml": metrics.role,
    "rmd-crds.yaml": lambda: {"apiVersion": "v1", "kind": "List", "items": all_definitions()},
}


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, **_: Any) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, *_: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Several lines as such, which somebody may want to read."""
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def filled(text: str, name: str) -> str:
    """A manifest with what comes after its comment made anew."""
    comment = text.partition("---\n")[0]
    made = yaml.dump(MADE[name](), Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
    return f"{comment}---\n{made}"
