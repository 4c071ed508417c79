# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""logs: the last lines of the state's pod on the node match a regular expression."""

from __future__ import annotations

import re

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import ReadLogs
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.kinds.rollout import last_line
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.pod_status import name
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict

READ_EVERY_S = 5.0


def evaluate(look: Look) -> Verdict:
    """The verdict for one node: every pod of the state there has to match."""
    if look.node is None:
        return PASSED
    pods = list(look.snapshot.pods_of(look.node.name, look.plan.name))
    if not pods:
        return Verdict(Outcome.PENDING, "NoPod", "there is no pod whose log could be read")
    pattern = str(look.spec["match"])
    for pod in pods:
        metadata = pod["metadata"]
        container, tail = look.spec.get("container"), int(look.spec.get("tail", 50))
        answer = look.ask(
            ReadLogs(metadata["namespace"], metadata["name"], metadata["uid"], container, tail), READ_EVERY_S
        )
        if answer is None:
            return Verdict(Outcome.PENDING, "ReadingLogs", f"the log of {name(pod)} is being read")
        if answer.error:
            return Verdict(Outcome.BLOCKED, "LogsUnreadable", f"the log of {name(pod)} cannot be read: {answer.error}")
        if not re.search(pattern, str(answer.value), re.MULTILINE):
            line = last_line(str(answer.value)) or "it is empty"
            text = f"the log of {name(pod)} does not match {pattern!r} yet; its last line: {line}"
            return Verdict(Outcome.PENDING, "LogMismatch", text)
    return PASSED
