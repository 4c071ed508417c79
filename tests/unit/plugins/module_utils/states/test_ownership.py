# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is found as ours, and so may be pruned, is ours alone: another instance has states of the
same names."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.ownership import (
    find_owned,
    gone_states,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    KINDS_ANNOTATION,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    Bench,
)

OBJECTS = {
    "ours": {PART_OF_LABEL: "us", STATE_LABEL: "driver"},
    "of-another-state": {PART_OF_LABEL: "us", STATE_LABEL: "plugin"},
    "of-another-instance": {PART_OF_LABEL: "them", STATE_LABEL: "driver"},
    "of-nobody": {},
}


class Cluster:
    """ConfigMaps in one namespace, chosen by labels as the API server does."""

    def kind(self, _api_version: str, kind: str) -> Kind:
        return Kind("", "v1", kind, "configmaps", namespaced=True)

    def serves(self, *_names: str) -> bool:
        return True

    def parallel(self, calls: list[Any]) -> list[Any]:
        return [call() for call in calls]

    def list(self, _kind: Kind, namespace: str, labels: str) -> Any:
        applyset_id, _comma, states = labels.partition(",")
        wanted = applyset_id.removeprefix(f"{PART_OF_LABEL}=")
        named = states.removeprefix(f"{STATE_LABEL} in (").rstrip(")").split(",")
        found = [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": carried},
            }
            for name, carried in OBJECTS.items()
            if carried.get(PART_OF_LABEL) == wanted and carried.get(STATE_LABEL) in named
        ]
        return SimpleNamespace(items=found)


def test_only_what_belongs_to_this_special_resource_and_these_states() -> None:
    recipe = Bench().recipe
    prepared = Prepared(recipe, Intent(resolve(recipe, {}), "toy"), "us")
    desired = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "toy"}}
    ]
    found = find_owned(cast(Client, Cluster()), prepared, ["driver"], None, desired)
    assert [key.name for key in found] == ["ours"]


def test_states_that_the_recipe_no_longer_has_are_remembered() -> None:
    recipe = Bench().recipe
    prepared = Prepared(recipe, Intent(resolve(recipe, {}), "toy"), "us")
    kinds = {"driver": ["apps/v1/DaemonSet"], "dropped": ["v1/ConfigMap"]}
    record = {"metadata": {"annotations": {KINDS_ANNOTATION: json.dumps(kinds)}}}

    assert gone_states(prepared, list(recipe.states), record) == ["dropped"]
    # Who asks about some states alone says nothing about the others.
    assert gone_states(prepared, ["driver"], record) == []
    assert gone_states(prepared, list(recipe.states), None) == []
