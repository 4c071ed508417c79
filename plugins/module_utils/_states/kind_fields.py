# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that the kinds of objects do not have, found before anything is written: left out of objects
that somebody else's format makes, as the API server did for who wrote them, and refused in our own.

The API server's dry runs find them. What comes together with the definition of its kind is compared
with that, as the server does not know it yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_client.client import Client
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.object_fields import dotted, without
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.planning import UnknownFieldsError
from .._errors import EnablementError
from .._json import Obj
from .._recipes.checking.api_types import ApiTypes, compact
from .._recipes.checking.fields import FieldProblem, unknown_fields
from .._recipes.templates.render_facts import RenderedObject

_SHOWN = 5


class KindFields:
    """The fields of all objects of one run. lenient: leave out, instead of refusing, what kinds do
    not have. warn: is told of each such field once.

    left_out: by object, what was.
    """

    def __init__(
        self,
        client: Client,
        objects: Sequence[RenderedObject],
        warn: Callable[[str], None],
        *,
        lenient: bool,
    ) -> None:
        self.lenient = lenient
        self.left_out: dict[ObjectKey, tuple[str, ...]] = {}
        self._client = client
        self._warn = warn
        self._sources = {key_of(item.manifest): item.source for item in objects}
        self._definitions = [
            item.manifest for item in objects if item.manifest["kind"] == "CustomResourceDefinition"
        ]
        self._at_rendering = {
            key_of(item.manifest): item.left_out for item in objects if item.left_out
        }
        self._warned: set[tuple[ObjectKey, str]] = set()

    def fitted(self, objects: Sequence[Obj]) -> list[Obj]:
        """The objects as the definitions that come with them have it. Raises EnablementError."""
        if not self._definitions:
            return list(objects)
        problems = {key_of(obj): unknown_fields(obj, self._brought) for obj in objects}
        wrong = {key: [each.text for each in found] for key, found in problems.items() if found}
        if wrong and not self.lenient:
            raise self._refusal(wrong)
        for key, found in problems.items():
            self._add(key, (dotted(each.path) for each in found))
        return [_without(obj, problems[key_of(obj)]) for obj in objects]

    def refusal(self, error: UnknownFieldsError, objects: Sequence[Obj]) -> EnablementError:
        """What a person is told of what the API server refuses: in which file it is, and what was
        probably meant, as far as the server's own description of the kind tells."""
        wrong = {}
        for obj in objects:
            key = key_of(obj)
            if key in error.fields:
                problems = unknown_fields(obj, self._types_of(key.api_version))
                texts = [problem.text for problem in problems]
                wrong[key] = texts or [f"it has no field {path}" for path in error.fields[key]]
        return self._refusal(wrong)

    def take_down(self, changes: Sequence[Change]) -> None:
        """Tell, where there is something to write, what of it was left out."""
        for change in changes:
            self._add(change.key, change.left_out)
            self._add(change.key, self._at_rendering.get(change.key, ()))
        if all(change.action == "unchanged" for change in changes):
            return
        for key in (change.key for change in changes):
            for field in self.left_out.get(key, ()):
                if (key, field) not in self._warned:
                    self._warned.add((key, field))
                    self._warn(f"{self._place(key)}: {key} has no field {field}: it is left out")

    @cached_property
    def _brought(self) -> ApiTypes:
        """The kinds whose definitions come with this run."""
        return ApiTypes.of_crds(self._definitions)

    def _add(self, key: ObjectKey, fields: Iterable[str]) -> None:
        known = self.left_out.get(key, ())
        found = tuple(dict.fromkeys((*known, *fields)))
        if found:
            self.left_out[key] = found

    def _types_of(self, api_version: str) -> ApiTypes:
        """What the API server publishes of a group-version; nothing, where it does not, or otherwise than
        it is due."""
        with suppress(ApiError, LookupError):
            return ApiTypes(compact({api_version: self._client.openapi(api_version)}, ""))
        return ApiTypes(compact({}, ""))

    def _refusal(self, wrong: Mapping[ObjectKey, Sequence[str]]) -> EnablementError:
        shown = [f"{self._place(key)}: {key}: {', '.join(texts)}" for key, texts in wrong.items()]
        more = f"; and {len(shown) - _SHOWN} more objects" if len(shown) > _SHOWN else ""
        return EnablementError(
            "There are fields that the API server has no place for",
            where=self._client.host,
            why=f"{'; '.join(shown[:_SHOWN])}{more}",
            todo="remove or correct them",
        )

    def _place(self, key: ObjectKey) -> str:
        return self._sources.get(key) or "the recipe"


def _without(obj: Obj, problems: Sequence[FieldProblem]) -> Obj:
    return without(obj, [problem.path for problem in problems]) if problems else obj
