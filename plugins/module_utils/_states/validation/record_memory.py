# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the record knows of the last run, for whoever looks afterwards: since when each cause has been
there, and what was seen of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._cluster.api_objects.labels import summary_label
from ..._json import Obj, elements, part
from ..._nodes.facts import NodeFacts
from ..._times import seconds
from .node_marks import split_summary
from .phases import Memory

# What of a cause is told again. The record's schema knows of each what it is, and not that it is there.
_FIELDS = frozenset(("state", "phase", "reason", "message", "since", "nodes", "examples"))


@dataclass(frozen=True)
class RecordMemory:
    """seen: when it looked, as an API timestamp. causes: what kept states from being ready then, as
    in the record's status."""

    recipe: str = ""
    seen: str = ""
    causes: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @classmethod
    def of(cls, recipe: str, record: Mapping[str, Any] | None) -> RecordMemory:
        """What a record says; nothing where there is none yet."""
        status = part(record or {}, "status")
        found = [cause for cause in elements(status, "causes") if cause.keys() >= _FIELDS]
        return cls(recipe, str(status.get("lastChecked") or ""), found)

    def memory(self, node: NodeFacts | None, state: str) -> Memory:
        """What is remembered of a state on a node (None: on the cluster) before the first look: the
        run left the state's phase in the node's summary label, and the record says since when."""
        cause = self._cause_of(node, state) if self.causes else None
        since = seconds(cause["since"]) if cause else None
        if cause is None or since is None:
            return Memory()
        return Memory(trouble_since=since, reason=cause["reason"], reason_since=since)

    def lasting(self, cause: Mapping[str, Any]) -> Obj:
        """A cause that is found now, since when the run before has found it."""
        same = (known for known in self.causes if _identity(known) == _identity(cause))
        return {**cause, "since": next((known["since"] for known in same), cause["since"])}

    def beside(self, cause: Mapping[str, Any]) -> Obj:
        """A cause that is found now, with what the run before has found in the same state where that
        says something else (before), and when (seen)."""
        same = [known for known in self.causes if known["state"] == cause["state"]]
        same.sort(key=lambda known: bool(known["reason"] != cause["reason"]))
        if not same or _prose(same[0]["message"]) == _prose(cause["message"]):
            return dict(cause)
        before = {key: value for key, value in same[0].items() if key in _FIELDS}
        return {**cause, "before": {**before, "seen": self.seen}}

    def _cause_of(self, node: NodeFacts | None, state: str) -> Mapping[str, Any] | None:
        if node is None:
            found = (each for each in self.causes if not each["nodes"])
            return next((each for each in found if each["state"] == state), None)
        phase, blamed = split_summary(node.labels.get(summary_label(self.recipe)))
        if blamed != state:
            return None
        return next((each for each in self.causes if _identity(each)[:2] == (state, phase)), None)


NOTHING_BEFORE = RecordMemory()


def _identity(cause: Mapping[str, Any]) -> tuple[str, str, str]:
    """What makes two causes the same."""
    return cause["state"], cause["phase"], cause["reason"]


def _prose(message: str) -> list[str]:
    """The words of a sentence without names and numbers, which differ from one look to the next."""
    words = (word.strip("\"'.,:;()") for word in message.split())
    return [word for word in words if word.isalpha()]
