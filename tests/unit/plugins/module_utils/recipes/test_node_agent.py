# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node agent makes of the pods on its node, and its file."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.kinds.allocatable import (
    AllocatableSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent_memory import (
    EXPIRY_S,
    AgentMemory,
    FeatureFile,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.configuration import (
    AgentConfiguration,
    AgentGroup,
    AgentState,
    NodeCondition,
    StateDaemonSet,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_conditions import (
    CONDITIONS,
    matches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_proof import (
    GRACE_S,
    labels_for,
)
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import Outcome
from ansible_collections.hardware.enablement.tests.unit.forged_pods import (
    FORGED,
    forged,
    made_by_daemonset,
)

Obj = dict[str, Any]

PREFIX = "hardware-enablement.io/toy"
EVERY = ({"matchExpressions": [{"key": "toy", "operator": "Exists"}]},)
FIRST_BOOT, SECOND_BOOT = "boot-1", "boot-2"


def state(name: str, *requires: str, validated: bool = False, **fields: Any) -> AgentState:
    """A state with a DaemonSet of its name, and perhaps one that validates it."""
    daemonsets = [StateDaemonSet(name, EVERY, validator=False, hash="t")]
    if validated:
        daemonsets.append(StateDaemonSet(f"validate-{name}", EVERY, validator=True, hash="v"))
    return AgentState(name, requires, **{"gate": True, "daemonsets": daemonsets, **fields})


STATES = (state("driver", validated=True), state("plugin", "driver"))


def pod(daemonset: str, uid: str = "", ready: bool = True, **metadata: Any) -> Obj:
    """A pod of a DaemonSet."""
    found = {
        "metadata": {
            "uid": uid or daemonset,
            "namespace": "toy",
            "creationTimestamp": "2026-01-01T10:00:00Z",
            **metadata,
        },
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }
    return made_by_daemonset(found, daemonset, "default")


DRIVER, PROOF, PLUGIN = pod("driver"), pod("validate-driver"), pod("plugin")


ALLOCATABLE: Obj = {
    "resource": "toy.io/gpu",
    "at_least": None,
    "equals": None,
    "unhealthy_allowed": 0,
    "counted_by": "",
}


class Machine:
    """A node, and its agent's look at it."""

    def __init__(self, states: tuple[AgentState, ...] = STATES) -> None:
        self.conditions: dict[str, list[NodeCondition]] = {}
        self.states = states
        self.memory = AgentMemory()
        self.boot = FIRST_BOOT
        self.now = 1000.0
        self.labels = {"toy": "yes"}
        self.annotations: dict[str, str] = {}

        self.allocatable: dict[str, str] = {}

    @property
    def configuration(self) -> AgentConfiguration:
        """What a run has written."""
        groups = [AgentGroup(EVERY, self.conditions)]
        return AgentConfiguration("toy", "toy", "toy-node-agent", "", "h", self.states, groups)

    @property
    def node(self) -> Obj:
        """As the API server has it."""
        info = {"bootID": self.boot, "containerRuntimeVersion": "containerd://2.1.4"}
        metadata = {"name": "n", "labels": self.labels, "annotations": self.annotations}
        return {"metadata": metadata, "status": {"nodeInfo": info, "allocatable": self.allocatable}}

    def note(self, name: str, content: Any) -> None:
        """What a run writes to the node."""
        self.annotations[f"{PREFIX}.{name}"] = json.dumps(content)

    def observe(self, *pods: Obj, later: float = 1.0) -> dict[str, str]:
        """The gates and the summary ("") with these pods."""
        self.now += later
        found = labels_for(self.configuration, self.node, pods, self.memory, self.now)
        short = {name.removeprefix(PREFIX).lstrip("."): value for name, value in found.items()}
        return {name: value for name, value in short.items() if "-" not in name}

    @classmethod
    def proven(cls) -> Machine:
        """A node on which everything has been proven, and whose validation pod has left."""
        machine = cls()
        assert machine.observe(DRIVER, PROOF, PLUGIN)[""] == "ready"
        assert machine.observe(DRIVER, PLUGIN)[""] == "ready"
        return machine


def test_states_follow_each_other() -> None:
    machine = Machine()

    assert machine.observe() == {"": "driver.waiting"}
    assert machine.observe(DRIVER) == {"": "driver.waiting"}
    assert machine.observe(DRIVER, pod("validate-driver", ready=False)) == {"": "driver.waiting"}
    assert machine.observe(DRIVER, PROOF) == {"": "plugin.waiting", "driver": "ready"}
    ready = {"": "ready", "driver": "ready", "plugin": "ready"}
    assert machine.observe(DRIVER, PROOF, PLUGIN) == ready
    # The validation pod leaves.
    assert machine.observe(DRIVER, PLUGIN) == ready


def test_a_pod_that_is_ready_while_what_it_stands_on_is_not_proves_nothing() -> None:
    assert Machine().observe(PLUGIN) == {"": "driver.waiting"}


@pytest.mark.parametrize("how", FORGED)
def test_a_pod_that_only_has_the_labels_proves_nothing(how: str) -> None:
    machine = Machine()
    assert machine.observe(forged(DRIVER, how), PROOF) == {"": "driver.waiting"}
    assert machine.observe(DRIVER, forged(PROOF, how)) == {"": "driver.waiting"}


def test_facts_for_pods_and_runs() -> None:
    machine = Machine()
    found = labels_for(machine.configuration, machine.node, [], machine.memory, 1.0)

    assert found[f"{PREFIX}.container-runtime"] == "containerd-2"
    assert found[f"{PREFIX}.agent-configuration"] == "h"


def test_a_state_that_fails_has_a_grace() -> None:
    machine = Machine.proven()

    failing = pod("plugin", ready=False)
    assert machine.observe(DRIVER, failing)["plugin"] == "ready"
    assert machine.observe(DRIVER, failing, later=GRACE_S - 1)["plugin"] == "ready"
    degraded = machine.observe(DRIVER, failing)
    assert (degraded["plugin"], degraded[""]) == ("degraded", "plugin.degraded")
    assert machine.observe(DRIVER, PLUGIN)["plugin"] == "ready"
    # Another failure has a grace of its own.
    assert machine.observe(DRIVER, failing)["plugin"] == "ready"


def test_a_pod_that_is_about_to_end_does_not_serve() -> None:
    machine = Machine.proven()
    ending = pod("plugin", deletionTimestamp="2026-01-01T11:00:00Z")

    machine.observe(DRIVER, ending)
    assert machine.observe(DRIVER, ending, later=GRACE_S)["plugin"] == "degraded"


def test_what_stands_on_a_failure_is_stale() -> None:
    machine = Machine.proven()

    machine.observe(PLUGIN)
    assert machine.observe(PLUGIN, later=GRACE_S) == {
        "": "driver.degraded",
        "driver": "degraded",
        "plugin": "stale",
    }


def test_another_version_under_it_is_another_thing_to_prove() -> None:
    below = state("hook")
    above = state("driver", "hook", validated=True)
    machine = Machine((below, above))
    hook = pod("hook", labels={"controller-revision-hash": "1"})
    assert machine.observe(hook, DRIVER, PROOF)["driver"] == "ready"
    assert machine.observe(hook, DRIVER)["driver"] == "ready"
    # A pod that is merely replaced is the same thing.
    again = pod("hook", uid="again", labels={"controller-revision-hash": "1"})
    assert machine.observe(again, DRIVER)["driver"] == "ready"

    other = pod("hook", uid="other", labels={"controller-revision-hash": "2"})
    assert machine.observe(other, DRIVER) == {
        "": "driver.stale",
        "hook": "ready",
        "driver": "stale",
    }
    # A pod that has proven it once does not do so again.
    assert machine.observe(other, DRIVER, PROOF)["driver"] == "stale"
    assert machine.observe(other, DRIVER, pod("validate-driver", uid="p2"))["driver"] == "ready"


def test_another_validation_is_another_proof() -> None:
    machine = Machine.proven()
    fresh = StateDaemonSet("validate-driver", EVERY, validator=True, hash="other")
    driver = state("driver", daemonsets=[STATES[0].daemonsets[0], fresh])
    machine.states = (driver, STATES[1])

    assert machine.observe(DRIVER, PLUGIN)["driver"] == "stale"


def test_a_reboot_makes_all_proofs_void() -> None:
    machine = Machine.proven()
    machine.observe(DRIVER, PROOF, PLUGIN)
    machine.boot = SECOND_BOOT

    # Pods that were ready before the reboot are no word about it.
    assert machine.observe(DRIVER, PROOF, PLUGIN) == {"": "driver.waiting"}
    assert machine.observe(DRIVER, pod("validate-driver", uid="p2"), PLUGIN)[""] == "ready"


def test_a_state_whose_daemonsets_are_all_for_other_nodes_asks_nothing_of_this_one() -> None:
    elsewhere = [{"matchExpressions": [{"key": "card", "operator": "In", "values": ["new"]}]}]
    found = state("driver", validated=True)
    own = [replace(each, terms=elsewhere) for each in found.daemonsets if not each.validator]
    others = [each for each in found.daemonsets if each.validator]
    machine = Machine((replace(found, daemonsets=[*own, *others]),))
    machine.conditions = {"driver": [NodeCondition("node_labels", {"present": ["x"], "equal": {}})]}
    assert machine.observe() == {"": "ready", "driver": "ready"}
    machine.labels["card"] = "new"
    assert machine.observe(later=GRACE_S + 2)["driver"] == "ready"
    assert machine.observe(later=GRACE_S + 2)["driver"] == "degraded"


def test_daemonsets_for_other_nodes_do_not_count() -> None:
    terms = ({"matchExpressions": [{"key": "model", "operator": "In", "values": ["new"]}]},)
    other = StateDaemonSet("driver-new", terms, validator=False, hash="t")
    machine = Machine((state("driver", daemonsets=[STATES[1].daemonsets[0], other]),))

    assert machine.observe(PLUGIN)[""] == "ready"
    machine.labels["model"] = "new"
    machine.observe(PLUGIN)
    assert machine.observe(PLUGIN, later=GRACE_S)[""] == "driver.degraded"


def test_on_a_node_for_which_nothing_was_rendered_nothing_is_proven() -> None:
    machine = Machine.proven()
    machine.labels = {"other": "kernel"}

    assert machine.observe(DRIVER, PLUGIN, later=0.0)["driver"] == "ready"
    assert machine.observe(DRIVER, PLUGIN, later=GRACE_S)["driver"] == "degraded"
    machine.boot = SECOND_BOOT
    assert machine.observe(DRIVER, PROOF, PLUGIN) == {"": "driver.unknown"}


def test_a_state_is_ready_when_the_kubelet_offers_its_devices() -> None:
    machine = Machine((state("plugin"),))
    settings = {**ALLOCATABLE, "at_least": 2}
    machine.conditions = {"plugin": [NodeCondition("allocatable", settings)]}

    assert machine.observe(PLUGIN) == {"": "plugin.waiting"}
    machine.allocatable = {"toy.io/gpu": "2", "cpu": "8"}
    assert machine.observe(PLUGIN) == {"": "ready", "plugin": "ready"}
    machine.allocatable = {"toy.io/gpu": "1"}
    assert machine.observe(PLUGIN)[""] == "ready"
    assert machine.observe(PLUGIN, later=GRACE_S)[""] == "plugin.degraded"


@pytest.mark.parametrize(
    ("settings", "allocatable", "expected"),
    [
        ({}, {}, False),
        ({}, {"toy.io/gpu": "1"}, True),
        ({}, {"toy.io/other": "1"}, False),
        ({"at_least": 0}, {}, True),
        ({"equals": 2}, {"toy.io/gpu": "3"}, False),
        ({"equals": 0}, {"toy.io/gpu": "0"}, True),
        (
            {"resource": "toy.io/mig-*", "at_least": 3},
            {"toy.io/mig-1": "1", "toy.io/mig-2": "2"},
            True,
        ),
        ({"at_least": 1000}, {"toy.io/gpu": "1k"}, True),
        ({}, {"toy.io/gpu": "many"}, False),
    ],
)
def test_devices_are_counted_as_runs_count_them(
    settings: Obj, allocatable: dict[str, str], expected: bool
) -> None:
    node = {"metadata": {}, "status": {"allocatable": allocatable, "capacity": allocatable}}

    assert CONDITIONS["allocatable"](node, {**ALLOCATABLE, **settings}) is expected


@pytest.mark.parametrize("settings", [{}, {"unhealthy_allowed": 1}, {"counted_by": "count"}])
@pytest.mark.parametrize("label", ["", "8", "9", "10", "many"])
@pytest.mark.parametrize("offered", ["8", "7", "6", "0"])
def test_devices_that_are_missing_are_missed_as_runs_miss_them(
    settings: Obj, label: str, offered: str
) -> None:
    every = {**ALLOCATABLE, "at_least": 0, **settings}
    node = {
        "metadata": {"name": "n", "labels": {"count": label}},
        "status": {"allocatable": {"toy.io/gpu": offered}, "capacity": {"toy.io/gpu": "8"}},
    }
    look: Any = SimpleNamespace(
        node=NodeFacts.from_object(node), settings=AllocatableSettings(**every)
    )
    verdict = KINDS["allocatable"].evaluate(look)

    assert CONDITIONS["allocatable"](node, every) is (verdict.outcome is Outcome.PASS)


def test_the_agent_knows_all_that_nodes_decide() -> None:
    of_pods = {"rollout", "workload"}
    by_node = {name for name, kind in KINDS.items() if kind.by_node}

    assert by_node - of_pods - set(CONDITIONS) == set(), (
        "add a function of a node and settings to CONDITIONS in "
        "_recipes/readiness/node_agent/node_conditions.py, or by_node=False to the kind in "
        "_proofs/kinds if only a run can decide it"
    )
    assert {*CONDITIONS, *of_pods} - by_node == set(), (
        "set by_node=True in the kind's file in _proofs/kinds, or take it out of CONDITIONS in "
        "_recipes/readiness/node_agent/node_conditions.py"
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"present": ["product"]}, True),
        ({"present": ["product", "family"]}, False),
        ({"equal": {"product": "T4"}}, True),
        ({"equal": {"product": "A100"}}, False),
        ({"equal": {"family": "turing"}}, False),
    ],
)
def test_labels_of_others(settings: Obj, expected: bool) -> None:
    node = {"metadata": {"labels": {"product": "T4"}}}
    every = {"present": [], "equal": None, **settings}

    assert CONDITIONS["node_labels"](node, every) is expected


