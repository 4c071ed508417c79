# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How easily the code of plugins/ reads, in figures, of one or several revisions:
docs/contributing/measures.md.

Each figure is counted, not judged: lines and branches by radon, widths of dataclasses and the ways of
arguments by the syntax tree, modules of a run by importing what starts it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from radon.complexity import cc_visit

# What the arguments of two modules are, in the largest ways that they go.
REQUESTS = ("StateApplyRequest", "RmdWorkloadRequest")
WIDE = 8
_LOADED = """
import importlib, sys
importlib.import_module("ansible_collections.hardware.enablement.plugins.action.state_apply")
own = "ansible_collections.hardware.enablement.plugins."
print(sum(name.startswith(own) for name in sys.modules))
"""


@dataclass(frozen=True)
class Measures:
    """One line of the page each, as title -> figure."""

    figures: dict[str, str]


@dataclass(frozen=True)
class _Function:
    """complexity as radon counts it; lines from the head to the end."""

    complexity: int
    lines: int


def measure(root: Path) -> Measures:
    """The figures of a working tree. Its collections lie in .venv/collections of this one."""
    sources = [file.read_text(encoding="utf-8") for file in sorted(root.glob("plugins/**/*.py"))]
    functions = list(chain.from_iterable(map(_functions, sources)))
    trees = [ast.parse(source) for source in sources]
    classes = {node.name: node for tree in trees for node in _all(tree, ast.ClassDef)}
    widths = sorted(((len(list(_fields(each))), name) for name, each in classes.items()))[::-1]
    lines = sum(each.lines for each in functions)
    total = sum(each.complexity for each in functions)
    figures = {
        "lines of plugins/": str(_lines(sources)),
        "lines of tests/": str(
            _lines(file.read_text(encoding="utf-8") for file in root.glob("tests/**/*.py"))
        ),
        "functions": str(len(functions)),
        "complexity per 100 lines of functions": f"{100 * total / lines:.1f}",
        "branches per 100 lines of functions": f"{100 * (total - len(functions)) / lines:.1f}",
        **{
            f"functions above complexity {most}": str(
                sum(each.complexity > most for each in functions)
            )
            for most in (10, 12, 15)
        },
        f"classes with {WIDE} fields or more": str(sum(width >= WIDE for width, _name in widths)),
        "the widest": ", ".join(f"{name} {width}" for width, name in widths[:4]),
        "functions that take arguments untyped": str(len(list(_taking(trees, set())))),
        **{
            f"functions that take {name}, or a part of it": str(
                len(list(_taking(trees, _parts(name, classes))))
            )
            for name in REQUESTS
            if name in classes
        },
        "own modules that state_apply imports": _loaded(root),
    }
    return Measures(figures)


def _functions(source: str) -> Iterator[_Function]:
    for block in cc_visit(source):
        if block.letter != "C":  # whose methods come by themselves, too
            yield _Function(block.complexity, block.endline - block.lineno + 1)


def _lines(sources: Iterator[str] | list[str]) -> int:
    return sum(source.count("\n") for source in sources)


def _all(tree: ast.AST, kind: type) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def _fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    return (each for each in node.body if isinstance(each, ast.AnnAssign))


def _parts(name: str, classes: dict[str, ast.ClassDef]) -> set[str]:
    """A request, and the dataclasses of the project that it is made of."""
    found, left = set[str](), [name]
    while left:
        each = left.pop()
        if each in found or each not in classes:
            continue
        found.add(each)
        left += [word for field in _fields(classes[each]) for word in _words(field.annotation)]
    return found


def _taking(trees: list[ast.Module], kinds: set[str]) -> Iterator[str]:
    """Functions with an argument of one of these types; without any, of those that take params, a
    mapping of anything."""
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for argument in (*node.args.args, *node.args.kwonlyargs):
                words = _words(argument.annotation)
                untyped = argument.arg == "params" and "Mapping" in words
                if (words & kinds) if kinds else untyped:
                    yield node.name
                    break


def _words(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def _loaded(root: Path) -> str:
    """What an action plugin imports, as a play does."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED],
        env={"PYTHONPATH": str(root / ".venv" / "collections"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "?"
