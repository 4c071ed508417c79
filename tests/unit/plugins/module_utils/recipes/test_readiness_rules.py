# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeReadinessRules: one for each label set, and that our own pods tolerate their taints."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness_rules import (
    readiness_rules,
    rule_tolerations,
)

OPTIONS: dict[str, Any] = {"node_condition": True, "node_readiness_rule": "continuous"}
SETS: list[dict[str, str | None]] = [{"pci": "true"}, {"gpu": None}]


def test_each_label_set_has_a_rule_whose_taint_our_pods_tolerate() -> None:
    rules = readiness_rules("toy", OPTIONS, SETS)
    selectors = [rule["spec"]["nodeSelector"] for rule in rules]
    exists = {"key": "gpu", "operator": "Exists"}
    assert selectors == [{"matchLabels": {"pci": "true"}}, {"matchExpressions": [exists]}]
    taints = [rule["spec"]["taint"] for rule in rules]
    # What the controller's CRD asks for.
    assert all(taint["key"].startswith("readiness.k8s.io/toy-") for taint in taints)
    assert len({taint["key"] for taint in taints}) == 2
    tolerated = {each["key"] for each in rule_tolerations("toy", OPTIONS, SETS)}
    assert tolerated == {taint["key"] for taint in taints}
    (condition,) = rules[0]["spec"]["conditions"]
    assert condition == {"type": "hardware-enablement.io/toy", "requiredStatus": "True"}


@pytest.mark.parametrize("mode", ["bootstrap-only", "continuous"])
def test_another_spec_is_another_rule_since_none_can_be_changed(mode: str) -> None:
    names = {
        readiness_rules("toy", {"node_readiness_rule": each}, sets)[0]["metadata"]["name"]
        for each, sets in ((mode, SETS[:1]), (mode, SETS[1:]), ("another", SETS[:1]))
    }
    assert len(names) == 3


def test_without_the_option_nothing_is_tolerated() -> None:
    assert rule_tolerations("toy", {"node_readiness_rule": "none"}, SETS) == []