def test_states_without_a_gate_have_no_label() -> None:
    machine = Machine((state("driver", gate=False),))

    assert machine.observe(DRIVER) == {"": "ready"}


@pytest.mark.parametrize("withdrawn", [7, {"driver": 1}, [[1]], None])
def test_what_is_withdrawn_may_be_anything(withdrawn: object) -> None:
    machine = Machine.proven()
    machine.note("upgrade", {"phase": "upgrading", "withdrawn": withdrawn})
    assert machine.observe(DRIVER, PLUGIN)[""] == "ready"


def test_labels_are_withdrawn_for_an_exchange() -> None:
    machine = Machine.proven()
    machine.note("upgrade", {"phase": "upgrading", "withdrawn": ["driver", "plugin"]})

    assert machine.observe(DRIVER, PLUGIN) == {"": "driver.upgrading"}
    machine.note("upgrade", {"phase": "upgrading"})
    # What was proven before the exchange is to be proven again.
    assert machine.observe(DRIVER, PLUGIN) == {"": "driver.upgrading"}
    assert machine.observe(DRIVER, pod("validate-driver", uid="p2"), PLUGIN)[""] == "ready"


@pytest.mark.parametrize(
    "text", ["{", "[]", '"upgrading"', '{"phase": "done", "withdrawn": ["driver"]}', "[" * 100_000]
)
def test_an_annotation_that_says_no_exchange_withdraws_nothing(text: str) -> None:
    machine = Machine.proven()
    machine.annotations[f"{PREFIX}.upgrade"] = text

    assert machine.observe(DRIVER, PLUGIN)["driver"] == "ready"


