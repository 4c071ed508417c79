# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node agent as a whole, with an API server that is about to delete its pod."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent import (
    agent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent_memory import (
    AgentMemory,
    FeatureFile,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.configuration import (
    AgentConfiguration,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.watched_objects import (
    Api,
)

DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
STATUS = {"nodeInfo": {"bootID": "b", "containerRuntimeVersion": "containerd://2"}}
NODE = {"metadata": {"name": "n", "uid": "n", "labels": {}}, "status": STATUS}
OWN_POD = {"metadata": {"name": "agent-1", "uid": "own", "labels": {}, **DELETED}}
ANSWERS = {
    "nodes": {"metadata": {"resourceVersion": "1"}, "items": [NODE]},
    "pods": {"metadata": {"resourceVersion": "1"}, "items": [OWN_POD]},
    "toy-node-agent": {"metadata": DELETED},
}


class Answers(Api):
    """An API server that answers with what there is, and has nothing to tell of afterwards."""

    def __init__(self) -> None:
        """It trusts nobody, as it asks nobody."""

    def get(
        self, path: str, query: Mapping[str, str] | None = None, timeout: float = 10.0
    ) -> Iterator[dict[str, Any]]:
        """What the last word of the path names."""
        assert timeout
        if query and "watch" in query:
            threading.Event().wait()
        yield ANSWERS[path.rpartition("/")[2]]


def test_an_agent_whose_pod_is_deleted_ends_although_no_signal_has_reached_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is the first of its container gets no signal before it can take one."""
    monkeypatch.setattr(agent, "Api", Answers)
    monkeypatch.setattr(agent, "FEATURES", tmp_path)
    monkeypatch.setattr(agent, "WROTE", tmp_path / "wrote")
    monkeypatch.setattr(agent, "PAUSE_S", 0.1)
    monkeypatch.setattr(agent.signal, "signal", lambda *_which: None)
    FeatureFile(tmp_path, "toy").write({"h/toy": "ready"}, AgentMemory(), 0.0)
    configuration = AgentConfiguration("toy", "toys", "toy-node-agent", "", "h", [], [])
    running = agent.NodeAgent(configuration, "n", "own")
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    thread.join(timeout=10)

    assert not thread.is_alive()
    assert list((tmp_path / "features.d").iterdir()) == []
