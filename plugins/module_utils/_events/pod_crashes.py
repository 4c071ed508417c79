# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods of enabled recipes crash, by node. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from .._cluster.api_objects.labels import BUILD_LABEL, STATE_LABEL, VALIDATION_LABEL, state_of
from .._json import Obj, part
from .._verdicts.pod_status import has_crashed

# Pods of states alone: a build or a validation that fails is told by the run that has started it.
SELECTION = f"{STATE_LABEL},!{VALIDATION_LABEL},!{BUILD_LABEL}"


class PodCrashes:
    """What watches of pods have told."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
        self._changed: set[str] = set()

    def take(self, instance: str, pod: Obj, *, is_gone: bool) -> None:
        """Take in a pod of an instance."""
        node = part(pod, "spec").get("nodeName") or ""
        place = f"{pod['metadata'].get('namespace')}/{pod['metadata']['name']}"
        crashed = bool(node) and not is_gone and has_crashed(pod)
        if crashed:
            self._found[node][place] = (instance, state_of(pod))
        elif self._found.get(node, {}).pop(place, None) is None:
            return
        self._changed.add(node)

    def reconsider(self) -> None:
        """What is found of them depends on something else that has changed."""
        self._changed |= self._found.keys()

    def take_changed(self, nodes: Set[str]) -> dict[str, set[tuple[str, str]]]:
        """Each node whose crashed pods have changed since the last call, or that is one of these: the
        instances and states of its crashed pods, none where there are no more."""
        changed = self._changed | (self._found.keys() & nodes)
        self._changed = set()
        found = {node: set(self._found.get(node, {}).values()) for node in changed}
        for node in [node for node, states in found.items() if not states]:
            self._found.pop(node, None)
        return found
