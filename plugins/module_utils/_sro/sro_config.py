# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of sro_config: a file with a custom resource of the Special Resource Operator, read and
checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .._errors import InvalidInput
from .._json import Obj
from .._recipes.templates.documents import parse
from .._runs.context import RunContext
from .._runs.task import Task
from .sro_resource import request_of


@dataclass(frozen=True)
class SroConfigRequest:
    """The file with a custom resource (from_cr), and the folder of recipes, None for the one that the
    resource names."""

    from_cr: str
    recipe_dir: Optional[str]


def run(request: SroConfigRequest, context: RunContext) -> Obj:
    """What a custom resource asks for, in the words of enable."""
    source = request.from_cr
    try:
        text = Path(source).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{source} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with a SpecialResource",
        ) from None
    recipe_dir = request.recipe_dir or ""
    asked = request_of(parse(text, source), source, recipe_dir)
    context.secrets.update(asked.secrets)
    for each in asked.notes:
        context.notice(f"{asked.name}, {each}")
    return {
        "changed": False,
        "action": asked.action,
        "name": asked.name,
        "recipe": asked.recipe,
        "recipe_dir": recipe_dir or asked.recipe_dir,
        "namespace": asked.namespace,
        "options": asked.options,
        "depends": list(asked.depends),
        "notes": list(asked.notes),
    }


TASK = Task(SroConfigRequest, run)
