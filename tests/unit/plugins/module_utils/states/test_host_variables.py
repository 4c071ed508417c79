# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is to Ansible: variables, groups and address, from objects alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.host_groups import (
    address_of,
    group_name,
    host_groups,
    is_dns_name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.host_variables import (
    RecordFacts,
    host_variables,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.node_features import (
    by_node,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

OURS = "hardware-enablement.io"
PROOF = {"hash": "h", "kernel": world.KERNEL, "boot": world.BOOT, "time": "then"}


def variables(
    labels: dict[str, str], record: RecordFacts | None = None, **given: Any
) -> dict[str, Any]:
    """Those of a node with these labels; a name that begins with a slash is one of ours."""
    named = {f"{OURS}{name}" if name[0] == "/" else name: labels[name] for name in labels}
    node = world.node_object(labels=named, **given)
    return host_variables(node, {}, {"toy-card": record} if record else {})


def stands(labels: dict[str, str], **given: Any) -> dict[str, Any]:
    """How the recipe toy-card stands on such a node."""
    found = variables(labels, **given)["recipes"]
    assert list(found) == ["toy-card"]
    return dict(found["toy-card"])


def test_a_node_without_marks_is_in_the_groups_of_its_kernel_zone_and_pool_alone() -> None:
    found = variables(
        {"topology.kubernetes.io/zone": "berlin-1", "cloud.google.com/gke-nodepool": "gpus.big"}
    )
    assert found["recipes"] == {}
    kernel = f"kernel_{found['kernel_group'].replace('-', '_')}"
    assert kernel.startswith("kernel_6_1_0_1_")
    assert host_groups(found) == {kernel: "", "zone_berlin_1": "", "node_pool_gpus_big": ""}


def test_a_recipe_is_told_by_its_marks() -> None:
    annotations = {f"{OURS}/toy-card.proofs": json.dumps({"driver": PROOF})}
    labels = {
        "/toy-card": "ready",
        "/toy-card.driver": "ready",
        "/toy-card.node-kernel": "6-1",
        "pool": "old",
    }
    pools = parse_pools([{"name": "old-cards", "selector": {"matchLabels": {"pool": "old"}}}])
    found = variables(labels, RecordFacts(pools), annotations=annotations)
    assert found["recipes"] == {
        "toy-card": {
            "phase": "ready",
            "state": "",
            "reason": "",
            "message": "",
            "restarts_pending": [],
            "upgrade": "",
            "pool": "old-cards",
            "gates": {"driver": "ready"},
            "proofs": {"driver": PROOF},
            "vanished_since": "",
        }
    }
    groups = host_groups(found)
    assert {name: groups[name] for name in groups if name.startswith("toy")} == {
        "toy_card": "",
        "toy_card_ready": "toy_card",
        "toy_card_pool_old_cards": "toy_card",
    }


@pytest.mark.parametrize(
    ("summary", "phase", "state"),
    [
        ("driver.failed", "failed", "driver"),
        ("plugin.waiting", "waiting", "plugin"),
        ("vanished", "vanished", ""),
        ("driver.EVIL", "unknown", "driver"),
        ("", "unknown", ""),
    ],
)
def test_a_phase_is_what_the_summary_label_says_and_one_of_ours(
    summary: str, phase: str, state: str
) -> None:
    problem = {"reason": "CrashLoopBackOff", "message": "it crashes"}
    found = variables({"/toy-card": summary}, RecordFacts(problems={"n1": problem}))
    (told,) = found["recipes"].values()
    assert {"phase": phase, "state": state, **problem}.items() <= told.items()
    assert host_groups(found)[f"toy_card_{phase}"] == "toy_card"


def test_a_new_node_that_no_run_has_told_of_yet_is_unknown() -> None:
    assert stands({"/toy-card.node-kernel": "6-1"})["phase"] == "unknown"


def test_a_pending_restart_is_a_group_besides_the_phase() -> None:
    noted = {f"{OURS}/toy-card.restart-pending": "driver"}
    found = variables({"/toy-card": "ready", "/toy-card.driver": "stale"}, annotations=noted)
    assert found["recipes"]["toy-card"]["restarts_pending"] == ["driver"]
    groups = host_groups(found)
    assert {"toy_card_ready", "toy_card_restart_pending"} < groups.keys()


@pytest.mark.parametrize(
    ("phase", "told"), [("upgrading", "upgrading"), ("quarantined", "quarantined"), ("done", "")]
)
def test_a_node_whose_driver_is_exchanged_is_in_a_group_besides(phase: str, told: str) -> None:
    noted = {f"{OURS}/toy-card.upgrade": json.dumps({"phase": phase})}
    found = variables({"/toy-card": "driver.failed"}, annotations=noted)
    assert found["recipes"]["toy-card"]["upgrade"] == told
    others = host_groups(found).keys() - {"toy_card", "toy_card_failed"}
    assert {name for name in others if name.startswith("toy")} == (
        {f"toy_card_{told}"} if told else set()
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [("a100.8x", "a100_8x"), ("0302", "_0302"), ("{{ x }}", "___x___"), ("ä-ß", "___"), ("", "")],
)
def test_names_of_groups_hold_what_ansible_takes(text: str, name: str) -> None:
    assert group_name(text) == name


def test_an_address_is_the_first_of_its_type_that_is_one() -> None:
    texts = ["-oProxyCommand=id", "{{ lookup('pipe', 'id') }}", "", "2001:db8::1", "192.0.2.1"]
    addresses = {"InternalIP": texts, "Hostname": ["gpu-1.example.org"], "ExternalIP": texts[:3]}
    found = [
        address_of({"addresses": addresses}, kind)
        for kind in ("InternalIP", "Hostname", "ExternalIP", "InternalDNS")
    ]
    assert found == ["2001:db8::1", "gpu-1.example.org", "", ""]


@pytest.mark.parametrize(
    "name", ["", "-n1", "n1;id", "{{ x }}", "n 1", "n1\n", "x" * 254, "n[1:3]"]
)
def test_what_no_node_is_called(name: str) -> None:
    assert not is_dns_name(name)


def feature(name: str, node: str | None, **features: Any) -> dict[str, Any]:
    labels = {"nfd.node.kubernetes.io/node-name": node} if node else None
    metadata = {"name": name, "namespace": "nfd", "labels": labels}
    return {"metadata": metadata, "spec": {"features": features}}


def test_several_objects_of_a_node_are_put_together_as_nfd_does() -> None:
    card, other = ({"attributes": {"vendor": vendor}} for vendor in ("10de", "8086"))
    found = by_node(
        [
            feature("n1-more", "n1", attributes={"k": {"elements": {"a": "2"}}}, flags=None),
            feature(
                "n1",
                "n1",
                attributes={"k": {"elements": {"a": "1", "b": "1"}}},
                flags={"f": {"elements": {"y": {}, "x": {}}}},
                instances={"pci.device": {"elements": [card]}},
            ),
            feature("n1-pci", "n1", instances={"pci.device": {"elements": [other]}}),
            feature("of nobody", None, flags={"f": {"elements": {"z": {}}}}),
            {"metadata": {"name": "n2", "labels": {"nfd.node.kubernetes.io/node-name": "n2"}}},
        ]
    )
    nothing: dict[str, Any] = {"attributes": {}, "flags": {}, "instances": {}}
    assert found == {
        "n1": {
            "attributes": {"k": {"a": "2", "b": "1"}},
            "flags": {"f": ["x", "y"]},
            "instances": {"pci.device": [{"vendor": "10de"}, {"vendor": "8086"}]},
        },
        "n2": nothing,
    }
