# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of compiled templates is used for the very same text, filters and versions, and for
nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates import (
    template_cache,
    templating,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.template_cache import (
    TemplateCache,
)

NAME = "driver/daemonset.yaml.j2"
TEXT = '{% include "labels.j2" %}{% set own = 1 %}{{ own }} {{ options.word }} {{ "a" | to_json }}'
Compiled = tuple[object, ...]


@pytest.fixture(autouse=True)
def _may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def in_another_run(folder: Path, text: str = TEXT, name: str = NAME) -> tuple[Compiled, bool]:
    """What a run gets for a text that keeps in a folder, and whether it has compiled it."""
    kept, compiled = TemplateCache(), []

    def compile_it() -> Compiled:
        compiled.append(name)
        return templating._compile(name, text)

    kept.keep_in(folder)
    return kept.get(name, text, compile_it), bool(compiled)


def test_the_next_run_finds_all_that_was_compiled(tmp_path: Path) -> None:
    first, compiled = in_another_run(tmp_path / "kept")
    assert compiled
    second, compiled = in_another_run(tmp_path / "kept")
    assert not compiled
    assert second == first == templating._compile(NAME, TEXT)
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_another_text_or_name_is_compiled_anew(tmp_path: Path) -> None:
    in_another_run(tmp_path)
    other, compiled = in_another_run(tmp_path, text="{{ other }}")
    assert compiled
    assert other == templating._compile(NAME, "{{ other }}")
    assert in_another_run(tmp_path, name="another.j2")[1], "errors name the file"


def test_other_filters_or_another_jinja2_compile_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_another_run(tmp_path / "kept")
    with monkeypatch.context() as patched:
        patched.setattr(jinja2, "__version__", "0.0")
        assert in_another_run(tmp_path / "kept")[1]
    # As if one of the package's files were another.
    (tmp_path / "filters.py").write_text("OTHERS = {}\n")
    monkeypatch.setattr(template_cache, "__file__", str(tmp_path / "template_cache.py"))
    assert in_another_run(tmp_path / "kept")[1]


@pytest.mark.parametrize("content", [b"", b"\xf3", b"no marshal", b"N"])
def test_what_cannot_be_read_is_compiled_and_written_anew(tmp_path: Path, content: bytes) -> None:
    in_another_run(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert in_another_run(tmp_path) == (templating._compile(NAME, TEXT), True)
    assert not in_another_run(tmp_path)[1]


def test_where_nothing_can_be_kept_all_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TemplateCache().get(NAME, TEXT, lambda: ("compiled",)) == ("compiled",)
    (tmp_path / "file").touch()
    assert in_another_run(tmp_path / "file") == (templating._compile(NAME, TEXT), True)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    in_another_run(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_what_is_kept_does_not_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_cache, "MOST_KEPT", 3)
    for number in range(5):
        in_another_run(tmp_path, text=f"text {number}")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_template_is_rendered_by_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templating, "COMPILED", TemplateCache())
    templating.COMPILED.keep_in(tmp_path)
    texts = []
    for _run in range(2):
        templating._compiled.cache_clear()
        files = {"a.j2": TEXT, "labels.j2": "hardware: {{ options.word }}\n"}
        texts.append(templating.Templates(files, "toy").render("a.j2", {"options": {"word": "x"}}))
        monkeypatch.setattr(templating, "_compile", None)
    templating._compiled.cache_clear()
    assert texts == ['hardware: x1 x "a"'] * 2
