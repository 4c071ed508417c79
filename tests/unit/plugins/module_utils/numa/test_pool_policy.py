# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is published of a pool's kubelets, and which options contradict each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa.pool_policy import (
    digest_of,
    nothing_said,
    policies_of,
    recorded_policies,
    refuse_contradictions,
    unread,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)

RECIPES = Path(__file__).resolve().parents[5] / "recipes"
ALIGNED = {
    "topology_manager_policy": "single-numa-node",
    "topology_manager_scope": "pod",
    "cpu_manager_policy": "static",
    "memory_manager_policy": "Static",
}
PUBLISHED = {"topology_manager_policy": "single-numa-node", "topology_manager_scope": "pod"}
DEFAULTS = {"topology_manager_policy": "none", "topology_manager_scope": "container"}
SCOPED = {"topology_manager_policy": "none", "topology_manager_scope": "pod"}


def test_kubelets_that_agree_and_one_that_is_silent() -> None:
    running = {"n1": ALIGNED, "n2": {**ALIGNED, "reserved_cpus": "0"}}
    assert policies_of("a", ["n1", "n2", "silent"], running) == PUBLISHED
    assert policies_of("a", ["silent"], running) == {}


@pytest.mark.parametrize(
    ("spec", "pool", "expected"),
    [
        (None, "a", {}),
        ({}, "a", {}),
        ({"options": PUBLISHED}, "", PUBLISHED),
        # Before there were pools, that held for all nodes.
        ({"options": PUBLISHED}, "a", PUBLISHED),
        ({"pools": [{"name": "a", "options": PUBLISHED}]}, "a", PUBLISHED),
        ({"pools": [{"name": "b", "options": PUBLISHED}]}, "a", {}),
        ({"options": PUBLISHED, "pools": [{"name": "b"}]}, "", PUBLISHED),
        # The record leaves out what is the recipe's default.
        ({"options": {"topology_manager_scope": "pod"}, "pools": [{"name": "a"}]}, "a", SCOPED),
    ],
)
def test_what_is_published_of_a_pool_whose_kubelets_are_silent(
    spec: Any, pool: str, expected: dict[str, str]
) -> None:
    assert recorded_policies(pool, None if spec is None else {"spec": spec}, DEFAULTS) == expected


def test_silent_kubelets_are_told_of() -> None:
    problems = {f"n{number}": f"why {number}" for number in range(5)}
    assert unread(problems) == (
        "kubelets that do not say what they run, and are taken to run what is known of their pools:"
        " n0, n1, n2 and 2 more (n0: why 0)"
    )


def test_a_pool_that_differs_is_refused_with_its_nodes() -> None:
    running = {
        f"n{number}": {**ALIGNED, "topology_manager_scope": "container"} for number in range(5)
    }
    with pytest.raises(EnablementError) as caught:
        policies_of("a", ["n0", "n1", "n2", "n3", "n4", "n9"], {**running, "n9": ALIGNED})
    assert caught.value.what == "the kubelets of pool a do not agree"
    assert caught.value.why == (
        "topology_manager_scope is container on n0, n1, n2 and 2 more; pod on n9"
    )


@pytest.mark.parametrize(
    ("running", "why"),
    [
        ({**ALIGNED, "memory_manager_policy": "None"}, "memory_manager_policy is None"),
        (
            {**ALIGNED, "memory_manager_policy": "None", "cpu_manager_policy": "none"},
            "cpu_manager_policy is none, memory_manager_policy is None",
        ),
    ],
)
def test_kubelets_that_align_what_they_do_not_give_away(running: Any, why: str) -> None:
    with pytest.raises(EnablementError) as caught:
        policies_of("", ["n1"], {"n1": running})
    assert caught.value.what == "no Guaranteed pod would find a place on these nodes"
    assert caught.value.why.endswith(why)
    # Where nothing is aligned the scheduler lets all pass.
    assert policies_of("", ["n1"], {"n1": {**running, "topology_manager_policy": "none"}})


def test_the_digest_changes_with_nodes_and_policies_and_with_nothing_else() -> None:
    base = digest_of({"a": ["n1", "n2"], "": ["n3"]}, {"a": PUBLISHED})
    assert digest_of({"": ["n3"], "a": ["n2", "n1"]}, {"a": dict(PUBLISHED), "": {}}) == base
    others = {
        digest_of({"a": ["n1"], "": ["n3"]}, {"a": PUBLISHED}),
        digest_of(
            {"a": ["n1", "n2"], "": ["n3"]}, {"a": {**PUBLISHED, "topology_manager_scope": "x"}}
        ),
        digest_of({"a": ["n1", "n2"], "": ["n3"]}, {"a": PUBLISHED, "": PUBLISHED}),
    }
    assert len(others | {base}) == 4


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"exporter": "nfd", "fingerprint": "exclusive"}, "all pods"),
        ({"exporter": "nfd", "pod_excludes": [{"name": "x"}]}, "leaves no pods out"),
        ({"exporter": "nfd", "metrics": "https"}, "without TLS"),
        ({"refresh_mode": "events"}, "no file to wait for"),
        ({"refresh_seconds": 0}, "refresh_seconds below 1"),
        ({"cache_resync_seconds": -1}, "cache_resync_seconds is below 0"),
        ({"fingerprint": "none"}, "never takes what exporters publish"),
        ({}, ""),
        ({"exporter": "nfd", "refresh_mode": "events"}, ""),
        ({"refresh_mode": "events", "notify_file": "/run/x"}, ""),
        ({"fingerprint": "none", "cache_resync_seconds": 0}, ""),
        ({"fingerprint": "none", "scheduler_enabled": False}, ""),
    ],
)
def test_options_that_contradict_each_other(given: dict[str, Any], word: str) -> None:
    recipe = load(read_bundle(RECIPES / "numa"), "numa")
    options = resolve(recipe, given)
    if not word:
        refuse_contradictions(options, "pool a")
        return
    with pytest.raises(EnablementError) as caught:
        refuse_contradictions(options, "pool a")
    assert word in caught.value.why
    assert caught.value.where == "pool a"


def test_the_refusal_without_any_kubelet_says_once_what_to_mend() -> None:
    why = str(
        EnablementError("Cannot read n1", why="no", todo="mend what it names, then run again")
    )
    said = str(nothing_said("gpu", "n1", why))
    assert said.count("mend") == 1
    assert said.endswith(
        "then run again; until one does, give topology_manager_policy and topology_manager_scope"
        " among the options of the pool."
    )
    assert str(nothing_said("", "n1", "it is off")).startswith("no kubelet says what it runs")
