# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node agent: a program of its own, which runs on every node of a recipe with `readiness: nfd`.

It looks at the recipe's pods on its node and writes what they prove into a file that Node Feature
Discovery makes labels of. This folder is all of it: the standard library alone, and nothing else of
the collection. What it has to remember is in a comment of that file."""

from __future__ import annotations

import json
import os
import queue
import signal
import time
from dataclasses import asdict
from pathlib import Path

from .agent_ending import Ending, why_it_ends
from .agent_memory import EXPIRY_S, SOON_S, FeatureFile
from .configuration import AgentConfiguration
from .node_proof import READY, labels_for
from .watched_objects import AGAIN_S, Api, WatchedObjects, say

RENEWAL_S = EXPIRY_S / 6
# NFD's worker misses what follows a change of the folder within a second.
PAUSE_S = 2.0

CONFIGURATION = Path("/configuration/configuration.json")
WROTE = Path("/run/node-agent/wrote")
FEATURES = Path("/features")


class NodeAgent:
    """The agent of one node."""

    def __init__(self, configuration: AgentConfiguration, node: str, uid: str) -> None:
        """uid: of its own pod."""
        self._configuration = configuration
        self._node = node
        self._uid = uid
        self._api = Api()
        self._file = FeatureFile(FEATURES, configuration.instance)
        self._memory = self._file.memory()
        # This queue alone may be put into by a signal's handler while its owner takes from it.
        self._events: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_ended = False
        self._wrote: tuple[dict[str, str], str] | None = None
        self._wrote_at = 0.0
        this, here = f"metadata.name={node}", f"spec.nodeName={node}"
        self._nodes = WatchedObjects(
            self._api, "/api/v1/nodes", {"fieldSelector": this}, self._wake
        )
        self._pods = WatchedObjects(
            self._api,
            f"/api/v1/namespaces/{configuration.namespace}/pods",
            {"fieldSelector": here, "labelSelector": configuration.pods},
            self._wake,
        )

    def run(self) -> None:
        """Until the pod is told to end."""
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._end())
        self._nodes.start()
        self._pods.start()
        while not (self._is_ended or self._is_deleted):
            self._observe()
            self._rest()
        ending = why_it_ends(self._api, self._configuration, self._node)
        if ending is Ending.REPLACED:
            return
        self._pause()
        if ending is Ending.LEFT:
            self._file.remove()
            say("the node is none of the recipe's any more, and its labels go")
        else:
            self._file.expire_soon(time.time())
            say(f"nobody says whether another agent follows: the labels expire in {SOON_S} s")

    @property
    def _is_deleted(self) -> bool:
        """Whether its pod is. A signal that comes before this program takes it is lost, since the first process
        of a container gets none by default."""
        own = self._pods.objects.get(self._uid)
        return own is not None and "deletionTimestamp" in own["metadata"]

    def _wake(self) -> None:
        self._events.put(None)

    def _end(self) -> None:
        self._is_ended = True
        self._wake()

    def _pause(self) -> None:
        """Until NFD's worker takes another change for one."""
        time.sleep(min(PAUSE_S, max(0.0, self._wrote_at + PAUSE_S - time.time())))

    def _rest(self) -> None:
        """Until something has changed, or a while has passed."""
        self._pause()
        try:
            self._events.get(timeout=AGAIN_S)
            while True:
                self._events.get_nowait()
        except queue.Empty:
            return

    def _observe(self) -> None:
        nodes, pods = list(self._nodes.objects.values()), list(self._pods.objects.values())
        if not (nodes and self._nodes.is_read and self._pods.is_read):
            # Nothing is renewed that nobody has seen: the labels are to expire.
            WROTE.unlink(missing_ok=True)
            return
        now = time.time()
        labels = labels_for(self._configuration, nodes[0], pods, self._memory, now)
        content = labels, json.dumps(asdict(self._memory), sort_keys=True)
        if content == self._wrote and now < self._wrote_at + RENEWAL_S:
            WROTE.touch()
            return
        self._file.write(labels, self._memory, now)
        if self._wrote is None or self._wrote[0] != labels:
            states = [each.name for each in self._configuration.states]
            ready = [
                name for name in states if labels.get(self._configuration.label(name)) == READY
            ]
            say(f"{labels[self._configuration.label()]}; ready: {', '.join(ready) or 'none'}")
        self._wrote, self._wrote_at = content, now
        WROTE.touch()


def main() -> int:
    """Run on the node that the environment names."""
    try:
        configuration = AgentConfiguration.from_text(CONFIGURATION.read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"{CONFIGURATION} cannot be used: {error}")
        return 1
    NodeAgent(configuration, os.environ["NODE_NAME"], os.environ["POD_UID"]).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