class TestTakeOver:
    """A node whose labels a run has written."""

    @staticmethod
    def machine(**proof: str) -> Machine:
        """Labelled by a run, with its proof of the driver."""
        machine = Machine()
        machine.labels |= {f"{PREFIX}.driver": "ready", f"{PREFIX}.plugin": "ready"}
        noted = {"boot": FIRST_BOOT, "time": "2026-01-01T12:00:00Z", "hash": "x", **proof}
        machine.note("proofs", {"driver": noted})
        return machine

    def test_what_the_run_has_proven_stays_ready(self) -> None:
        assert self.machine().observe(DRIVER, PLUGIN) == {
            "": "ready",
            "driver": "ready",
            "plugin": "ready",
        }

    def test_before_a_reboot_it_is_stale_so_that_validation_comes(self) -> None:
        machine = self.machine(boot=SECOND_BOOT)

        assert machine.observe(DRIVER, PLUGIN)["driver"] == "stale"
        assert machine.observe(DRIVER, PROOF, PLUGIN)["driver"] == "ready"

    def test_on_pods_that_are_there_no_more_it_is_stale(self) -> None:
        below, above = state("hook"), state("driver", "hook", validated=True)
        machine = self.machine()
        machine.states = (below, above)
        younger = pod("hook", creationTimestamp="2026-01-01T12:00:01Z")

        assert machine.observe(younger, DRIVER)["driver"] == "stale"

    @pytest.mark.parametrize("proofs", ["{", "[]", '{"driver": "ready"}', '{"driver": {}}'])
    def test_without_a_proof_it_is_stale(self, proofs: str) -> None:
        machine = self.machine()
        machine.annotations[f"{PREFIX}.proofs"] = proofs

        assert machine.observe(DRIVER, PLUGIN)["driver"] == "stale"

    def test_a_label_that_says_stale_is_no_proof(self) -> None:
        machine = self.machine()
        machine.labels[f"{PREFIX}.driver"] = "stale"

        assert machine.observe(DRIVER, PLUGIN)["driver"] == "stale"

    def test_only_the_first_look_takes_over(self) -> None:
        machine = self.machine()
        machine.observe(DRIVER, PLUGIN)
        machine.boot = SECOND_BOOT

        assert machine.observe(DRIVER, PLUGIN) == {"": "driver.waiting"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"key": "toy", "operator": "In", "values": ["yes"]}, True),
        ({"key": "toy", "operator": "NotIn", "values": ["yes"]}, False),
        ({"key": "none", "operator": "NotIn", "values": ["yes"]}, True),
        ({"key": "none", "operator": "In", "values": ["yes"]}, False),
        ({"key": "toy", "operator": "Exists"}, True),
        ({"key": "none", "operator": "DoesNotExist"}, True),
        ({"key": "count", "operator": "Gt", "values": ["3"]}, True),
        ({"key": "count", "operator": "Lt", "values": ["4"]}, False),
        ({"key": "toy", "operator": "Gt", "values": ["3"]}, False),
        ({"key": "none", "operator": "Lt", "values": ["3"]}, False),
    ],
)
def test_expressions_are_the_schedulers(expression: Obj, expected: bool) -> None:
    node = {"metadata": {"name": "n", "labels": {"toy": "yes", "count": "4"}}}

    assert matches(node, [{"matchExpressions": [expression]}]) is expected


