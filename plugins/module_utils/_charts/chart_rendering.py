# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chart renders to, file by file, for one set of values: helm is asked twice for each, and has
to say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from .._errors import InvalidInput
from .._recipes.templates.documents import parse_foreign
from .._recipes.templates.templating import TemplateError
from .subcharts import helm_names

Helm = Callable[[list[str], Mapping[str, str]], tuple[str, str]]

NOTES = "templates/NOTES.txt"
_NOTES_FILE = "templates/hardware-enablement-notes.yaml"
_NOTES_TEMPLATE = (
    'notes: {{ include (print $.Template.BasePath "/NOTES.txt") . | toJson }}\n'  # a document
)
_WHOLE_FILE = "templates/hardware-enablement-whole.yaml"
_WHOLE_TEMPLATE = "whole: {{ include (print $.Template.BasePath %s) . | toJson }}\n"
_TEXTS_FILE = "templates/hardware-enablement-texts.yaml"
_TEXTS_TEMPLATE = "{{ tpl (toJson .Values.texts) (merge (dict %s) %s) }}\n"
_SOURCE = re.compile(r"^---\n# Source: [^/\n]+/(?P<path>.+)\n", re.MULTILINE)
# "template: chart/templates/a.yaml:3:7: executing ...", and what helm says of YAML.
_PLACE = re.compile(r"[\w.-]+/(?P<file>(?:charts/|templates/)[^\s:()]+):(?P<line>\d+)")
_FILE = re.compile(r"[\w.-]+/(?P<file>(?:charts/|templates/)[^\s:()]+)")
_YAML_LINE = re.compile(r"\bline (?P<line>\d+)")
_NO_YAML = "YAML parse error"
_HINT = "Use --debug flag to render out invalid YAML"


@dataclass(frozen=True)
class HelmRelease:
    """What a rendering is for, besides values. apis: those that the cluster serves."""

    name: str
    namespace: str
    kubernetes: str = ""
    apis: tuple[str, ...] = ()


