# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes in a few lines: how many of which sort, and a line for each object. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ..._json import Obj, elements, part
from .changes import Action, Change
from .field_changes import MISSING, FieldChange, field_changes
from .objects import ObjectKey
from .ranks import in_order

_SIGNS = {"create": "+", "update": "~", "replace": "-/+", "delete": "-", "restore": "~"}
_PAST: dict[Action, str] = {
    "create": "created",
    "update": "updated",
    "replace": "replaced",
    "delete": "deleted",
    "restore": "put back",
}
_MOST_FIELDS = 3
_WIDEST = 40


def report_changes(
    changes: Sequence[Change],
    secrets: Set[str] = frozenset(),
    *,
    would: bool = False,
    most: int | None = None,
) -> list[str]:
    """A headline, and under it a line for each object that changes, in the order in which they are applied;
    nothing where none does.

    would: whether the changes were only planned. most: how many objects to name; None: all.
    """
    differing = in_order(
        [change for change in changes if change.action != "unchanged"],
        lambda change: change.key.kind,
        goes=lambda change: change.action in ("delete", "restore"),
    )
    if not differing:
        return []
    lines = [_headline(differing, would=would)]
    lines += [f"  {_line(change, secrets)}" for change in differing[:most]]
    more = len(differing) - len(lines) + 1
    return [*lines, f"  and {more} more; --diff shows them"] if more else lines


def count_kinds(keys: Iterable[ObjectKey]) -> str:
    """ "4 DaemonSets, 1 Service": how many objects of which kind, most first."""
    counts = Counter(key.kind for key in keys)
    return ", ".join(
        f"{number} {_plural(kind) if number > 1 else kind}"
        for kind, number in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    )


def name_some(names: Iterable[str], most: int = 5) -> str:
    """ "a, b and 3 more"."""
    found = sorted(names)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def count_nodes(names: Iterable[str]) -> str:
    """ "2 nodes: a, b"."""
    found = sorted(names)
    return f"{'node' if len(found) == 1 else f'{len(found)} nodes:'} {name_some(found)}"


def report_labels(patches: Mapping[str, Obj]) -> list[str]:
    """The labels that change, once for all nodes that get the same. patches: merge patches by
    node."""
    nodes: dict[tuple[str, ...], list[str]] = {}
    for name, patch in patches.items():
        labels = part(patch["metadata"], "labels")
        conditions = [
            f"    {'-' if '$patch' in each else '~'} condition {each['type']}"
            for each in elements(patch, "status", "conditions")
        ]
        texts = (*(_label(*entry) for entry in sorted(labels.items())), *conditions)
        nodes.setdefault(texts, []).append(name)
    lines = []
    for texts, names in sorted(nodes.items()):
        lines += [f"  {count_nodes(names)}{'' if texts else ' (proofs)'}", *texts]
    return lines


def _label(name: str, value: str | None) -> str:
    return f"    - {name}" if value is None else f"    ~ {name}={value}"


def _headline(changes: Sequence[Change], *, would: bool) -> str:
    counts = Counter(change.action for change in changes)
    parts = [
        f"{action if would else past} {counts[action]}"
        for action, past in _PAST.items()
        if counts[action]
    ]
    objects = "object" if len(changes) == 1 else "objects"
    return f"{'would ' if would else ''}{', '.join(parts)} {objects}:"


def _line(change: Change, secrets: Set[str]) -> str:
    text = f"{_SIGNS[change.action]} {change.action} {change.key}"
    if change.note:
        text += f" ({change.note})"
    if change.before is None or change.after is None:
        return text
    fields = field_changes(change, secrets)
    named = [_field(field) for field in fields[:_MOST_FIELDS]]
    more = len(fields) - len(named)
    if more:
        named.append("1 more field" if more == 1 else f"{more} more fields")
    return f"{text}: {', '.join(named)}" if named else text


def _field(field: FieldChange) -> str:
    path = field.path
    name = ".".join(path)
    if len(path) > 4:
        name = f"{'.'.join(path[:2])}…{'.'.join(path[-2:])}"
    values = [_short(value) for value in (field.before, field.after)]
    return name if None in values else f"{name} {values[0]} -> {values[1]}"


def _short(value: Any) -> str | None:
    """A value that has room in a line; None where it has not."""
    if value is MISSING:
        return "(none)"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    fits = not isinstance(value, (dict, list)) and text.isprintable() and len(text) <= _WIDEST
    return (text or '""') if fits else None


def _plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "x")) else f"{kind}s"
