# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that single roles and playbooks take under names of their own, such as upgrade_waves,
and what looks like one of these misspelt. Pure.

Roles check values by their argument specifications, which say nothing of names that they do not
have. A test compares the list with these."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from .._errors import InvalidInput

_REBOOT = ("reboot", "reboot_annotation", "reboot_tasks", "reboot_timeout")
_RECIPE = ("recipe", "recipe_dir", "instance")
_PACE = ("max_unavailable", "max_failures", "drain", "stop_timeout", *_REBOOT)

# By what they begin with; the rest of the names.
ROLE_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "upgrade_": (
        *_RECIPE,
        *_PACE,
        "options",
        "nodes",
        "waves",
        "soak",
        "maintenance_window",
        "rollback",
    ),
    "remedy_": (*_RECIPE, *_PACE, "options", "faults", "release", "attempts", "cooldown"),
    "numa_": ("options", "pools", "namespace", "from_cr", "read_kubelets", "adopt"),
    "nfd_": ("options",),
    "partitioning_": (*_RECIPE, "state", "taints", "no_execute", "soft", "priority_classes"),
    "operator_import_": ("operator", "save", "file", "stop", "at_a_time"),
    "import_kmm_": ("resource", "namespace", "module", "file"),
}
# Names such as upgrade_window may be anybody's: only what differs by a letter or two was meant for us.
_LIKE = 0.88


def refuse_misspelt(names: Iterable[str]) -> None:
    """Raise InvalidInput for names that are nearly one of a role's variables."""
    known = {f"{prefix}{name}" for prefix, rest in ROLE_VARIABLES.items() for name in rest}
    own = [name for name in names if name.startswith(tuple(ROLE_VARIABLES)) and name not in known]
    found = {
        name: close[0]
        for name in sorted(own)
        if (close := difflib.get_close_matches(name, known, n=1, cutoff=_LIKE))
    }
    if not found:
        return
    said = ", ".join(f"{name} (did you mean {meant}?)" for name, meant in found.items())
    raise InvalidInput(
        f"There is no variable {said}",
        why="no role or playbook of the collection hardware.enablement reads it",
        todo="correct or rename it; docs/admin/variables.md lists all",
    )
