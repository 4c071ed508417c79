# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quick way of all tasks: run a module's core inside the controller's worker process.

On a local connection a module process costs 0.23 s and a core 0.05 s, so the core runs right here.
Everywhere else, or with an interpreter of its own, the module is sent as usual, with the recipe's
files as data."""

from __future__ import annotations

import gc
import getpass
import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ansible import constants as C  # noqa: N812 - as everywhere in Ansible
from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import AnsibleValidationErrorMultiple, UnsupportedError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils._charts.recipe_store import FileStore, RecipeStore, folder_at, is_elsewhere
from ..module_utils._cluster.api_client.client import Client, connect
from ..module_utils._cluster.api_client.connection_request import ConnectionRequest
from ..module_utils._errors import InvalidInput
from ..module_utils._interface import arguments
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._interface.outcome import masked, outcome_of
from ..module_utils._interface.public_variables import (
    CONNECTION,
    PREFIX,
    WHERE,
    refuse_unknown,
    refuse_wrong,
)
from ..module_utils._interface.result_files import refuse_result_files
from ..module_utils._interface.role_variables import refuse_misspelt
from ..module_utils._interface.run_id import introduction, make_run_id
from ..module_utils._recipes.templates.templating import COMPILED
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..module_utils._schema.requests import make_request
from ._bytecode import own_folder
from ._orphan import age_s, end_with_parent, parent, started
from ._screen import Screen

display = Display()

if _folder := own_folder("templates"):
    COMPILED.keep_in(_folder)

COLLECTION = "hardware.enablement"
COLLECTION_RECIPES = Path(__file__).resolve().parents[2] / "recipes"
# Between two searches for garbage, see action().
_NEW_OBJECTS = 50_000


class InProcessAction(ActionBase):  # type: ignore[misc]
    """An action plugin over a core. Subclasses set MODULE, SPEC and TASK."""

    TRANSFERS_FILES = False
    _supports_async = False
    _supports_check_mode = True

    MODULE = ""
    # Whether what it shows is about all hosts of a play together.
    OF_ALL_HOSTS = False
    SPEC: arguments.Spec
    TASK: Task[Any]

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run the core here, or the module there."""
        task_vars = task_vars or {}
        result: dict[str, Any] = super().run(tmp, task_vars)
        secrets: set[str] = set()
        result |= outcome_of(
            lambda: self._play(task_vars, secrets),
            secrets=secrets,
            verbosity=display.verbosity,
            raised=(AnsibleError,),
        )
        # A module returns its parameters for -vvv: options that are secret, and the recipe's files.
        result.pop("invocation", None)
        return result

    def _play(self, task_vars: Mapping[str, Any], secrets: set[str]) -> dict[str, Any]:
        end_with_parent()
        variables = self._variables(task_vars)
        refuse_wrong(variables)
        refuse_result_files(variables)
        args = plain(self._task.args)
        self._fill_in_connection(args, variables)
        # The worker process is this task's own, so its environment may be the task's.
        os.environ.update(self._environment())
        self._stores = partial(self._open_stores, variables, secrets, args)
        self._complete(args, task_vars)
        if self._is_local(task_vars):
            return self._run_here(args, task_vars, secrets)
        found: dict[str, Any] = self._execute_module(
            module_name=f"{COLLECTION}.{self.MODULE}", module_args=args, task_vars=task_vars
        )
        for text in found.pop("notices", ()):
            screen = Screen(task_vars, lambda shown: str(masked(shown, secrets)))
            (screen.plain if self.OF_ALL_HOSTS else screen.line)(text)
        return found

    def _update_module_args(
        self, module_name: str, module_args: dict[str, Any], task_vars: dict[str, Any], **more: Any
    ) -> None:
        super()._update_module_args(module_name, module_args, task_vars, **more)
        # For the same reason the target's syslog gets no parameters.
        module_args["_ansible_no_log"] = True

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        """Add what only the controller knows: the recipe's files, and the name of this run."""
        if args.get("options") == "":
            # A survey's empty field is not an answer; {} is one.
            del args["options"]
        if "recipe" in self.SPEC and not args.get("recipe") and self.SPEC["recipe"].get("required"):
            raise InvalidInput(
                "No recipe is named",
                todo="add -e hardware_enablement_recipe=nvidia-gpu, or the name of another one",
            )
        if "bundle" in self.SPEC and args.get("recipe") and not args.get("bundle"):
            stores, name = self._stores(), str(args["recipe"])
            args["bundle"] = find_bundle(name, stores)
            if args.get("recipe_dir") and not stores[0].holds(name):
                # Found in the collection.
                del args["recipe_dir"]
        if "run_id" in self.SPEC and not args.get("run_id"):
            args["run_id"] = run_id(str(task_vars.get("inventory_hostname", "localhost")))

    def _open_stores(
        self,
        variables: Mapping[str, Any],
        secrets: set[str],
        args: Mapping[str, Any],
        recipe_dir: str = "",
    ) -> list[RecipeStore]:
        """Where the task's recipes are: what recipe_dir names (that of args, where none is given),
        then the collection's own."""
        shipped = FileStore(COLLECTION_RECIPES)
        place = recipe_dir or str(args.get("recipe_dir") or "")
        if not is_elsewhere(place):
            return [folder_at(place), shipped] if place else [shipped]
        # Only now: a run without does not read all that asks registries.
        from ..module_utils._interface.recipe_source import (  # noqa: PLC0415
            open_store,
            registries_of,
        )

        given = {name: variables.get(f"{PREFIX}{name}") for name in arguments.REGISTRIES}
        auth_file = str(variables.get(f"{PREFIX}registry_auth_file") or "")

        def client() -> Client:
            settings = {name: args.get(name) for name in arguments.CONNECTION}
            if not any(settings[name] for name in WHERE):
                # What is about files of the controller has no such options of its own.
                settings |= {
                    name: variables.get(f"{PREFIX}{name}") or settings[name] for name in CONNECTION
                }
            return connect(make_request(ConnectionRequest, settings))

        return [
            open_store(place, client, partial(registries_of, given, auth_file, secrets)),
            shipped,
        ]

    def _variables(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """The collection's public variables, by full name, as far as their values are known by now."""
        refuse_unknown(task_vars)
        refuse_misspelt(task_vars)
        found = {}
        for name in task_vars:
            if name.startswith(PREFIX):
                # What refers to a later task's result is checked where it is used.
                with suppress(AnsibleError):
                    found[name] = plain(self._templar.template(task_vars[name]))
        return found

    def _fill_in_connection(self, args: dict[str, Any], variables: Mapping[str, Any]) -> None:
        """Fill in how to reach the cluster by its host variables, unless the task itself says which
        one it means."""
        if any(args.get(name) for name in WHERE):
            return
        for name in CONNECTION:
            value = variables.get(f"{PREFIX}{name}")
            if name in self.SPEC and args.get(name) is None and value not in (None, ""):
                args[name] = value

    def _is_local(self, task_vars: Mapping[str, Any]) -> bool:
        setting = C.config.get_config_value("INTERPRETER_PYTHON", variables=dict(task_vars))
        interpreter = str(self._templar.template(setting) or "auto")
        other_user = bool(self._play_context.become)
        return (
            self._connection.transport == "local"
            and (interpreter.startswith("auto") or is_this_python(interpreter))
            and not other_user
            and _client_is_here()
        )

    def _run_here(
        self, args: dict[str, Any], task_vars: Mapping[str, Any], secrets: set[str]
    ) -> dict[str, Any]:
        validator = ArgumentSpecValidator({name: dict(spec) for name, spec in self.SPEC.items()})
        checked = validator.validate(args)
        secrets.update(checked._no_log_values)
        if checked.error_messages:
            return {"failed": True, "msg": self._complaint(checked.errors)}
        screen = Screen(task_vars, lambda text: str(masked(text, secrets)))
        context = RunContext(
            check_mode=bool(self._task.check_mode),
            diff=bool(self._task.diff),
            verbosity=display.verbosity,
            run_id=args.get("run_id", ""),
            run_info=introduction(args.get("run_id", "")),
            has_screen=True,
            host=screen.host,
            progress=screen.line,
            terminal=screen.terminal(),
            notice=screen.plain if self.OF_ALL_HOSTS else screen.line,
            warning=lambda text: display.warning(screen.clean(text)),
            secrets=secrets,
            began=began(),
        )
        return self.TASK.run(checked.validated_parameters, context)

    def _complaint(self, errors: AnsibleValidationErrorMultiple) -> str:
        """What AnsibleModule says of wrong arguments."""
        if not isinstance(errors[0], UnsupportedError):
            return str(errors.msg)
        mode = "check mode " if self._task.check_mode else ""
        return f"Unsupported parameters for ({COLLECTION}.{self.MODULE}) {mode}module: {errors.msg}"

    def _environment(self) -> dict[str, str]:
        environment: dict[str, str] = {}
        for entry in self._task.environment or []:
            if entry:
                environment.update(
                    {str(key): str(value) for key, value in self._templar.template(entry).items()}
                )
        return environment


class ControllerAction(InProcessAction):
    """What is about files of the controller, and never sent to a target."""

    def _is_local(self, task_vars: Mapping[str, Any]) -> bool:  # noqa: ARG002 - its base asks
        return True


def action(
    module: str,
    specification: arguments.Spec,
    task: Task[Any],
    kind: type[InProcessAction] = InProcessAction,
    *,
    of_all_hosts: bool = False,
) -> type[InProcessAction]:
    """The action plugin of a module, where it has nothing of its own."""
    # What a run has imported stays to its end. Each task's process would look through all of it for
    # garbage, and thereby copy its pages: 0.07 s of CPU.
    gc.freeze()
    # What a task reads, such as thousands of nodes, it keeps: a search after each 700 new objects is
    # a sixth of what reading them takes.
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    members = {
        "MODULE": module,
        "SPEC": specification,
        "TASK": task,
        "OF_ALL_HOSTS": of_all_hosts,
    }
    return type("ActionModule", (kind,), members)


def plain(value: Any) -> Any:
    """A copy without Ansible's own string and container types, which serializers do not know."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if isinstance(value, float) else int(value)
    return value


def is_this_python(interpreter: str) -> bool:
    """Whether a path is the Python that runs here. Virtual environments link to one program: the
    folder counts too."""
    own, other = Path(sys.executable), Path(interpreter).expanduser()
    return other.resolve() == own.resolve() and other.parent.resolve() == own.parent.resolve()


def run_id(host: str) -> str:
    """The name of this ansible-playbook process in the run's lock: who, where, which process, since
    when."""
    runner = parent()
    job = os.environ.get("JOB_ID") or os.environ.get("AWX_JOB_ID")
    what = f"AWX job {job}" if job else "ansible-playbook"
    return make_run_id(
        user=getpass.getuser(),
        machine=socket.gethostname(),
        what=what,
        pid=runner,
        started=started(runner),
        host=host,
    )


def began() -> float | None:
    """When this ansible-playbook process began, in seconds since the epoch."""
    age = age_s(parent())
    return None if age is None else time.time() - age


def _client_is_here() -> bool:
    return all(find_spec(name) is not None for name in ("kubernetes", "yaml", "jinja2"))
