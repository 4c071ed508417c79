# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy file: tiers for the machine's platform, from TOML or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rmd.reading import read_toml

Tier = Mapping[str, Mapping[str, Any]]
SKYLAKE: Mapping[str, Tier] = {
    "gold": {"cache": {"max": 4, "min": 4}},
    "silver": {"cache": {"max": 3, "min": 1}},
    "bronze": {"cache": {"max": 0, "min": 0}},
}


@dataclass(frozen=True)
class Policies:
    """tiers: name -> module -> parameter -> value, for this platform; None: cannot be read. yaml:
    the file is YAML."""

    tiers: Mapping[str, Tier] | None = field(default_factory=lambda: SKYLAKE)
    yaml: bool = False

    def find(self, name: str) -> Tier:
        """A tier; LookupError with the daemon's words."""
        if self.tiers is None:
            raise LookupError("Failed to load policies")
        if name not in self.tiers:
            raise LookupError(f"Can not find specified policy {name}")
        return self.tiers[name]


def load_policies(file: Path, platform: str) -> Policies:
    """The policies of a platform; without tiers if the file or the platform is missing."""
    yaml = file.suffix == ".yaml"
    if not file.is_file():
        return Policies(None, yaml)
    content = _read_yaml(file.read_text()) if yaml else read_toml(file)
    return Policies(content.get(platform.lower()), yaml)


def _read_yaml(text: str) -> dict[str, Any]:
    """Nested maps of numbers and words, which is all that a policy file has."""
    root: dict[str, Any] = {}
    levels: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    for line in text.splitlines():
        bare = line.split("#")[0].rstrip()
        if not bare.strip() or bare.strip() == "---":
            continue
        indent = len(bare) - len(bare.lstrip())
        key, _colon, value = bare.strip().partition(":")
        while levels[-1][0] >= indent:
            levels.pop()
        if value.strip():
            levels[-1][1][key.lower()] = _scalar(value.strip())
        else:
            inner: dict[str, Any] = {}
            levels[-1][1][key.lower()] = inner
            levels.append((indent, inner))
    return root


def _scalar(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value.strip("\"'")
