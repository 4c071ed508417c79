# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source as ansible-rulebook loads it, by its path, and the rulebook: that they fit the code."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._events.event_types import (
    MEANINGS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.source_start import (
    CLUSTER_EVENTS,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)
from tests.unit.patience import PATIENCE_S

REPO = Path(__file__).parents[4]
EDA = REPO / "extensions" / "eda"
SOURCE = EDA / "plugins" / "event_source" / "cluster_events.py"
# What ansible-rulebook does with a source, until the first event.
FIRST_EVENT = """
import asyncio, json, runpy, sys
async def first():
    queue = asyncio.Queue(1)
    source = asyncio.create_task(runpy.run_path(sys.argv[1])["main"](queue, json.loads(sys.argv[2])))
    event = asyncio.create_task(queue.get())
    done, _ = await asyncio.wait([source, event], return_when=asyncio.FIRST_COMPLETED)
    print(json.dumps(done.pop().result()))
    source.cancel()
asyncio.run(first())
"""


def literal(name: str) -> Any:
    """What a constant of the source is, as YAML."""
    tree = ast.parse(SOURCE.read_text())
    (value,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name
    ]
    return yaml.safe_load(ast.literal_eval(value))


def first_event(api: FakeServer, args: str) -> subprocess.CompletedProcess[str]:
    """Run the source in a Python of its own, until its first event or its end."""
    environment = {
        "PATH": os.environ["PATH"],
        "ANSIBLE_COLLECTIONS_PATH": ":".join(filter(None, sys.path)),
        "K8S_AUTH_HOST": api.url,
        "K8S_AUTH_API_KEY": "secret",
    }
    return subprocess.run(
        [sys.executable, "-c", FIRST_EVENT, str(SOURCE), args],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        cluster = ScriptedCluster(server, world.node_object("new", labels={"card": "yes"}))
        spec = {"recipe": "toy", "selector": ["card=yes"]}
        cluster.put("specialresources", {"metadata": {"name": "toy"}, "spec": spec})
        yield server


def test_the_source_speaks_to_the_cluster_of_the_environment(api: FakeServer) -> None:
    done = first_event(api, '{"debounce": 0}')
    assert '"type": "node_joined"' in done.stdout, done.stderr
    assert '"nodes": ["new"]' in done.stdout


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ('{"events": ["node_lost"]}', "node_lost"),
        ('{"debounse": 3}', "debounse"),
        ('{"kubeconfig": "/nowhere"}', "there is no such file"),
    ],
)
def test_arguments_that_are_wrong_are_one_sentence(api: FakeServer, args: str, why: str) -> None:
    done = first_event(api, args)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert why in last
    assert api.asked == []


def test_the_documentation_is_the_specification() -> None:
    documented = literal("DOCUMENTATION")["options"]
    assert documented.keys() == CLUSTER_EVENTS.keys()
    for name, argument in CLUSTER_EVENTS.items():
        said = documented[name]
        for key, missing in (("type", "str"), ("default", None), ("choices", []), ("aliases", [])):
            assert said.get(key, missing) == argument.get(key, missing), (name, key)
    for entry in literal("EXAMPLES"):
        (args,) = [value for key, value in entry.items() if key != "name"]
        assert (args or {}).keys() <= CLUSTER_EVENTS.keys()


def test_each_type_of_event_has_one_rule_and_each_rule_a_playbook() -> None:
    (ruleset,) = yaml.safe_load((EDA / "rulebooks" / "cluster_events.yml").read_text())
    types = Counter(
        name for rule in ruleset["rules"] for name in re.findall(r'"(\w+)"', rule["condition"])
    )
    assert types == dict.fromkeys(MEANINGS, 1)
    assert ruleset["execution_strategy"] == "sequential"
    (source,) = ruleset["sources"]
    default = re.findall(r"'(\w+)'", source["hardware.enablement.cluster_events"]["events"])
    # Nothing takes devices from pods, or runs for the sake of good news, unless it is asked for.
    assert set(MEANINGS) - set(default) == {"restart_pending", "node_ready"}
    defaults = []
    for rule in ruleset["rules"]:
        for action in rule.get("actions") or [rule["action"]]:
            name = action["run_playbook"]["name"]
            # Those of upgrades and remedies are named by variables.
            (name,) = re.findall(r"hardware\.enablement\.(\w+)", name)
            assert (REPO / "playbooks" / f"{name}.yml").is_file()
            defaults.append(name)
    assert "remedy" not in defaults


def test_no_text_of_an_alert_but_plain_names_gets_to_a_playbook() -> None:
    (ruleset,) = yaml.safe_load((EDA / "rulebooks" / "cluster_alerts.yml").read_text())
    (rule,) = ruleset["rules"]
    checked = dict(re.findall(r'event\.labels\.(\w+) is regex\("(.*?)"\)', rule["condition"]))
    used = re.findall(r"event\.([\w.]+) ", yaml.safe_dump(rule["action"], width=1000))
    assert {f"labels.{name}" for name in checked} == set(used)
    for pattern in checked.values():
        assert re.search(pattern, "nvidia-gpu") or re.search(pattern, "NvidiaGpuXidCritical")
        for forged in ("{{ x }}", "a {{ x }}", "", "a\nb", "../x", "a b"):
            assert not re.search(pattern, forged)
