# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin in Ansible's own programs: what its users know of other inventory plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
    refusal,
)
from tests.unit.patience import PATIENCE_S

BIN = Path(sys.executable).parent
OURS = "hardware-enablement.io/toy-card"
# A cluster's own text, as somebody would write it who hopes that it is run.
EVIL = "{{ lookup('pipe', 'touch ran') }}"
PLAY = """\
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.copy:
        dest: "{{ playbook_dir }}/{{ inventory_hostname }}"
        content: "{{ [kubernetes_node.recipes['toy-card'], composed, group_names, kubernetes_node.labels] | to_json }}"
"""


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.fixture
def cluster(api: FakeServer) -> ScriptedCluster:
    proofs = json.dumps({"driver": {"hash": EVIL, "kernel": EVIL, "boot": EVIL, "time": EVIL}})
    marked = world.node_object(
        "n1",
        labels={OURS: "ready", f"{OURS}.driver": "stale", "size": "big", "evil": EVIL},
        annotations={f"{OURS}.proofs": proofs, f"{OURS}.restart-pending": "driver"},
    )
    marked["status"]["addresses"] = [{"type": "InternalIP", "address": "192.0.2.1"}]
    return ScriptedCluster(api, marked, world.node_object("plain"))


class Inventory:
    """A file for the plugin, in a folder of its own, and Ansible's programs on it."""

    def __init__(self, folder: Path, api: FakeServer, home: Path) -> None:
        self.folder = folder
        self.api = api
        self.home = home

    def write(self, settings: dict[str, Any], name: str = "lab.hardware_nodes.yml") -> str:
        """A file of this name that has these settings; returns its name."""
        (self.folder / name).write_text(
            yaml.safe_dump({"plugin": "hardware.enablement.nodes", **settings})
        )
        return name

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the folder."""
        environment = {
            "HOME": str(self.folder),
            "ANSIBLE_HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "ANSIBLE_COLLECTIONS_PATH": ":".join(filter(None, sys.path)),
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "K8S_AUTH_HOST": self.api.url,
            "K8S_AUTH_API_KEY": "secret",
        }
        return subprocess.run(
            [BIN / program, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def tell(self, *files: str, flush: bool = False) -> subprocess.CompletedProcess[str]:
        """Run ansible-inventory on files; flush: what is cached."""
        sources = [word for name in files for word in ("-i", name)]
        return self.run("ansible-inventory", "--list", *sources, *["--flush-cache"] * flush)

    def read(self, *, flush: bool = False, **settings: Any) -> dict[str, Any]:
        """What ansible-inventory makes of the file, without its marks of texts."""
        done = self.tell(self.write(settings), flush=flush)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout, object_hook=unmarked))


def unmarked(value: dict[str, Any]) -> Any:
    """A text that is not to be templated, as ansible-inventory writes it, as a text."""
    return value.get("__ansible_unsafe", value)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For what Python compiles, once for all tests."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def inventory(tmp_path: Path, api: FakeServer, home: Path) -> Inventory:
    return Inventory(tmp_path, api, home)


@pytest.mark.usefixtures("cluster")
def test_nodes_are_hosts_in_groups_and_users_add_their_own(inventory: Inventory) -> None:
    found = inventory.read(
        host_prefix="lab-",
        compose={"size": "kubernetes_node.labels.size"},
        groups={"drained": "kubernetes_node.unschedulable", "fine": "kubernetes_node.ready"},
        keyed_groups=[{"key": "kubernetes_node.labels.size", "prefix": "size"}],
    )
    hosts = found["_meta"]["hostvars"]
    assert hosts["lab-n1"]["kubernetes_node"]["name"] == "n1"
    assert hosts["lab-n1"]["ansible_host"] == "192.0.2.1"
    assert hosts["lab-n1"]["size"] == "big"
    assert not {"ansible_host", "size"} & hosts["lab-plain"].keys()
    assert sorted(found["toy_card"]["children"]) == ["toy_card_ready", "toy_card_restart_pending"]
    for group in ("toy_card_ready", "toy_card_restart_pending", "size_big"):
        assert found[group]["hosts"] == ["lab-n1"]
    assert sorted(found["fine"]["hosts"]) == ["lab-n1", "lab-plain"]
    assert "drained" not in found


def test_a_node_may_be_called_as_a_recipe_is(
    inventory: Inventory, cluster: ScriptedCluster
) -> None:
    cluster.put("nodes", world.node_object("toy", labels={OURS.replace("-card", ""): "ready"}))
    found = inventory.read(groups={"fine": "true"})
    assert [found[group]["hosts"] for group in ("toy", "toy_ready")] == [["toy"], ["toy"]]


@pytest.mark.usefixtures("cluster")
def test_an_expression_that_fails_is_passed_over_unless_strict(inventory: Inventory) -> None:
    wrong = {"compose": {"size": "kubernetes_node.labels.no.such"}}
    assert "size" not in inventory.read(address="none", **wrong)["_meta"]["hostvars"]["n1"]
    done = inventory.tell(inventory.write({"strict": True, **wrong}))
    assert done.returncode != 0
    assert "Could not set size for host n1" in done.stderr


def test_a_cache_is_read_until_it_is_flushed_and_for_what_it_was_filled_with(
    inventory: Inventory, cluster: ScriptedCluster
) -> None:
    cached = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(inventory.folder / "cache"),
    }
    first = inventory.read(**cached)
    cluster.remove("nodes", "plain")
    inventory.api.asked.clear()
    assert inventory.read(**cached) == first
    assert inventory.api.asked == []
    assert list(inventory.read(label_selector=OURS, **cached)["_meta"]["hostvars"]) == ["n1"]
    inventory.api.asked.clear()
    assert list(inventory.read(flush=True, **cached)["_meta"]["hostvars"]) == ["n1"]
    assert len(inventory.api.asked) == 3


@pytest.mark.usefixtures("cluster")
def test_texts_of_the_cluster_are_never_templated(inventory: Inventory) -> None:
    (inventory.folder / "play.yml").write_text(PLAY)
    settings = {
        "compose": {"composed": "kubernetes_node.recipes['toy-card'].proofs.driver.hash"},
        "keyed_groups": [{"key": "kubernetes_node.recipes['toy-card'].proofs.driver.hash"}],
    }
    done = inventory.run(
        "ansible-playbook", "play.yml", "--limit", "n1", "-i", inventory.write(settings)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    recipe, composed, groups, labels = json.loads((inventory.folder / "n1").read_text())
    assert set(recipe["proofs"]["driver"].values()) == {composed, labels["evil"]} == {EVIL}
    assert "____lookup__pipe____touch_ran_____" in groups
    assert not (inventory.folder / "ran").exists()


def test_what_may_not_be_read_is_a_warning(inventory: Inventory, cluster: ScriptedCluster) -> None:
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if "nodefeatures" in asked.path else None
    )
    done = inventory.tell(inventory.write({}))
    assert done.returncode == 0
    assert "The hosts are told without nodefeatures" in " ".join(done.stderr.split())


# What it says of each file that has these settings.
CANNOT = {
    "Cannot list nodes": {"host": "http://127.0.0.1:1"},
    "there is no such file": {"kubeconfig": "/no/such/file"},
    "This is not the cluster that was meant": {"cluster_uid": "another"},
    "Invalid value 'Outernet' for config 'address'": {"address": "Outernet"},
}


def test_what_cannot_be_done_is_one_sentence_for_each_file(
    inventory: Inventory, cluster: ScriptedCluster
) -> None:
    cluster.put("namespaces", {"metadata": {"name": "kube-system", "uid": "this-one"}})
    files = [
        inventory.write(settings, f"{number}.hardware_nodes.yml")
        for number, settings in enumerate(CANNOT.values())
    ]
    done = inventory.tell(*files)
    assert done.returncode != 0
    told = " ".join(done.stderr.split())
    assert [sentence for sentence in CANNOT if sentence not in told] == []
    assert "Traceback" not in told
    assert "HTTPConnection" not in told


@pytest.mark.usefixtures("cluster")
def test_a_file_of_another_name_is_not_ours(inventory: Inventory) -> None:
    done = inventory.tell(inventory.write({}, "nodes.yml"))
    assert "could not be verified by inventory plugin" in " ".join(done.stderr.split())


@pytest.mark.usefixtures("cluster")
def test_the_address_is_plain_for_who_knows_no_marks_of_texts(inventory: Inventory) -> None:
    done = inventory.run("ansible-inventory", "--host", "n1", "-i", inventory.write({}))
    assert json.loads(done.stdout)["ansible_host"] == "192.0.2.1"
