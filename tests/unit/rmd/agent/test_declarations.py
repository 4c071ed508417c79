# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is declared, without an API server: what was heard last, kept on the node's disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from writer import Declarations

POD = {
    "metadata": {"name": "web", "namespace": "team", "uid": "u", "managedFields": [{"a": 1}]},
    "spec": {
        "containers": [
            {
                "name": "main",
                "env": [{"name": "PASSWORD", "value": "secret"}],
                "resources": {"limits": {"cpu": "2"}},
            }
        ]
    },
    "status": {"phase": "Running", "qosClass": "Guaranteed"},
}
STATE = {"metadata": {"uid": "s"}, "spec": {"workloads": {"w": {"coreIds": ["1"]}}}}


def declarations(folder: Path) -> Declarations:
    """Its API server answers to nobody."""
    return Declarations(ApiServer("https://127.0.0.1:1", folder / "none"), "n1", folder)


def hear(found: Declarations, monkeypatch: pytest.MonkeyPatch, **kinds: list[Any] | None) -> None:
    """What the watches know: states, pods."""
    for name, objects in kinds.items():
        monkeypatch.setattr(getattr(found, f"_{name}"), "_objects", _by_uid(objects))


def _by_uid(objects: list[Any] | None) -> dict[str, Any] | None:
    return None if objects is None else {obj["metadata"]["uid"]: obj for obj in objects}


def test_nothing_is_declared_before_both_were_heard_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = declarations(tmp_path)
    assert found.current() is None
    hear(found, monkeypatch, states=[STATE], pods=None)
    assert found.current() is None
    hear(found, monkeypatch, pods=[])
    assert found.current() == {"workloads": STATE["spec"]["workloads"], "pods": []}
    hear(found, monkeypatch, states=[])
    assert found.current() == {"workloads": None, "pods": []}


def test_the_last_word_holds_without_an_api_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = declarations(tmp_path)
    hear(found, monkeypatch, states=[STATE], pods=[POD])
    said = found.current()
    again = declarations(tmp_path)
    assert again.current() == said
    again.start()
    again.changed.wait(10)
    again.stop()
    assert any("the API server" in text for text in again.problems)
    assert again.current() == said


def test_what_was_kept_before_rmd_came_holds_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon's pod is not among what was kept, and the agent would not wait for its end."""
    found = declarations(tmp_path)
    hear(found, monkeypatch, states=[STATE], pods=[])
    assert found.current() is not None
    (tmp_path / "rmd.db").touch()
    again = declarations(tmp_path)
    assert again.current() is None
    hear(again, monkeypatch, states=[STATE], pods=[POD])
    assert again.current() is not None


def test_no_more_of_a_pod_is_kept_than_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = declarations(tmp_path)
    hear(found, monkeypatch, states=[], pods=[POD])
    found.current()
    text = (tmp_path / "declared.json").read_text()
    assert "secret" not in text
    assert "managedFields" not in text


@pytest.mark.parametrize("text", ["", "[1]", "{", json.dumps({"workloads": {}})])
def test_half_a_file_is_no_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "declared.json").write_text(text)
    assert declarations(tmp_path).current() is None
