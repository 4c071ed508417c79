# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of each field of another operator's custom resource here: an option, or a sentence why
not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from .._json import Obj


@dataclass(frozen=True)
class MappedField:
    """A field that is an option here. option: its dotted path, the last part a key of an option of
    type dict; convert: its value of ours, None for what is the same without the option."""

    option: str
    convert: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class UnmappedField:
    """A field, with all below it, that is no option here. why: half a sentence. differs: whether it
    is done otherwise, not left undone. harmless: values with which nothing is lost."""

    why: str
    differs: bool = field(default=False, kw_only=True)
    harmless: tuple[Any, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class JoinedField:
    """A field that makes an option together with others, which who has the table sees to."""

    option: str


FieldMapping = Union[MappedField, UnmappedField, JoinedField]
Fields = Mapping[str, FieldMapping]


@dataclass
class MappedOptions:
    """What a custom resource is here. taken: field -> option; dropped: field -> why it has no
    counterpart; differs: field -> what is done otherwise."""

    options: Obj = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)

    def take(self, path: str, option: str, value: Any) -> None:
        """Set an option, whose values are joined where it has some: entries of a mapping, items of a
        list that are not there yet."""
        first, _dot, rest = option.partition(".")
        wanted = {rest: value} if rest else value
        self.options[first] = _join(self.options.get(first), wanted)
        self.taken[path] = option

    def drop(self, path: str, mapping: UnmappedField, value: Any) -> None:
        """Note a field that is not taken, unless nothing is lost by that."""
        if _is_off(value) or value in mapping.harmless:
            return
        (self.differs if mapping.differs else self.dropped)[path] = mapping.why


@dataclass(frozen=True)
class ImportedOptions:
    """What a recipe is to be enabled with: options, pools as parse_pools() takes them, and of each field
    what became of it."""

    recipe: str
    options: Obj = field(default_factory=dict)
    pools: Sequence[Obj] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)

    def table(self) -> list[str]:
        """The lines that a person reads: what is lost first."""
        counts = f"{len(self.taken)} fields are taken, {len(self.dropped)} have no counterpart"
        lines = [f"{self.recipe}: {counts}, {len(self.differs)} are done otherwise"]
        lines += [
            f"- {path} has no counterpart: {why}" for path, why in sorted(self.dropped.items())
        ]
        lines += [f"~ {path}: {why}" for path, why in sorted(self.differs.items())]
        return lines + [f"  {path} -> {option}" for path, option in sorted(self.taken.items())]


def map_fields(spec: Mapping[str, Any], fields: Fields, prefix: str = "") -> MappedOptions:
    """The fields of a spec by a table; what the table does not know is dropped with a sentence.
    prefix: of the fields' names as they are shown."""
    found = MappedOptions()
    for path, value in given_fields(spec, fields):
        mapping = mapping_of(path, fields)
        if isinstance(mapping, MappedField):
            wanted = mapping.convert(value)
            if wanted is not None:
                found.take(prefix + path, mapping.option, wanted)
        elif isinstance(mapping, JoinedField):
            found.taken[prefix + path] = mapping.option
        else:
            unknown = UnmappedField("it is not known here; it may be new in the operator")
            found.drop(prefix + path, mapping or unknown, value)
    return found


def mapping_of(path: str, fields: Fields) -> FieldMapping | None:
    """What a table says of a field, or of what it is part of."""
    while path not in fields and "." in path:
        path = path.rpartition(".")[0]
    return fields.get(path)


def given_fields(
    spec: Mapping[str, Any], fields: Fields, at: str = ""
) -> Iterator[tuple[str, Any]]:
    """Each field that is given, down to the last of which the table speaks, or to what is no
    mapping."""
    for name, value in spec.items():
        path = f"{at}.{name}" if at else str(name)
        if value in (None, "", [], {}):
            continue
        goes_on = path not in fields or any(name.startswith(f"{path}.") for name in fields)
        if not (goes_on and isinstance(value, Mapping)):
            yield path, value
        else:
            yield from given_fields(value, fields, path)


def image_reference(component: Mapping[str, Any]) -> str:
    """The reference that repository, image and version make; "" where they make none."""
    repository, image, version = (
        str(component.get(key) or "") for key in ("repository", "image", "version")
    )
    if not image:
        return ""
    path = f"{repository}/{image}" if repository else image
    if not version:
        return path if repository or "/" in image else ""
    return f"{path}@{version}" if version.startswith("sha256:") else f"{path}:{version}"


def environment(entries: Any) -> dict[str, str] | None:
    """Environment variables (name, value) as a mapping; None for none."""
    found = {str(entry["name"]): str(entry.get("value") or "") for entry in entries or ()}
    return found or None


def _is_off(value: Any) -> bool:
    """Whether a part of the spec is turned off, so that the rest of it says nothing."""
    return isinstance(value, Mapping) and False in (value.get("enabled"), value.get("enable"))


def _join(before: Any, wanted: Any) -> Any:
    if isinstance(before, dict) and isinstance(wanted, Mapping):
        return {**before, **{name: _join(before.get(name), each) for name, each in wanted.items()}}
    if isinstance(before, list) and isinstance(wanted, list):
        return [*before, *(each for each in wanted if each not in before)]
    return wanted


def joined_rows(
    parts: Sequence[MappedOptions],
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The fields of several parts: taken, dropped, differing."""
    taken: dict[str, str] = {}
    dropped: dict[str, str] = {}
    differs: dict[str, str] = {}
    for mapped in parts:
        taken |= mapped.taken
        dropped |= mapped.dropped
        differs |= mapped.differs
    return taken, dropped, differs
