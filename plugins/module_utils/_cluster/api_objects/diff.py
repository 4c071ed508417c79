# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes as Ansible's --diff shows them: first a line for each object, then the fields of those
that are updated, as YAML. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import takewhile
from typing import Any

from .change_report import report_changes
from .changes import Change
from .field_changes import MISSING, FieldChange, field_changes, presentable

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

Diff = dict[str, str]

# With the line that names a field these are the three lines of context that Ansible shows.
_CONTEXT = 2
_MOST_LINES = 40
_WIDEST = 160


def render_diff(
    changes: Sequence[Change],
    secrets: Set[str] = frozenset(),
    *,
    would: bool = False,
    full: bool = False,
) -> list[Diff]:
    """What Ansible shows for all changes but the unchanged; [] where there is none.

    would: whether the changes were only planned. full: also the bodies of new and removed objects,
    and nothing of a value left out.
    """
    lines = report_changes(changes, secrets, would=would)
    if not lines:
        return []
    found = [{"prepared": _text(lines)}]
    for change in changes:
        if change.action == "unchanged":
            continue
        if change.before is not None and change.after is not None:
            before, after = _fields(field_changes(change, secrets), full=full)
        elif full:
            before = yaml_lines(presentable(change.before, secrets))
            after = yaml_lines(presentable(change.after, secrets))
        else:
            continue
        found.append(make_diff(str(change.key), before, after))
    return found


def make_diff(header: str, before: Iterable[str], after: Iterable[str]) -> Diff:
    """One entry of a task's diff, of lines without their ends."""
    return {
        "before_header": header,
        "after_header": header,
        "before": _text(before),
        "after": _text(after),
    }


def report_diffs(diffs: Sequence[Diff], *, would: bool, most: int | None) -> list[str]:
    """Diffs that were made by make_diff: for each a line that names what changes and, below it,
    the lines that go and come; nothing where none differs.

    would: whether this was only planned. most: how many to name; None: all.
    """
    differing = [diff for diff in diffs if diff["before"] != diff["after"]]
    verb = "would change" if would else "changed"
    lines = []
    for diff in differing[:most]:
        before, after = diff["before"].splitlines(), diff["after"].splitlines()
        lines.append(f"{verb} {diff['after_header']}:")
        lines += [f"  - {line}" for line in before if line not in after]
        lines += [f"  + {line}" for line in after if line not in before]
    more = len(differing) - len(differing[:most])
    return [*lines, f"and {more} more; --diff shows them"] if more else lines


def _fields(fields: Iterable[FieldChange], *, full: bool) -> tuple[list[str], list[str]]:
    before: list[str] = []
    after: list[str] = []
    for field in fields:
        name = ".".join(field.path)
        olds, news = (
            [] if value is MISSING else yaml_lines({name: value})
            for value in (field.before, field.after)
        )
        if not full:
            olds, news = _focused(olds, news)
        before += olds
        after += news
    return before, after


def _focused(olds: list[str], news: list[str]) -> tuple[list[str], list[str]]:
    """Two versions of one field from a little before the first line that differs to a little after
    the last one, each under the line that names the field."""
    head = 1 + _same(olds[1:], news[1:])
    start = max(head - _CONTEXT, 1)
    tail = _same(olds[head:][::-1], news[head:][::-1])
    end = max(tail - _CONTEXT, 0)
    return _cut(olds, start, len(olds) - end), _cut(news, start, len(news) - end)


def _same(olds: Sequence[str], news: Sequence[str]) -> int:
    """How many lines are the same at the beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(olds, news, strict=False))))


def _cut(lines: Sequence[str], start: int, end: int) -> list[str]:
    if not lines:
        return []
    name = f"{lines[0]}  # from line {start}" if start > 1 else lines[0]
    kept, more = lines[start:end][:_MOST_LINES], len(lines[start:end]) - _MOST_LINES
    shown = [_clipped(line) for line in (name, *kept)]
    return [*shown, f"  # and {more} more lines; -v shows them"] if more > 0 else shown


def _clipped(line: str) -> str:
    """A line of bearable length. Two that differ only in what is left out stay different."""
    if len(line) <= _WIDEST:
        return line
    digest = hashlib.sha256(line.encode()).hexdigest()[:8]
    return f"{line[:_WIDEST]}… ({len(line)} characters, sha256 {digest})"


def yaml_lines(value: Mapping[str, Any]) -> list[str]:
    """A value as YAML for people, line by line; nothing for an empty one."""
    if not value:
        return []
    text: str = yaml.dump(
        dict(value),
        Dumper=_dumper(),
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=10_000,
    )
    return text.splitlines()


@cache
def _dumper() -> Any:
    """Writes texts of several lines as blocks, also where PyYAML would rather quote them; and what
    occurs twice twice: an anchor saves space, and nobody reads it."""

    class BlockDumper(yaml.SafeDumper):
        def ignore_aliases(self, _data: Any) -> bool:
            return True

        def analyze_scalar(self, scalar: str) -> Any:
            analysis = super().analyze_scalar(scalar)
            lines = scalar.replace("\t", " ").split("\n")
            analysis.allow_block = len(lines) > 1 and all(map(str.isprintable, lines))
            return analysis

        def represent_text(self, text: str) -> Any:
            style = "|" if "\n" in text else None
            return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    BlockDumper.add_representer(str, BlockDumper.represent_text)
    return BlockDumper


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
