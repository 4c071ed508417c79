# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes as Ansible's --diff shows them: one readable list, without the API server's noise and
without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

from .changes import Change
from .objects import redact, without_noise

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

HIDDEN = "********"
_MISSING = object()
# By these keys the items of a list are named and matched.
_NAMES = ("name", "key", "type", "mountPath", "containerPort")


def render_diff(changes: Sequence[Change], secrets: Set[str] = frozenset()) -> dict[str, str]:
    """{"before": text, "after": text} for all changes but the unchanged.

    Each object has a header. A new or removed object is shown in full, of a changed one the fields
    that differ, each on a line that names its path. A field that now holds one of the secrets is
    not shown as it was before either: there it held the secret before, which nobody here knows.
    """
    before: list[str] = []
    after: list[str] = []
    for change in changes:
        if change.action == "unchanged":
            continue
        old = redact(without_noise(change.before)) if change.before else None
        new = redact(without_noise(change.after)) if change.after else None
        header = f"# {change.action} {change.key}" + (f"  ({change.note})" if change.note else "")
        if old is not None and new is not None:
            pairs = list(_differences(old, new))
            before += [header]
            for path, has, gets in pairs:
                if has is not _MISSING:
                    before.append(f"{path}: {HIDDEN if _holds(gets, secrets) else _value(has)}")
            after += [
                header,
                *(f"{path}: {_value(gets)}" for path, _has, gets in pairs if gets is not _MISSING),
            ]
        elif old is not None:
            before += [header, *_document(old)]
        elif new is not None:
            after += [header, *_document(new)]
    return {"before": _text(before), "after": _text(after)}


def _differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(path, old value, new value) of the fields that differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            below = f"{path}.{key}" if path else str(key)
            yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), below)
    elif _is_named(old) and _is_named(new):
        olds, news = _by_name(old), _by_name(new)
        for key in [*olds, *(key for key in news if key not in olds)]:
            yield from _differences(
                olds.get(key, _MISSING), news.get(key, _MISSING), f"{path}[{key}]"
            )
    elif old != new:
        yield path, old, new


def _is_named(value: Any) -> bool:
    """Whether a list's items have names that are all different."""
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(item, Mapping) for item in value)
    ):
        return False
    return len(_by_name(value)) == len(value)


def _by_name(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {next((str(item[key]) for key in _NAMES if key in item), ""): item for item in items}


def _holds(value: Any, secrets: Set[str]) -> bool:
    return value is not _MISSING and any(secret in str(value) for secret in secrets)


def _value(value: Any) -> str:
    text: str = yaml.dump(
        value, Dumper=_dumper(), default_flow_style=True, width=10_000, sort_keys=True
    ).strip()
    return text.removesuffix("...").strip()


def _document(obj: Mapping[str, Any]) -> list[str]:
    text: str = yaml.dump(dict(obj), Dumper=_dumper(), default_flow_style=False, sort_keys=False)
    return text.splitlines()


@cache
def _dumper() -> Any:
    """Writes what occurs twice twice: an anchor and an alias save space, and nobody reads them."""
    return type("Plain", (yaml.SafeDumper,), {"ignore_aliases": lambda _self, _data: True})


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
