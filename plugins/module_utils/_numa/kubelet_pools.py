# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the kubelets of a pool run one configuration, and is it the one that was declared? Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from .._json import Obj


@dataclass(frozen=True)
class Declaration:
    """Settings that an object of the cluster asks of the kubelets of some nodes. source: kind and
    name of the object."""

    source: str
    nodes: Set[str]
    settings: Mapping[str, Any]


def pool_report(
    name: str,
    nodes: Sequence[str],
    running: Mapping[str, Obj],
    declarations: Sequence[Declaration],
) -> Obj:
    """What a pool's kubelets have in common, in what they differ, and what was declared otherwise.

    nodes: of the pool; running: node -> settings, of those that were read. Uniform is a pool all of
    whose nodes were read and run the same.
    """
    read = [node for node in nodes if node in running]
    common: Obj = {}
    differs: list[Obj] = []
    for setting in running[read[0]] if read else ():
        values = _by_value(setting, read, running)
        if len(values) == 1:
            common[setting] = values[0]["value"]
        else:
            differs.append({"setting": setting, "values": values})
    return {
        "name": name,
        "nodes": list(nodes),
        "uniform": len(read) == len(nodes) and not differs,
        "settings": common,
        "differs": differs,
        "declared": [
            _declared(declaration, read, running)
            for declaration in declarations
            if not declaration.nodes.isdisjoint(nodes)
        ],
    }


def _declared(declaration: Declaration, nodes: Sequence[str], running: Mapping[str, Obj]) -> Obj:
    differs: list[Obj] = []
    covered = [node for node in nodes if node in declaration.nodes]
    for setting, value in declaration.settings.items():
        others = [
            found for found in _by_value(setting, covered, running) if found["value"] != value
        ]
        differs += [
            {
                "setting": setting,
                "declared": value,
                "running": other["value"],
                "nodes": other["nodes"],
            }
            for other in others
        ]
    return {
        "source": declaration.source,
        "settings": dict(declaration.settings),
        "differs": differs,
    }


def _by_value(setting: str, nodes: Sequence[str], running: Mapping[str, Obj]) -> list[Obj]:
    """The values of a setting, each with its nodes; that of most nodes first."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        found[json.dumps(running[node][setting], sort_keys=True)].append(node)
    ordered = sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return [{"value": json.loads(text), "nodes": names} for text, names in ordered]
