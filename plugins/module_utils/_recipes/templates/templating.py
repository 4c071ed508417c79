# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of recipes: Jinja2 in a sandbox, the same in action plugins, modules and tests.

A recipe is data: no lookups, no access to anything but the variables given, only the recipe's own
files to include, and only the listed filters. A value that could change the YAML around it is
refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

from ..._errors import InvalidInput, PackageNotFound
from ..._schema.problems import suggest
from .filters import JINJA_FILTERS, OWN_FILTERS, RefusedError, Rendered, put_out
from .overlay import MACROS, place_of
from .template_cache import TemplateCache

try:
    import jinja2
    import jinja2.meta
    import jinja2.nodes
    import jinja2.sandbox
except ImportError:
    jinja2 = None  # type: ignore[assignment]

CACHED_TEMPLATES = 512

# What filters and operators raise when they are given the wrong thing, and Python when a template
# is too deep for it, besides Jinja2's own errors.
_FAILURES = (
    RefusedError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)


class TemplateError(InvalidInput):
    """A template cannot be rendered. file: of the recipe, or what a text of recipe.yml is called;
    line from 1, or 0."""

    def __init__(self, file: str, line: int | None, *, where: str, why: str) -> None:
        super().__init__(
            "a template cannot be rendered",
            where=where,
            why=why,
            todo="correct the recipe or its options",
        )
        self.file = file
        self.line = line or 0


