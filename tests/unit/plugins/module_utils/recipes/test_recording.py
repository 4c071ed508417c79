# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of a check: a file is rendered once for the same values of what it reads, and anew for
others."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.recording import (
    RecordingTemplates,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)

ONE = {"options": {"level": 1, "other": 1}, "kernel": "6.8", "pool": ""}


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that have been rendered indeed."""
    found: list[str] = []
    usual = Templates.render

    def render(self: Templates, path: str, variables: dict[str, Any]) -> str:
        found.append(path)
        return usual(self, path, variables)

    monkeypatch.setattr(Templates, "render", render)
    return found


def texts(text: str, *cases: dict[str, Any], **files: str) -> list[str]:
    templates = RecordingTemplates({"a": text, **files}, "toy")
    found = []
    for case in cases:
        templates.begin()
        found.append(templates.render("a", case))
        assert [each.variables for each in templates.renderings.get("a", [])] == [case]
    return found


def test_what_a_file_does_not_read_makes_no_difference(rendered: list[str]) -> None:
    others = {**ONE, "options": {"level": 1, "other": 2}, "kernel": "5.14"}
    assert texts("{{ options.level }}", ONE, others) == ["1", "1"]
    assert rendered == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ options.level }}{{ kernel }}",
        "{% include 'b' %}",
        "{% set kernel = kernel | upper %}{{ kernel }}{{ options.level }}",
        "{% set all = options %}{{ all.level }}{{ kernel }}",
        "{% import 'b' as b with context %}{{ b.show() }}",
    ],
)
@pytest.mark.parametrize("changed", [{"kernel": "5.14"}, {"options": {"level": 2, "other": 1}}])
def test_what_it_reads_however_it_does_renders_it_anew(text: str, changed: dict[str, Any]) -> None:
    b = "{% macro show() %}{{ options.level }}{{ kernel }}{% endmacro %}{{ show() }}"
    first, second = texts(text, ONE, {**ONE, **changed}, b=b)
    assert first != second


def test_a_file_that_includes_what_is_no_template_is_rendered_each_time(
    rendered: list[str],
) -> None:
    text = "{% if options.level > 1 %}{% include 'b' %}{% endif %}fine"
    assert texts(text, ONE, ONE, b="{{ nonsense") == ["fine", "fine"]
    assert rendered == ["a", "a"]


def test_what_was_left_out_in_one_case_is_there_in_the_next() -> None:
    templates = RecordingTemplates({"a": "fine"}, "toy")
    templates.without.add("a")
    assert templates.render("a", ONE) == ""
    templates.begin()
    assert templates.render("a", ONE) == "fine"