@dataclass
class ChartRendering:
    """One chart; what it has rendered, or why it cannot be, is kept. source names it in errors.

    prefix: what the paths of its files begin with that its author does not know of. templated: the
    runtime values in which texts may be templates, as in the user's own. dot: what these see as their
    dot, a field of the runtime values; "" for .Values with all of them.
    """

    chart: str
    files: Mapping[str, str]
    source: str
    helm: Helm
    prefix: str = ""
    templated: tuple[str, ...] = ()
    dot: str = ""
    _known: dict[str, Mapping[str, str] | TemplateError] = field(default_factory=dict)

    @cached_property
    def named(self) -> Mapping[str, str]:
        """The files by the names that helm gives them."""
        return helm_names(self.files)

    def texts(
        self, release: HelmRelease, given: Mapping[str, Any], runtime: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """File -> what it has rendered to; given are the user's values, over which runtime goes. The
        definitions of crds/ are there as they are; what is switched off is not.

        Raises TemplateError with file and line.
        """
        key = json.dumps([release.__dict__, given, runtime], sort_keys=True, default=str)
        if key not in self._known:
            try:
                self._known[key] = self._rendered(release, given, runtime)
            except TemplateError as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, TemplateError):
            raise known
        return known

    def notes(
        self, release: HelmRelease, given: Mapping[str, Any], runtime: Mapping[str, Any]
    ) -> str:
        """What NOTES.txt says, "" where there is none."""
        text = self.texts(release, given, runtime).get(_NOTES_FILE, "")
        return str(json.loads(text.partition("notes:")[2] or '""')).strip()

    def _rendered(
        self,
        release: HelmRelease,
        given: Mapping[str, Any],
        runtime: Mapping[str, Any],
        more: Mapping[str, str] | None = None,
    ) -> Mapping[str, str]:
        own = {name: runtime[name] for name in self.templated if name in runtime}
        texts: Mapping[str, Any] = {"given": given, "own": own}
        if "{{" in str(texts):
            texts = self._filled_in(release, texts, runtime)
        notes = {_NOTES_FILE: _NOTES_TEMPLATE} if NOTES in self.files else {}
        values = [texts["given"], {**runtime, **texts["own"]}]
        return self._run(release, values, {**notes, **(more or {})})

    def _filled_in(
        self, release: HelmRelease, texts: Mapping[str, Any], runtime: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Values whose texts are templates of runtime values, rendered."""
        values = "" if self.dot else '"Values" .Values.runtime '
        dot = f".Values.runtime.{self.dot}" if self.dot else "(dict)"
        template = _TEXTS_TEMPLATE % (f'{values}"Template" .Template', dot)
        chart = {
            "Chart.yaml": f"apiVersion: v2\nname: {self.chart}\nversion: 0.0.0\n",
            _TEXTS_FILE: template,
        }
        own = ChartRendering(self.chart, chart, self.source, self.helm)
        found = own._run(release, [{"texts": texts, "runtime": runtime}], {})
        filled: Mapping[str, Any] = json.loads(found[_TEXTS_FILE])
        return filled

    def _run(
        self, release: HelmRelease, values: list[Mapping[str, Any]], more: Mapping[str, str]
    ) -> dict[str, str]:
        files = {f"chart/{path}": text for path, text in {**self.files, **more}.items()}
        arguments = ["template", release.name, "./chart", "--namespace", release.namespace]
        arguments.append("--include-crds")
        for number, each in enumerate(values):
            files[f"values-{number}.json"] = json.dumps(each)
            arguments += ["--values", f"values-{number}.json"]
        if release.kubernetes:
            arguments += ["--kube-version", release.kubernetes]
        for api in release.apis:
            arguments += ["--api-versions", api]
        # A function whose result differs each time may stand anywhere, also in a text that is made a
        # template, or in what orders a mapping's keys: two renderings beside each other tell.
        with ThreadPoolExecutor(1, thread_name_prefix="helm") as beside:
            once_more = beside.submit(self.helm, arguments, files)
            text, error = self.helm(arguments, files)
            other, _error = once_more.result()
        if error and _NO_YAML in error:
            # With it, helm shows what it has rendered although that cannot be used.
            raise self._no_yaml(error, self.helm([*arguments, "--debug"], files)[0])
        if error:
            raise self._explained(error)
        known = {*self.named, *more}
        found = _by_file(text, known)
        self._refuse_differing(found, _by_file(other, known))
        return {path.removeprefix(self.prefix): rendered for path, rendered in found.items()}

    def _refuse_differing(self, one: Mapping[str, str], other: Mapping[str, str]) -> None:
        """Raise TemplateError for a file that does not render to the same each time."""
        for path in sorted(one.keys() | other.keys()):
            lines = zip_longest(*(each.get(path, "").splitlines() for each in (one, other)))
            at = next((number for number, (a, b) in enumerate(lines, 1) if a != b), 0)
            if at:
                file = path.removeprefix(self.prefix)
                why = (
                    f"line {at} of what it renders to is another one each time, so that each run would"
                    " change the cluster; give the value in set"
                )
                where = f"{self.source}/{file}" if self.source else file
                raise TemplateError(file, 0, where=where, why=why)

    def whole(
        self, release: HelmRelease, given: Mapping[str, Any], runtime: Mapping[str, Any], file: str
    ) -> str:
        """All documents of a file of the chart in the order of the file; texts() has them in the
        order in which helm installs them. "" for a file of a subchart."""
        path = f"{self.prefix}{file}"
        if not path.startswith("templates/"):
            return ""
        name = json.dumps(path.removeprefix("templates"))
        more = {_WHOLE_FILE: _WHOLE_TEMPLATE % name}
        text = self._rendered(release, given, runtime, more)[_WHOLE_FILE.removeprefix(self.prefix)]
        return str(json.loads(text.partition("whole:")[2]))

    def place(self, file: str, line: int, why: str) -> tuple[str, str]:
        """The place and the reason of an error in a line of a rendered file, for a message. Where
        the file is a template, the line is one of the rendered text, not of the file; the reason
        says so."""
        place = f"{self.source}/{file}" if self.source else file
        if "{{" in self.named.get(f"{self.prefix}{file}", ""):
            return place, f"{why} (line {line} of what it renders to)"
        return f"{place}, line {line}", why

    def _no_yaml(self, error: str, text: str) -> TemplateError:
        """Which line of what a file renders to is no YAML, as far as helm shows it."""
        found = self._explained(error)
        try:
            own = _by_file(text, self.named).get(f"{self.prefix}{found.file}", "")
            parse_foreign(own, "")
        except InvalidInput as problem:
            at = _YAML_LINE.search(problem.where)
            line = int(at["line"]) if at else 0
            # What is no YAML at all has a reason; what is none that is read here says what it is.
            wrong = f"it gives no YAML: {problem.why or problem.what}"
            where, why = self.place(found.file, line, wrong)
            return TemplateError(found.file, line if "line" in where else 0, where=where, why=why)
        return found

    def _explained(self, error: str) -> TemplateError:
        """What helm says, as one sentence with the innermost file and line that it names."""
        places = list(_PLACE.finditer(error))
        file, line = "Chart.yaml", 0
        if places:
            file, line = places[-1]["file"], int(places[-1]["line"])
        elif found := _FILE.search(error):
            file = found["file"]
            at = _YAML_LINE.search(error)
            error = f"{error} (of what it renders to)" if at else error
        why = (error[places[-1].end() :] if places else error).replace(_HINT, "")
        why = re.sub(r"^(:\d+)?\)?:?\s*", "", " ".join(why.split()))
        file = file.removeprefix(self.prefix)
        where = f"{self.source}/{file}" if self.source else file
        return TemplateError(file, line, where=f"{where}, line {line}" if line else where, why=why)


def rendered_files(text: str, files: Mapping[str, str]) -> dict[str, str]:
    """File of a chart (path -> text) -> what `helm template` has written of it."""
    return _by_file(text, helm_names(files))


def _by_file(text: str, files: Container[str]) -> dict[str, str]:
    """What helm writes, taken apart by the file that each document comes from. files: those that
    there are: a definition may have been written by helm, and have such lines of its own."""
    found: dict[str, str] = {}
    starts = [start for start in _SOURCE.finditer(text) if start["path"] in files]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        body = text[start.end() : end]
        known = found.get(start["path"])
        found[start["path"]] = body if known is None else f"{known}---\n{body}"
    return found
