# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools that are given hold as they are, others are those of the record; an instance has a
namespace of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    make_intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    make_spec,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.test_intent import (
    RECIPE,
)

NEW: dict[str, Any] = {
    "name": "new",
    "selector": {"matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["4"]}]},
    "options": {"version": "2.0"},
}


def recorded(*pools: dict[str, Any]) -> dict[str, Any]:
    """The record of a run with these pools."""
    return {"spec": make_spec(RECIPE, "toys", resolve(RECIPE, {}), pools=parse_pools(pools))}


def test_what_is_recorded_is_read_as_it_was_given() -> None:
    intent = make_intent(
        RECIPE, None, None, recorded(NEW, {"name": "mcp", "machine_config_pool": "gpu"})
    )

    assert intent.pools == parse_pools([NEW, {"name": "mcp", "machine_config_pool": "gpu"}])
    assert (intent.options["version"], intent.pool_options["new"]["version"]) == ("1.0", "2.0")
    assert intent.differences == ()


def test_given_pools_are_not_mixed_with_the_record_and_what_differs_is_said() -> None:
    intent = make_intent(RECIPE, None, None, recorded(NEW), pools=[])
    assert intent.pools == ()
    assert [text.partition(":")[0] for text in intent.differences] == ["pool new"]
    assert intent.differences[0].endswith("-> null")


def test_a_secret_of_a_pool_is_not_recorded_and_not_silently_lost() -> None:
    record = recorded({**NEW, "options": {"token": "hush"}})
    assert "hush" not in str(record)
    with pytest.raises(
        InvalidInput, match=r"cannot hold all of pool new: .* token would be taken away"
    ):
        make_intent(RECIPE, resolve(RECIPE, {}), None, record)


def test_an_instances_namespace_is_called_like_it() -> None:
    recipe = replace(RECIPE, name="toy-b")
    assert make_intent(recipe, None, None, None).namespace == "toy-b"
    assert make_intent(recipe, None, "mine", None).namespace == "mine"
