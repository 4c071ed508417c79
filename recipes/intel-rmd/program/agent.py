# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says, in its log, which CPUs the containers of this node have, and how its cache is divided; and
divides it, where the settings say that it is the back end.

Without that it reads files and writes lines: no API server, no network. One line of JSON holds
everything; it comes at the start, after each change, and every --repeat seconds, so that whoever
reads the log needs its last line only."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType
from typing import Any

import cgroups
import cpu_manager
import resctrl
from api_server import ApiServer
from cpusets import parse
from pools import RefusedError, layout
from resctrl import Files
from writer import Declarations, Writer

SCHEMA = 3


class BackEnd:
    """What is declared for this node, and how it is brought about."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        server = ApiServer(arguments.api, arguments.credentials)
        self.declarations = Declarations(server, arguments.node, arguments.state)
        namespace = (arguments.credentials / "namespace").read_text(encoding="utf-8").strip()
        files = Files(arguments.resctrl)
        self._writer = Writer(arguments.resctrl, files, arguments.state, namespace)

    def converge(self, view: dict[str, object], problems: list[str]) -> object:
        """The report's "declared": by uuid, the group that it is in, or why it is not in force."""
        problems += self.declarations.problems
        found = self.declarations.current()
        if found is None or view["pools"] is None:
            return {}
        states, wrong = self._writer.converge(found, view, _settings(self._arguments))
        problems += wrong
        return states

    def wait(self, seconds: float) -> None:
        """Until something else is declared, or so long."""
        self.declarations.changed.wait(seconds)
        self.declarations.changed.clear()


def observe(arguments: argparse.Namespace, back_end: BackEnd | None = None) -> dict[str, object]:
    """The whole view of the node, without a time. What cannot be read is null or empty, and
    problems says why. back_end: brings the node to what is declared, before it is looked at."""
    problems: list[str] = []
    manager, shared = None, ""
    if arguments.kubelet:
        try:
            manager, shared = cpu_manager.read(arguments.kubelet)
        except cpu_manager.UnreadableError as error:
            problems.append(str(error))
    view: dict[str, object] = {
        "node": arguments.node,
        "cpu_manager": manager,
        "cgroups": _read(
            {}, problems, "cgroups", lambda: exclusive(cgroups.read(arguments.cgroup), shared)
        ),
        "l3": _read({}, problems, "L3 caches", lambda: resctrl.caches(arguments.sys)),
        "pools": _read(None, problems, "pools", lambda: pools(arguments)),
        # Whoever has written to the node knows by this when a report must be of the time after.
        "interval": arguments.interval,
    }
    if back_end is not None:
        view["declared"] = _read({}, problems, "resctrl", lambda: back_end.converge(view, problems))
    view["resctrl"] = _read(None, problems, "resctrl", lambda: resctrl.read(arguments.resctrl))
    return {**view, "problems": problems}


def pools(arguments: argparse.Namespace) -> dict[str, object]:
    """How the ways of each L3 are meant to be divided, by the settings of RMD: pool -> ways."""
    settings = _settings(arguments)
    found = resctrl.geometry(arguments.resctrl)
    divided = vars(layout(settings["pools"], settings["pools_by_ways"], found))
    return {**divided, "os_cpus": settings["os_cpus"]}


def exclusive(found: dict[str, dict[str, str]], shared: str) -> dict[str, dict[str, str]]:
    """Without the containers whose CPUs are others' as well: they are most, and a line should stay
    short.

    shared: the CPUs of everybody without CPUs of their own, "" where that is not known.
    """
    sets = {
        pod: {container: parse(cpus) for container, cpus in each.items()}
        for pod, each in found.items()
    }
    counts = Counter(cpus for each in sets.values() for cpus in each.values())
    common = {parse(shared), *(cpus for cpus, containers in counts.items() if containers > 1)}
    kept = {
        pod: {
            container: found[pod][container]
            for container, cpus in each.items()
            if cpus not in common
        }
        for pod, each in sets.items()
    }
    return {pod: containers for pod, containers in kept.items() if containers}


def lines(
    view: Callable[[], dict[str, object]],
    repeat: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """One look each time: its line where it differs from the last one or that was said repeat
    seconds ago, else ""."""
    last: dict[str, object] | None = None
    said = 0.0
    while True:
        current, now = view(), clock()
        if current != last or now - said >= repeat:
            last, said = current, now
            moment = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            yield json.dumps({"schema": SCHEMA, "time": moment, **current}, separators=(",", ":"))
        else:
            yield ""


def main(argv: list[str]) -> int:
    """Run until told to end, or once."""
    arguments = _parser().parse_args(argv)
    signal.signal(
        signal.SIGTERM, _end
    )  # the first process of a container is not ended by a signal that it ignores
    back_end = None
    if arguments.write:
        back_end = BackEnd(arguments)
        back_end.declarations.start()
    for text in lines(lambda: observe(arguments, back_end), arguments.repeat):
        if text:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        if arguments.once:
            return 0
        (back_end.wait if back_end is not None else time.sleep)(arguments.interval)
    return 0


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(arguments.settings.read_text(encoding="utf-8"))
    return found


def _read(nothing: object, problems: list[str], what: str, reader: Callable[[], object]) -> object:
    try:
        found = reader()
    except (resctrl.NotMountedError, RefusedError) as error:
        said = str(error)
    except (OSError, ValueError, KeyError) as error:
        said = f"{what} cannot be read: {error}"
    else:
        return found
    if said not in problems:
        problems.append(said)
    return nothing


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Write what this node's containers and caches look like into the log."
    )
    parser.add_argument("--node", default=os.environ.get("NODE_NAME", ""))
    parser.add_argument("--cgroup", type=Path, default=Path("/sys/fs/cgroup"))
    parser.add_argument(
        "--kubelet", type=Path, default=None, help="the kubelet's folder; without it, cgroups alone"
    )
    parser.add_argument("--resctrl", type=Path, default=Path("/sys/fs/resctrl"))
    parser.add_argument("--settings", type=Path, default=Path("/program/settings.json"))
    parser.add_argument("--sys", type=Path, default=Path("/sys"))
    parser.add_argument("--interval", type=float, default=5.0, help="seconds between two looks")
    parser.add_argument(
        "--repeat", type=float, default=60.0, help="seconds after which the same is said again"
    )
    parser.add_argument("--once", action="store_true")
    parser.add_argument(
        "--write", action="store_true", help="divide the cache as the node's RmdNodeState says"
    )
    host, port = (
        os.environ.get(f"KUBERNETES_SERVICE_{name}", "") for name in ("HOST", "PORT_HTTPS")
    )
    parser.add_argument("--api", default=f"https://{f'[{host}]' if ':' in host else host}:{port}")
    parser.add_argument(
        "--credentials", type=Path, default=Path("/var/run/secrets/kubernetes.io/serviceaccount")
    )
    parser.add_argument(
        "--state", type=Path, default=Path("/var/lib/intel-rmd"), help="what outlives this pod"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
