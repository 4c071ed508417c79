# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a refusal of RMD means. Its status codes cannot be trusted (many a wrong request is a 500):
the text decides.

Pure. Texts: https://github.com/intel/rmd v0.2 and v0.3, modules/workload and internal/db."""

from __future__ import annotations

import re
from typing import Optional

from ..._nodes.cpuset import to_ranges
from ..nodes.node_machine import Dialect
from ..rmd_errors import Refusal

_LONGEST = 300

# In order: the first that matches. Both dialects; (kind, words).
_WORDS: tuple[tuple[str, str], ...] = (
    ("conflict_uuid", r"UUID .* already exists in workload"),
    ("conflict_core", r"CPU list .* has been assigned"),
    ("conflict_id", r"Workload with id .* already exists|TaskID .* already exists"),
    ("no_cache", r"Not enough cache left"),
    ("no_cache", r"Errors while try to shrink cache ways"),
    ("no_clos", r"No free CLOS|[Nn]ot enough CLOS|no space left on device"),
    (
        "bad_range",
        r"Min cache value cannot be greater|Bad cache ways request|Need to provide both (cache\.|\*_cache)",
    ),
    ("mba_mode", r"Please provide MBA in (Percentage|Mbps)"),
    ("mba_range", r"MBA values .*range .*from 1 to"),
    (
        "mba_unsupported",
        r"Need to provide both cache and mba|MBA (is )?only supported for Guarantee",
    ),
    (
        "mba_unsupported",
        r"MBA forbidden for shared|supports only cache and not MBA|MBA is not supported|enable MBA",
    ),
    ("kernel_refused", r"write /.*: invalid argument"),
    ("plugin_missing", r"(module|Plugin) .*is not loaded|while plugin not enabled"),
    ("plugin_refused", r"Invalid params received|Invalid P-State"),
    (
        "policy_incomplete",
        r"from P-State policy|Max cache doesn't exist in policy|Failed to convert type for max cache",
    ),
    ("policy_unknown", r"Could not find the Policy|Can not find specified policy"),
    (
        "no_parameters",
        r"No RDT/Plugins params in workload|No Cache neither PState params in workload",
    ),
    ("no_cores", r"No task or core id specified"),
    ("task_missing", r"The task: .* does not exist"),
    ("unknown_core", r"Invalid params \(core ids\)|[Ff]ailed to [Pp]arse workload coreIDs"),
    ("bad_request", r"Failed to read request correctly"),
    ("not_found", r"Could not found workload"),
    ("auth", r"Malformed credentials|Authentication failure"),
    ("foreign_origin", r"only have permission to (?:modify|delete) REST origin"),
    ("broken_setup", r"Unknown AppError type"),
    ("needs_tls", r"HTTP request to an HTTPS server"),
)
_STATUSES = {
    401: "auth",
    403: "auth",
    404: "not_found",
    405: "bad_request",
    406: "bad_request",
    415: "bad_request",
}
_ASSIGNED = re.compile(r"CPU list \[?([0-9a-fA-F][0-9a-fA-F,]*)\]? has")


def classify(status: int, text: str, dialect: Optional[Dialect] = None) -> Refusal:
    """What an answer with an error status, and this text, means."""
    said = " ".join(text.split())
    kind = next(
        (kind for kind, words in _WORDS if re.search(words, said)), _STATUSES.get(status, "unknown")
    )
    shown = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    why = f'RMD says "{shown}" ({status})' if shown else f"RMD answers {status} without a word"
    mask = _ASSIGNED.search(said)
    if mask and dialect is Dialect.V02:
        why += f", which is core {to_ranges(_cores_of(mask[1]))}"
    return Refusal(kind, why)


def _cores_of(mask: str) -> list[int]:
    """The CPUs of a mask in hexadecimal digits, with commas after each 32 of them, as RMD v0.2
    names them."""
    bits = int(mask.replace(",", ""), 16)
    return [core for core in range(bits.bit_length()) if bits >> core & 1]
