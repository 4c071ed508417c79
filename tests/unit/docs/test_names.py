# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names: each once, of words that the field or our glossary knows."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).parents[3]
PLUGINS = REPO / "plugins"
UTILS = [
    path
    for folder in ("module_utils", "plugin_utils")
    for path in sorted((PLUGINS / folder).rglob("*.py"))
    if path.name != "__init__.py"
]
GLOSSARY = REPO / "docs" / "contributing" / "glossary.md"
FIELD_TERMS = Path(__file__).with_name("field_terms.txt")
MOST_TERMS = 30
MOST_MODULES = 25
# What names used to say instead of in-process action, observe, query, result, request, add metadata,
# predict.
PRIVATE = {
    *("ask", "asks", "deed", "deeds", "dress", "dressed", "face", "faces", "foretell", "foretold"),
    *("look", "looks", "told", "wish", "wishes"),
}
CODE = ("plugins", "docs", "recipes")
SIMULATION = (REPO / "tests" / "cluster", REPO / "tests" / "unit" / "cluster")
PLAY = re.compile(r"(?<![a-z])play(s|ed|er|ers|ing)?(?![a-z])", re.IGNORECASE)


def classes(path: Path) -> list[str]:
    """The classes of a file."""
    return re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def words(name: str) -> Iterator[str]:
    """The words of snake_case or CamelCase, in small letters."""
    for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name):
        yield word.lower()


def glossary() -> list[str]:
    """The terms of the glossary."""
    rows = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return [row for row in rows if row != "word"]


def unknown_words(names: dict[str, str]) -> dict[str, str]:
    """word -> where it is used, of those that neither the field nor the glossary knows."""
    known = set(FIELD_TERMS.read_text(encoding="utf-8").split())
    known |= {word for term in glossary() for word in term.split()}
    return {
        word: where for name, where in names.items() for word in words(name) if word not in known
    }


def private_names(tree: ast.AST) -> set[str]:
    """What a file defines under a name with a word of PRIVATE: functions, arguments, variables."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return {name for name in found if PRIVATE & set(words(name))}


def used_names() -> dict[str, str]:
    """The names of all modules and classes, with the file that each is in."""
    found: dict[str, str] = {}
    for path in UTILS:
        for name in (path.stem, *classes(path)):
            found.setdefault(name, str(path.relative_to(REPO)))
    return found


def plays(text: str) -> list[str]:
    """The lines that call something else than Ansible's a play."""
    return [line for line in text.splitlines() if PLAY.search(line)]


def test_no_two_modules_have_one_basename() -> None:
    counts = Counter(path.name for path in UTILS)
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_two_classes_have_one_name() -> None:
    counts = Counter(name for path in UTILS for name in classes(path))
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_folder_has_more_modules_than_one_looks_through() -> None:
    counts = Counter(str(path.parent.relative_to(REPO)) for path in UTILS)
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_every_word_is_known() -> None:
    assert unknown_words(used_names()) == {}, (
        "use another word in these names of files and classes; add one that Kubernetes, Ansible or "
        "RMD has to tests/unit/docs/field_terms.txt, in order; one of our own is a decision, and a "
        "row of docs/contributing/glossary.md"
    )


def test_a_private_word_is_found() -> None:
    assert unknown_words({"FrobnicatedNode": "here"}) == {"frobnicated": "here"}


def test_nothing_is_called_by_a_private_word() -> None:
    files = [path for folder in CODE for path in sorted((REPO / folder).rglob("*.py"))]
    found = {
        str(path): private_names(ast.parse(path.read_text(encoding="utf-8"))) for path in files
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_a_variable_with_a_private_word_is_found() -> None:
    code = "def look(ask): self.told = [wish for wish in all_of_them]"
    assert private_names(ast.parse(code)) == {"look", "ask", "told", "wish"}


def test_only_ansible_plays() -> None:
    files = [
        path
        for folder in SIMULATION
        for path in folder.rglob("*")
        if path.suffix in {".py", ".md", ".yml", ".yaml", ".sh", ".go"}
    ]
    assert files
    assert {
        str(path): found for path in files if (found := plays(path.read_text(encoding="utf-8")))
    } == {}


def test_a_play_that_is_not_ansibles_is_found() -> None:
    said = ["class Player:", "PLAY_PREFIX = 1", "pods are played", "def parse_play()"]
    assert plays("\n".join(said)) == said
    assert plays("ansible-playbook displays") == []


def test_the_glossary_is_short_and_sorted() -> None:
    terms = glossary()
    assert len(terms) <= MOST_TERMS
    assert terms == sorted(terms)


def test_the_list_of_the_fields_terms_has_no_more_than_is_used() -> None:
    listed = FIELD_TERMS.read_text(encoding="utf-8").split()
    used = {word for name in used_names() for word in words(name)}
    assert set(listed) - used == set(), (
        "no name has these words: take them out of tests/unit/docs/field_terms.txt"
    )
    assert listed == sorted(set(listed)), "sort tests/unit/docs/field_terms.txt, each word once"
    assert [word for word in listed if word in glossary()] == [], (
        "docs/contributing/glossary.md has these: take them out of tests/unit/docs/field_terms.txt"
    )
