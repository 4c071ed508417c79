# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that are given hold as they are, others are those of the record, and what differs is
said."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._json import TOO_DEEP
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Option,
    Recipe,
    RecipeSource,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
    dropped,
    make_intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
    refuse_dropped,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.recipe_request import (
    RecipeRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    make_spec,
)

RECIPE = Recipe(
    name="toy",
    namespace="toys",
    source=RecipeSource("toy"),
    options={
        **STANDARD_OPTIONS,
        "version": Option("version", default="1.0"),
        "plugin": Option("plugin", type="bool", default=True),
        "token": Option("token", default="", no_log=True),
    },
)


def enabled(namespace: str = "toys", **options: Any) -> dict[str, Any]:
    """The record of a run with these options."""
    return {"spec": make_spec(RECIPE, namespace, resolve(RECIPE, options))}


def query(record: dict[str, Any] | None, namespace: str | None = None, **options: Any) -> Intent:
    return make_intent(RECIPE, resolve(RECIPE, options), namespace, record)


def test_a_first_run_has_the_defaults_and_no_differences() -> None:
    intent = make_intent(RECIPE, None, None, None)
    assert (intent.options["version"], intent.namespace, intent.differences) == ("1.0", "toys", ())


def test_nothing_given_is_as_recorded() -> None:
    intent = make_intent(RECIPE, None, None, enabled(namespace="mine", version="2.0", plugin=False))
    assert (intent.options["version"], intent.options["plugin"], intent.namespace) == (
        "2.0",
        False,
        "mine",
    )
    assert intent.differences == ()


@pytest.mark.parametrize("given", [None, {"version": "2.0"}])
def test_a_record_of_which_a_part_was_cut_off_is_refused(given: dict[str, Any] | None) -> None:
    record = enabled()
    record["spec"]["options"]["node_selector"] = {"a": [TOO_DEEP]}
    with pytest.raises(InvalidInput, match="in its spec is nested too deep; take that out"):
        make_intent(RECIPE, given, None, record)


def test_given_options_are_not_mixed_with_the_record() -> None:
    intent = query(enabled(version="2.0", plugin=False), plugin=False)
    assert intent.options["version"] == "1.0"
    assert intent.differences == ('version: "2.0" -> "1.0", its default',)


def test_all_defaults_can_be_given() -> None:
    assert query(enabled(plugin=False)).differences == ("plugin: false -> true, its default",)


def test_what_differs_is_said_and_long_values_are_cut() -> None:
    intent = query(enabled(), "elsewhere", node_selector={"a" * 70: "b"})
    assert intent.differences[0] == "namespace: toys -> elsewhere"
    assert intent.differences[1].startswith('node_selector: {} -> {"aaa')
    assert intent.differences[1].endswith("aaa...")


def test_of_a_secret_only_the_name_is_recorded_and_said() -> None:
    record = enabled(token="hush", version="2.0")
    assert record["spec"]["secretOptions"] == ["token"]
    assert "hush" not in str(record)
    assert query(record, version="2.0").differences == ("token: secret, not given any more",)
    assert query(enabled(), token="hush").differences == ("token: secret, given now",)
    assert query(record, version="2.0", token="other").differences == ()


def test_a_run_that_would_lose_a_secret_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"its record cannot hold token.*give all options again.*token, version"
    ):
        make_intent(RECIPE, None, None, enabled(token="hush", version="2.0"))


def test_what_is_removed_needs_no_secret_and_no_known_option() -> None:
    record = enabled(namespace="mine", token="hush")
    record["spec"]["options"] = {"gone": 1}
    intent = make_intent(RECIPE, None, None, record, complete=False)
    assert (intent.namespace, intent.differences) == ("mine", ())


def test_a_recorded_option_that_the_recipe_has_no_more() -> None:
    record = enabled()
    record["spec"]["options"] = {"gone": 1}
    with pytest.raises(
        InvalidInput, match=r"in the record of toy cannot be used: .*gone.*give the options"
    ):
        make_intent(RECIPE, None, None, record)
    assert query(record).differences == ("gone: 1 -> no option of this recipe any more",)


def test_no_password_of_an_address_is_told() -> None:
    (told,) = query(enabled(), version="https://me:pw@git.test/x").differences
    assert told == 'version: "1.0" -> "https://********@git.test/x"'


POOL = {"name": "a100", "selector": {"matchLabels": {"a": "b"}}, "options": {"plugin": False}}


@pytest.mark.parametrize(
    ("options", "pools", "left_out"),
    [
        (None, None, []),
        ({}, None, ["token", "version"]),
        ({"plugin": False}, None, ["token", "version"]),
        # One that is named is no oversight, whatever it is set to.
        ({"version": "1.0", "token": ""}, None, []),
        ({"version": None, "token": "x"}, None, ["version"]),
        (None, [], ["pool a100"]),
        (None, [{**POOL, "options": {}}], ["plugin of pool a100"]),
        (None, [POOL], []),
    ],
)
def test_what_given_options_leave_out_of_the_record(
    options: dict[str, Any] | None, pools: list[Any] | None, left_out: list[str]
) -> None:
    record = enabled(token="hush", version="2.0")
    record["spec"]["pools"] = [POOL]
    record["spec"]["options"]["gone"] = 1
    assert dropped(RECIPE, record, options, pools) == left_out


def test_what_is_left_out_needs_a_word() -> None:
    record = enabled(version="2.0")
    given = RecipeRequest("toy", options={"plugin": False})
    prepared = Prepared(RECIPE, query(record, plugin=False), "", record=record)
    with pytest.raises(
        InvalidInput,
        match=r"What is given for toy leaves out version: its record has that.*options_replace=true",
    ):
        refuse_dropped(prepared, given, replace_all=False)
    refuse_dropped(prepared, given, replace_all=True)
    refuse_dropped(prepared, RecipeRequest("toy"), replace_all=False)
    refuse_dropped(Prepared(RECIPE, query(None), ""), given, replace_all=False)
