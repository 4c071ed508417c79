# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The argument specification of rmd_workload, made of what a workload may say."""

from __future__ import annotations

from .._rmd.workloads import PARTS, TEXTS, RmdSettings
from .arguments import RMD, RMD_NODES, RUN, Spec


def _of_settings(kind: type[RmdSettings]) -> Spec:
    found: Spec = {}
    for name, each in kind.parameters().items():
        choices = {"choices": list(each["choices"])} if each["choices"] else {}
        required = {"required": True} if name in kind.required() else {}
        found[name] = {"type": each["kind"], **choices, **required}
    return found


_RMD_WORKLOAD: Spec = {
    "core_ids": {"type": "list", "elements": "str"},
    **{name: {"type": "dict", "options": _of_settings(kind)} for name, kind in PARTS.items()},
    **{name: {"type": "str"} for name in TEXTS},
}

RMD_WORKLOAD: Spec = {
    **RMD,
    **RMD_NODES,
    **RUN,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "uuid": {"type": "str"},
    **_RMD_WORKLOAD,
    "workloads": {
        "type": "list",
        "elements": "dict",
        "options": {"uuid": {"type": "str", "required": True}, **_RMD_WORKLOAD},
    },
    "dialect": {"type": "str", "choices": ["auto", "v0.2", "v0.3"], "default": "auto"},
    "on_partial_failure": {"type": "str", "choices": ["rollback", "keep"], "default": "rollback"},
    "lock_wait": {"type": "int", "default": 75},
}
