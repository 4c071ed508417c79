# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of each field of another operator's custom resource here: an option, or a sentence why
not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from .._json import Obj, part


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
class SkippedField:
    """A field that the operator itself makes nothing of. why: half a sentence."""

    why: str


@dataclass(frozen=True)
class JoinedField:
    """A field that makes something together with others, which who has the table sees to."""

    option: str


@dataclass(frozen=True)
class ReadField:
    """A field that is an option or none by what others say: who has the table takes or drops it."""


FieldMapping = Union[MappedField, UnmappedField, SkippedField, JoinedField, ReadField]
Fields = Mapping[str, FieldMapping]


@dataclass(frozen=True)
class EnabledField:
    """What turns a part of a spec on and off. name: the field in it; default: what it is where it is
    not set; besides: fields of the part that have an effect all the same."""

    name: str = "enabled"
    default: bool = True
    besides: tuple[str, ...] = ()


# Part of a spec -> its switch.
Switches = Mapping[str, EnabledField]

# What Go writes for what is not set.
_EMPTY: tuple[Any, ...] = (None, "", [], {})
# Fields with names and values that people choose.
_OF_LABELS = ("selector", "labels", "annotations")
_BY_ITSELF = "it is so here without being set, too"
_UNKNOWN = UnmappedField("it is not known here; it may be new in the operator")


@dataclass
class MappedOptions:
    """What a custom resource is here. Every field that it sets is in exactly one of: taken, field ->
    option; differs, field -> what is done otherwise; dropped, field -> why it has no counterpart;
    same, field -> why nothing has to be done for it.

    options: at first what a custom resource says that sets nothing. prefix: of the fields' names as
    they are shown. takers: option -> the field that set it.
    """

    options: Obj = field(default_factory=dict)
    prefix: str = ""
    taken: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    takers: dict[str, str] = field(default_factory=dict)

    def take(self, path: str, option: str, value: Any) -> None:
        """Set an option; None is what it is anyway. Values are joined where it has some: entries of
        a mapping, items of a list that are not there yet; of what cannot be joined the first counts."""
        shown, taker = self.prefix + path, self.takers.get(option)
        first, _dot, rest = option.partition(".")
        before = self.options.get(first)
        wanted = {rest: value} if rest else value
        if value is None or (taker is None and before == wanted):
            self.same[shown] = _BY_ITSELF
        elif taker not in (None, shown) and before != wanted and not _can_join(before, wanted):
            self.dropped[shown] = f"{option} is one value here, and {taker} says it"
        else:
            self.takers.setdefault(option, shown)
            self.options[first] = join_values(before, wanted)
            known = self.taken.get(shown)
            self.taken[shown] = f"{known}, {option}" if known else option

    def drop(self, path: str, mapping: UnmappedField, value: Any = None) -> None:
        """Note a field that is not taken; of harmless values, that nothing is lost by it."""
        shown = self.prefix + path
        if value is not None and any(_equal(value, each) for each in mapping.harmless):
            self.same[shown] = _BY_ITSELF
        else:
            (self.differs if mapping.differs else self.dropped)[shown] = mapping.why

    def ignore(self, path: str, why: str) -> None:
        """Note a field that has no effect in the operator either."""
        self.same[self.prefix + path] = why


@dataclass(frozen=True)
class ImportedOptions:
    """What a recipe is to be enabled with: options, pools as parse_pools() takes them, and of each field
    what became of it, as MappedOptions has it."""

    recipe: str
    options: Obj = field(default_factory=dict)
    pools: Sequence[Obj] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        recipe: str,
        parts: Sequence[MappedOptions],
        options: Obj,
        pools: Sequence[Obj] = (),
    ) -> ImportedOptions:
        """Of several custom resources, whose fields are told apart by their prefixes."""
        lists: dict[str, dict[str, str]] = {}
        for name in ("taken", "dropped", "differs", "same"):
            lists[name] = {}
            for each in parts:
                lists[name] |= getattr(each, name)
        return cls(recipe, options, list(pools), **lists)

    @property
    def lists(self) -> Obj:
        """Name -> list, as results have them."""
        return {
            "taken": dict(self.taken),
            "dropped": dict(self.dropped),
            "differs": dict(self.differs),
            "same": dict(self.same),
        }

    def table(self) -> list[str]:
        """The lines that a person reads: what is lost first, what needs no word last, by its reason."""
        counts = f"{len(self.taken)} fields are taken, {len(self.dropped)} have no counterpart"
        counts += f", {len(self.differs)} are done otherwise, {len(self.same)} change nothing"
        lines = [f"{self.recipe}: {counts}"]
        lines += [
            f"- {path} has no counterpart: {why}" for path, why in sorted(self.dropped.items())
        ]
        lines += [f"~ {path}: {why}" for path, why in sorted(self.differs.items())]
        lines += [f"  {path} -> {option}" for path, option in sorted(self.taken.items())]
        reasons: dict[str, list[str]] = {}
        for path, why in sorted(self.same.items()):
            reasons.setdefault(why, []).append(path)
        return lines + [f"= {', '.join(paths)}: {why}" for why, paths in sorted(reasons.items())]


