# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proof of a state, and the cluster that it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.declaration import (
    ProofKind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.evaluation import (
    Observation,
    ProofTarget,
    ProofView,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_conditions import (
    CONDITIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import Verdict
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
    NOW,
)


class Bench:
    """One proof of one state, looked at on a node (or the cluster).

    Where the node agent decides the kind by the node's object, too, it has to say the same."""

    def __init__(
        self,
        kind: str,
        spec: dict[str, Any] | None = None,
        workloads: tuple[ObjectKey, ...] = (),
        *,
        deployed: bool = False,
        slots: int = 0,
        kinds: Mapping[str, ProofKind[Any]] = KINDS,
    ) -> None:
        self.kind = kinds[kind]
        self.proof = Proof(kind, spec or {})
        proofs = (self.proof,)
        self.plan = world.plan("state", proofs=proofs, deployed=deployed, workloads=workloads)
        self.snapshot = ClusterSnapshot(pods_known=True)
        self.slots = slots
        self.wants: list[Any] = []

    def observation(self, on_node: bool = True, after: float = 0.0, **node: Any) -> Verdict:
        observation = Observation(
            plan=self.plan,
            index=0,
            settings=self.kind.settings_of(self.proof),
            target=ProofTarget(
                world.node(**node) if on_node else None, GROUP if on_node else "", "", NOW
            ),
            view=ProofView(
                self.snapshot, "demo", started=NOW, now=NOW + after, slots={"state": self.slots}
            ),
        )
        verdict: Verdict = self.kind.evaluate(observation)
        if on_node and self.kind.name in CONDITIONS:
            said = CONDITIONS[self.kind.name](
                world.node_object(**node), asdict(observation.settings)
            )
            assert said is verdict.passed, (
                f"of the node with {node} a run says {verdict}, and the node agent "
                f"{'ready' if said else 'not ready'}: correct the condition of {self.kind.name} "
                "in _recipes/readiness/node_agent/node_conditions.py"
            )
        self.wants = observation.wants
        return verdict
