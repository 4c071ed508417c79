# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a refusal of RMD means. Its status codes cannot be trusted (many a wrong request is a 500):
the text decides.

Pure. Texts: https://github.com/intel/rmd v0.2 and v0.3, modules/workload and internal/db."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from .._nodes.cpuset import to_ranges
from .dialect import Dialect

_LONGEST = 300

# kind: what to do next. Kinds of refusals, of our own rules, and of a daemon that does not answer.
ADVICE: dict[str, str] = {
    "conflict_core": "choose other cores, or remove the workload that has them",
    "conflict_uuid": "see who else makes workloads on this node, then run again",
    "conflict_id": "run again",
    "no_cache": "ask for fewer ways, remove another workload, or give the pool more ways when RMD is deployed",
    "no_clos": "remove a workload: the CPU has no class of service left (shared workloads share one)",
    "bad_range": "make max and min equal (guaranteed), max larger than min (best effort), or both 0 (shared)",
    "no_parameters": "give cache, a policy or P-state settings",
    "no_cores": "give core_ids",
    "unknown_core": "choose cores that the node has; RMD would crash on this request",
    "mba_unsupported": "leave mba out, or ask for a guaranteed cache (max and min equal and above 0) with it",
    "mba_range": "give a percentage from 1 to 100, or megabytes per second from 1 to 4294967290",
    "mba_mode": "give mba in the unit that the daemon runs with (mbaMode in rmd.toml)",
    "os_core": "choose other cores, or give the operating system others (option os_cpus of the recipe intel-rmd)",
    "plugin_missing": "load the plugin in rmd.toml, or leave its settings out",
    "plugin_refused": "correct the settings of the plugin",
    "policy_unknown": "name one of the policies that rmd_info lists for this node",
    "policy_incomplete": "complete the policy in the daemon's policy file, or give its values instead of it",
    "task_missing": "remove the task id: that process has ended",
    "bad_request": "report this as a bug of hardware.enablement",
    "not_found": "run again: somebody else has removed it",
    "foreign_origin": "change it where it was made: RMD lets REST change only what REST has made",
    "no_effect": "see the daemon's log, then run again",
    "not_enforced": "see the daemon's log; a policy file in YAML or a failed resctrl write does this",
    "auth": "give a client certificate, or an account, that the daemon's access list allows to do this",
    "no_client_certificate": "give a client certificate that the daemon's client CA has signed",
    "not_trusted": "give the CA that signed it and, where it holds another name, tls_server_name",
    "expired": "renew it, for example with the playbook that deploys RMD",
    "no_tls": "see that this is the daemon's TLS port; nothing is ever sent without TLS instead",
    "needs_tls": "deploy RMD without debug, or let the daemon's container call this port rmd-tls",
    "transport": "see whether the daemon's pod is healthy and its address reachable from here, then run again",
    "server_panic": "see the daemon's log; this request is not sent again, since it may have crashed the daemon",
    "no_daemon": "deploy RMD there, or leave the node out",
    "no_such_node": "correct the node's name",
    "locked": "wait until the other run ends",
    "api": "see whether the API server is healthy, then run again",
    "not_restored": "run again: what was saved is put back first",
    "broken_setup": "correct what the daemon's log names, then run again",
    "kernel_refused": "see info/last_cmd_status in the node's resctrl, and the daemon's log",
    "not_in_force": "run again; if that does not help, restart the daemon while the node is idle, and see its log",
    "unverified": "see whether the agent's pod runs on this node",
    "unknown": "see the daemon's log, then run again",
}

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


@dataclass(frozen=True)
class Refusal:
    """kind: a key of ADVICE. why: what the daemon says, in its own words."""

    kind: str
    why: str

    @property
    def todo(self) -> str:
        """What to do about it."""
        return ADVICE[self.kind]


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
