# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which arguments of which tasks a variable reaches, as Ansible itself compiles and templates them.

A program of its own: Ansible finds no roles of a collection that was imported without its loader,
as pytest has done. What tasks would find out on a cluster is not known here, so conditions do not
count, and all branches are followed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.parsing.dataloader import DataLoader
from ansible.playbook import Playbook
from ansible.playbook.block import Block
from ansible.playbook.helpers import load_list_of_blocks
from ansible.playbook.play import Play
from ansible.playbook.role_include import IncludeRole
from ansible.playbook.task import Task
from ansible.playbook.task_include import TaskInclude
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from ansible.vars.manager import VariableManager

from tests.gates.place import Place

REPO = Path(__file__).resolve().parents[3]
COLLECTION = "hardware.enablement."
# What a recipe's removal plays first is only known from its recipe.
RESULTS = {"disable_expected": {"release_role": f"{COLLECTION}rmd_release"}}
_NAME = re.compile(r"[A-Za-z_]\w*")
_UNKNOWN = object()

Obj = dict[str, Any]
# By place (playbooks/NAME.yml or roles/NAME) and variable: what it is set to.
Settings = Mapping[str, Mapping[str, Any]]


def arrivals(settings: Settings) -> dict[str, dict[str, Obj]]:
    """By place and variable, each argument (ROLE/MODULE.ARGUMENT) that the variable alone changes,
    and the value that the module makes of it."""
    found: dict[str, dict[str, Obj]] = answer_of("tests.unit.docs.task_arguments", given=settings)
    return found


def answer_of(program: str, *options: str, given: Any = None) -> Any:
    """What a program of Python answers as JSON, with no settings of Ansible but where the collection
    is."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    done = subprocess.run(
        [sys.executable, "-m", program, *options],
        cwd=REPO,
        env={**others, "ANSIBLE_COLLECTIONS_PATH": str(Place().tested)},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Compiler:
    """Ansible without a run: what it reads files and variables with."""

    loader: DataLoader = field(default_factory=DataLoader)

    @cached_property
    def variables(self) -> VariableManager:
        """The variables of a run on localhost alone."""
        return VariableManager(self.loader, InventoryManager(self.loader, sources=["localhost,"]))

    def plays(self, place: str) -> list[Play]:
        """Those of a playbook, or one with a role alone."""
        folder, _slash, name = place.partition("/")
        if folder == "playbooks":
            found = Playbook.load(str(REPO / place), self.variables, self.loader).get_plays()
            return list(found)
        alone = {"hosts": "localhost", "roles": [f"{COLLECTION}{name}"]}
        return [Play.load(alone, self.variables, self.loader)]

    def variables_of(self, play: Play, task: Task) -> Obj:
        """The variables that a task sees: defaults of roles, and what includes and plays set."""
        host = self.variables._inventory.get_host("localhost")
        return {**self.variables.get_vars(play=play, host=host, task=task), **RESULTS}

    def templated(self, value: Any, variables: Mapping[str, Any]) -> Any:
        """A value as it is for the task; unknown where it needs what earlier tasks find out."""
        try:
            return Templar(self.loader, variables=dict(variables)).template(value)
        except AnsibleError:
            return _UNKNOWN

    def tasks(
        self, play: Play, blocks: Iterable[Any], within: tuple[Path, ...] = ()
    ) -> Iterator[Task]:
        """All tasks, also those of files and roles that are included at run time."""
        for entry in blocks:
            if isinstance(entry, Block):
                yield from self.tasks(play, [*entry.block, *entry.rescue, *entry.always], within)
            elif isinstance(entry, IncludeRole):
                yield from self.tasks(play, self._role(play, entry), within)
            elif isinstance(entry, TaskInclude):
                file = self._file(play, entry)
                if file.is_file() and file not in within:
                    yield from self.tasks(play, self._included(play, entry, file), (*within, file))
            else:
                yield entry

    def _role(self, play: Play, task: IncludeRole) -> list[Block]:
        task._role_name = self.templated(task._role_name, self.variables_of(play, task))
        blocks, _handlers = task.get_block_list(play, self.variables, self.loader)
        return list(blocks)

    def _file(self, play: Play, task: TaskInclude) -> Path:
        """All includes here name a file beside the one that they stand in."""
        name = self.templated(task.args["_raw_params"], self.variables_of(play, task))
        return Path(task.get_path().rpartition(":")[0]).parent / str(name)

    def _included(self, play: Play, task: TaskInclude, file: Path) -> list[Block]:
        """The tasks of a file, as if it were imported, which Ansible does without a run."""
        return list(
            load_list_of_blocks(
                [{"ansible.builtin.import_tasks": str(file)}],
                play=play,
                parent_block=task.copy().build_parent_block(),
                role=task._role,
                variable_manager=self.variables,
                loader=self.loader,
            )
        )


@dataclass(frozen=True)
class Argument:
    """An argument of a task of ours, or what it is delegated to, before it is templated."""

    role: str
    module: str
    name: str
    value: Any
    variables: Obj

    @property
    def title(self) -> str:
        """ROLE/MODULE.ARGUMENT; what is in no role has none."""
        return f"{self.role}/{self.module}.{self.name}".removeprefix("/")

    def depends_on(self, variable: str) -> bool:
        """Whether the variable is named in it, or in a variable that it names."""
        return self._is_named(variable, self.value, frozenset())

    def _is_named(self, variable: str, value: Any, seen: frozenset[str]) -> bool:
        names = frozenset(_NAME.findall(str(value))) - seen
        return variable in names or any(
            self._is_named(variable, self.variables[name], seen | names)
            for name in names
            if isinstance(self.variables.get(name), str)
        )

    def taken(self, value: Any) -> Any:
        """What the module makes of a value, or why it refuses it."""
        if self.name == "delegate_to":
            return value
        plugins = f"ansible_collections.{COLLECTION}plugins"
        action = import_module(f"{plugins}.action.{self.module}").ActionModule
        argument = {**action.SPEC[self.name], "aliases": []}
        validated = ArgumentSpecValidator({self.name: argument}).validate({self.name: value})
        return validated.error_messages or validated.validated_parameters[self.name]


def arguments_at(compiler: Compiler, place: str) -> Iterator[Argument]:
    """The arguments of all tasks of ours."""
    for play in compiler.plays(place):
        for task in compiler.tasks(play, play.compile()):
            if not task.action.startswith(COLLECTION):
                continue
            role = task._role.get_name().rpartition(".")[2] if task._role else ""
            module = task.action.removeprefix(COLLECTION)
            variables = compiler.variables_of(play, task)
            for name, value in {**task.args, "delegate_to": task.delegate_to}.items():
                yield Argument(role, module, name, value, variables)


def reached(compiler: Compiler, arguments: Iterable[Argument], variable: str, value: Any) -> Obj:
    """The arguments that are another value with the variable than without it."""
    found = {}
    for argument in arguments:
        if argument.depends_on(variable):
            without = compiler.templated(argument.value, argument.variables)
            given = compiler.templated(argument.value, {**argument.variables, variable: value})
            if given is not _UNKNOWN and given != without:
                found[argument.title] = argument.taken(given)
    return found


def main() -> None:
    """Answer what arrivals() asks."""
    from ansible_collections.hardware.enablement.plugins.plugin_utils._in_process import plain

    compiler = Compiler()
    found = {}
    for place, settings in json.load(sys.stdin).items():
        arguments = list(arguments_at(compiler, place))
        found[place] = {
            variable: plain(reached(compiler, arguments, variable, value))
            for variable, value in settings.items()
        }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    init_plugin_loader()
    main()
