# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of compiled modules is used while it is the source's own, and only from a folder that
nobody else can write to."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.plugin_utils import _bytecode as bytecode

PROGRAMS = Path(sys.executable).parent
RUN = [str(PROGRAMS / "ansible"), "localhost"]
CHECK = ["-m", "hardware.enablement.recipe_check", "-a", "recipe=runtime-hook"]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "module.py"
    path.write_text("VALUE = 1\n")
    return path


def value_of(source: Path) -> int:
    """What the module says when it is loaded by what is kept."""
    loader = bytecode._Loader("module", str(source), str(source.parent / "kept"))
    names: dict[str, int] = {}
    code = loader.get_code("module")
    assert code is not None
    exec(code, names)  # noqa: S102 - a module of this test
    return names["VALUE"]


def kept_of(source: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "pycache_prefix", str(source.parent / "kept"))
        return Path(cache_from_source(str(source)))


def test_another_content_of_the_same_time_and_size_is_compiled_anew(source: Path) -> None:
    assert value_of(source) == 1
    before = source.stat()
    source.write_text("VALUE = 2\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.stat().st_size == before.st_size
    assert value_of(source) == 2


def test_what_is_kept_is_used(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value_of(source)
    kept = kept_of(source, monkeypatch)
    other = source.with_name("other.py")
    other.write_text("VALUE = 3\n")
    value_of(other)
    # The header, with the hash of its source, and the code of another.
    kept.write_bytes(kept.read_bytes()[:16] + kept_of(other, monkeypatch).read_bytes()[16:])
    assert value_of(source) == 3


def test_what_cannot_be_kept_is_compiled_each_time(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source.parent / "kept").write_text("no folder")
    assert value_of(source) == 1
    (source.parent / "kept").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert value_of(source) == 1
    assert not (source.parent / "kept").exists()


def test_a_wrong_source_is_its_own_error(source: Path) -> None:
    source.write_text("VALUE =\n")
    with pytest.raises(SyntaxError):
        value_of(source)


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    assert bytecode.is_private(tmp_path / "new")
    (tmp_path / "new").chmod(mode)
    assert not bytecode.is_private(tmp_path / "new")


def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert not bytecode.is_private(tmp_path)


def test_who_asks_for_such_a_folder_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode.C.config, "get_config_value", lambda _name: str(tmp_path))
    folder = bytecode.own_folder("templates")
    assert folder == tmp_path / "hardware.enablement" / "templates"
    folder.chmod(0o777)
    assert bytecode.own_folder("templates") is None


def test_a_link_or_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert not bytecode.is_private(tmp_path / "file")
    assert not bytecode.is_private(tmp_path / "link")
    assert not bytecode.is_private(tmp_path / "file" / "below")


def test_a_run_keeps_its_modules_and_templates_in_the_users_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([*RUN, *CHECK], env=environment, check=True, capture_output=True)
    kept = {path.name.partition(".")[0] for path in tmp_path.rglob("bytecode/**/*.pyc")}
    assert {"arguments", "_in_process"} <= kept
    assert list(tmp_path.rglob("hardware.enablement/templates/*"))


def test_an_inventory_keeps_its_modules_too(tmp_path: Path) -> None:
    environment = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    asked = tmp_path / "hardware_nodes.yml"
    asked.write_text("plugin: hardware.enablement.nodes\nhost: http://127.0.0.1:1\n")
    program = [str(PROGRAMS / "ansible-inventory"), "-i", str(asked), "--list"]
    subprocess.run(program, env=environment, check=True, capture_output=True)
    kept = {path.name.partition(".")[0] for path in tmp_path.rglob("bytecode/**/*.pyc")}
    assert "connection" in kept


def test_it_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [bytecode.AnsibleCollectionConfig.collection_finder])
    bytecode.keep()
    (ours, _finder) = sys.meta_path
    bytecode.keep()
    assert sys.meta_path[0] is ours
    assert len(sys.meta_path) == 2


def test_a_run_executes_nothing_of_a_folder_that_others_can_write_to(tmp_path: Path) -> None:
    environment = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    for name in ("bytecode", "templates"):
        (tmp_path / "hardware.enablement" / name).mkdir(parents=True)
        (tmp_path / "hardware.enablement" / name).chmod(0o777)
    subprocess.run([*RUN, *CHECK], env=environment, check=True, capture_output=True)
    assert not list(tmp_path.rglob("hardware.enablement/*/*"))