def map_fields(
    spec: Mapping[str, Any],
    fields: Fields,
    prefix: str = "",
    *,
    switches: Switches | None = None,
    into: MappedOptions | None = None,
) -> MappedOptions:
    """The fields of a spec by a table; what the table does not know is dropped with a sentence, and
    what is switched off has no effect.

    prefix: of the fields' names as they are shown. into: what there is already.
    """
    found = into or MappedOptions(prefix=prefix)
    for path, value in given_fields(spec, fields):
        mapping = mapping_of(path, fields)
        if off := switched_off(path, spec, switches or {}):
            found.ignore(path, f"the operator does not use it without {off}")
        elif isinstance(mapping, MappedField):
            found.take(path, mapping.option, mapping.convert(value))
        elif isinstance(mapping, SkippedField):
            found.ignore(path, mapping.why)
        elif isinstance(mapping, JoinedField):
            found.taken[found.prefix + path] = mapping.option
        elif not isinstance(mapping, ReadField):
            found.drop(path, mapping or _UNKNOWN, value)
    return found


def switched_off(path: str, spec: Mapping[str, Any], switches: Switches) -> str:
    """The switch of the part that a field is in, where that is off and says that the field has no
    effect; "" otherwise. A part that is turned off has no effect itself."""
    for name, switch in switches.items():
        inside = path.removeprefix(f"{name}.")
        if path != name and inside in (path, switch.name):
            continue
        if any(inside == each or inside.startswith(f"{each}.") for each in switch.besides):
            continue
        given = part(spec, *name.split(".")).get(switch.name)
        if not (switch.default if given is None else given):
            return f"{name}.{switch.name}"
    return ""


def mapping_of(path: str, fields: Fields) -> FieldMapping | None:
    """What a table says of a field, or of what it is part of."""
    while path not in fields and "." in path:
        path = path.rpartition(".")[0]
    return fields.get(path)


def given_fields(
    spec: Mapping[str, Any], fields: Fields, at: str = ""
) -> Iterator[tuple[str, Any]]:
    """Each field that is given, down to the last of which the table speaks, or to what is no
    mapping. Empty texts, lists and mappings are not given."""
    for name, given in spec.items():
        path, value = f"{at}.{name}" if at else str(name), _without_empty(given, name)
        if value in _EMPTY:
            continue
        goes_on = path not in fields or any(name.startswith(f"{path}.") for name in fields)
        if not (goes_on and isinstance(value, Mapping)) or name.lower().endswith(_OF_LABELS):
            yield path, value
        else:
            yield from given_fields(value, fields, path)


def spec_of(resource: Mapping[str, Any]) -> Obj:
    """What a custom resource sets."""
    found: Obj = _without_empty(part(resource, "spec"), "")
    return found


def _without_empty(value: Any, of: str) -> Any:
    """A mapping without what is empty in it, at any depth; but an empty label is a label. of: the name
    of its field."""
    if not isinstance(value, Mapping) or of.lower().endswith(_OF_LABELS):
        return value
    found = {name: _without_empty(each, str(name)) for name, each in value.items()}
    return {name: each for name, each in found.items() if each not in _EMPTY}


def unless_on(value: Any) -> bool | None:
    """False where something is switched off; on it is anyway."""
    return None if value else False


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


def _equal(one: Any, other: Any) -> bool:
    """Whether they are the same value of the same type: 1 is not true."""
    return type(one) is type(other) and one == other


def _can_join(before: Any, wanted: Any) -> bool:
    return any(isinstance(before, kind) and isinstance(wanted, kind) for kind in (dict, list))


def join_values(before: Any, wanted: Any) -> Any:
    if isinstance(before, dict) and isinstance(wanted, Mapping):
        return {
            **before,
            **{name: join_values(before.get(name), each) for name, each in wanted.items()},
        }
    if isinstance(before, list) and isinstance(wanted, list):
        return [*before, *(each for each in wanted if each not in before)]
    return wanted
