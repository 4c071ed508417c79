# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What status advises, for who has a support bundle and not the cluster: files instead of kubectl. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_POD = re.compile(r"\bpod [^\s/]+/(?P<pod>[^\s:,;]+)(?: container (?P<container>[^\s:,;]+))?")
_LOG = re.compile(r"the pod's log(?: \(kubectl logs(?P<previous> --previous)?\))?(?=[,;])")
_EVENTS = re.compile(r"\(kubectl describe\)")


def with_files(name: str, lines: Sequence[str], paths: Collection[str]) -> list[str]:
    """The lines of status, with the files in which the pods of their causes tell more.

    name: the special resource. paths: of all files that are there; advice without one stays as it is.
    """
    return list(_with_files(name, lines, paths))


def _with_files(name: str, lines: Sequence[str], paths: Collection[str]) -> Iterator[str]:
    pod: re.Match[str] | None = None
    for line in lines:
        # What is indented belongs to the line above.
        pod = _POD.search(line) or (pod if line.startswith(" ") else None)
        yield _with_file(name, line, pod, paths) if pod else line


def _with_file(name: str, line: str, pod: re.Match[str], paths: Collection[str]) -> str:
    def log(found: re.Match[str]) -> str:
        logs = _logs_of(name, pod, paths, previous=bool(found["previous"]))
        return f"the pod's log ({', '.join(logs)})" if logs else found[0]

    events = f"{name}/events.txt"
    return _LOG.sub(log, _EVENTS.sub(f"({events})", line) if events in paths else line)


def _logs_of(
    name: str, pod: re.Match[str], paths: Collection[str], *, previous: bool
) -> Sequence[str]:
    """Of the container that is named, the log that is asked for, or else the other one; all of a pod of
    which no container is."""
    stem = f"{name}/logs/{pod['pod']}-"
    if not pod["container"]:
        return [path for path in paths if path.startswith(stem)]
    stem += pod["container"]
    wanted = (f"{stem}-previous.log", f"{stem}.log") if previous else (f"{stem}.log",)
    return [path for path in wanted if path in paths][:1]
