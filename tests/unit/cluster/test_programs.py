# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs are found where HE_BIN says; the cache's key changes with all that changes a program."""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster import programs
from tests.cluster.errors import ClusterError
from tests.cluster.programs import (
    HELM_MODULES,
    INJECTOR_MODULES,
    KIND_MODULES,
    KIND_NODE_MODULES,
    KUBELET_MODULES,
    KUBERNETES,
    KWOK_MODULES,
    MODULES,
    NFD,
    PROMTOOL_MODULES,
    REGISTRY_MODULES,
    STATE_METRICS_MODULES,
    TOOLS,
    Module,
    cache_key,
    given_programs,
    module_version,
)
from tests.unit.patience import PATIENCE_S


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    shutil.copytree(TOOLS, tmp_path / "tools")
    return tmp_path / "tools"


@pytest.mark.parametrize(
    "module",
    [
        *MODULES,
        *KWOK_MODULES,
        *KIND_MODULES,
        *KIND_NODE_MODULES,
        *KUBELET_MODULES,
        *REGISTRY_MODULES,
        *PROMTOOL_MODULES,
        *STATE_METRICS_MODULES,
        *HELM_MODULES,
        *INJECTOR_MODULES,
    ],
    ids=lambda module: module.folder,
)
def test_every_module_pins_its_version_and_names_its_programs_as_tools(module: Module) -> None:
    assert module_version(module).startswith("v")
    text = (TOOLS / module.folder / "go.mod").read_text()
    assert all(package in text for package in module.packages.values())


def test_the_key_is_stable(tools: Path) -> None:
    assert cache_key(KUBERNETES, tools) == cache_key(KUBERNETES)


def test_the_key_follows_sources_of_our_own(tools: Path) -> None:
    (module,) = INJECTOR_MODULES
    before = cache_key(module, tools)
    with (tools / module.folder / "main.go").open("a") as file:
        file.write("// changed\n")
    assert cache_key(module, tools) != before


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_the_key_follows_the_module_files(tools: Path, name: str) -> None:
    with (tools / "kubernetes" / name).open("a") as file:
        file.write("\n")
    assert cache_key(KUBERNETES, tools) != cache_key(KUBERNETES)


def test_the_key_follows_flags_and_packages(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_key(KUBERNETES, tools)
    fewer = replace(KUBERNETES, packages={"kubectl": KUBERNETES.packages["kubectl"]})
    assert cache_key(fewer, tools) != before
    monkeypatch.setattr(programs, "_flags", lambda *_: ["-race"])
    assert cache_key(KUBERNETES, tools) != before


def test_a_module_that_its_file_does_not_require(tools: Path) -> None:
    (tools / "kubernetes" / "go.mod").write_text("module x\n")
    with pytest.raises(ClusterError, match=r"does not require k8s\.io/kubernetes"):
        module_version(KUBERNETES, tools)


def test_the_first_folder_that_has_a_program_wins(tmp_path: Path) -> None:
    for folder, names in {"a": ["etcd"], "b": ["etcd", "kube-apiserver", "stranger"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).touch(mode=0o755)
    (tmp_path / "b" / "nfd-master").touch(mode=0o644)  # no program
    found = given_programs(f"{tmp_path / 'a'}{os.pathsep}{os.pathsep}{tmp_path / 'b'}")
    assert found == {
        "etcd": tmp_path / "a" / "etcd",
        "kube-apiserver": tmp_path / "b" / "kube-apiserver",
    }
    assert given_programs("") == {}


def test_a_complete_cache_needs_no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HE_CACHE", str(tmp_path))
    monkeypatch.delenv("HE_BIN", raising=False)
    monkeypatch.setattr(programs, "find_go", lambda _say: pytest.fail("looked for Go"))
    for module in MODULES:
        folder = tmp_path / "programs" / f"{module.folder}-{cache_key(module)}"
        folder.mkdir(parents=True)
        for name in [*module.packages, *module.documents]:
            (folder / name).write_text("[]")
    found = programs.ensure_programs(pytest.fail)
    assert Path(found["nfd-master"]).parent == found.documents["nfd-crds.json"].parent
    assert found.objects("nfd-crds.json") == []


def test_what_a_cluster_does_without_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HE_CACHE", str(tmp_path))
    monkeypatch.delenv("HE_BIN", raising=False)
    monkeypatch.setattr(programs, "find_go", lambda _say: pytest.fail("looked for Go"))
    folder = tmp_path / "programs" / f"nfd-{cache_key(NFD)}"
    folder.mkdir(parents=True)
    (folder / "nfd-crds.json").write_text("[]")
    assert programs.ensure_programs(pytest.fail, (NFD,), without=("nfd-master",)).programs == {}


@pytest.mark.parametrize(
    "module", [*MODULES, *STATE_METRICS_MODULES, *INJECTOR_MODULES, *KUBELET_MODULES]
)
def test_a_program_is_called_by_the_last_part_of_its_package(module: Module) -> None:
    renamed = {"go.etcd.io/etcd/server/v3": "server"}
    for name, package in module.packages.items():
        assert programs.built_name(package) == renamed.get(package, name)


def test_one_command_builds_what_a_module_lacks_and_modules_are_built_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HE_CACHE", str(tmp_path))
    monkeypatch.setenv("HE_MIRROR", "none")
    monkeypatch.delenv("HE_BIN", raising=False)
    monkeypatch.setattr(programs, "find_go", lambda _say: "go")
    both = threading.Barrier(2)
    commands: list[list[str]] = []

    def run(command: list[str], _directory: Path, _purpose: str) -> str:
        commands.append(command)
        both.wait(timeout=PATIENCE_S)  # each waits for the other
        made = Path(command[command.index("-o") + 1])
        for package in command[command.index("-o") + 2 :]:
            (made / programs.built_name(package)).write_text(package)
        return ""

    monkeypatch.setattr(programs, "_run", run)
    (etcd,) = [module for module in MODULES if module.folder == "etcd"]
    found = programs.ensure_programs(lambda _text: None, (etcd, KUBERNETES))
    assert len(commands) == 2
    assert Path(found["etcd"]).read_text() == "go.etcd.io/etcd/server/v3"
    assert Path(found["kubectl"]).read_text() == "k8s.io/kubernetes/cmd/kubectl"
    # Nothing is left of what was on its way.
    left = [file.name for file in Path(found["kubectl"]).parent.iterdir()]
    assert sorted(left) == sorted(KUBERNETES.packages)
