# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: N818  (an error is named by what is wrong)
"""What can go wrong with a daemon: one sentence, and a kind that tells what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from .._errors import EnablementError

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
    "mba_unsupported": "leave mba out or, where the CPU has it, ask for a guaranteed cache (max and min equal and"
    " above 0) with it, or choose the back end resctrl for these nodes",
    "mba_range": "give a percentage from 1 to 100, or megabytes per second from 1 to 4294967290",
    "mba_mode": "give mba in the unit that the daemon runs with (mbaMode in rmd.toml)",
    "os_core": "choose other cores, or give the operating system others (option os_cpus of the recipe intel-rmd)",
    "plugin_missing": "load the plugin in rmd.toml, or leave its settings out",
    "plugin_refused": "correct the settings of the plugin",
    "rmd_alone": "give cache and mba instead, or choose the back end rmd for these nodes",
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


@dataclass(frozen=True)
class Refusal:
    """What RMD, the kernel or our rules refuse. kind: a key of ADVICE. why: what is wrong with what,
    without what to do."""

    kind: str
    why: str

    @property
    def todo(self) -> str:
        """What to do about it."""
        return ADVICE[self.kind]


class RmdError(EnablementError):
    """A daemon refused, cannot be reached, or something about a node keeps a workload from it.

    kind: a key of ADVICE, from where todo is taken unless it is given.
    """

    def __init__(
        self, what: str, *, kind: str, where: str = "", why: str = "", todo: str = ""
    ) -> None:
        self.kind = kind
        super().__init__(what, where=where, why=why, todo=todo or ADVICE[kind])


class Unanswered(RmdError):
    """There is no answer. was_sent: whether the daemon may have worked on the request. timed_out:
    whether its time was up."""

    def __init__(
        self,
        what: str,
        *,
        kind: str,
        was_sent: bool,
        timed_out: bool = False,
        where: str = "",
        why: str = "",
        todo: str = "",
    ) -> None:
        self.was_sent = was_sent
        self.timed_out = timed_out
        super().__init__(what, kind=kind, where=where, why=why, todo=todo)
