# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""resource: an object exists, and where asked for, has a condition or a field with a value."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import ReadObject
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.pod_status import condition
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict

READ_EVERY_S = 2.0


def field(obj: dict[str, Any], path: str) -> Any:
    """The value at a dotted path ("status.phase", list items by number), or None."""
    value: Any = obj
    for step in path.split("."):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def evaluate(look: Look) -> Verdict:
    """The verdict for the cluster, the same for every node."""
    spec = look.spec
    namespace = spec.get("namespace") or look.namespace
    answer = look.ask(ReadObject(spec["api_version"], spec["kind"], namespace, spec["name"]), READ_EVERY_S)
    title = f"{spec['kind']} {spec['name']}"
    if answer is None:
        return Verdict(Outcome.PENDING, "Reading", f"{title} is being read")
    if answer.error:
        return Verdict(Outcome.BLOCKED, "Unreadable", f"{title} cannot be read: {answer.error}")
    if answer.value is None:
        return Verdict(Outcome.PENDING, "NotFound", f"{title} does not exist")
    wanted = spec.get("condition")
    if wanted:
        found = condition(answer.value, wanted["type"]) or {}
        if found.get("status") != str(wanted.get("status", "True")):
            why = found.get("message") or found.get("reason") or "it has no such condition"
            return Verdict(Outcome.PENDING, "ConditionNotMet", f"{title} is not {wanted['type']}: {why}")
    wanted = spec.get("field")
    if wanted:
        value = field(answer.value, wanted["path"])
        if value != wanted["equals"]:
            text = f"{title} has {wanted['path']} = {value!r}, wanted {wanted['equals']!r}"
            return Verdict(Outcome.PENDING, "FieldDiffers", text)
    return PASSED
