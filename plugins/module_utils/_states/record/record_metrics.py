# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics of the record: which fields they are. What kube-state-metrics is given and what a file of
metrics says are made of this list. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PREFIX = "hardware_enablement_special_resource"
# Labels that each series has: whose record it is of.
COMMON = {"name": ("metadata", "name")}


@dataclass(frozen=True)
class Metric:
    """A metric of the record.

    path: of a field, or of a list of which each item is a series. value: where the number, or the
    API timestamp, of an item is. labels: where each label of an item is. phases: a series for each
    phase, 1 for the one that it has, instead of a number. constant: 1, for the sake of its labels.
    of_record: labels whose paths begin at the record.
    """

    name: str
    text: str
    path: tuple[str, ...]
    value: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phases: bool = False
    constant: bool = False
    of_record: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """As Prometheus has it."""
        return f"{PREFIX}_{self.name}"

    @property
    def label_names(self) -> tuple[str, ...]:
        """All that tell its series apart, but those of kube-state-metrics itself."""
        phase = ("phase",) if self.phases else ()
        return (*COMMON, *self.of_record, *self.labels, *phase)


def _fields(*names: str) -> dict[str, tuple[str, ...]]:
    """Labels that are called as the fields are."""
    return {name: (name,) for name in names}


METRICS = (
    Metric(
        "info",
        "1; versions of what did the work.",
        ("status", "versions"),
        labels={**_fields("collection", "driver"), "recipe_version": ("recipe",)},
        constant=True,
        of_record={"recipe": ("spec", "recipe")},
    ),
    Metric(
        "created_timestamp_seconds",
        "When the record was made; there before any run has looked.",
        ("metadata", "creationTimestamp"),
    ),
    Metric(
        "phase", "1 for the phase of the whole, 0 for others.", ("status", "phase"), phases=True
    ),
    Metric(
        "phase_since_timestamp_seconds",
        "When the phase became what it is.",
        ("status", "phaseSince"),
    ),
    Metric(
        "last_run_timestamp_seconds",
        "When a run last looked, which is noted once an hour where nothing changes.",
        ("status", "lastChecked"),
    ),
    Metric(
        "last_run_duration_seconds",
        "How long that run took, from the start of ansible-playbook.",
        ("status", "lastRunSeconds"),
    ),
    Metric("nodes", "Nodes that have the hardware.", ("status", "nodes", "total")),
    Metric("nodes_ready", "Nodes on which every state is proven.", ("status", "nodes", "ready")),
    Metric(
        "nodes_restart_pending",
        "Nodes that run the version before, until the playbook upgrade.",
        ("status", "nodes", "restartsPending"),
    ),
    Metric("kernels", "How many kernels these nodes run.", ("status", "kernelCount")),
    Metric(
        "state_nodes",
        "Nodes on which the state should be; 1 for a state of the cluster.",
        ("status", "states"),
        ("total",),
        {"state": ("name",)},
    ),
    Metric(
        "state_nodes_ready",
        "Nodes on which the state is proven.",
        ("status", "states"),
        ("ready",),
        {"state": ("name",)},
    ),
    Metric(
        "cause_nodes",
        "Nodes on which the state is in that phase for that reason, and on no other's account; 0 for a"
        " state of the cluster. The ten worst causes.",
        ("status", "causes"),
        ("nodes",),
        _fields("state", "phase", "reason"),
    ),
    Metric(
        "node_upgrade_since_timestamp_seconds",
        "Since when the node is upgrading, in remedy or quarantined. Ten of these nodes.",
        ("status", "upgrades"),
        ("since",),
        _fields("node", "phase"),
    ),
    Metric(
        "drifted_objects",
        "How many objects the last run that found others' changes has put back.",
        ("status", "drift", "count"),
    ),
    Metric("drift_seen_timestamp_seconds", "When that run was.", ("status", "drift", "seen")),
)
