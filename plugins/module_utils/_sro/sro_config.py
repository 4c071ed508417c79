# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of sro_config: a file with a custom resource of the Special Resource Operator, read and
checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._errors import InvalidInput
from .._json import Obj
from .._recipes.templates.documents import parse
from .._runs.context import RunContext
from .._runs.task import Task
from .sro_resource import request_of


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """What a custom resource asks for, in the words of enable."""
    source = str(params["from_cr"])
    try:
        text = Path(source).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{source} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with a SpecialResource",
        ) from None
    recipe_dir = str(params.get("recipe_dir") or "")
    request = request_of(parse(text, source), source, recipe_dir)
    context.secrets.update(request.secrets)
    for each in request.notes:
        context.notice(f"{request.name}, {each}")
    return {
        "changed": False,
        "action": request.action,
        "name": request.name,
        "recipe": request.recipe,
        "recipe_dir": recipe_dir or request.recipe_dir,
        "namespace": request.namespace,
        "options": request.options,
        "depends": list(request.depends),
        "notes": list(request.notes),
    }


TASK = Task(None, run)
