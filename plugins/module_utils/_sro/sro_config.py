# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of sro_config: a file with a custom resource of the Special Resource Operator, read and
checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .._charts.recipe_store import FileStore
from .._errors import InvalidInput
from .._json import Obj
from .._recipes.differences import LAST_KERNEL_WINS
from .._recipes.templates.documents import parse_foreign
from .._runs.context import RunContext
from .._runs.task import Task
from .sro_resource import request_of
from .sro_source import SroSource


@dataclass(frozen=True)
class SroConfigRequest:
    """The file with a custom resource (from_cr), and the folder of recipes, None for the one that the
    resource names. last_kernel_wins: an option for it and what it depends on."""

    from_cr: str
    recipe_dir: Optional[str]
    last_kernel_wins: bool


def run(request: SroConfigRequest, context: RunContext) -> Obj:
    """What a custom resource asks for, in the words of enable."""
    where = request.from_cr
    file = Path(where).expanduser().absolute()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{where} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with a SpecialResource",
        ) from None
    source = SroSource(file, request.recipe_dir or "", _holds)
    documents, doubled = parse_foreign(text, where)
    asked = request_of(documents, where, source)
    context.secrets.update(asked.secrets)
    more = {LAST_KERNEL_WINS: True} if request.last_kernel_wins else {}
    notes = [
        *(f"line {line}: {key} is there twice, and the last one counts" for key, line in doubled),
        *asked.notes,
    ]
    for each in notes:
        context.notice(f"{asked.name}, {each}")
    return {
        "changed": False,
        "action": asked.action,
        "name": asked.name,
        "recipe": asked.recipe,
        "recipe_dir": asked.recipe_dir,
        "namespace": asked.namespace,
        "options": asked.options | more,
        "depends": [{**each, "options": each["options"] | more} for each in asked.depends],
        "notes": notes,
    }


def _holds(folder: str, name: str) -> bool:
    return FileStore(Path(folder)).holds(name)


TASK = Task(SroConfigRequest, run)
