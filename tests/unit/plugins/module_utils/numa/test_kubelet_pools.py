# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the kubelets of a pool agree, and with what was declared."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._numa.kubelet_pools import (
    Declaration,
    pool_report,
)


def kubelet(scope: str = "pod", **more: Any) -> dict[str, Any]:
    return {"scope": scope, "reserved": {"cpu": 1}, **more}


def test_a_pool_whose_kubelets_agree_is_uniform() -> None:
    found = pool_report("a", ["n1", "n2"], {"n1": kubelet(), "n2": kubelet()}, [])
    assert found["uniform"]
    assert found["settings"] == kubelet()
    assert found["differs"] == []


def test_what_differs_is_named_with_its_nodes_most_of_them_first() -> None:
    running = {"n1": kubelet("container"), "n2": kubelet(), "n3": kubelet()}
    found = pool_report("a", ["n1", "n2", "n3"], running, [])
    assert not found["uniform"]
    assert found["settings"] == {"reserved": {"cpu": 1}}
    assert found["differs"] == [
        {
            "setting": "scope",
            "values": [
                {"value": "pod", "nodes": ["n2", "n3"]},
                {"value": "container", "nodes": ["n1"]},
            ],
        }
    ]


def test_of_a_kubelet_that_did_not_answer_nothing_is_known() -> None:
    assert not pool_report("a", ["n1", "n2"], {"n1": kubelet()}, [])["uniform"]
    silent = pool_report("a", ["n1"], {}, [Declaration("x", {"n1"}, {"scope": "pod"})])
    assert (silent["uniform"], silent["settings"], silent["differs"]) == (False, {}, [])
    assert silent["declared"] == [{"source": "x", "settings": {"scope": "pod"}, "differs": []}]


def test_only_a_kubelet_that_a_declaration_is_about_can_differ_from_it() -> None:
    running = {"n1": kubelet("container"), "n2": kubelet("container")}
    declared = Declaration("KubeletConfig x", {"n1"}, {"scope": "pod", "reserved": {"cpu": 1}})
    (entry,) = pool_report("a", ["n1", "n2"], running, [declared])["declared"]
    assert entry["differs"] == [
        {"setting": "scope", "declared": "pod", "running": "container", "nodes": ["n1"]}
    ]
    assert pool_report("b", ["n2"], running, [declared])["declared"] == []
