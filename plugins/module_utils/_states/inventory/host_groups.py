# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of Ansible's groups a host is in, and which name it is reached by. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

_OTHERS = re.compile(r"[^A-Za-z0-9_]")
# As the API server has them: DNS subdomains. Neither a template nor an option of ssh is one.
_DNS_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", re.IGNORECASE)


def host_groups(variables: Mapping[str, Any]) -> dict[str, str]:
    """The groups of a host with these variables (host_variables.py), and of each its parent, "" for
    none."""
    named = {"kernel": "kernel_group", "zone": "zone", "node_pool": "node_pool"}
    found = {
        group_name(f"{prefix}_{variables[key]}"): ""
        for prefix, key in named.items()
        if variables[key]
    }
    for recipe, stands in variables["recipes"].items():
        parts = [stands["phase"]]
        parts += ["restart_pending"] if stands["restarts_pending"] else []
        parts += [stands["upgrade"]] if stands["upgrade"] else []
        parts += [f"pool_{stands['pool']}"] if stands["pool"] else []
        parent = group_name(recipe)
        found |= {parent: "", **{group_name(f"{recipe}_{part}"): parent for part in parts}}
    return found


def group_name(text: str) -> str:
    """A text as the name of a group: letters, digits and underscores, no digit first."""
    name = _OTHERS.sub("_", text)
    return f"_{name}" if name[:1].isdigit() else name


def is_dns_name(text: str) -> bool:
    """Whether a text can be the name of a node or host."""
    return _DNS_NAME.fullmatch(text) is not None


def address_of(variables: Mapping[str, Any], kind: str) -> str:
    """The first address of a type (InternalIP, ...) that is one, "" where there is none."""
    return next((text for text in variables["addresses"].get(kind, ()) if _is_address(text)), "")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return is_dns_name(text)
    return True
