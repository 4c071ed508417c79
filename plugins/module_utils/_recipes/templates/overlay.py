# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe that is another one with changes: both in one bundle, and both as one recipe.yml. Pure.

The files of what is extended lie in the bundle under .extends/NAME/, where no file of a recipe
lies, since hidden ones do not count. The collection's macros are beside them, where a template
imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._errors import InvalidInput
from ..._schema.problems import Problems, suggest
from ..._schema.shapes import join
from .documents import parse

RECIPE_FILE = "recipe.yml"
EXTENDS = "extends"
# What templates import the collection's macros by.
MACROS = "hardware.enablement/macros.j2"
_FOLDER = ".extends/"
# What says which recipe this is, and how old it is: never that of another one.
_OWN = (EXTENDS, "version")
_OF_NAMES = ("options", "states")


def extended_by(bundle: Mapping[str, str]) -> str:
    """The name of the recipe that this one extends; "" for none, and where recipe.yml cannot be
    read, which whoever loads it says."""
    text = bundle.get(RECIPE_FILE, "")
    if EXTENDS not in text:
        # Nearly all, and each task reads the whole of it anyway.
        return ""
    try:
        documents = parse(text, RECIPE_FILE)
    except InvalidInput:
        return ""
    raw = documents[0] if len(documents) == 1 else None
    name = raw.get(EXTENDS) if isinstance(raw, dict) else None
    return name if isinstance(name, str) else ""


def with_base(own: Mapping[str, str], name: str, base: Mapping[str, str]) -> dict[str, str]:
    """The bundle of a recipe with that of the one that it extends, which may extend one in turn."""
    beneath = {
        path if path.startswith(_FOLDER) else f"{_FOLDER}{name}/{path}": text
        for path, text in base.items()
    }
    return {**own, **beneath}


def needs_macros(bundle: Mapping[str, str]) -> bool:
    """Whether a file of the bundle names the collection's macros, and none that takes their place
    is there."""
    has_own = any(path.endswith(MACROS) for path in bundle)
    return not has_own and any(MACROS in text for text in bundle.values())


def is_in_folder(path: str) -> bool:
    """Whether a file of a bundle lies in the recipe's folder, as a person sees it there; those of
    what it extends and the collection's macros do not."""
    return not path.startswith(_FOLDER) and path != MACROS


def own_files(bundle: Mapping[str, str]) -> dict[str, str]:
    """The files of the recipe itself."""
    return {path: text for path, text in bundle.items() if not path.startswith(_FOLDER)}


def files_of_base(bundle: Mapping[str, str], name: str) -> dict[str, str]:
    """The files of a recipe that is extended, by their path in its folder; none where they are not
    here."""
    folder = f"{_FOLDER}{name}/"
    return {
        path.removeprefix(folder): text for path, text in bundle.items() if path.startswith(folder)
    }


def overlaid(own: Mapping[str, str], name: str, base: Mapping[str, str]) -> dict[str, str]:
    """The files of both recipes; where both have a file, that of the recipe itself counts.

    Those of the base are also there under its own name, so that errors name the folder where they
    are. Its recipe.yml is there too, so that a digest of all files changes with it.
    """
    beneath = {path: text for path, text in base.items() if _beneath(path)[1] not in own}
    known = {_beneath(path)[1] for path in beneath if path.startswith(_FOLDER)}
    copies = {
        f"{_FOLDER}{name}/{path}": text
        for path, text in beneath.items()
        if not path.startswith(_FOLDER) and path not in known
    }
    heads = {
        path: text
        for path, text in base.items()
        if path.startswith(_FOLDER) and _beneath(path)[1] == RECIPE_FILE
    }
    heads[f"{_FOLDER}{name}/{RECIPE_FILE}"] = base[RECIPE_FILE]
    return {**beneath, **own, **copies, **heads}


def place_of(files: Mapping[str, str], source: str, path: str) -> str:
    """Where a file of a recipe is, for messages: in its folder (source), or in that of the recipe
    that it extends. The collection's macros are called as templates call them."""
    if path == MACROS:
        return path
    bases = (_beneath(each) for each in files if each.startswith(_FOLDER))
    folder = next((name for name, file in bases if file == path != RECIPE_FILE), source.rstrip("/"))
    return f"{folder}/{path}" if folder else path


def _beneath(path: str) -> tuple[str, str]:
    """Which recipe's a file of a bundle is, "" for the one that extends, and its path there."""
    if not path.startswith(_FOLDER):
        return "", path
    name, _slash, file = path.removeprefix(_FOLDER).partition("/")
    return name, file


def merged(base: Mapping[str, Any], own: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """One recipe.yml out of that of the base and the changes, which have the right shape.

    A key replaces that of the base, and null removes it. Options and states are merged by name: of
    an option, the keys that are given change. The same holds for a state, unless it gives its role:
    then it replaces the base's state as a whole. Reports the removal of what the base does not
    have.
    """
    found = {key: value for key, value in base.items() if key not in _OWN}
    for key, value in own.items():
        if value is None and key not in found:
            problems.add(key, f"{key} in {own[EXTENDS]}, since null takes it away", "none")
        named = key in _OF_NAMES
        found[key] = _by_name(found.get(key) or {}, value, key, problems) if named else value
    del found[EXTENDS]
    return _without_nulls(found)


def _by_name(
    base: Mapping[str, Any], own: Mapping[str, Any], section: str, problems: Problems
) -> dict[str, Any]:
    """The options or states of both."""
    found = dict(base)
    for name, change in own.items():
        if change is None and name not in base:
            problems.add(
                join(section, name),
                "a name that the base has, since null takes it away",
                f"{name}{suggest(name, base)}",
            )
        elif change is None:
            del found[name]
        else:
            before = {} if "role" in change else base.get(name, {})
            found[name] = _without_nulls({**before, **change})
    return found


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
