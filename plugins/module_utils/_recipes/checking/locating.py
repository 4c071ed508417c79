# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From something in a rendered object back to the line of the template that wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._errors import InvalidInput
from ..._json import elements, part
from ..templates.documents import Lines, lines_of
from ..templates.manifests import title
from ..templates.overlay import place_of
from ..templates.templating import trace
from .recording import Rendering

Path = tuple["str | int", ...]


class Locator:
    """Lines of the files of one recipe; answers are remembered. source: where the recipe comes from,
    as errors have it."""

    def __init__(self, files: Mapping[str, str], source: str) -> None:
        self._files = files
        self._source = source
        # Where files are said to be -> their path in the recipe.
        self._places = {place_of(files, source, path): path for path in files}
        self._lines: dict[int, tuple[Rendering, Sequence[tuple[str, int]]]] = {}

    def path_of(self, source: str) -> str:
        """The path in the recipe of what an object comes from: a file, or a part of one."""
        return self._places.get(source, source.removeprefix(f"{self._source.rstrip('/')}/"))

    def file_of(self, error: InvalidInput) -> str:
        """The file that an error names: where it is, or the last one of those that do not go
        together; "" for none."""
        for text in (error.where, error.why):
            places = [
                (text.rfind(place), len(place), path)
                for place, path in self._places.items()
                if place in text
            ]
            if places:
                return max(places)[2]
        return ""

    def line_of_error(
        self, error: InvalidInput, file: str, renderings: Sequence[Rendering]
    ) -> tuple[str, int]:
        """(file, line) of the template that an error is about, as far as that can be told. file: the
        one that it names; renderings: those of that file."""
        is_rendered = "(as rendered)" in error.where
        place: tuple[str, int] | None = None
        if is_rendered and renderings:
            place = self.line_of_text(renderings[-1], rendered_line(error.where))
        elif renderings:
            place = self.line_of_title(renderings, error.what) or self.line_of_document(
                renderings[-1], error.where
            )
        return place or (file, 0 if is_rendered else rendered_line(error.where))

    def line_of_text(self, rendering: Rendering, line: int) -> tuple[str, int]:
        """(file, line) of the template for a line of the rendered text; (path, 0) where that cannot
        be told."""
        key = id(rendering)  # which is kept, so that nothing else gets its id
        if key not in self._lines:
            places = trace(self._files, rendering.path, rendering.variables, rendering.text)
            self._lines[key] = (rendering, places)
        lines = self._lines[key][1]
        return lines[line - 1] if 0 < line <= len(lines) else (rendering.path, 0)

    def line_of_field(
        self,
        renderings: Sequence[Rendering],
        manifest: Mapping[str, Any],
        path: Sequence[str | int],
    ) -> tuple[str, int] | None:
        """(file, line) of a field of an object, or of the nearest field above it that its template
        wrote.

        None where none of the renderings holds such an object.
        """
        wanted = (manifest["kind"], part(manifest, "metadata").get("name"))
        for rendering in renderings:
            for value, lines, prefix in objects_in(rendering.text):
                if (value["kind"], part(value, "metadata").get("name")) == wanted:
                    return self.line_of_text(rendering, _nearest(lines, (*prefix, *path)))
        return None

    def line_of_title(self, renderings: Sequence[Rendering], text: str) -> tuple[str, int] | None:
        """(file, line) of the name of the object that a sentence begins with."""
        for rendering in renderings:
            for value, lines, prefix in objects_in(rendering.text):
                if isinstance(value.get("metadata"), dict) and f"{text} ".startswith(
                    f"{title(value)} "
                ):
                    return self.line_of_text(
                        rendering, _nearest(lines, (*prefix, "metadata", "name"))
                    )
        return None

    def line_of_document(self, rendering: Rendering, where: str) -> tuple[str, int] | None:
        """(file, line) of the document that an error names as a part of its place ("document 2")."""
        found = re.search(r", document (\d+)", where)
        documents = lines_of(rendering.text, "")
        if found is None or int(found[1]) > len(documents):
            return None
        return self.line_of_text(rendering, documents[int(found[1]) - 1][1][()])


def rendered_line(where: str) -> int:
    """The line that an error names as the last part of its place, 0 for none."""
    found = re.search(r", line (\d+)$", where)
    return int(found[1]) if found else 0


def line_of_key(lines: Lines, path: str) -> int:
    """The line of a key of recipe.yml such as states.driver.assets[0], or of the nearest one above
    it."""
    return _nearest(lines, steps_of(path))


def steps_of(path: str) -> Path:
    """The keys and indices of a path such as states.driver.assets[0]."""
    return tuple(
        int(step) if step.isdigit() else step for step in re.split(r"[.\[\]]+", path) if step
    )


def _nearest(lines: Lines, path: Path) -> int:
    while path not in lines:
        path = path[:-1]
    return lines[path]


def objects_in(text: str) -> Iterator[tuple[dict[str, Any], Lines, Path]]:
    """(object, lines of its document, its path there) for every object of a rendered file."""
    try:
        documents = lines_of(text, "")
    except InvalidInput:
        return
    for value, lines in documents:
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            yield value, lines, ()
            for index, item in enumerate(elements(value, "items")):
                if isinstance(item, dict) and isinstance(item.get("kind"), str):
                    yield item, lines, ("items", index)
