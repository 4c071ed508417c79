# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of a Module of Kernel Module Management as templates: what it fills in, and when a kernel is
meant. Pure.

Its variables are those of github.com/a8m/envsubst, its kernels those of its internal/kernel: without
a plus at the end, and in variables with an underscore for each character that no tag can have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .._errors import InvalidInput
from .go_regex import ExpressionError, python_expression

# A kernel as the Module's mappings mean it.
_KERNEL = '(kernel.raw | regex_replace("[+]$", ""))'
_TAG = f'({_KERNEL} | regex_replace("[^A-Za-z0-9._-]", "_"))'
_NUMBERS = "^([^.-]*)[.-]([^.-]*)[.-]([^.-]*).*$"
_GROUPS = {"XYZ": r"\1.\2.\3", "X": r"\1", "Y": r"\2", "Z": r"\3"}
_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)([^}\r\n]*)\}|((?!_\b)\w+)|(\{))")
_OPERATION = re.compile(r"(:?[-=]|:?[+])(.+)")
_MARKS = re.compile(r"\{(?=[{%#]|\Z)")


def kernel_words() -> dict[str, str]:
    """Variable of an image's reference -> what it is in a template."""
    return {
        **dict.fromkeys(("KERNEL_FULL_VERSION", "KERNEL_VERSION"), f"{{{{ {_TAG} }}}}"),
        **_numbers(_TAG),
    }


def path_words() -> dict[str, str]:
    """The same for a path in an image: folders of modules are called as the kernel is."""
    return {**kernel_words(), **argument_words()}


def argument_words() -> dict[str, str]:
    """The same for arguments of builds, which have the kernel's name as it is."""
    return dict.fromkeys(("KERNEL_FULL_VERSION", "KERNEL_VERSION"), f"{{{{ {_KERNEL} }}}}")


def name_words(module: Mapping[str, Any]) -> dict[str, str]:
    """Those that say which Module it is."""
    metadata = module["metadata"]
    return {
        "MOD_NAME": str(metadata["name"]),
        "MOD_NAMESPACE": str(metadata.get("namespace") or "default"),
    }


def filled_in(text: str, words: Mapping[str, str], where: str) -> str:
    """A text of a Module as a template; what is no variable of it is nothing, as in KMM. Raises
    InvalidInput for what KMM does not read either."""
    made, at = "", 0
    for found in _VARIABLE.finditer(text):
        made += verbatim(text[at : found.start()]) + _value(found, words, where)
        at = found.end()
    return made + verbatim(text[at:])


def verbatim(text: str) -> str:
    """A text that a template puts out as it is."""
    return _MARKS.sub('{{ "{" }}', text)


def matches(literal: str, expression: str) -> str:
    """The condition of a template for kernels that are called so, or that an expression matches.
    Raises InvalidInput for an expression that cannot be had."""
    conditions = [f"{_KERNEL} == {_quoted(literal)}"] if literal else []
    if expression:
        whole = rf"\A(?s:.*?)(?:{_translated(expression)})(?s:.*)\Z"
        conditions.append(f'{_KERNEL} | regex_replace({_quoted(whole)}, "") == ""')
    return " or ".join(conditions)


def wrong(where: str, why: str) -> InvalidInput:
    """What is said of a Module that cannot be had as a recipe."""
    return InvalidInput(
        "the Module cannot be made a recipe",
        where=where,
        why=why,
        todo="change that in a copy of the Module, and give the copy as a file",
    )


def _numbers(kernel: str) -> dict[str, str]:
    pattern = _quoted(_NUMBERS)
    return {
        f"KERNEL_{name}": f"{{{{ {kernel} | regex_replace({pattern}, {_quoted(groups)}) }}}}"
        for name, groups in _GROUPS.items()
    }


def _value(found: re.Match[str], words: Mapping[str, str], where: str) -> str:
    """What stands for a variable: all that are known have a value, so a default never counts."""
    if found[1]:
        return "$"
    if found[5]:
        raise wrong(where, f"{found.string[:80]!r} has a ${{ that no name and }} follow")
    name = found[2] or found[4]
    operation = _OPERATION.match(found[3] or "")
    if operation is None:
        return words.get(name, "")
    if (name in words) != operation[1].endswith("+"):
        return words.get(name, "")
    other = operation[2]
    return words.get(other[1:], "") if re.fullmatch(r"\$\w+", other) else verbatim(other)


def _translated(expression: str) -> str:
    try:
        return python_expression(expression)
    except ExpressionError as error:
        why = f"the regexp {expression[:80]!r} cannot be had: {error}"
        raise wrong("kernelMappings", why) from None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
