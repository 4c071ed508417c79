# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a CRD that was applied, by this run or by another one just now, to a kind that the API server
serves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from .._errors import EnablementError
from .._json import Obj, elements, part
from .._verdicts.conditions import condition
from .._verdicts.wait_causes import unserved_cause
from .api_client.api_errors import UnknownKind
from .api_client.client import Client
from .api_client.watch import WatchHub

ESTABLISHED_S = 60.0
_TICK_S = 1.0
_SERVED_PAUSE_S = 0.1


def wait_until_served(
    client: Client,
    definitions: Sequence[Obj],
    *,
    guard: Callable[[], None],
    say: Callable[[str], None] = lambda _text: None,
) -> None:
    """Wait until the API server serves what these CRDs bring, and the client knows of it.

    definitions: as they are in the cluster. guard is called meanwhile and may raise, and so is say,
    with what is waited for and why. Raises EnablementError where it takes longer than
    ESTABLISHED_S. Costs nothing where all is served.
    """
    deadline = time.monotonic() + ESTABLISHED_S
    waiting = {crd["metadata"]["name"]: crd for crd in definitions if not _is_established(crd)}
    if waiting:
        _watch(client, waiting, lambda: time.monotonic() < deadline, guard, say)
    if waiting:
        causes = list(map(unserved_cause, waiting.values()))
        raise EnablementError(
            f"The API server does not serve {', '.join(sorted(waiting))} yet",
            where=client.host,
            why="; ".join(dict.fromkeys(cause.why for cause in causes)),
            todo=causes[0].todo,
        )
    brought = [pair for crd in definitions for pair in _brought(crd)]
    while not all(_is_served(client, *pair) for pair in brought):
        # Discovery follows the condition with a short delay, and cannot be watched.
        if time.monotonic() > deadline:
            kinds = ", ".join(f"{kind} of {api_version}" for api_version, kind in brought)
            raise EnablementError(
                f"The API server does not serve {kinds} yet",
                where=client.host,
                why=f"{ESTABLISHED_S:.0f} s after its definition was established, discovery does not list it",
                todo="see whether the API server is healthy, then run again",
            )
        time.sleep(_SERVED_PAUSE_S)


def _watch(
    client: Client,
    waiting: dict[str, Obj],
    in_time: Callable[[], bool],
    guard: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Take the CRDs that are established out of `waiting`, as long as it is in time; the others
    become what they are now."""
    hub = WatchHub(client)
    try:
        kind = client.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        for name in sorted(waiting):
            hub.subscribe(kind, fields=f"metadata.name={name}")
        while waiting and in_time():
            guard()
            for event in hub.next(_TICK_S):
                name = event.object["metadata"]["name"]
                if _is_established(event.object):
                    waiting.pop(name, None)
                elif name in waiting:
                    waiting[name] = event.object
            for name, crd in list(waiting.items())[:1]:
                say(f"waits until {name} is served: {unserved_cause(crd).why}")
    finally:
        hub.close()


def _is_served(client: Client, api_version: str, kind: str) -> bool:
    try:
        client.kind(api_version, kind, refresh=True)
    except UnknownKind:
        return False
    return True


def _is_established(crd: Obj) -> bool:
    return (condition(crd, "Established") or {}).get("status") == "True"


def _brought(crd: Obj) -> list[tuple[str, str]]:
    """(api version, kind) that a CRD brings."""
    spec = part(crd, "spec")
    served = [version["name"] for version in elements(spec, "versions") if version.get("served")]
    return [(f"{spec['group']}/{name}", spec["names"]["kind"]) for name in served]
