# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod asks of its node, as the scheduler reads it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.node_affinity import (
    NodeAffinity,
)

Obj = dict[str, Any]

LABELS = {"card": "a", "memory": "16", "size": "large"}


def asking(*terms: Obj, **selector: str) -> NodeAffinity:
    """The asking of a pod with these terms and labels."""
    spec: Obj = {"nodeSelector": selector}
    if terms:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    return NodeAffinity.of(spec)


def label(key: str, operator: str, *values: str) -> Obj:
    """A term of one condition on a label."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(operator: str, *values: str) -> Obj:
    """A term of one condition on the node's name."""
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("asked", "takes"),
    [
        (asking(), True),
        (asking(card="a"), True),
        (asking(card="b"), False),
        (asking(gone="a"), False),
        (asking(label("card", "In", "b", "a")), True),
        (asking(label("card", "In", "b")), False),
        (asking(label("gone", "In", "b")), False),
        (asking(label("card", "NotIn", "b")), True),
        (asking(label("card", "NotIn", "a")), False),
        (asking(label("gone", "NotIn", "a")), True),
        (asking(label("card", "Exists")), True),
        (asking(label("gone", "Exists")), False),
        (asking(label("card", "DoesNotExist")), False),
        (asking(label("gone", "DoesNotExist")), True),
        (asking(label("memory", "Gt", "15")), True),
        (asking(label("memory", "Gt", "16")), False),
        (asking(label("memory", "Lt", "17")), True),
        (asking(label("memory", "Lt", "16")), False),
        (asking(label("gone", "Lt", "16")), False),
        (asking(label("size", "Gt", "1")), False),
        (asking(label("memory", "Gt", "many")), False),
        (asking(named("In", "n1")), True),
        (asking(named("In", "n2")), False),
        (asking(named("NotIn", "n2")), True),
        # Terms are alternatives, and each of their conditions has to hold, as has the selector.
        (asking(label("card", "In", "b"), label("card", "In", "a")), True),
        (asking({**label("card", "In", "a"), **named("In", "n2")}), False),
        (asking(label("card", "In", "a"), size="small"), False),
        # A term without conditions selects nothing.
        (asking({}), False),
        (asking({}, label("card", "In", "a")), True),
    ],
)
def test_it_is_read_as_the_scheduler_reads_it(asked: NodeAffinity, takes: bool) -> None:
    assert asked.takes(LABELS, "n1") is takes
    assert bool(asked.why_not(LABELS, "n1")) is not takes


def test_preferences_ask_for_nothing() -> None:
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
    assert NodeAffinity.of({"affinity": {"nodeAffinity": preferred}}) == NodeAffinity()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (asking(card="b"), "it wants card=b, and the node has card=a"),
        (
            asking(label("memory", "Gt", "32"), gone="x"),
            "it wants gone=x and memory > 32, and the node has no gone, memory=16",
        ),
        (
            asking({"matchExpressions": [*label("card", "In", "b", "c")["matchExpressions"]]}),
            "it wants card in (b, c), and the node has card=a",
        ),
        (
            asking(
                {
                    "matchExpressions": [
                        *label("gone", "Exists")["matchExpressions"],
                        *label("card", "DoesNotExist")["matchExpressions"],
                    ]
                },
                label("size", "NotIn", "large"),
            ),
            "it wants size not in (large), and the node has size=large; no other term of its affinity is closer",
        ),
        (asking(named("In", "n2")), "it wants metadata.name=n2, and the node has metadata.name=n1"),
        (asking({}), "no term of its node affinity selects anything"),
    ],
)
def test_what_is_not_met_is_told_with_what_is_there(asked: NodeAffinity, why: str) -> None:
    assert asked.why_not(LABELS, "n1") == why


def test_what_others_see_to_is_no_demand() -> None:
    asked = asking(label("ours/ready", "In", "ready"), **{"ours/kernel": "k", "card": "a"})
    left = asked.without(lambda key: key.startswith("ours/"))
    assert left.takes(LABELS, "n1")
    assert left.why_not({}, "n1") == "it wants card=a, and the node has no card"