class Facts(dict[str, Any]):
    """A mapping for templates with all that there is of a thing: what it does not hold is a
    mistake, never a default.

    It is called by its name when something is asked of it that it does not hold."""

    def __init__(self, title: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._title = title


class Templates:
    """The templates of one recipe. source names the recipe in errors."""

    def __init__(self, files: Mapping[str, str], source: str) -> None:
        self._files = files
        self._source = source
        self._environment = _environment_class()(self._load)
        self._places: dict[str, str] = {}

    def place_of(self, path: str) -> str:
        """Where a file of the recipe is, for messages."""
        if path not in self._places:
            self._places[path] = place_of(self._files, self._source, path)
        return self._places[path]

    def render(self, path: str, variables: Mapping[str, Any]) -> str:
        """A file of the recipe with these variables. Raises InvalidInput with file and line."""
        return self._render(path, self._files[path], variables)

    def render_text(self, text: str, title: str, variables: Mapping[str, Any]) -> str:
        """A text of recipe.yml; title says which (the path of its key)."""
        return self._render(title, text, variables)

    def names_in(self, path: str) -> frozenset[str]:
        """The variables that a file of the recipe, or a file that it includes, may ask for."""
        return frozenset().union(*(template.names for template in self._with_included(path)))

    def options_in(self, path: str) -> frozenset[str] | None:
        """The options that a file of the recipe, or a file that it includes, may ask for; None
        where only rendering tells."""
        found = [template.options for template in self._with_included(path)]
        return (
            None if None in found else frozenset().union(*(options for options in found if options))
        )

    def assigned_in(self, path: str) -> frozenset[str]:
        """The variables that a file of the recipe, or a file that it includes, sets itself."""
        return frozenset().union(*(template.assigned for template in self._with_included(path)))

    def options_in_text(self, text: str, title: str) -> frozenset[str] | None:
        """The same for a text of recipe.yml."""
        return self._parse(title, text).options

    def _with_included(self, path: str) -> list[_Compiled]:
        """A file and every file that it may include."""
        found: dict[str, _Compiled] = {}
        left = [path]
        while left:
            name = left.pop()
            if name in found or name not in self._files:
                continue
            template = found[name] = self._parse(name, self._files[name])
            left += (
                self._files
                if None in template.included
                else [each for each in template.included if each]
            )
        return list(found.values())

    def names_in_text(self, text: str, title: str) -> frozenset[str]:
        """The variables that a text of recipe.yml may ask for; title says which (the path of its
        key)."""
        return self._parse(title, text).names

    def uses_in(self, path: str) -> TemplateUse:
        """What a file of the recipe refers to. Raises TemplateError where it is no template."""
        return self.uses_in_text(self._files[path], path)

    def uses_in_text(self, text: str, title: str) -> TemplateUse:
        """What a text refers to. Raises TemplateError where it is no template."""
        self._parse(title, text)  # finds filters that are not there
        return _uses_of(title, text)

    def _render(self, name: str, text: str, variables: Mapping[str, Any]) -> str:
        try:
            template = self._environment.template(name, text)
            return str(template.render(variables))
        except (jinja2.TemplateError, *_FAILURES) as error:
            raise self._explain(error, name, variables) from None

    def _parse(self, name: str, text: str) -> _Compiled:
        try:
            return _compiled(name, text)
        except (jinja2.TemplateError, *_FAILURES) as error:
            raise self._explain(error, name, {}) from None

    def _load(self, name: str) -> str | None:
        return self._files.get(name)

    def _explain(self, error: Exception, name: str, variables: Mapping[str, Any]) -> TemplateError:
        file, line = _place(error, name, self._files)
        why = str(getattr(error, "message", None) or error) or type(error).__name__
        if isinstance(error, jinja2.TemplateNotFound):
            why = f"there is no file {error.name} in the recipe{suggest(str(error.name), self._files)}"
        elif why.startswith("No filter named"):
            wanted = why.split("'")[1]
            why = f"there is no filter {wanted}{suggest(wanted, (*JINJA_FILTERS, *OWN_FILTERS), listed=50)}"
        elif isinstance(error, jinja2.UndefinedError) and why.startswith(_NO_VARIABLE):
            why += suggest(why[len(_NO_VARIABLE) :], variables)
        where = ", ".join(
            [
                self.place_of(file),
                *([f"line {line}"] if line else []),
            ]
        )
        return TemplateError(file, line, where=where, why=why)


_NO_VARIABLE = "there is no variable "


def absent(why: str) -> Any:
    """A variable that is not there, for a reason that whoever uses it is told."""
    return _missing_class()(hint=why)


def _place(error: Exception, name: str, files: Mapping[str, str]) -> tuple[str, int | None]:
    """File and line of an error: where a syntax error is, else the innermost line of a template in
    the traceback. Of what a macro of the collection refuses, the line that calls it."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        file = error.filename or error.name or name
        return file, _opened(files.get(file, ""), error)
    file, line, trace = name, None, error.__traceback__
    while trace is not None:
        found = trace.tb_frame.f_code.co_filename
        if found == name or (found in files and found != MACROS):
            file, line = found, trace.tb_lineno
        trace = trace.tb_next
    return file, line


def _opened(text: str, error: Any) -> int:
    """The line of a syntax error; where an expression has no end, the one that it begins on, since the
    parser finds that out wherever it stops making sense."""
    line = int(error.lineno)
    if "end of print statement" not in (error.message or ""):
        return line
    before = "".join(text.splitlines(keepends=True)[:line])
    begin = before.rfind("{{")
    return before.count("\n", 0, begin) + 1 if begin >= 0 else line


@dataclass(frozen=True)
class TemplateUse:
    """What a template refers to. Numbers are the line where that occurs first.

    - variables: the variables that it reads and does not set itself
    - attributes: (variable, attribute) of those
    - whole: the variables that it also uses without taking an attribute
    - assigned: what it sets, which the files that it includes see too
    - included: the files that it includes; None for one whose name is known only when it is
      rendered
    """

    variables: Mapping[str, int]
    attributes: Mapping[tuple[str, str], int]
    whole: frozenset[str]
    assigned: frozenset[str]
    included: Sequence[tuple[str | None, int]]


_METHODS = frozenset(("get", "items", "keys", "values"))


def _uses_of(name: str, text: str) -> TemplateUse:
    tree, nodes = _parsed(name, text), jinja2.nodes
    assigned = frozenset(node.name for node in tree.find_all(nodes.Name) if node.ctx != "load")
    free = jinja2.meta.find_undeclared_variables(tree) - assigned - {"range"}
    attributes: dict[tuple[str, str], int] = {}
    parts: set[int] = set()  # ids of names of which an attribute is taken
    for node, attribute in _attributes(tree):
        if node.node.name in free and attribute not in _METHODS:
            key = (node.node.name, attribute)
            attributes[key] = min(node.lineno, attributes.get(key, node.lineno))
            parts.add(id(node.node))
    variables: dict[str, int] = {}
    whole = set()
    for node in tree.find_all(nodes.Name):
        if node.name in free and node.ctx == "load":
            variables[node.name] = min(node.lineno, variables.get(node.name, node.lineno))
            if id(node) not in parts:
                whole.add(node.name)
    return TemplateUse(variables, attributes, frozenset(whole), assigned, _included(tree))


def _attributes(tree: Any) -> Iterator[tuple[Any, str]]:
    """(node, NAME) of every name.NAME and name["NAME"]."""
    nodes = jinja2.nodes
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        key = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
        if isinstance(node.node, nodes.Name) and isinstance(key, str):
            yield node, key


def _included(tree: Any) -> list[tuple[str | None, int]]:
    """The files that a template includes, each with its line; None where only rendering tells."""
    nodes = jinja2.nodes
    return [
        (node.template.value if isinstance(node.template, nodes.Const) else None, node.lineno)
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends))
    ]


@dataclass(frozen=True)
class _Compiled:
    """A compiled file.

    - names: the variables that it reads and does not set itself
    - assigned: those that it sets
    - included: the files that it includes; None for one whose name is known only when it is
      rendered
    - options: the options that it reads; None where that is known only when it is rendered
    """

    code: Any
    names: frozenset[str]
    assigned: frozenset[str]
    included: tuple[str | None, ...]
    options: frozenset[str] | None


@lru_cache(maxsize=1)
def _parsed(name: str, text: str) -> Any:
    """The tree of the template that was asked for last: who compiles one often looks into it too."""
    return _compiler().parse(text, name, name)


COMPILED = TemplateCache()


@lru_cache(maxsize=CACHED_TEMPLATES)
def _compiled(name: str, text: str) -> _Compiled:
    return _Compiled(*COMPILED.get(name, text, lambda: _compile(name, text)))


def _compile(name: str, text: str) -> tuple[Any, ...]:
    """The fields of _Compiled, in their order."""
    tree = _parsed(name, text)
    nodes = jinja2.nodes
    found = list(tree.find_all(nodes.Name))
    loaded = {node.name for node in found if node.ctx == "load"}
    stored = {node.name for node in found if node.ctx != "load"}
    included = tuple(file for file, _line in _included(tree))
    options = _options(tree)
    code = _compiler().compile(tree, name, name)
    return code, frozenset(loaded - stored), frozenset(stored), included, options


def _options(tree: Any) -> frozenset[str] | None:
    """The NAME of every options.NAME and options["NAME"]; None where the options are used in
    another way too."""
    nodes = jinja2.nodes
    names: set[str] = set()
    understood: set[int] = set()
    for node, key in _attributes(tree):
        if node.node.name == "options":
            names.add(key)
            understood.add(id(node.node))
    others = (
        node
        for node in tree.find_all(nodes.Name)
        if node.name == "options" and id(node) not in understood
    )
    return None if any(others) else frozenset(names)


def _needs_a_value(own: Callable[..., Any]) -> Callable[..., Any]:
    """A filter of ours that says of a misspelt variable what the variable itself says, not what
    JSON has against it."""

    @wraps(own)
    def checked(value: Any, *more: Any, **named: Any) -> Any:
        if isinstance(value, jinja2.Undefined):
            value._fail_with_undefined_error()
        return own(value, *more, **named)

    return checked


@lru_cache(maxsize=1)
def _compiler() -> Any:
    return _environment_class()(lambda _name: None)


@lru_cache(maxsize=1)
def _missing_class() -> Any:
    """What an undefined variable is: an error that says what there is instead."""

    class Missing(jinja2.StrictUndefined):
        @property
        def _undefined_message(self) -> str:
            name = str(self._undefined_name)
            if self._undefined_hint:
                return self._undefined_hint
            if self._undefined_obj is jinja2.utils.missing:
                return _NO_VARIABLE + name
            title = getattr(self._undefined_obj, "_title", "the mapping")
            if not isinstance(self._undefined_obj, dict):
                return f"{type(self._undefined_obj).__name__} has no {name}"
            return f"{title} has no {name}" + suggest(name, map(str, self._undefined_obj))

    return Missing


def _there(obj: Any, found: Any) -> Any:
    """What was found in a mapping; a misspelt option must not hide behind a filter such as default
    or to_json."""
    if isinstance(obj, Facts) and isinstance(found, jinja2.Undefined):
        found._fail_with_undefined_error()
    return found


# Around the number of a template's line, in text that is rendered to find out which line it came
# from.
_MARK = re.compile("\ue000([0-9]+)\ue001")


def trace(
    files: Mapping[str, str], path: str, variables: Mapping[str, Any], text: str
) -> list[tuple[str, int]]:
    """For each line of a file's rendered text, (file, line) of the template that wrote its end; for
    what a macro of the collection wrote, that of the call.

    text: as it was rendered, with the same variables. Empty where that does not work out: a
    template may compute with what it has written.
    """
    places: list[tuple[str, int]] = []

    def marked(name: str, source: str) -> Any:
        if name == MACROS:
            return _compiled(name, source).code
        tree = _compiler().parse(source, name, name)
        for data in tree.find_all(jinja2.nodes.TemplateData):
            lines = data.data.split("\n")
            numbers = range(len(places), len(places) + len(lines) - 1)
            places.extend((name, data.lineno + index) for index in range(len(lines) - 1))
            data.data = (
                "".join(
                    f"{line}\ue000{number}\ue001\n"
                    for line, number in zip(lines, numbers, strict=False)
                )
                + lines[-1]
            )
        return _compiler().compile(tree, name, name)

    class Tracing(_environment_class()):  # type: ignore[misc]
        def template(self, name: str, text: str, variables: Any = None) -> Any:
            return self.template_class.from_code(
                self, marked(name, text), self.make_globals(variables)
            )

    try:
        rendered = str(Tracing(files.get).template(path, files[path]).render(variables))
    except (jinja2.TemplateError, *_FAILURES):
        return []
    if _MARK.sub("", rendered).count("\n") != text.count("\n"):
        return []
    return _places(rendered.split("\n"), places, len(files[path].splitlines()), path)


def _places(
    lines: Sequence[str], places: Sequence[tuple[str, int]], last_line: int, path: str
) -> list[tuple[str, int]]:
    """A line without a mark was made by an expression of several lines, whose end has one."""
    found = [(path, last_line)]
    for line in reversed(lines):
        marks = _MARK.findall(line)
        found.append(places[int(marks[-1])] if marks else found[-1])
    return found[:0:-1]


@lru_cache(maxsize=1)
def _loader_class() -> Any:
    """What finds the files that templates include."""

    class Loader(jinja2.BaseLoader):
        def __init__(self, text_of: Callable[[str], str | None]) -> None:
            self._text_of = text_of

        def load(self, environment: Any, name: str, globals: Any = None) -> Any:  # noqa: A002 - Jinja2's own signature
            text = self._text_of(name)
            if text is None:
                raise jinja2.TemplateNotFound(name)
            return environment.template(name, text, globals)

    return Loader


@lru_cache(maxsize=1)
def _environment_class() -> Any:
    """The class of our environment, made when it is first needed: without Jinja2 there is nothing
    to inherit from."""
    if jinja2 is None:
        raise PackageNotFound("templates cannot be rendered", "Jinja2>=3.1")

    own_filters = {name: _needs_a_value(each) for name, each in OWN_FILTERS.items()}

    class Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
        # What macros and block assignments give has been looked at when it was written
        concat = staticmethod(lambda parts: Rendered("".join(parts)))

        def __init__(self, text_of: Callable[[str], str | None]) -> None:
            super().__init__(
                undefined=_missing_class(),
                autoescape=False,
                trim_blocks=True,
                lstrip_blocks=True,
                finalize=put_out,
                loader=_loader_class()(text_of),
                cache_size=0,
            )
            self.globals = {"range": self.globals["range"]}
            # Most templates are rendered for many groups of nodes.
            self._made: dict[tuple[str, str], Any] = {}
            self.filters = {name: self.filters[name] for name in JINJA_FILTERS} | own_filters

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, dict) and attribute in obj:
                return obj[attribute]
            return _there(obj, super().getattr(obj, attribute))

        def getitem(self, obj: Any, argument: Any) -> Any:
            return _there(obj, super().getitem(obj, argument))

        def template(self, name: str, text: str, variables: Any = None) -> Any:
            if variables is not None:
                return self._new_template(name, text, variables)
            if (name, text) not in self._made:
                self._made[name, text] = self._new_template(name, text, None)
            return self._made[name, text]

        def _new_template(self, name: str, text: str, variables: Any) -> Any:
            known = {**self.globals, **(variables or {})}
            return self.template_class.from_code(self, _compiled(name, text).code, known)

    return Environment
