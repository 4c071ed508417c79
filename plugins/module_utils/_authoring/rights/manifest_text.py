# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests as text for kubectl apply: one List, with the words of a rule on one line, as people
write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


def as_text(manifests: Sequence[Mapping[str, Any]], recipes: Sequence[str]) -> str:
    """The manifests, with where they come from."""
    head = f"# The rights that a run needs for {', '.join(recipes)}, and no more; made by the playbook rights.\n"
    listed = {"apiVersion": "v1", "kind": "List", "items": [dict(each) for each in manifests]}
    return (
        head + "---\n" + str(yaml.dump(listed, Dumper=_dumper_class(), sort_keys=False, width=100))
    )


@cache
def _dumper_class() -> Any:
    """Made when it is first needed: without PyYAML there is nothing to inherit from."""

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            """Items of a list are indented."""
            del indentless
            return super().increase_indent(flow, indentless=False)

    Dumper.add_representer(list, _words)
    return Dumper


def _words(dumper: Any, value: list[Any]) -> Any:
    flow = all(isinstance(item, str) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)