def test_terms_are_alternatives_and_an_empty_one_means_no_node() -> None:
    node = {"metadata": {"name": "n", "labels": {"toy": "yes"}}}
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    never = {"matchExpressions": [{"key": "toy", "operator": "DoesNotExist"}]}

    assert matches(node, [])
    assert not matches(node, [{}])
    assert matches(node, [never, named])
    assert not matches(node, [{**never, **named}])


LABELS = {f"{PREFIX}.driver": "ready", PREFIX: "plugin.waiting"}


class TestFile:
    """What NFD's worker reads."""

    def test_is_a_file_of_features_with_an_expiry(self, tmp_path: Path) -> None:
        FeatureFile(tmp_path, "toy").write(LABELS, AgentMemory(), 1_700_000_000.0)

        (path,) = (tmp_path / "features.d").iterdir()
        lines = path.read_text(encoding="utf-8").splitlines()
        assert path.name == "hardware-enablement.io-toy"
        assert lines[1:] == [
            "# +expiry-time=2023-11-14T23:13:20Z",
            f"{PREFIX}=plugin.waiting",
            f"{PREFIX}.driver=ready",
        ]
        assert EXPIRY_S == 3600
        # The draft has become the file.
        assert [each.name for each in tmp_path.iterdir()] == ["features.d"]

    def test_remembers(self, tmp_path: Path) -> None:
        memory = AgentMemory("b", ["driver"], {"plugin": 3.5}, {"v": "s"}, {"v": "u"})
        file = FeatureFile(tmp_path, "toy")
        file.write(LABELS, memory, 0.0)

        assert asdict(FeatureFile(tmp_path, "toy").memory()) == asdict(memory)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "nonsense",
            "# []",
            '# {"other": 1}',
            '# {"boot": 3}',
            '# {"boot": "b", "proven": []}',
        ],
    )
    def test_remembers_nothing_of_another_file(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "features.d").mkdir()
        (tmp_path / "features.d" / "hardware-enablement.io-toy").write_text(text, encoding="utf-8")

        assert FeatureFile(tmp_path, "toy").memory() == AgentMemory()

    def test_holds_for_minutes_after_an_agent_that_cannot_tell_whether_another_follows(
        self, tmp_path: Path
    ) -> None:
        file, memory = FeatureFile(tmp_path, "toy"), AgentMemory("b", ["driver"])
        file.expire_soon(1_700_000_000.0)
        assert not list(tmp_path.iterdir())

        file.write(LABELS, memory, 1_700_000_000.0)
        file.expire_soon(1_700_000_000.0)
        # A second one makes it no later.
        file.expire_soon(1_700_000_100.0)

        (path,) = (tmp_path / "features.d").iterdir()
        assert path.read_text(encoding="utf-8").splitlines()[1:] == [
            "# +expiry-time=2023-11-14T22:18:20Z",
            f"{PREFIX}=plugin.waiting",
            f"{PREFIX}.driver=ready",
        ]
        assert file.memory() == memory

    def test_leaves_nothing_behind(self, tmp_path: Path) -> None:
        file = FeatureFile(tmp_path, "toy")
        file.write(LABELS, AgentMemory(), 0.0)
        file.remove()
        file.remove()

        assert list((tmp_path / "features.d").iterdir()) == []


def test_the_configuration_comes_from_text() -> None:
    machine = Machine()
    machine.conditions = {"plugin": [NodeCondition("node_labels", {"present": []})]}
    configuration = machine.configuration
    text = json.dumps(asdict(configuration))

    assert json.dumps(asdict(AgentConfiguration.from_text(text))) == text
    for wrong in ("{", "{}", '{"states": [{}]}', '{"states": 3}'):
        with pytest.raises((ValueError, KeyError, TypeError)):
            AgentConfiguration.from_text(wrong)
