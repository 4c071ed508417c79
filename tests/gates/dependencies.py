# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of this repository the result of a test file depends on, by what refers to what.

Python files refer to what they import (grimp's graph, also for imports inside functions); tests and
YAML files to the playbooks, roles, modules, recipes and documents that they name. Too much is only
slow, so a name is taken for everything that has it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import grimp
import yaml

COLLECTION = "ansible_collections.hardware.enablement."
# What every result depends on: pins, how tests are run, the local cluster, and the layers that all
# else stands on.
ALWAYS = (
    ".ci/",
    "Makefile",
    "ansible.cfg",
    "bindep.txt",
    "galaxy.yml",
    "manifests/",
    "meta/runtime.yml",
    "plugins/module_utils/_cluster/",
    "plugins/module_utils/_nodes/",
    "plugins/plugin_utils/",
    "pyproject.toml",
    "requirements",
    "tests/bootstrap.py",
    "tests/cluster/",
    "tests/gates/",
    "tests/integration/play_server.py",
    "tests/integration/plays.py",
    "tests/integration/sight.py",
)
# Written by the gates for who comes next; it is about the others.
RESULTS = "tests/gates/passed.json"
# Its `nodes` alone is a word like others: inventories name it with its collection.
NAMED_IN_FULL = "plugins/inventory/"
# One name stands for all files of such a folder.
FOLDERS = ("roles/", "recipes/", "tests/recipes/", "tests/recipes/broken/", "tests/recipes/sro/")
NAMED_FILES = (
    "playbooks/",
    "plugins/modules/",
    "plugins/action/",
    "plugins/inventory/",
    "tests/integration/playbooks/",
    "extensions/eda/",
    "docs/",
)
FQCN = "hardware.enablement."
_FQCN = re.compile(r"hardware\.enablement\.(\w+)")
_NAMED = re.compile(r"\b(tests\.\w[\w.]*)|([\w.-]+\.\w+)\b")
# Of what is not Python, these say what else is used.
_NAMING = re.compile(
    r"(playbooks|roles|tests/integration/playbooks|extensions)/.*\.yml$|.*/recipe\.yml$"
)


class Repository:
    """The files that git knows or would add, relative to the repository's folder."""

    def __init__(self, folder: Path, collections: Path) -> None:
        self.folder = folder
        self._collections = collections
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = {name for name in listed.split("\0") if name and (folder / name).is_file()}
        self.files = frozenset(found - {RESULTS})

    def always(self) -> set[str]:
        """What every result depends on."""
        return {name for name in self.files if name.startswith(ALWAYS)}

    def closure(self, files: Iterable[str]) -> set[str]:
        """Files with all that they depend on."""
        found, todo = self.always(), [*files]
        while todo:
            if (name := todo.pop()) not in found:
                found.add(name)
                todo += self._references(name)
        return found

    def _references(self, name: str) -> set[str]:
        if name not in self._known:
            self._known[name] = set(self._find_references(name)) & self.files
        return self._known[name]

    def _find_references(self, name: str) -> Iterator[str]:
        if name.endswith(".py"):
            yield from self._imports(name)
            yield from self._data_beside(name)
            if name.startswith("tests/"):
                texts, keys = _texts_of_python(self._read(name))
                yield from self._named_in(texts)
                yield from self._recipes_named(keys)
        elif _NAMING.match(name):
            for text in _texts_of_yaml(self._read(name)):
                yield from self._by_name.get(text.removeprefix(FQCN).rpartition("/")[2], ())
        elif name.startswith("docs/"):
            # Tests run what guides say.
            yield from self._plugins_named(self._read(name))

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        """What was found out already."""
        return {}

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")

    def _imports(self, name: str) -> Iterator[str]:
        module = _module(name)
        for imported in (
            self._graph.find_modules_directly_imported_by(module)
            if (module in self._graph.modules)
            else ()
        ):
            yield from _files_of_module(imported)
        # What is imported with it: packages, and pytest's own.
        for folder in PurePosixPath(name).parents:
            yield f"{folder}/__init__.py"
            if name.startswith("tests/"):
                yield f"{folder}/conftest.py"

    def _data_beside(self, name: str) -> Iterator[str]:
        folder = PurePosixPath(name).parent
        for other in self._by_folder[str(folder)]:
            if not other.endswith((".py", ".md")):
                yield other

    def _named_in(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            yield from self._by_name.get(text, ())
            yield from self._plugins_named(text)
            for module, file in _NAMED.findall(text):
                yield from self._by_name.get(file, ())
                yield from _files_of_module(module)
                yield f"{module.replace('.', '/')}/__main__.py"

    def _plugins_named(self, text: str) -> Iterator[str]:
        """Playbooks and roles too: whatever the collection has by that name."""
        for name in _FQCN.findall(text):
            yield from self._by_name.get(name, ())
            yield from self._by_name.get(FQCN + name, ())

    def _recipes_named(self, texts: Iterable[str]) -> Iterator[str]:
        """An object's `status` is not the playbook, but recipes are keys of tables."""
        for text in texts:
            found = self._by_name.get(text, ())
            yield from (name for name in found if name.startswith(("recipes/", "tests/recipes/")))

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        for name in self.files:
            found[str(PurePosixPath(name).parent)].append(name)
        return found

    @cached_property
    def _by_name(self) -> dict[str, set[str]]:
        found = defaultdict(set)
        for name in self.files:
            for folder in FOLDERS:
                if name.startswith(folder):
                    found[name.removeprefix(folder).partition("/")[0]].add(name)
            if name.startswith(NAMED_FILES):
                path = PurePosixPath(name)
                found[path.name].add(name)
                if name.startswith(NAMED_IN_FULL):
                    found[FQCN + path.stem].add(name)
                elif not name.startswith("docs/"):
                    found[path.stem].add(name)
        return found

    @cached_property
    def _graph(self) -> grimp.ImportGraph:
        paths = [str(self._collections), str(self.folder)]
        sys.path[:0] = paths
        try:
            return grimp.build_graph("tests", f"{COLLECTION}plugins", cache_dir=None)
        finally:
            del sys.path[: len(paths)]


def _module(name: str) -> str:
    dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{COLLECTION}{dotted}" if dotted.startswith("plugins.") else dotted


def _files_of_module(module: str) -> tuple[str, str]:
    path = module.removeprefix(COLLECTION).replace(".", "/")
    return (f"{path}.py", f"{path}/__init__.py")


def _texts_of_python(source: str) -> tuple[list[str], list[str]]:
    """The texts of a file, but for docstrings, which tell and use nothing: those that are no keys of
    mappings, and those that are."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    key_nodes = {id(key) for node in ast.walk(tree) for key in _keys_in(node)}
    texts, keys = list[str](), list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            (keys if id(node) in key_nodes else texts).append(node.value)
    return texts, keys


def _keys_in(node: ast.AST) -> Iterable[ast.AST | None]:
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Dict):
        return node.keys
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "pop"):
        return node.args[:1]
    return ()


def _texts_of_yaml(source: str) -> Iterator[str]:
    """The scalars; of what is no YAML (templates, Ansible's own tags) all words."""
    try:
        yield from _scalars(list(yaml.safe_load_all(source)))
    except yaml.YAMLError:
        yield from re.findall(r"[\w.-]+", source)


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from (*_scalars(key), *_scalars(entry))
    elif isinstance(value, list):
        for entry in value:
            yield from _scalars(entry)
    elif isinstance(value, str):
        yield value
